#include "serape/counting/pair_counter.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "serape/bits.hpp"
#include "serape/kernels.hpp"
#include "serape/parallel.hpp"

namespace serape {

bool PairPool::pays(const PackedTable& table, const Cells& cells, std::span<const std::uint32_t> pool,
                    const CandidateKinds& xs) {
    const PairShape shape{table.rows(),   cells.size(), cells.complete,      xs.count,
                          xs.most_levels, pool.size(),  xs.all_have_planes()};
    const auto fits = [&](std::uint32_t column) { return table.has_planes(column) && table.levels(column) > 1; };
    return pairs_pay(shape, kernels().costs) && std::all_of(pool.begin(), pool.end(), fits);
}

PairPool::PairPool(const PackedTable& table, const Statistic& statistic, const Cells& cells,
                   std::uint32_t target_levels, std::span<const std::uint32_t> pool, std::size_t threads)
    : table_(table),
      statistic_(statistic),
      cells_(cells),
      target_levels_(target_levels),
      panels_(table.panels(pool, threads)),
      ones_(table.ones_are_few() ? &table.ones() : nullptr),
      simple_(statistic.kind() == StatisticKind::g2),
      pairs_(target_levels == 2 && cells.size() == 2 * cells.strata()),
      in_cell_(panels_.count * line_bits * cells.size()),
      constant_(pool.size()) {
    cells_.need_cell_of_row();
    // Each term is rounded to the nearest whole number, and a cell or stratum adds less than 32 to two sums.
    rounding_ = static_cast<std::int64_t>(16 * (cells_.size() + cells_.strata()));
    for (const std::uint32_t member : pool) {
        levels_of_.push_back(static_cast<std::uint8_t>(table.levels(member)));
    }
    std::vector<std::optional<PairCounter>> counters(std::max<std::size_t>(threads, 1));
    CancellationToken token;
    parallel_for(panels_.count, 1, threads, token, [&](std::size_t panel, std::size_t, std::size_t worker) {
        if (!counters[worker]) {
            counters[worker].emplace(*this).list_cells();
        }
        counters[worker]->count_cells(panel, in_cell_.data() + panel * line_bits * cells_.size());
        for (std::size_t member = panels_.first_column[panel]; member < panels_.first_column[panel + 1]; ++member) {
            constant_[member] = -in_strata(in_cell_.data() + panels_.slot[member] * cells_.size());
        }
    });
}

// What a binary column adds to G² in the cells, beside what does not depend on it: Σ n ln n over the cells divided by
// it, less the same over the strata.
std::int64_t PairPool::in_strata(const std::uint32_t* counts) const {
    const LogTable& log = statistic_.log();
    std::int64_t sum = 0;
    for (std::size_t z = 0; z < cells_.strata(); ++z) {
        std::uint32_t ones = 0;
        for (std::size_t c = cells_.stratum_begin[z]; c < cells_.stratum_begin[z + 1]; ++c) {
            sum += log(counts[c]) + log(cells_.count[c] - counts[c]);
            ones += counts[c];
        }
        sum -= log(ones) + log(cells_.stratum_count[z] - ones);
    }
    return sum;
}

// The lists of all rows but those of the largest cell.
void PairCounter::list_cells() {
    const Cells& cells = pool_.cells_;
    levels_ = 2;
    of_x_.assign(cells.size(), 0);
    listed_.clear();
    for (std::uint32_t row = 0; row < pool_.table_.rows(); ++row) {
        if (cells.cell_of_row[row] != cells.largest) {
            listed_.push_back({row, cells.cell_of_row[row]});
        }
    }
    make_lists();
}

// Writes the rows of each bit of a panel in each cell; what the others leave is in the largest.
void PairCounter::count_cells(std::size_t panel, std::uint32_t* out) {
    const Cells& cells = pool_.cells_;
    count(panel);
    for (std::size_t bit = 0; bit < line_bits; ++bit, out += cells.size()) {
        std::uint32_t rest = pool_.panels_.totals[panel * line_bits + bit];
        for (std::size_t c = 0; c < cells.size(); ++c) {
            out[c] = counts_[c * line_bits + bit];
            rest -= out[c];
        }
        out[cells.largest] = rest;
    }
}

void PairCounter::take(std::uint32_t x) {
    levels_ = pool_.table_.levels(x);
    of_x_.assign((levels_ - 1) * pool_.cells_.size(), 0);
    if (levels_ == 2 && pool_.ones_ != nullptr) {
        const std::size_t begin = pool_.ones_->start[x];
        listed_.resize(pool_.ones_->start[x + 1] - begin);
        for (std::size_t k = 0; k < listed_.size(); ++k) {
            const std::uint32_t row = pool_.ones_->rows[begin + k];
            listed_[k] = {row, pool_.cells_.cell_of_row[row]};
        }
    } else {
        listed_.clear();
        for (std::uint32_t level = 1; level < levels_; ++level) {
            const auto first = static_cast<std::uint32_t>((level - 1) * pool_.cells_.size());
            for_each_one(pool_.table_.plane(x, level), 0, pool_.table_.plane_words(),
                         [&](std::uint32_t row) { listed_.push_back({row, first + pool_.cells_.cell_of_row[row]}); });
        }
    }
    make_lists();
    if (pool_.simple_ && levels_ == 2) {
        alone_ = pool_.in_strata(of_x_.data());
        alone_dof_ = 0;
        for (std::size_t z = 0; z < pool_.cells_.strata(); ++z) {
            const std::size_t first = pool_.cells_.stratum_begin[z];
            const std::size_t last = pool_.cells_.stratum_begin[z + 1];
            const std::size_t ones = std::accumulate(of_x_.begin() + first, of_x_.begin() + last, std::size_t{0});
            alone_dof_ += ones != 0 && ones != pool_.cells_.stratum_count[z] ? last - first - 1 : 0;
        }
    }
}

void PairCounter::make_lists() {
    for (const auto& [row, list] : listed_) {
        ++of_x_[list];
    }
    begin_.resize(of_x_.size() + 1);
    begin_[0] = 0;
    for (std::size_t list = 0; list < of_x_.size(); ++list) {
        begin_[list + 1] = begin_[list] + (of_x_[list] + 7) / 8 * 8;
    }
    rows_.assign(begin_.back(), static_cast<std::uint32_t>(pool_.table_.rows()));
    for (const auto& [row, list] : listed_) {
        rows_[begin_[list]++] = row;
    }
    for (std::size_t list = 0; list < of_x_.size(); ++list) {
        begin_[list] -= of_x_[list];
    }
    counts_.resize(std::max(counts_.size(), of_x_.size() * line_bits));
    counted_ = nothing;
}

void PairCounter::count(std::size_t panel) {
    for (std::size_t list = 0; list < of_x_.size(); ++list) {
        std::uint16_t* out = counts_.data() + list * line_bits;
        if (of_x_[list] == 0) {
            std::fill_n(out, line_bits, std::uint16_t{0});
            continue;
        }
        kernels().count_bits(pool_.panels_.panel(panel), rows_.data() + begin_[list], begin_[list + 1] - begin_[list],
                             nullptr, out);
    }
    counted_ = panel;
}

// Any levels, any statistic.
Sum PairCounter::any(std::size_t bit, const std::uint32_t* of_member, std::uint32_t member_levels) {
    const std::size_t cells = pool_.cells_.size();
    const double scale = pool_.statistic_.scale(levels_, pool_.target_levels_);
    Sum sum;
    for (std::size_t z = 0; z < pool_.cells_.strata(); ++z) {
        for (std::uint32_t level = 0; level < member_levels; ++level) {
            // What level 0 of the member has is what the others leave.
            const auto rest = [&](std::uint32_t all, const auto& of_level) {
                if (level > 0) {
                    return static_cast<std::uint32_t>(of_level(level));
                }
                for (std::uint32_t other = 1; other < member_levels; ++other) {
                    all -= of_level(other);
                }
                return all;
            };
            part_.clear();
            sizes_.clear();
            std::uint32_t n = 0;
            for (std::size_t c = pool_.cells_.stratum_begin[z]; c < pool_.cells_.stratum_begin[z + 1]; ++c) {
                const std::uint32_t size =
                    rest(pool_.cells_.count[c], [&](std::uint32_t l) { return of_member[(l - 1) * cells + c]; });
                if (size == 0) {
                    continue;
                }
                sizes_.push_back(size);
                n += size;
                for (std::uint32_t x = 0; x + 1 < levels_; ++x) {
                    const std::uint16_t* both = counts_.data() + (x * cells + c) * line_bits + bit;
                    part_.push_back(
                        rest(of_x_[x * cells + c], [&](std::uint32_t l) { return std::uint32_t{both[l - 1]}; }));
                }
            }
            sum.value += pool_.statistic_.constant(sizes_.data(), sizes_.size(), n);
            pool_.statistic_.add(sum,
                                 Stratum<std::uint32_t>{part_.data(), levels_ - 1, 1, sizes_.data(), sizes_.size(), n},
                                 levels_, scale);
        }
    }
    return sum;
}

}  // namespace serape
