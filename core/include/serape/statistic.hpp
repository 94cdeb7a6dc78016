// G² and Pearson's X² in fixed point.
//
// Both statistics are sums over the strata z of the conditioning set. Every term is a function of integer counts,
// rounded once to a fixed-point integer; integers add up exactly in any order, so every kernel, thread and shard gives
// the same bits. With n.. the counts of a stratum,
//   G²/2 = Σ_xt f(n_xt) − Σ_x f(n_x) − Σ_t f(n_t) + f(n),  f(n) = n ln n,
//   X²   = Σ_xt (n_xt·n − n_x·n_t)² / (n·n_x·n_t).
#pragma once

#include <cstddef>
#include <cstdint>

#include "serape/log_table.hpp"

namespace serape {

enum class StatisticKind { g2, x2 };

// The sum of one candidate's terms, and the degrees of freedom of the strata that occur.
struct Sum {
    std::int64_t value = 0;
    std::int64_t dof = 0;  // adjusted: Σ (non-empty rows − 1)(non-empty columns − 1)
};

class Statistic {
  public:
    Statistic(StatisticKind kind, std::size_t rows, const LogTable& log) : kind_(kind), rows_(rows), log_(log) {}
    StatisticKind kind() const { return kind_; }
    const LogTable& log() const { return log_; }

    // Adds one stratum: counts[c * levels + x] for its `cells` non-empty t-cells, whose sizes are cell_count.
    // `levels` is the candidate's, `margin` scratch of that length, `scale` from scale(levels, t_levels).
    void add_stratum(Sum& sum, const std::uint32_t* counts, std::size_t cells, const std::uint32_t* cell_count,
                     std::uint32_t stratum_count, std::uint32_t levels, std::uint32_t* margin, double scale) const;

    // Fixed-point scale of X² for a candidate and target of so many levels (X² <= rows · (fewer levels − 1)).
    double scale(std::uint32_t x_levels, std::uint32_t t_levels) const;
    // The statistic a sum stands for.
    double value(const Sum& sum, double scale) const;
    // X² of one non-empty cell in fixed point, and of all empty cells of one level x together: those of the t-levels
    // that x never meets, `missed` rows in all.
    static std::int64_t x2_cell(std::uint32_t n_xt, std::uint32_t n_x, std::uint32_t n_t, std::uint32_t n, double scale);
    static std::int64_t x2_empty(std::uint32_t n_x, std::uint32_t missed, std::uint32_t n, double scale);

  private:
    StatisticKind kind_;
    std::size_t rows_;
    const LogTable& log_;
};

}  // namespace serape
