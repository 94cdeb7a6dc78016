// What the tails of Student's t and of F have in common.
#pragma once

#include <cmath>
#include <limits>

#include "serape/log_gamma.hpp"

namespace serape {

// The continued fraction of the incomplete beta function (DLMF 8.17.22, Lentz's method), for x < (a+1)/(a+b+2).
inline double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    const auto kept = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
    double c = 1.0;
    double d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    double value = d;
    for (double m = 1.0; m < 1e7; m += 1.0) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / kept(1.0 + even * d);
        c = kept(1.0 + even / c);
        value *= c * d;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / kept(1.0 + odd * d);
        c = kept(1.0 + odd / c);
        const double factor = c * d;
        value *= factor;
        if (std::fabs(factor - 1.0) < 2 * std::numeric_limits<double>::epsilon()) {
            break;
        }
    }
    return value;
}

}  // namespace serape
