// Association of two categorical variables among rows that are alike in continuous ones.
//
// In every leaf the indicators of the levels of x and of y are regressed on the continuous variables. What is left of
// them is multiplied and summed over the leaves of a stratum, and compared to its covariance under independence: the
// generalised Cochran-Mantel-Haenszel test (Landis, Heyman & Koch 1978), with leaves for its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serape/leaves.hpp"

namespace serape {

struct Codes {
    std::vector<std::uint16_t> of_row;
    std::uint32_t levels;
};

struct Excess {
    double statistic = 0.0;
    double dof = 0.0;
    std::size_t rows = 0;  // of the parts that tell something
};

// Each part of the leaves adds up to (levels of x - 1) (levels of y - 1) degrees of freedom; one in which these would
// be more than `most_pairs` adds nothing.
inline constexpr std::size_t most_pairs = 1000;
Excess excess_within(const Leaves& leaves, const std::vector<const double*>& values, const Codes& x, const Codes& y);

}  // namespace serape
