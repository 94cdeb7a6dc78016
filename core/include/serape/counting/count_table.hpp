// Counts as plain integers: what an engine that holds rows answers, and what statistics and scores are made of.
//
// Of each candidate, the cells that occur are listed: stratum, level of the target, level of the candidate, rows. So
// memory is bounded by the rows. Counts add over rows: a cell may be listed several times, and the lists of parts of
// the rows can be joined if their strata have the same numbers. The order of cells and the numbers of strata do not
// matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/counting/functional.hpp"
#include "serape/counting/plan.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"

namespace serape {

struct CountedCell {
    std::int64_t stratum, target, candidate, count;
};

struct CountTable {
    std::size_t rows = 0;
    std::uint32_t target_levels = 0;
    std::vector<std::uint32_t> given_levels;      // of the conditioning variables
    std::vector<std::uint32_t> candidate_levels;  // by candidate
    std::vector<std::size_t> begin;               // by candidate: its first cell, one more than candidates
    std::vector<CountedCell> cells;
    std::vector<std::uint16_t> strata;  // by stratum: the levels of the conditioning variables, where an engine says so

    std::span<const CountedCell> of(std::size_t candidate) const {
        return std::span(cells).subspan(begin[candidate], begin[candidate + 1] - begin[candidate]);
    }
};

// Throws std::invalid_argument unless the counts are of so many rows, which a table can have.
void check_rows(const CountTable& table, std::size_t rows);

// The counts of candidates with the target in the strata of a conditioning set, which are in ascending order of their
// levels. Without candidates, the counts of the target alone, as of one candidate of one level. Candidates are columns
// of `source`, which has the rows of the table.
CountTable counts(const PackedTable& table, std::size_t target, const PackedTable& source,
                  std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given, std::size_t threads,
                  CancellationToken& token, CountingStrategy strategy = CountingStrategy::automatic);

// One candidate's cells by stratum, as a functional takes them. Throws std::invalid_argument if a level or a count is
// out of range or the counts do not add up to the rows.
class CountedStrata {
  public:
    CountedStrata(const CountTable& table, std::size_t candidate);

    template <class Each>
    void for_each(const Each& each) {
        for (std::size_t first = 0, cell = 0; first < cells_.size();) {
            each(next(first, cell));
        }
    }
    std::uint32_t largest_cell() const { return largest_cell_; }
    std::uint32_t largest_stratum() const { return largest_stratum_; }

  private:
    SparseStratum next(std::size_t& first, std::size_t& cell);
    std::vector<CountedCell> cells_;     // in order, each once
    std::vector<std::uint32_t> sizes_;   // rows by stratum and level of the target, in order
    std::vector<std::uint32_t> margin_;  // by level, of one stratum
    std::vector<std::uint32_t> met_, ends_;
    std::vector<SparseStratum::Count> counts_;
    std::uint32_t largest_cell_ = 0;
    std::uint32_t largest_stratum_ = 0;
};

// The functional that writes counts down.
class RecordFunctional {
  public:
    using Total = std::vector<CountedCell>;
    static constexpr std::size_t min_cells = 1;
    explicit RecordFunctional(std::span<const std::uint16_t> target_of_cell) : target_of_cell_(target_of_cell) {}

    FunctionalKind kind() const { return FunctionalKind::record; }
    static bool is_zero(const Cells&, std::uint32_t) { return false; }
    static Total start() { return {}; }
    void add(Total& total, const DenseCounts& dense, const Cells& cells) const;
    void add(Total& total, const SparseStratum& stratum, std::uint32_t levels) const;
    // Not counted by ones.
    static Total start_of_ones() { return {}; }
    static void add_ones_in_cell(Total&, std::uint32_t, std::uint32_t) {}
    static void add_ones_in_stratum(Total&, std::uint32_t, std::uint32_t, std::size_t) {}

  private:
    std::span<const std::uint16_t> target_of_cell_;
};

}  // namespace serape
