// The upper tail of the F distribution, and normal quantiles.
#pragma once

namespace serape {

// ln P(F >= f) for `more` and `rest` degrees of freedom, both positive (any real numbers), far beyond the range of a
// double. NaN for NaN input, 0 for f <= 0, −inf for infinite f.
double f_log_sf(double f, double more, double rest);

// Φ⁻¹(p), for p between 0 and 1; antisymmetric to the last bit about ½.
double normal_quantile(double p);

}  // namespace serape
