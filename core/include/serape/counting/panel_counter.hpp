// Counts whole panels, 512 plane columns at a time: the way for many candidates.
//
// Every row outside the largest cell is read once, whatever the number of cells; the largest cell is what the others
// leave of the columns' totals. Gives the same sums, to the bit, as CandidateCounter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/counting/cells.hpp"
#include "serape/counting/plan.hpp"
#include "serape/packed_table.hpp"
#include "serape/statistic.hpp"

namespace serape {

// The shape of a question about many candidates, judged by a sample of them, with what panels depend on.
Shape sampled_shape(const PackedTable& table, const Cells& cells, std::span<const std::uint32_t> candidates,
                    FunctionalKind kind);

// Prepared once per question; shared by threads.
class PanelPlan {
  public:
    PanelPlan(const PackedTable& table, const Statistic& statistic, Cells& cells, std::uint32_t target_levels,
              bool adjusted_dof);

  private:
    friend class PanelCounter;
    struct CellWork {
        std::uint32_t cell;
        const std::int64_t* pair;  // f(a) + f(n−a) by a, or null
    };
    struct StratumWork {
        std::uint32_t stratum;
        std::uint32_t begin, end;  // into cells_work_
        const std::int64_t* pair;
    };
    void list_rows(Cells& cells);

    const PackedTable& table_;
    const Statistic& statistic_;
    const Cells& cells_;
    const Panels& panels_;
    std::size_t block_rows_ = 0;
    std::size_t blocks_ = 0;
    std::vector<std::uint32_t> rows_begin_;  // by block and cell
    std::vector<std::uint32_t> rows_;
    bool adjusted_;
    double scale_[plane_levels + 1] = {};  // by levels of the candidate
    bool subtract_largest_ = true;
    std::vector<StratumWork> strata_;  // in the order of work; the stratum of the largest cell last
    std::vector<CellWork> work_;
    std::vector<std::uint32_t> sizes_;  // rows of the cells in work_
    std::vector<std::int64_t> pairs_;
    std::int64_t constant_ = 0;  // Σ_z f(n_z) − Σ_tz f(n_tz)
};

// One per thread.
class PanelCounter {
  public:
    explicit PanelCounter(const PanelPlan& plan);
    // Sums of `candidates` (ascending columns with planes, all of panel p), written to value and dof at their position.
    void operator()(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value,
                    std::int64_t* dof);

  private:
    template <class Count>
    void count(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value, std::int64_t* dof);
    template <class Count>
    void count_cell(std::size_t panel, std::size_t block, std::size_t cell, Count* out);
    template <class Count, class Bits>
    void add_binary(const PanelPlan::StratumWork& stratum, const Count* counts, const Bits& bits);

    struct Single {
        std::size_t position, bit;
        std::uint32_t levels;
    };
    template <class Count>
    void add_singles(const PanelPlan::StratumWork& stratum, const Count* counts, std::span<const Single> candidates,
                     std::int64_t* value, std::int64_t* dof) const;
    template <std::uint32_t Levels, class Count>
    static void add_levels(const Count* counts, std::size_t cells, const std::uint32_t* sizes, const std::int64_t* log,
                           std::span<const Single> candidates, std::int64_t* value, std::int64_t* dof);

    const PanelPlan& plan_;
    std::vector<std::uint16_t> binary_, place_;  // bits of binary candidates, and which of the candidates they are
    std::vector<Single> single_;
    LineVector<std::uint32_t> counts_;  // [cell of the stratum][bit]
    LineVector<std::uint32_t> seen_;    // by bit, over all cells counted so far
    LineVector<std::uint16_t> block_;
    LineVector<std::int64_t> value_;  // of binary candidates
    LineVector<std::uint32_t> dof_;
};

}  // namespace serape
