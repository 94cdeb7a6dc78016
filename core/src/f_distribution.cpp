#include "serape/f_distribution.hpp"

#include <math.h>  // lgamma_r

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace serape {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

double log_gamma(double x) {  // std::lgamma writes a global variable, which threads must not
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

// What Stirling's formula leaves of ln Γ(a), for a of at least 15.
double stirling_rest(double a) {
    const double q = 1.0 / (a * a);
    return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * (1.0 / 1680 - q / 1188)))) / a;
}

double log_beta(double a, double b) {
    if (a < b) {
        std::swap(a, b);
    }
    if (a < 15.0) {
        return log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    }
    const double rest = stirling_rest(a) - stirling_rest(a + b);
    if (b < 15.0) {
        return log_gamma(b) + b - (a - 0.5) * std::log1p(b / a) - b * std::log(a + b) + rest;
    }
    return 0.5 * std::log(2.0 * std::numbers::pi / b) - (a - 0.5) * std::log1p(b / a) - b * std::log1p(a / b) + rest +
           stirling_rest(b);
}

// The continued fraction of the incomplete beta function (DLMF 8.17.22, Lentz's method), for x < (a+1)/(a+b+2).
double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    const auto kept = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
    double c = 1.0;
    double d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    double value = d;
    for (double m = 1.0; m < 1e6; m += 1.0) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        value *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        const double factor = c * d;
        value *= factor;
        if (std::fabs(factor - 1.0) < 2.0 * epsilon) {
            break;
        }
    }
    return value;
}

}  // namespace

// P = I_x(rest/2, more/2) with x = rest / (rest + more f).
double f_log_sf(double f, double more, double rest) {
    if (std::isnan(f) || !(more > 0.0) || !(rest > 0.0)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (f <= 0.0) {
        return 0.0;
    }
    if (std::isinf(f)) {
        return -f;
    }
    const double a = 0.5 * rest;
    const double b = 0.5 * more;
    const double odds = f * (more / rest);  // y / x
    const double log_x = -std::log1p(odds);
    const double log_y = -std::log1p(1.0 / odds);
    const double x = 1.0 / (1.0 + odds);
    const double front = a * log_x + b * log_y - log_beta(a, b);
    if (x < (a + 1.0) / (a + b + 2.0)) {
        return std::min(front + std::log(beta_fraction(a, b, x)) - std::log(a), 0.0);
    }
    const double lower = front + std::log(beta_fraction(b, a, 1.0 - x)) - std::log(b);
    return lower < 0.0 ? std::log1p(-std::exp(lower)) : 0.0;
}

// A first guess (Abramowitz & Stegun 26.2.23), made exact by Halley's method.
double normal_quantile(double p) {
    const bool upper = p > 0.5;
    const double tail = upper ? 1.0 - p : p;
    const double t = std::sqrt(-2.0 * std::log(tail));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)));  // Φ(−z) = tail
    for (int round = 0; round < 3; ++round) {
        const double error = 0.5 * std::erfc(z / std::numbers::sqrt2) - tail;
        const double step = error * std::sqrt(2.0 * std::numbers::pi) * std::exp(0.5 * z * z);
        z += step / (1.0 + 0.5 * z * step);
    }
    return upper ? z : -z;
}

}  // namespace serape
