// Logarithms of two-sided tail probabilities of Student's t, exact far beyond the range of a double.
#pragma once

namespace serape {

// ln P(|T| >= |t|) for `dof` > 0 degrees of freedom (any real number). Relative error of the probability is about 1e-12
// near 1 and that of its logarithm far out. NaN for dof <= 0 or NaN input, −inf for infinite t.
double student_t_log_p(double t, double dof);

}  // namespace serape
