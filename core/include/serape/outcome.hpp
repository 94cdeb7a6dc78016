// Outcomes of conditional independence tests.
#pragma once

#include <cstdint>
#include <limits>

namespace serape {

struct Outcome {
    double statistic;
    double dof;
    double log_p;
    bool reliable;
};

inline constexpr Outcome no_outcome{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::quiet_NaN(), false};

// Whether an association is weaker than another: by log p, then by statistic.
inline bool weaker(const Outcome& outcome, const Outcome& than) {
    if (outcome.dof == than.dof) {
        return outcome.statistic < than.statistic;
    }
    return outcome.log_p > than.log_p || (outcome.log_p == than.log_p && outcome.statistic < than.statistic);
}

// Where a batch of answers goes; all arrays as long as the batch. An unreliable test is not performed: its statistic
// is NaN.
struct Answers {
    double* statistic;
    double* dof;
    std::uint8_t* reliable;
};

}  // namespace serape
