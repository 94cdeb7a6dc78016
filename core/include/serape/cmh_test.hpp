// The generalised Cochran-Mantel-Haenszel test (Landis, Heyman & Koch 1978) of two categorical variables given
// continuous ones, with the leaves of a k-d tree for its tables.
//
// In every leaf the indicators of the levels of x and of y are regressed on the continuous variables. Products of the
// residuals are summed over the leaves of a stratum and compared to their covariance under independence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serape/kd_tree.hpp"

namespace serape {

struct Codes {
    std::vector<std::uint16_t> of_row;
    std::uint32_t levels;
};

struct CmhResult {
    double statistic = 0.0;
    double dof = 0.0;
    std::size_t rows = 0;  // of the informative strata
};

// Each stratum adds at most (levels of x - 1) (levels of y - 1) degrees of freedom; one in which these would be more
// than `most_pairs` adds nothing.
inline constexpr std::size_t most_pairs = 1000;
CmhResult cmh_test(const KdTree& tree, const std::vector<const double*>& values, const Codes& x, const Codes& y);

}  // namespace serape
