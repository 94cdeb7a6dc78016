#include "serape/counting/count_table.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>

#include "serape/counting/candidate_counter.hpp"

namespace serape {
namespace {

auto key(const CountedCell& cell) {
    return std::tuple(cell.stratum, cell.target, cell.candidate);
}

bool before(const CountedCell& a, const CountedCell& b) {
    return key(a) < key(b);
}

}  // namespace

void RecordFunctional::add(Total& total, const DenseCounts& dense, const Cells& cells) const {
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        for (std::size_t c = cells.stratum_begin[z]; c < cells.stratum_begin[z + 1]; ++c) {
            const auto of_level = [&](std::uint32_t level) { return dense.counts[(level - 1) * cells.size() + c]; };
            std::int64_t rest = cells.count[c];
            for (std::uint32_t level = 1; level < dense.levels; ++level) {
                rest -= of_level(level);
            }
            for (std::uint32_t level = 0; level < dense.levels; ++level) {
                const std::int64_t n = level == 0 ? rest : of_level(level);
                if (n != 0) {
                    total.push_back({static_cast<std::int64_t>(z), target_of_cell_[c], level, n});
                }
            }
        }
    }
}

void RecordFunctional::add(Total& total, const SparseStratum& stratum, std::uint32_t) const {
    for (std::size_t c = 0, k = 0; c < stratum.sizes.size(); ++c) {
        for (; k < stratum.ends[c]; ++k) {
            total.push_back({static_cast<std::int64_t>(stratum.stratum), target_of_cell_[stratum.first_cell + c],
                             stratum.counts[k].level, stratum.counts[k].count});
        }
    }
}

void check_rows(const CountTable& table, std::size_t rows) {
    if (table.rows != rows || rows == 0 || rows > max_rows) {
        throw std::invalid_argument("counts of " + std::to_string(table.rows) + " rows where " + std::to_string(rows) +
                                    " are expected");
    }
}

CountTable counts(const PackedTable& table, std::size_t target, const PackedTable& source,
                  std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given, std::size_t threads,
                  CancellationToken& token, CountingStrategy strategy) {
    Cells cells(table, target, given);
    cells.need_cell_of_row();
    CountTable made;
    made.rows = table.rows();
    made.target_levels = table.levels(target);
    // What the cells and strata stand for, read off the rows.
    std::vector<std::uint16_t> codes(table.rows());
    std::vector<std::uint16_t> target_of_cell(cells.size());
    table.unpack(target, codes);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        target_of_cell[cells.cell_of_row[i]] = codes[i];
    }
    std::vector<std::size_t> stratum_of_cell(cells.size());
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        std::fill(stratum_of_cell.begin() + cells.stratum_begin[z],
                  stratum_of_cell.begin() + cells.stratum_begin[z + 1], z);
    }
    made.strata.resize(cells.strata() * given.size());
    for (std::size_t k = 0; k < given.size(); ++k) {
        made.given_levels.push_back(table.levels(given[k]));
        table.unpack(given[k], codes);
        for (std::size_t i = 0; i < codes.size(); ++i) {
            made.strata[stratum_of_cell[cells.cell_of_row[i]] * given.size() + k] = codes[i];
        }
    }
    made.begin.push_back(0);
    if (candidates.empty()) {
        made.candidate_levels.push_back(1);
        for (std::size_t c = 0; c < cells.size(); ++c) {
            made.cells.push_back({static_cast<std::int64_t>(stratum_of_cell[c]), target_of_cell[c], 0, cells.count[c]});
        }
        made.begin.push_back(made.cells.size());
        return made;
    }
    const RecordFunctional record(target_of_cell);
    const PreparedCells prepared(source, cells, CandidateKinds(source, candidates), record.kind(), strategy);
    std::vector<RecordFunctional::Total> lists(candidates.size());
    count_each(
        prepared, candidates, threads, token, [&](std::uint32_t) -> const RecordFunctional& { return record; },
        [&](std::size_t k, RecordFunctional::Total list) { lists[k] = std::move(list); });
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        made.candidate_levels.push_back(source.levels(candidates[k]));
        made.cells.insert(made.cells.end(), lists[k].begin(), lists[k].end());
        made.begin.push_back(made.cells.size());
    }
    return made;
}

CountedStrata::CountedStrata(const CountTable& table, std::size_t candidate) {
    const std::span<const CountedCell> listed = table.of(candidate);
    const std::uint32_t levels = table.candidate_levels[candidate];
    std::size_t rows = 0;
    for (const CountedCell& cell : listed) {
        if (cell.target < 0 || cell.target >= table.target_levels || cell.candidate < 0 || cell.candidate >= levels) {
            throw std::invalid_argument("candidate " + std::to_string(candidate) + " of these counts has a level (" +
                                        std::to_string(cell.target) + ", " + std::to_string(cell.candidate) +
                                        ") that does not exist");
        }
        if (cell.count < 0 || static_cast<std::size_t>(cell.count) > table.rows - rows) {
            throw std::invalid_argument("candidate " + std::to_string(candidate) +
                                        " of these counts has a negative count or more counts than rows");
        }
        rows += static_cast<std::size_t>(cell.count);
    }
    if (rows != table.rows) {
        throw std::invalid_argument("the counts of candidate " + std::to_string(candidate) + " add up to " +
                                    std::to_string(rows) + ", not to the " + std::to_string(table.rows) + " rows");
    }
    std::vector<CountedCell> sorted;
    std::span<const CountedCell> in_order = listed;
    if (!std::is_sorted(listed.begin(), listed.end(), before)) {
        sorted.assign(listed.begin(), listed.end());
        std::sort(sorted.begin(), sorted.end(), before);
        in_order = sorted;
    }
    cells_.reserve(in_order.size());
    for (const CountedCell& cell : in_order) {
        if (cell.count == 0) {
            continue;
        }
        if (!cells_.empty() && key(cells_.back()) == key(cell)) {
            cells_.back().count += cell.count;
        } else {
            cells_.push_back(cell);
        }
    }
    std::uint32_t in_stratum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
        const bool same_stratum = k > 0 && cells_[k].stratum == cells_[k - 1].stratum;
        if (!same_stratum || cells_[k].target != cells_[k - 1].target) {
            sizes_.push_back(0);
        }
        const auto n = static_cast<std::uint32_t>(cells_[k].count);
        sizes_.back() += n;
        in_stratum = same_stratum ? in_stratum + n : n;
        largest_cell_ = std::max(largest_cell_, sizes_.back());
        largest_stratum_ = std::max(largest_stratum_, in_stratum);
    }
    margin_.assign(levels, 0);
}

SparseStratum CountedStrata::next(std::size_t& first, std::size_t& cell) {
    for (const std::uint32_t level : met_) {
        margin_[level] = 0;
    }
    met_.clear();
    ends_.clear();
    counts_.clear();
    const std::int64_t stratum = cells_[first].stratum;
    std::uint32_t rows = 0;
    for (; first < cells_.size() && cells_[first].stratum == stratum; ++first) {
        const auto level = static_cast<std::uint32_t>(cells_[first].candidate);
        const auto count = static_cast<std::uint32_t>(cells_[first].count);
        if (counts_.empty() || cells_[first].target != cells_[first - 1].target) {
            ends_.push_back(0);
        }
        counts_.push_back({level, count});
        ends_.back() = static_cast<std::uint32_t>(counts_.size());
        if (margin_[level] == 0) {
            met_.push_back(level);
        }
        margin_[level] += count;
        rows += count;
    }
    const std::span<const std::uint32_t> sizes = std::span(sizes_).subspan(cell, ends_.size());
    cell += ends_.size();
    return {counts_, ends_, met_, margin_.data(), sizes, static_cast<std::size_t>(stratum), cell - ends_.size(), rows};
}

}  // namespace serape
