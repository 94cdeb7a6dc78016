// Ranking of a batch of answers.
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

}  // namespace serape
