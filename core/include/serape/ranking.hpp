// Ranking of a batch of answers, and lists of candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serape {

struct Strongest {
    std::vector<std::size_t> ties;  // positions of the strongest reliable answers: one, unless several tie exactly
    double log_p;
};

// Strongest by log p, then by statistic. The tail probability is computed once per number of degrees of freedom only:
// among answers of the same dof the larger statistic is the stronger.
Strongest strongest(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable);

// The places of some answers from the strongest to the weakest: by log p, then by statistic, then in their order.
std::vector<std::int64_t> ranked(std::span<const double> statistic, std::span<const double> dof,
                                 std::span<const std::int64_t> places);

// The places of the lowest log p; of several, those of the largest statistic.
std::vector<std::size_t> lowest(std::span<const double> log_p, std::span<const double> statistic);

// The columns that are not excluded, in their order; `ascending` says that they are in ascending order.
std::vector<std::uint32_t> without(std::span<const std::uint32_t> columns, std::vector<std::uint32_t> excluded,
                                   bool ascending);

}  // namespace serape
