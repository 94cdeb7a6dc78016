// The upper tail of the F distribution, and normal quantiles.
#pragma once

namespace serape {

// ln P of the F test from the explained and the unexplained sum of squares and their degrees of freedom, both positive
// (any real numbers), far beyond the range of a double. NaN for NaN input, 0 if nothing is explained, −inf if all is.
double f_log_sf(double explained, double unexplained, double more, double rest);

// Φ⁻¹(p), for p between 0 and 1; antisymmetric to the last bit about ½.
double normal_quantile(double p);

}  // namespace serape
