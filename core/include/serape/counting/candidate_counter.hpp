// Counts one candidate at a time against fixed cells, as a plan says, and hands the counts to a functional.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serape/counting/cells.hpp"
#include "serape/counting/functional.hpp"
#include "serape/counting/plan.hpp"
#include "serape/kernels.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/statistic.hpp"

namespace serape {

// What a plan has to know of the candidates.
struct CandidateKinds {
    CandidateKinds(const PackedTable& table, std::span<const std::uint32_t> candidates);
    bool all_have_planes() const { return present >> (plane_levels + 1) == 0; }
    std::size_t count;
    std::uint32_t most_levels = 2;
    std::uint32_t present = 0;  // a bit for each number of levels up to plane_levels, one beyond for more
};

// The shape of a question about these candidates.
Shape shape_of(const PackedTable& table, const Cells& cells, const CandidateKinds& candidates, FunctionalKind kind);

// Cells with all that the plan for some candidates needs. Made once a question; shared by threads.
class PreparedCells {
  public:
    PreparedCells(const PackedTable& table, Cells& cells, const CandidateKinds& candidates, FunctionalKind kind,
                  CountingStrategy strategy = CountingStrategy::automatic);

    const PackedTable& table() const { return table_; }
    const Cells& cells() const { return cells_; }
    const Plan& plan() const { return plan_; }
    Plan::Choice choice(std::size_t candidate) const;

  private:
    friend class CandidateCounter;
    bool by_ones(std::size_t candidate, std::uint32_t levels) const {
        return plan_.ones && levels == 2 && table_.total(candidate, 1) < plan_.ones_below;
    }
    const PackedTable& table_;
    Cells& cells_;
    Plan plan_;
    ScratchVector<const std::uint64_t*> masks_;   // of the cells that are counted
    ScratchVector<std::uint32_t> mask_cell_;      // their numbers
    std::vector<std::uint32_t> stratum_of_cell_;  // for `ones`
    const Ones* ones_ = nullptr;
};

// One per thread; any cells of one table.
class CandidateCounter {
  public:
    template <class Functional>
    typename Functional::Total operator()(const PreparedCells& cells, std::size_t candidate,
                                          const Functional& functional);
    // Several candidates with planes, so that long bitsets come from memory once. Their totals are taken in order.
    void count_together(const PreparedCells& cells, std::span<const std::uint32_t> candidates);
    template <class Functional>
    typename Functional::Total next_total(const PreparedCells& cells, std::size_t candidate,
                                          const Functional& functional);

  private:
    template <class Functional>
    typename Functional::Total by_planes(const PreparedCells& cells, std::size_t candidate, const Functional& f);
    template <class Functional>
    typename Functional::Total add_planes(const PreparedCells& cells, std::size_t candidate, const Functional& f,
                                          const std::uint32_t* masked);
    template <class Functional>
    typename Functional::Total by_scatter(const PreparedCells& cells, std::size_t candidate, const Functional& f);
    template <class Functional>
    typename Functional::Total by_sparse(const PreparedCells& cells, std::size_t candidate, const Functional& f);
    template <class Functional>
    typename Functional::Total by_ones(const PreparedCells& cells, std::size_t candidate, const Functional& f);
    void unpack(const PreparedCells& cells, std::size_t candidate);

    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> masked_;
    std::size_t next_ = 0;  // in masked_
    std::vector<std::uint16_t> codes_;
    // Of one stratum, for `sparse`.
    std::vector<SparseStratum::Count> met_in_cell_;
    std::vector<std::uint32_t> margin_, met_, ends_;
    // For `ones`.
    std::vector<std::uint32_t> cell_ones_, stratum_ones_, touched_cells_, touched_strata_;
};

// A test's cells and its functional.
struct TestCells {
    TestCells(const PackedTable& table, const Statistic& statistic, Cells& cells, std::uint32_t target_levels,
              const CandidateKinds& candidates, CountingStrategy strategy = CountingStrategy::automatic)
        : functional(statistic, cells, target_levels),
          prepared(table, cells, candidates, functional.kind(), strategy) {}
    Sum operator()(CandidateCounter& counter, std::size_t candidate) const {
        return counter(prepared, candidate, functional);
    }
    StatisticFunctional functional;
    PreparedCells prepared;
};

// Counts candidates on several threads: functional_of(candidate) adds up, write(k, total) takes the total of the k-th.
template <class FunctionalOf, class Write>
void count_each(const PreparedCells& cells, std::span<const std::uint32_t> candidates, std::size_t threads,
                CancellationToken& token, const FunctionalOf& functional_of, const Write& write) {
    std::vector<std::optional<CandidateCounter>> counters(std::max<std::size_t>(threads, 1));
    const bool together = cells.plan().together;
    const double each = cells.choice(candidates[candidates.size() / 2]).nanoseconds;
    const std::size_t piece = together ? 8 : candidates_per_piece(each, kernels().costs);
    parallel_for(candidates.size(), piece, threads, token, [&](std::size_t first, std::size_t last, std::size_t w) {
        CandidateCounter& counter = counters[w] ? *counters[w] : counters[w].emplace();
        if (together) {
            counter.count_together(cells, candidates.subspan(first, last - first));
        }
        for (std::size_t k = first; k < last; ++k) {
            const std::uint32_t x = candidates[k];
            write(k, together ? counter.next_total(cells, x, functional_of(x)) : counter(cells, x, functional_of(x)));
        }
    });
}

}  // namespace serape
