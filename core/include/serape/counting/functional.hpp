// Adding up counts, apart from making them.
//
// A counter makes the counts of one candidate by some strategy; a *functional* adds them up: G² or X² (statistic.hpp),
// a log-likelihood or a Dirichlet score (score_functional.hpp), or a record of the counts themselves
// (count_table.hpp). Every term is an integer, so that all strategies give the same bits. A functional has
//
//   Total                                 what it adds up;
//   min_cells                             strata of fewer cells add nothing (1 or 2);
//   kind()                                which strategies serve it (plan.hpp);
//   is_zero(cells, levels)                whether the total is Total{} without counting;
//   start()                               what the division into cells adds to every candidate's total;
//   add(total, DenseCounts, cells)        all strata from a table of all cells and levels;
//   add(total, SparseStratum, levels)     one stratum from what occurs in it;
//   start_of_ones(), add_ones_in_cell(total, a, n), add_ones_in_stratum(total, a, n, cells)
//                                         a binary candidate by its ones: the total of a column that is nowhere one,
//                                         and what a ones among n rows change. Not for X².
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "serape/compiler.hpp"
#include "serape/counting/cells.hpp"

namespace serape {

// The counts of one candidate in all cells: of level l >= 1 in cell c, counts[(l − 1) * cells + c]. Level 0 is what
// they leave of the cells' sizes.
struct DenseCounts {
    const std::uint32_t* counts;
    std::uint32_t levels;
};

// The same in one stratum, at counts[c * cell_stride + (l − 1) * level_stride]; all its cells occur.
template <class Count>
struct Stratum {
    const Count* counts;
    std::size_t cell_stride, level_stride;
    const std::uint32_t* sizes;
    std::size_t cells;
    std::uint32_t rows;
};

// The counts of one candidate in one stratum of which only what occurs is listed.
struct SparseStratum {
    struct Count {
        std::uint32_t level, count;
    };
    std::span<const Count> counts;         // cell by cell
    std::span<const std::uint32_t> ends;   // by cell: where its counts end
    std::span<const std::uint32_t> met;    // levels that occur in the stratum
    const std::uint32_t* margin;           // by level: rows in the stratum
    std::span<const std::uint32_t> sizes;  // by cell: rows
    std::size_t stratum;                   // its number
    std::size_t first_cell;                // the number of its first cell
    std::uint32_t rows;
};

// Calls `each` for the strata of dense counts that have at least `min_cells` cells.
template <class Each>
void for_each_stratum(const DenseCounts& dense, const Cells& cells, std::size_t min_cells, const Each& each) {
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        const std::size_t size = cells.stratum_begin[z + 1] - begin;
        if (size >= min_cells) {
            each(Stratum<std::uint32_t>{dense.counts + begin, 1, cells.size(), cells.count.data() + begin, size,
                                        cells.stratum_count[z]});
        }
    }
}

// Most functionals are sums of terms, of the counts of cells and (subtracted) of the margins of strata:
//   Σ cell(n_xtz) − Σ margin(n_xz).
// `Terms` has cell(n), margin(n) and note(total, cells that occur, levels that occur, cells of the stratum).

// Adds a stratum; `margin` has room for all levels and is nought.
template <class Count, class Terms, class Total>
SERAPE_INLINE void add_terms(Total& total, const Stratum<Count>& stratum, std::uint32_t levels, std::uint32_t* margin,
                             const Terms& terms) {
    std::int64_t value = 0;
    std::int64_t cells = 0;
    for (std::size_t c = 0; c < stratum.cells; ++c) {
        const Count* of_level = stratum.counts + c * stratum.cell_stride;
        std::uint32_t rest = stratum.sizes[c];
        for (std::uint32_t level = 1; level < levels; ++level) {
            const std::uint32_t n = of_level[(level - 1) * stratum.level_stride];
            value += terms.cell(n);
            cells += n != 0;
            margin[level] += n;
            rest -= n;
        }
        value += terms.cell(rest);
        cells += rest != 0;
        margin[0] += rest;
    }
    std::int64_t met = 0;
    for (std::uint32_t level = 0; level < levels; ++level) {
        value -= terms.margin(margin[level]);
        met += margin[level] != 0;
    }
    total.value += value;
    terms.note(total, cells, met, stratum.cells);
}

template <class Terms, class Total>
void add_terms(Total& total, const SparseStratum& stratum, const Terms& terms) {
    for (const SparseStratum::Count& one : stratum.counts) {
        total.value += terms.cell(one.count);
    }
    for (const std::uint32_t level : stratum.met) {
        total.value -= terms.margin(stratum.margin[level]);
    }
    terms.note(total, static_cast<std::int64_t>(stratum.counts.size()), static_cast<std::int64_t>(stratum.met.size()),
               stratum.sizes.size());
}

// Adds all strata of dense counts, unrolled for few levels.
template <class Terms, class Total>
void add_terms(Total& total, const DenseCounts& dense, const Cells& cells, std::size_t min_cells, const Terms& terms) {
    const auto unrolled = [&]<std::uint32_t Levels>() {
        for_each_stratum(dense, cells, min_cells, [&](const Stratum<std::uint32_t>& stratum) {
            std::uint32_t margin[Levels] = {};
            add_terms(total, stratum, Levels, margin, terms);
        });
    };
    switch (dense.levels) {
        case 2: unrolled.template operator()<2>(); return;
        case 3: unrolled.template operator()<3>(); return;
        case 4: unrolled.template operator()<4>(); return;
        default: break;
    }
    ScratchVector<std::uint32_t> margin(dense.levels);
    for_each_stratum(dense, cells, min_cells, [&](const Stratum<std::uint32_t>& stratum) {
        std::fill_n(margin.data(), dense.levels, 0u);
        add_terms(total, stratum, dense.levels, margin.data(), terms);
    });
}

}  // namespace serape
