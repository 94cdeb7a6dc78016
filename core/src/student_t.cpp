#include "serape/student_t.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "incomplete_beta.hpp"
#include "serape/chi_square.hpp"

namespace serape {
namespace {

// Of a distribution that differs from the normal one; the fraction below takes time as the square root of it.
constexpr double most_dof = 1e12;

// ln B(a, ½) = ½ ln π + ln Γ(a) − ln Γ(a + ½), without the cancellation for large a.
double log_beta_half(double a) {
    const double log_root_pi = 0.5 * std::log(std::numbers::pi);
    if (a < 20.0) {
        return log_root_pi + log_gamma(a) - log_gamma(a + 0.5);
    }
    const double b = 1.0 / (a * a);
    const double rest = (1.0 / 8 - b * (1.0 / 192 - b * (1.0 / 640 - b * (17.0 / 14336 - b * 31.0 / 18432)))) / a;
    return log_root_pi - 0.5 * std::log(a) + rest;
}

}  // namespace

// P = I_x(dof/2, ½) with x = 1 / (1 + t²/dof).
double student_t_log_p(double t, double dof) {
    if (!(dof > 0.0) || std::isnan(t)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    t = std::fabs(t);
    if (t == 0.0) {
        return 0.0;
    }
    if (std::isinf(t)) {
        return -t;
    }
    if (dof > most_dof) {
        return chi_square_log_sf(t * t, 1.0);
    }
    const double a = 0.5 * dof;
    const double root = t / std::sqrt(dof);
    const bool huge = root > 1e100;  // its square may not be a number
    const double square = huge ? std::numeric_limits<double>::max() : root * root;
    const double log_x = huge ? -2.0 * std::log(root) : -std::log1p(square);
    const double x = 1.0 / (1.0 + square);
    const double y = square / (1.0 + square);
    if (x < (a + 1.0) / (a + 2.5)) {
        return a * log_x + 0.5 * std::log(y) - std::log(a) - log_beta_half(a) + std::log(beta_fraction(a, 0.5, x));
    }
    const double log_front = a * log_x + 0.5 * std::log(y) + std::log(2.0) - log_beta_half(a);
    return std::log1p(-std::exp(log_front) * beta_fraction(0.5, a, y));
}

}  // namespace serape
