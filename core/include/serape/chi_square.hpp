// Logarithms of chi-square tail probabilities, exact far beyond the range of a double.
#pragma once

namespace serape {

// ln P(X >= statistic) for a chi-square variable with `dof` > 0 degrees of freedom (any real number). Relative
// error of the probability is a few 1e-13, also where it is 1e-300000. NaN for dof <= 0 or NaN input.
double chi_square_log_sf(double statistic, double dof);

// The statistic of which `log_p` is the ln P: 0 for log_p >= 0. NaN for dof <= 0 or NaN input.
double chi_square_statistic(double log_p, double dof);

}  // namespace serape
