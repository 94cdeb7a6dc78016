// Counts one candidate at a time against fixed cells, by whichever way is cheapest:
//   planes   AND + popcount of the candidate's bitsets with the cells' (few levels, few cells);
//   scatter  one increment a row in a dense table (many cells);
//   sparse   cell by cell, keeping only the levels met (tables too large to be dense);
//   ones     only the rows in which a rare binary candidate is one.
// All give the same sum to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/cells.hpp"
#include "serape/packed_table.hpp"
#include "serape/statistic.hpp"

namespace serape {

enum class Way { automatic, planes, scatter, sparse, ones };

// What a plan has to know of those that will be counted.
struct CandidateKinds {
    CandidateKinds(const PackedTable& table, std::span<const std::uint32_t> candidates);
    std::size_t count;
    std::uint32_t most_levels = 2;
    bool all_have_planes = true;
};

// Prepared once per question; shared by threads.
class CountingPlan {
  public:
    // Lists and the like are made only where they pay for the candidates to come.
    CountingPlan(const PackedTable& table, const Statistic& statistic, Cells& cells, std::uint32_t target_levels,
                 const CandidateKinds& candidates, Way way = Way::automatic);

    struct Choice {
        Way way;
        double nanoseconds;  // estimated
    };
    Choice choose(std::size_t candidate) const;
    // Whether such candidates are all counted by planes, and these are so long that it is better done together.
    bool together(const CandidateKinds& candidates) const;

  private:
    friend class CandidateCounter;
    const PackedTable& table_;
    const Statistic& statistic_;
    Cells& cells_;
    std::uint32_t target_levels_;
    Way forced_;
    Choice choose_by_levels(std::uint32_t levels) const;
    double planes_cost(std::uint32_t levels) const;  // nanoseconds
    bool dense(std::uint32_t levels) const;          // whether a table of all cells is small enough
    bool planes_possible_ = false;
    bool by_rest_ = false;       // whether the largest cell is what the others leave
    std::int64_t constant_ = 0;  // what all strata add to every candidate's sum
    Choice by_levels_[plane_levels + 1] = {};
    ScratchVector<const std::uint64_t*> masks_;   // of the cells that are counted
    ScratchVector<std::uint32_t> mask_cell_;      // their numbers
    std::vector<std::uint32_t> stratum_of_cell_;  // for `ones`
    const Ones* ones_ = nullptr;
};

// One per thread.
class CandidateCounter {
  public:
    explicit CandidateCounter(const CountingPlan& plan) : plan_(&plan) {}
    void use(const CountingPlan& plan) { plan_ = &plan; }  // the same table, other cells
    Sum operator()(std::size_t candidate);
    // Several candidates with planes, so that long bitsets come from memory once.
    void operator()(std::span<const std::uint32_t> candidates, Sum* sums);

  private:
    Sum by_planes(std::size_t candidate);
    Sum add_planes(std::size_t candidate, const std::uint32_t* masked);
    Sum by_scatter(std::size_t candidate);
    Sum by_sparse(std::size_t candidate);
    Sum by_ones(std::size_t candidate);
    Sum add_strata(std::uint32_t levels, std::size_t stride, std::size_t offset);

    const CountingPlan* plan_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> margin_;
    std::vector<std::uint32_t> masked_;
    std::vector<std::uint32_t> cell_ones_;
    std::vector<std::uint32_t> stratum_ones_;
    std::vector<std::uint32_t> touched_;
    std::vector<std::uint32_t> touched_more_;
    std::vector<std::uint16_t> codes_;
};

}  // namespace serape
