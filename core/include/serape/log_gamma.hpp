// The logarithm of the gamma function, for several threads.
#pragma once

#include <math.h>  // lgamma_r

#include <cmath>

namespace serape {

inline double log_gamma(double x) {
#if defined(_WIN32)
    return std::lgamma(x);
#else
    int sign = 0;  // std::lgamma writes it into a global variable, which threads must not
    return ::lgamma_r(x, &sign);
#endif
}

}  // namespace serape
