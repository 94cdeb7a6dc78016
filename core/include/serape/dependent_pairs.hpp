// Which pairs of columns depend on each other given nothing (G²), for columns of up to eight levels.
//
// Most pairs are independent, and an upper bound of G² shows it. With n the count of a cell, e the one expected and
// u = (n − e) / e,
//   G² = Σ 2e ((1 + u) ln(1 + u) − u) ≤ Σ e u² (1 + max(0, −u)),
// because the ratio of both terms is at most 1 for u >= 0, and convex from 1 to 2 as u goes from 0 to −1. The bound
// needs no logarithm, and is computed for many columns side by side. Only for pairs that it leaves open are the terms
// of G² added up: the same integers as in `Statistic`. So the verdicts are those of one test for each pair.
//
// Columns of as many levels share panels, level by level, and every pair is counted once, with the column of more
// levels as the target: its rows are listed once, and the other column has fewer planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "serape/all_pairs.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/test_rules.hpp"

namespace serape {

// The dependent partners of every target, in ascending order, one target after another.
struct DependentPairs {
    bool complete = true;              // false if there are more than were allowed; then there are none here
    std::vector<std::size_t> start{};  // by target, one more than targets
    std::vector<std::uint32_t> partner{};
    std::vector<double> statistic{};
    std::vector<std::uint8_t> dof{};
};

// A pair is dependent if its test is reliable and log p at most `log_alpha`. The columns must be ascending and of at
// most `plane_levels` levels; rows at most `most_rows_of_pairs`; rules those of G². At most `most` pairs are returned.
// All columns of the table are targets.
DependentPairs dependent_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                               double log_alpha, std::size_t most, std::size_t threads, CancellationToken& token);

// The same for some targets at a time, where all pairs would be too many: each target is tested with all columns. The
// panels are made once.
class PairBlocks {
  public:
    PairBlocks(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns, double log_alpha);
    ~PairBlocks();

    // The targets are different columns of these.
    DependentPairs of(std::span<const std::uint32_t> targets, std::size_t most, std::size_t threads,
                      CancellationToken& token) const;

  private:
    struct Content;
    std::unique_ptr<const Content> content_;
};

// The pairs of columns of at most `plane_levels` levels with enough rows and with degrees of freedom.
std::size_t tested_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns);

// For each of these columns, how many others depend on it, and which most: by log p, then by statistic, then in the
// order of the table.
AllPairs strongest_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                         double log_alpha, std::size_t strongest, std::size_t threads, CancellationToken& token);

}  // namespace serape
