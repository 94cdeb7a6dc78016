#include "serape/chi_square.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "serape/log_gamma.hpp"

namespace serape {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// ln Γ(a+1) − (a ln a − a + ½ ln 2πa): what Stirling's formula leaves out.
double stirling_remainder(double a) {  // a >= 10
    const double b = 1.0 / (a * a);
    return (1.0 / 12 - b * (1.0 / 360 - b * (1.0 / 1260 - b * (1.0 / 1680 - b / 1188)))) / a;
}

// ln(1+u) − u without cancellation.
double log1p_minus(double u) {
    if (std::fabs(u) > 0.3) {
        return std::log1p(u) - u;
    }
    const double r = u / (2.0 + u);  // ln(1+u) = 2 artanh(r)
    const double square = r * r;
    double sum = 0.0;
    double power = square;
    for (int k = 3; k < 60; k += 2) {
        sum += power / k;
        power *= square;
        if (power < epsilon * 1e-3) {
            break;
        }
    }
    return 2.0 * r * sum - u * r;  // 2r − u = −u·r
}

// ln( y^a e^(−y) / Γ(a+1) ).
double log_prefactor(double a, double y) {
    if (a < 10.0) {
        return a * std::log(y) - y - log_gamma(a + 1.0);
    }
    const double u = (y - a) / a;
    return a * log1p_minus(u) - 0.5 * std::log(2.0 * std::numbers::pi * a) - stirling_remainder(a);
}

// e^(z²) erfc(z) for z >= 0.
double scaled_erfc(double z) {
    if (z < 25.0) {
        return std::exp(z * z) * std::erfc(z);
    }
    const double b = 0.5 / (z * z);
    const double tail = 1.0 - b * (1.0 - 3.0 * b * (1.0 - 5.0 * b * (1.0 - 7.0 * b * (1.0 - 9.0 * b))));
    return tail / (z * std::sqrt(std::numbers::pi));
}

// The upper tail for a whole or half a = dof/2 <= 50 and y >= a: a finite sum of positive terms,
//   Q = [erfc(√y) if odd] + e^(−y) Σ y^(a−1) / Γ(a) · (1 + (a−1)/y · (1 + (a−2)/y · …)).
double log_upper_closed(double a, double y) {
    const double first = std::fmod(a, 1.0) == 0.0 ? 1.0 : 1.5;
    if (a < first) {  // dof 1
        return -y + std::log(scaled_erfc(std::sqrt(y)));
    }
    double nested = 1.0;
    for (double k = first; k < a; k += 1.0) {
        nested = 1.0 + k / y * nested;
    }
    const double log_sum = (a - 1.0) * std::log(y) - log_gamma(a) + std::log(nested);
    if (first == 1.0) {
        return -y + log_sum;
    }
    return -y + log_sum + std::log1p(scaled_erfc(std::sqrt(y)) * std::exp(-log_sum));
}

// The upper tail for y > a + 1 by Legendre's continued fraction (Lentz's method).
double log_upper_fraction(double a, double y) {
    constexpr double tiny = 1e-300;
    double b = y + 1.0 - a;
    double c = 1.0 / tiny;
    double d = 1.0 / b;
    double value = d;
    for (long i = 1; i < 100'000'000; ++i) {
        const double step = -static_cast<double>(i) * (static_cast<double>(i) - a);
        b += 2.0;
        d = step * d + b;
        d = 1.0 / (std::fabs(d) < tiny ? tiny : d);
        c = b + step / c;
        c = std::fabs(c) < tiny ? tiny : c;
        const double factor = c * d;
        value *= factor;
        if (std::fabs(factor - 1.0) < 2 * epsilon) {
            break;
        }
    }
    return log_prefactor(a, y) + std::log(a) + std::log(value);
}

// The upper tail for y <= a + 1 as 1 − P, with P from its power series.
double log_upper_from_lower(double a, double y) {
    double term = 1.0;
    double sum = 1.0;
    for (double n = a + 1.0; term > sum * epsilon * 0.25; n += 1.0) {
        term *= y / n;
        sum += term;
    }
    return std::log1p(-std::exp(log_prefactor(a, y)) * sum);
}

// The upper tail for a large a and y close to it, where the series above would not end: Temme's uniform expansion. Of
// its corrections to the normal tail the first is enough.
double log_upper_large(double a, double y) {
    const double squared = -a * log1p_minus((y - a) / a);  // z²
    const double eta = std::copysign(std::sqrt(2.0 * squared / a), y - a);
    const double first = -1.0 / 3 + eta * (1.0 / 12 - eta * (2.0 / 135 - eta / 864));
    const double correction = first / std::sqrt(2.0 * std::numbers::pi * a);
    const double z = std::sqrt(squared);
    if (y >= a) {
        return -squared + std::log(0.5 * scaled_erfc(z) + correction);
    }
    return std::log1p(-(0.5 * std::erfc(z) - std::exp(-squared) * correction));
}

}  // namespace

double chi_square_log_sf(double statistic, double dof) {
    if (!(dof > 0.0) || std::isnan(statistic)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (statistic <= 0.0) {
        return 0.0;
    }
    if (std::isinf(statistic)) {
        return -statistic;
    }
    const double a = 0.5 * dof;
    const double y = 0.5 * statistic;
    if (a > 1e12 && std::fabs(y - a) < 1e-3 * a) {
        return log_upper_large(a, y);
    }
    if (y <= a + 1.0) {
        return log_upper_from_lower(a, y);
    }
    return dof <= 100.0 && std::fmod(dof, 1.0) == 0.0 ? log_upper_closed(a, y) : log_upper_fraction(a, y);
}

// Newton's method on ln P, within a bracket that every step narrows.
double chi_square_statistic(double log_p, double dof) {
    if (!(dof > 0.0) || std::isnan(log_p)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (log_p >= 0.0) {
        return 0.0;
    }
    if (std::isinf(log_p)) {
        return -log_p;
    }
    const double a = 0.5 * dof;
    double low = 0.0, high = dof - 2.0 * log_p;
    while (chi_square_log_sf(high, dof) > log_p) {
        low = high;
        high *= 2.0;
    }
    double found = high;
    for (int round = 0; round < 200 && high - low > 2 * epsilon * high; ++round) {
        const double value = chi_square_log_sf(found, dof);
        (value > log_p ? low : high) = found;
        const double log_density = log_prefactor(a, 0.5 * found) + std::log(a / found);
        const double next = found + (value - log_p) * std::exp(value - log_density);
        if (std::fabs(next - found) <= epsilon * found) {
            break;
        }
        found = next > low && next < high ? next : 0.5 * (low + high);
    }
    return found;
}

}  // namespace serape
