#include "serape/f_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "incomplete_beta.hpp"

namespace serape {
namespace {

// What Stirling's formula leaves of ln Γ(a), for a of at least 15.
double stirling_rest(double a) {
    const double q = 1.0 / (a * a);
    return (1.0 / 12 - q * (1.0 / 360 - q * (1.0 / 1260 - q * (1.0 / 1680 - q * (1.0 / 1188 - q * 691.0 / 360360))))) /
           a;
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

}  // namespace

// P = I_x(rest/2, more/2) with x the share that is not explained.
double f_log_sf(double explained, double unexplained, double more, double rest) {
    if (std::isnan(explained) || std::isnan(unexplained) || !(more > 0.0) || !(rest > 0.0)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (explained <= 0.0) {
        return 0.0;
    }
    const double odds = explained / unexplained;
    if (std::isinf(odds)) {
        return -odds;
    }
    const double a = 0.5 * rest;
    const double b = 0.5 * more;
    const double x = unexplained / (explained + unexplained);
    const double y = explained / (explained + unexplained);
    const double front = -a * std::log1p(odds) - b * std::log1p(unexplained / explained) - log_beta(a, b);
    if (x <= (a + 1.0) / (a + b + 2.0)) {
        return std::min(front + std::log(beta_fraction(a, b, x)) - std::log(a), 0.0);
    }
    const double lower = front + std::log(beta_fraction(b, a, y)) - std::log(b);
    return lower < 0.0 ? std::log1p(-std::exp(lower)) : -std::numeric_limits<double>::infinity();
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
