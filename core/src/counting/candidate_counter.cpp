#include "serape/counting/candidate_counter.hpp"

#include <algorithm>

#include "serape/counting/count_table.hpp"
#include "serape/kernels.hpp"
#include "serape/score_functional.hpp"

namespace serape {
namespace {

constexpr std::size_t scatter_tables = 4;

// Counts rows one by one.
struct Scatter {
    const std::uint16_t* codes;
    const std::uint32_t* cell_of_row;
    std::size_t rows, cells, entries;

    // Adds what each row stands for to the entry of its level and cell, in one table or, apart, in several whose sum
    // the first becomes.
    template <class Frequency>
    void add(std::uint32_t* counts, bool apart, const Frequency& frequency) const {
        std::size_t i = 0;
        const auto add_to = [&](std::uint32_t* table, std::size_t row) {
            table[codes[row] * cells + cell_of_row[row]] += frequency(row);
        };
        if (apart) {
            for (; i + scatter_tables <= rows; i += scatter_tables) {
                for (std::size_t k = 0; k < scatter_tables; ++k) {
                    add_to(counts + k * entries, i + k);
                }
            }
            for (std::size_t k = 1; k < scatter_tables; ++k) {
                for (std::size_t entry = 0; entry < entries; ++entry) {
                    counts[entry] += counts[k * entries + entry];
                }
            }
        }
        for (; i < rows; ++i) {
            add_to(counts, i);
        }
    }
};

}  // namespace

CandidateKinds::CandidateKinds(const PackedTable& table, std::span<const std::uint32_t> candidates)
    : count(candidates.size()) {
    for (const std::uint32_t x : candidates) {
        const std::uint32_t levels = table.levels(x);
        most_levels = std::max(most_levels, levels);
        present |= 1u << std::min(levels, plane_levels + 1);
    }
}

Shape shape_of(const PackedTable& table, const Cells& cells, const CandidateKinds& candidates, FunctionalKind kind) {
    Shape shape;
    shape.functional = kind;
    shape.rows = table.rows();
    shape.cells = cells.size();
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t in_stratum = cells.stratum_begin[z + 1] - cells.stratum_begin[z];
        shape.varying += in_stratum > 1 ? in_stratum : 0;
    }
    shape.complete = cells.complete;
    shape.has_masks = cells.has_masks();
    shape.has_cell_of_row = !cells.cell_of_row.empty();
    shape.has_rows = !cells.rows_begin.empty();
    shape.candidates = candidates.count;
    shape.max_levels = candidates.most_levels;
    shape.levels_present = candidates.present;
    shape.ones_are_few = table.ones_are_few();
    shape.distinct_rows = !table.frequencies().empty();
    return shape;
}

PreparedCells::PreparedCells(const PackedTable& table, Cells& cells, const CandidateKinds& candidates,
                             FunctionalKind kind, CountingStrategy strategy)
    : table_(table), cells_(cells), plan_(choose(shape_of(table, cells, candidates, kind), kernels().costs, strategy)) {
    if (plan_.masks) {
        cells.need_masks();
        masks_.reserve(cells.size());
        mask_cell_.reserve(cells.size());
        for (std::size_t z = 0; z < cells.strata(); ++z) {
            const std::size_t begin = cells.stratum_begin[z];
            const std::size_t end = cells.stratum_begin[z + 1];
            for (std::size_t c = begin; c < end && (!plan_.skips || end - begin > 1); ++c) {
                if (!plan_.by_rest || c != cells.largest) {
                    masks_.push_back(cells.mask(c));
                    mask_cell_.push_back(static_cast<std::uint32_t>(c));
                }
            }
        }
    }
    if (plan_.cell_of_row) {
        cells.need_cell_of_row();
    }
    if (plan_.rows_by_cell) {
        cells.need_rows();
    }
    if (plan_.ones) {
        ones_ = &table.ones();
        stratum_of_cell_.resize(cells.size());
        for (std::size_t z = 0; z < cells.strata(); ++z) {
            std::fill(stratum_of_cell_.begin() + cells.stratum_begin[z],
                      stratum_of_cell_.begin() + cells.stratum_begin[z + 1], static_cast<std::uint32_t>(z));
        }
    }
}

Plan::Choice PreparedCells::choice(std::size_t candidate) const {
    const std::uint32_t levels = table_.levels(candidate);
    if (by_ones(candidate, levels)) {
        const Costs& costs = kernels().costs;
        return {CountingStrategy::ones, costs.one * table_.total(candidate, 1) + costs.ones_start};
    }
    return plan_.of(levels);
}

template <class Functional>
typename Functional::Total CandidateCounter::operator()(const PreparedCells& cells, std::size_t candidate,
                                                        const Functional& functional) {
    const std::uint32_t levels = cells.table_.levels(candidate);
    if (functional.is_zero(cells.cells_, levels)) {
        return {};
    }
    if (cells.by_ones(candidate, levels)) {
        return by_ones(cells, candidate, functional);
    }
    switch (cells.plan_.of(levels).strategy) {
        case CountingStrategy::planes: return by_planes(cells, candidate, functional);
        case CountingStrategy::scatter: return by_scatter(cells, candidate, functional);
        default: return by_sparse(cells, candidate, functional);
    }
}

template <class Functional>
typename Functional::Total CandidateCounter::by_planes(const PreparedCells& cells, std::size_t candidate,
                                                       const Functional& f) {
    const PackedTable& table = cells.table_;
    const std::size_t masks = cells.masks_.size();
    const std::uint32_t planes = table.levels(candidate) - 1;
    masked_.resize(std::max(masked_.size(), masks * planes));
    for (std::uint32_t level = 1; level <= planes; ++level) {
        kernels().and_popcounts(table.plane(candidate, level), cells.masks_.data(), masks, table.plane_words(),
                                masked_.data() + (level - 1) * masks);
    }
    return add_planes(cells, candidate, f, masked_.data());
}

// Adds up what a candidate's planes have in the masks: of level l, mask k, masked[(l − 1) * masks + k].
template <class Functional>
typename Functional::Total CandidateCounter::add_planes(const PreparedCells& cells, std::size_t candidate,
                                                        const Functional& f, const std::uint32_t* masked) {
    const PackedTable& table = cells.table_;
    const std::size_t masks = cells.masks_.size();
    const std::size_t all = cells.cells_.size();
    const std::uint32_t planes = table.levels(candidate) - 1;
    const std::uint32_t* counts = masked;
    if (masks < all) {
        counts_.resize(std::max(counts_.size(), all * planes));
        std::uint32_t* to = counts_.data();
        const std::size_t largest = cells.cells_.largest;
        for (std::uint32_t level = 1; level <= planes; ++level, masked += masks, to += all) {
            if (cells.plan_.by_rest) {  // then the largest cell alone has no mask
                std::uint32_t rest = table.total(candidate, level);
                for (std::size_t k = 0; k < masks; ++k) {
                    to[k + (k >= largest)] = masked[k];
                    rest -= masked[k];
                }
                to[largest] = rest;
                continue;
            }
            for (std::size_t k = 0; k < masks; ++k) {
                to[cells.mask_cell_[k]] = masked[k];
            }
        }
        counts = counts_.data();
    }
    typename Functional::Total total = f.start();
    f.add(total, DenseCounts{counts, planes + 1}, cells.cells_);
    return total;
}

// A few rows of eight planes are counted with every mask while they are near; planes come from memory once, masks once
// for every block.
void CandidateCounter::count_together(const PreparedCells& cells, std::span<const std::uint32_t> candidates) {
    const PackedTable& table = cells.table_;
    const auto [near_words, block_words] = std::pair(kernels().costs.near_words, kernels().costs.block_words);
    const std::size_t masks = cells.masks_.size();
    std::vector<const std::uint64_t*> planes;
    for (const std::uint32_t candidate : candidates) {
        for (std::uint32_t level = 1; level < table.levels(candidate); ++level) {
            planes.push_back(table.plane(candidate, level));
        }
    }
    masked_.assign(std::max(masked_.size(), planes.size() * masks), 0);
    for (std::size_t block = 0; block < table.plane_words(); block += block_words) {
        const std::size_t end = std::min(block + block_words, table.plane_words());
        for (std::size_t first = 0; first < planes.size(); first += 8) {
            const std::size_t count = std::min<std::size_t>(8, planes.size() - first);
            for (std::size_t begin = block; begin < end; begin += near_words) {
                const std::uint64_t* here[8];
                for (std::size_t k = 0; k < count; ++k) {
                    here[k] = planes[first + k] + begin;
                }
                for (std::size_t mask = 0; mask < masks; ++mask) {
                    std::uint32_t found[8];
                    kernels().and_popcounts(cells.masks_[mask] + begin, here, count, std::min(near_words, end - begin),
                                            found);
                    for (std::size_t k = 0; k < count; ++k) {
                        masked_[(first + k) * masks + mask] += found[k];
                    }
                }
            }
        }
    }
    next_ = 0;
}

template <class Functional>
typename Functional::Total CandidateCounter::next_total(const PreparedCells& cells, std::size_t candidate,
                                                        const Functional& functional) {
    const std::uint32_t levels = cells.table_.levels(candidate);
    const std::uint32_t* const masked = masked_.data() + next_;
    next_ += (levels - 1) * cells.masks_.size();
    if (functional.is_zero(cells.cells_, levels)) {
        return {};
    }
    return add_planes(cells, candidate, functional, masked);
}

void CandidateCounter::unpack(const PreparedCells& cells, std::size_t candidate) {
    codes_.resize(cells.table_.rows());
    cells.table_.unpack(candidate, codes_);
}

template <class Functional>
typename Functional::Total CandidateCounter::by_scatter(const PreparedCells& cells, std::size_t candidate,
                                                        const Functional& f) {
    const std::uint32_t levels = cells.table_.levels(candidate);
    const std::size_t all = cells.cells_.size();
    unpack(cells, candidate);
    // Rows that follow one another are often of one cell and level: four tables have them wait less for one another.
    const bool apart = all * levels * scatter_tables <= codes_.size() / 4;
    const std::size_t tables = apart ? scatter_tables : 1;
    counts_.resize(std::max(counts_.size(), all * levels * tables));
    std::fill_n(counts_.data(), all * levels * tables, 0u);
    const Scatter scatter{codes_.data(), cells.cells_.cell_of_row.data(), codes_.size(), all, all * levels};
    if (const std::span<const std::uint32_t> frequencies = cells.table_.frequencies(); frequencies.empty()) {
        scatter.add(counts_.data(), apart, [](std::size_t) { return 1u; });
    } else {
        scatter.add(counts_.data(), apart, [&](std::size_t row) { return frequencies[row]; });
    }
    typename Functional::Total total = f.start();
    f.add(total, DenseCounts{counts_.data() + all, levels}, cells.cells_);
    return total;
}

template <class Functional>
typename Functional::Total CandidateCounter::by_sparse(const PreparedCells& prepared, std::size_t candidate,
                                                       const Functional& f) {
    const Cells& cells = prepared.cells_;
    const std::uint32_t levels = prepared.table_.levels(candidate);
    unpack(prepared, candidate);
    const std::span<const std::uint32_t> frequencies = prepared.table_.frequencies();
    counts_.assign(std::max<std::size_t>(counts_.size(), levels), 0);
    margin_.assign(std::max<std::size_t>(margin_.size(), levels), 0);
    typename Functional::Total total = f.start();
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        const std::size_t begin = cells.stratum_begin[z];
        const std::size_t end = cells.stratum_begin[z + 1];
        if (end - begin < Functional::min_cells) {
            continue;
        }
        met_.clear();
        met_in_cell_.clear();
        ends_.clear();
        for (std::size_t c = begin; c < end; ++c) {
            const std::size_t first = met_in_cell_.size();
            for (std::size_t k = cells.rows_begin[c]; k < cells.rows_begin[c + 1]; ++k) {
                const std::uint32_t row = cells.rows[k];
                const std::uint16_t level = codes_[row];
                if (counts_[level] == 0) {
                    met_in_cell_.push_back({level, 0});
                }
                counts_[level] += frequencies.empty() ? 1 : frequencies[row];
            }
            for (std::size_t k = first; k < met_in_cell_.size(); ++k) {
                auto& [level, count] = met_in_cell_[k];
                count = counts_[level];
                counts_[level] = 0;
                if (margin_[level] == 0) {
                    met_.push_back(level);
                }
                margin_[level] += count;
            }
            ends_.push_back(static_cast<std::uint32_t>(met_in_cell_.size()));
        }
        f.add(total,
              SparseStratum{met_in_cell_, ends_, met_, margin_.data(),
                            std::span<const std::uint32_t>(cells.count.data() + begin, end - begin), z, begin,
                            cells.stratum_count[z]},
              levels);
        for (const std::uint32_t level : met_) {
            margin_[level] = 0;
        }
    }
    return total;
}

// Only cells and strata in which the candidate is one somewhere are looked at.
template <class Functional>
typename Functional::Total CandidateCounter::by_ones(const PreparedCells& prepared, std::size_t candidate,
                                                     const Functional& f) {
    const Cells& cells = prepared.cells_;
    cell_ones_.resize(std::max(cell_ones_.size(), cells.size()), 0);  // both are left all nought
    stratum_ones_.resize(std::max(stratum_ones_.size(), cells.strata()), 0);
    touched_cells_.clear();
    touched_strata_.clear();
    const Ones& ones = *prepared.ones_;
    for (std::size_t k = ones.start[candidate]; k < ones.start[candidate + 1]; ++k) {
        const std::uint32_t cell = cells.cell_of_row[ones.rows[k]];
        if (cell_ones_[cell]++ == 0) {
            touched_cells_.push_back(cell);
        }
    }
    typename Functional::Total total = f.start_of_ones();
    for (const std::uint32_t cell : touched_cells_) {
        const std::uint32_t a = cell_ones_[cell];
        cell_ones_[cell] = 0;
        f.add_ones_in_cell(total, a, cells.count[cell]);
        const std::uint32_t z = prepared.stratum_of_cell_[cell];
        if (stratum_ones_[z] == 0) {
            touched_strata_.push_back(z);
        }
        stratum_ones_[z] += a;
    }
    for (const std::uint32_t z : touched_strata_) {
        const std::uint32_t a = stratum_ones_[z];
        stratum_ones_[z] = 0;
        f.add_ones_in_stratum(total, a, cells.stratum_count[z], cells.stratum_begin[z + 1] - cells.stratum_begin[z]);
    }
    return total;
}

#define SERAPE_COUNT_FOR(Functional)                                                                               \
    template Functional::Total CandidateCounter::operator()(const PreparedCells&, std::size_t, const Functional&); \
    template Functional::Total CandidateCounter::next_total(const PreparedCells&, std::size_t, const Functional&);
SERAPE_COUNT_FOR(StatisticFunctional)
SERAPE_COUNT_FOR(LikelihoodFunctional)
SERAPE_COUNT_FOR(DirichletFunctional)
SERAPE_COUNT_FOR(RecordFunctional)
#undef SERAPE_COUNT_FOR

}  // namespace serape
