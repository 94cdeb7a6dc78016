#include "serape/counting/panel_counter.hpp"

#include <algorithm>

#include "serape/bits.hpp"
#include "serape/counting/candidate_counter.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

// The bits 0, 1, … of candidates that are next to one another.
struct Consecutive {
    std::size_t count;
    std::size_t size() const { return count; }
    std::size_t operator[](std::size_t k) const { return k; }
};

// Rows of strata in which the target is constant: they add nothing.
std::size_t idle_rows(const Cells& cells) {
    std::size_t idle = 0;
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        if (cells.stratum_begin[z + 1] - cells.stratum_begin[z] < 2) {
            idle += cells.stratum_count[z];
        }
    }
    return idle;
}

}  // namespace

Shape sampled_shape(const PackedTable& table, const Cells& cells, std::span<const std::uint32_t> candidates,
                    FunctionalKind kind) {
    ScratchVector<std::uint32_t> sample;
    const std::size_t step = std::max<std::size_t>(candidates.size() / kernels().costs.sampled_candidates, 1);
    for (std::size_t k = 0; k < candidates.size(); k += step) {
        sample.push_back(candidates[k]);
    }
    Shape shape = shape_of(table, cells, CandidateKinds(table, sample), kind);
    shape.candidates = candidates.size();
    shape.ascending = kernels().ascending(candidates.data(), candidates.size());
    if (shape.ascending && !candidates.empty()) {
        shape.span = candidates.back() - candidates.front() + 1;
        shape.largest = cells.count[cells.largest];
        shape.idle = idle_rows(cells);
        for (const std::uint32_t x : sample) {
            if (table.has_planes(x)) {
                ++shape.sample[table.levels(x)];
            }
        }
    }
    return shape;
}

PanelPlan::PanelPlan(const PackedTable& table, const Statistic& statistic, Cells& cells, std::uint32_t target_levels,
                     bool adjusted_dof)
    : table_(table), statistic_(statistic), cells_(cells), panels_(table.panels()), adjusted_(adjusted_dof) {
    const Costs& costs = kernels().costs;
    // All rows are read but the largest cell's, or those that add nothing, whichever are more.
    subtract_largest_ = cells.count[cells.largest] >= idle_rows(cells);
    const bool blocked = table.rows() > costs.max_rows_unblocked && cells.size() <= costs.max_cells_blocked;
    block_rows_ = blocked ? costs.panel_block_rows : table.rows();
    list_rows(cells);
    const LogTable& log = statistic.log();
    const bool pair_tables = statistic.kind() == StatisticKind::g2 && table.rows() <= costs.max_rows_of_pair_tables;

    std::vector<std::uint32_t> order;
    for (std::uint32_t z = 0; z < cells.strata(); ++z) {
        if (cells.stratum_begin[z + 1] - cells.stratum_begin[z] >= 2 || subtract_largest_) {
            order.push_back(z);
        }
    }
    const auto holds_largest = [&](std::uint32_t z) {
        return subtract_largest_ && cells.stratum_begin[z] <= cells.largest &&
               cells.largest < cells.stratum_begin[z + 1];
    };
    std::stable_partition(order.begin(), order.end(), [&](std::uint32_t z) { return !holds_largest(z); });

    if (pair_tables) {
        std::size_t entries = 0;
        for (const std::uint32_t z : order) {
            entries +=
                2 * std::size_t{cells.stratum_count[z]} + 1 + cells.stratum_begin[z + 1] - cells.stratum_begin[z];
        }
        pairs_.reserve(entries);
    }
    const auto pair_table = [&](std::uint32_t n) -> const std::int64_t* {
        if (!pair_tables) {
            return nullptr;
        }
        const std::size_t begin = pairs_.size();
        pairs_.resize(begin + n + 1);
        for (std::uint32_t a = 0; a <= n; ++a) {
            pairs_[begin + a] = log(a) + log(n - a);
        }
        return pairs_.data() + begin;
    };
    for (const std::uint32_t z : order) {
        StratumWork stratum{z, static_cast<std::uint32_t>(work_.size()), 0, nullptr};
        for (std::uint32_t c = cells.stratum_begin[z]; c < cells.stratum_begin[z + 1]; ++c) {
            if (!(subtract_largest_ && c == cells.largest)) {
                work_.push_back({c, pair_table(cells.count[c])});
            }
        }
        if (holds_largest(z)) {
            const auto c = static_cast<std::uint32_t>(cells.largest);
            work_.push_back({c, pair_table(cells.count[c])});
        }
        stratum.end = static_cast<std::uint32_t>(work_.size());
        if (stratum.end - stratum.begin >= 2) {
            stratum.pair = pair_table(cells.stratum_count[z]);
            constant_ += statistic.constant(cells.count.data() + cells.stratum_begin[z], stratum.end - stratum.begin,
                                            cells.stratum_count[z]);
        }
        strata_.push_back(stratum);
    }
    for (const CellWork& work : work_) {
        sizes_.push_back(cells.count[work.cell]);
    }
    for (std::uint32_t levels = 2; levels <= plane_levels; ++levels) {
        scale_[levels] = statistic.scale(levels, target_levels);
    }
}

// Row numbers by block and cell, each list padded to a multiple of 8 with the panels' line of zeros. The largest cell
// is not listed if it is not read.
void PanelPlan::list_rows(Cells& cells) {
    const std::size_t rows = table_.rows();
    blocks_ = (rows + block_rows_ - 1) / block_rows_;
    const auto zeros = static_cast<std::uint32_t>(rows);
    rows_.reserve(rows + blocks_ * cells.size() * 7);
    if (cells.has_masks()) {
        for (std::size_t block = 0; block < blocks_; ++block) {
            const std::size_t first = block * block_rows_ / 64;
            const std::size_t last = std::min((rows + 63) / 64, first + (block_rows_ + 63) / 64);
            for (std::size_t c = 0; c < cells.size(); ++c) {
                rows_begin_.push_back(static_cast<std::uint32_t>(rows_.size()));
                if (subtract_largest_ && c == cells.largest) {
                    continue;
                }
                for_each_one(cells.mask(c), first, last, [&](std::uint32_t row) { rows_.push_back(row); });
                rows_.resize((rows_.size() + 7) / 8 * 8, zeros);
            }
        }
        rows_begin_.push_back(static_cast<std::uint32_t>(rows_.size()));
        return;
    }
    std::vector<std::uint32_t> sizes(blocks_ * cells.size(), 0);
    for (std::size_t i = 0; i < rows; ++i) {
        ++sizes[i / block_rows_ * cells.size() + cells.cell_of_row[i]];
    }
    rows_begin_.assign(sizes.size() + 1, 0);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
        rows_begin_[k + 1] = rows_begin_[k] + (sizes[k] + 7) / 8 * 8;
    }
    rows_.assign(rows_begin_.back(), zeros);
    std::vector<std::uint32_t> next(rows_begin_.begin(), rows_begin_.end() - 1);
    for (std::size_t i = 0; i < rows; ++i) {
        rows_[next[i / block_rows_ * cells.size() + cells.cell_of_row[i]]++] = static_cast<std::uint32_t>(i);
    }
}

PanelCounter::PanelCounter(const PanelPlan& plan)
    : plan_(plan), seen_(line_bits), block_(line_bits), value_(line_bits), dof_(line_bits) {
    std::size_t widest = 0;
    for (const auto& stratum : plan.strata_) {
        widest = std::max<std::size_t>(widest, stratum.end - stratum.begin);
    }
    counts_.resize((plan.blocks_ > 1 ? plan.work_.size() : widest) * line_bits);
}

void PanelCounter::operator()(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value,
                              std::int64_t* dof) {
    if (plan_.table_.rows() <= max_rows_in_16_bits) {
        count<std::uint16_t>(panel, candidates, value, dof);
    } else {
        count<std::uint32_t>(panel, candidates, value, dof);
    }
}

// Counts one cell's rows of one block.
template <class Count>
void PanelCounter::count_cell(std::size_t panel, std::size_t block, std::size_t cell, Count* out) {
    const Line* lines = plan_.panels_.panel(panel);
    // What comes next, the following block or panel, is fetched meanwhile.
    const Line* ahead = nullptr;
    if (plan_.block_rows_ <= kernels().costs.max_rows_unblocked) {
        if (block + 1 < plan_.blocks_) {
            ahead = lines + plan_.block_rows_;
        } else if (panel + 1 < plan_.panels_.count) {
            ahead = plan_.panels_.panel(panel + 1) - block * plan_.block_rows_;
        }
    }
    const std::size_t list = block * plan_.cells_.size() + cell;
    const std::uint32_t* rows = plan_.rows_.data() + plan_.rows_begin_[list];
    const std::size_t listed = plan_.rows_begin_[list + 1] - plan_.rows_begin_[list];
    if (sizeof(Count) == 2 && plan_.blocks_ == 1) {
        kernels().count_bits(lines, rows, listed, ahead, reinterpret_cast<std::uint16_t*>(out));
        return;
    }
    for (std::size_t begin = 0; begin < listed; begin += max_rows_in_16_bits) {
        kernels().count_bits(lines, rows + begin, std::min(max_rows_in_16_bits, listed - begin), ahead, block_.data());
        for (std::size_t b = 0; b < line_bits; ++b) {
            out[b] = static_cast<Count>(out[b] + block_[b]);
        }
    }
}

// Adds a stratum to value_ and dof_ of binary candidates. G² only.
template <class Count, class Bits>
void PanelCounter::add_binary(const PanelPlan::StratumWork& stratum, const Count* counts, const Bits& bits) {
    const std::size_t cells = stratum.end - stratum.begin;
    const PanelPlan::CellWork* work = plan_.work_.data() + stratum.begin;
    const std::uint32_t n = plan_.cells_.stratum_count[stratum.stratum];
    const std::size_t size = bits.size();
    std::int64_t* const value = value_.data();
    if (stratum.pair != nullptr && cells == 2) {
        const std::int64_t* pair_0 = work[0].pair;
        const std::int64_t* pair_1 = work[1].pair;
        const std::int64_t* pair = stratum.pair;
        const auto add = [&]<bool adjusted>() {
            for (std::size_t k = 0; k < size; ++k) {
                const std::size_t a_0 = counts[bits[k]];
                const std::size_t a_1 = counts[line_bits + bits[k]];
                value[k] += pair_0[a_0] + pair_1[a_1] - pair[a_0 + a_1];
                if (adjusted) {
                    dof_[k] += a_0 + a_1 != 0 && a_0 + a_1 != n;
                }
            }
        };
        plan_.adjusted_ ? add.template operator()<true>() : add.template operator()<false>();
        return;
    }
    const LogTable& log = plan_.statistic_.log();
    for (std::size_t k = 0; k < size; ++k) {
        std::uint32_t margin = 0;
        std::int64_t sum = 0;
        for (std::size_t c = 0; c < cells; ++c) {
            const std::uint32_t a = counts[c * line_bits + bits[k]];
            margin += a;
            sum += work[c].pair != nullptr ? work[c].pair[a] : log(a) + log(plan_.cells_.count[work[c].cell] - a);
        }
        value[k] += sum - (stratum.pair != nullptr ? stratum.pair[margin] : log(margin) + log(n - margin));
        dof_[k] += margin != 0 && margin != n ? static_cast<std::uint32_t>(cells - 1) : 0;
    }
}

// Adds a stratum to candidates of one number of levels.
template <class Count>
void PanelCounter::add_singles(const PanelPlan::StratumWork& stratum, const Count* counts,
                               std::span<const Single> candidates, std::int64_t* value, std::int64_t* dof) const {
    const std::size_t cells = stratum.end - stratum.begin;
    const std::uint32_t* sizes = plan_.sizes_.data() + stratum.begin;
    const LogTable& log = plan_.statistic_.log();
    if (plan_.statistic_.kind() == StatisticKind::g2 && log.covers(plan_.table_.rows())) {
        const auto add = [&]<std::uint32_t Levels>() {
            add_levels<Levels>(counts, cells, sizes, log.data(), candidates, value, dof);
        };
        switch (candidates.front().levels) {
            case 3: add.template operator()<3>(); return;
            case 4: add.template operator()<4>(); return;
            case 5: add.template operator()<5>(); return;
            case 6: add.template operator()<6>(); return;
            default: break;
        }
    }
    for (const Single& one : candidates) {
        Sum sum{value[one.position], dof[one.position]};
        const Stratum<Count> counted{
            counts + one.bit, line_bits, 1, sizes, cells, plan_.cells_.stratum_count[stratum.stratum]};
        plan_.statistic_.add(sum, counted, one.levels, plan_.scale_[one.levels]);
        value[one.position] = sum.value;
        dof[one.position] = sum.dof;
    }
}

// The same for G², unrolled over the levels. `log` covers all counts.
template <std::uint32_t Levels, class Count>
void PanelCounter::add_levels(const Count* counts, std::size_t cells, const std::uint32_t* sizes,
                              const std::int64_t* log, std::span<const Single> candidates, std::int64_t* value,
                              std::int64_t* dof) {
    for (const Single& one : candidates) {
        std::uint32_t margin[Levels] = {};
        std::int64_t sum = 0;
        const Count* of_level = counts + one.bit;
        for (std::size_t c = 0; c < cells; ++c, of_level += line_bits) {
            std::uint32_t rest = sizes[c];
            for (std::uint32_t level = 1; level < Levels; ++level) {
                const std::uint32_t n = of_level[level - 1];
                sum += log[n];
                margin[level] += n;
                rest -= n;
            }
            sum += log[rest];
            margin[0] += rest;
        }
        std::int64_t occupied = 0;
        for (std::uint32_t level = 0; level < Levels; ++level) {
            sum -= log[margin[level]];
            occupied += margin[level] != 0;
        }
        value[one.position] += sum;
        dof[one.position] += (occupied - 1) * static_cast<std::int64_t>(cells - 1);
    }
}

template <class Count>
void PanelCounter::count(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value,
                         std::int64_t* dof) {
    const PackedTable& table = plan_.table_;
    const Panels& panels = plan_.panels_;
    const std::size_t first_bit = panel * line_bits;
    const bool g2 = plan_.statistic_.kind() == StatisticKind::g2;

    // Binary candidates of G² are added up side by side, all others one by one.
    binary_.clear();
    place_.clear();
    single_.clear();
    // Where most of a stretch is wanted, all of it is counted.
    const std::size_t from_first_to_last = candidates.back() - candidates.front() + std::size_t{1};
    const bool neighbours =
        g2 && panels.binary[panel] != 0 && from_first_to_last <= kernels().costs.max_stretch * candidates.size();
    const std::size_t offset = neighbours ? panels.slot[candidates.front()] - first_bit : 0;
    for (std::size_t k = 0; k < candidates.size() && !neighbours; ++k) {
        const std::size_t bit = panels.slot[candidates[k]] - first_bit;
        const std::uint32_t levels = table.levels(candidates[k]);
        if (g2 && levels == 2) {
            binary_.push_back(static_cast<std::uint16_t>(bit));
            place_.push_back(static_cast<std::uint16_t>(k));
        } else {
            single_.push_back({k, bit, levels});
            value[k] = plan_.constant_;
            dof[k] = 0;
        }
    }
    const std::size_t side_by_side = neighbours ? from_first_to_last : binary_.size();
    std::fill_n(value_.data(), side_by_side, plan_.constant_);
    std::fill_n(dof_.data(), side_by_side, 0u);

    auto* all_counts = reinterpret_cast<Count*>(counts_.data());
    const bool blocked = plan_.blocks_ > 1;
    const auto is_read = [&](std::size_t k) {
        return !plan_.subtract_largest_ || plan_.work_[k].cell != plan_.cells_.largest;
    };
    if (blocked) {
        std::fill_n(all_counts, plan_.work_.size() * line_bits, Count{0});
        for (std::size_t block = 0; block < plan_.blocks_; ++block) {
            for (std::size_t k = 0; k < plan_.work_.size(); ++k) {
                if (is_read(k)) {
                    count_cell(panel, block, plan_.work_[k].cell, all_counts + k * line_bits);
                }
            }
        }
    }
    auto* seen = reinterpret_cast<Count*>(seen_.data());
    std::fill_n(seen, line_bits, Count{0});
    for (const auto& stratum : plan_.strata_) {
        const std::size_t size = stratum.end - stratum.begin;
        Count* counts = blocked ? all_counts + stratum.begin * line_bits : all_counts;
        for (std::size_t c = 0; c < size; ++c) {
            Count* out = counts + c * line_bits;
            if (!is_read(stratum.begin + c)) {
                const std::uint32_t* totals = panels.totals.data() + first_bit;
                for (std::size_t b = 0; b < line_bits; ++b) {
                    out[b] = static_cast<Count>(totals[b] - seen[b]);
                }
                continue;
            }
            if (!blocked) {
                std::fill_n(out, sizeof(Count) == 2 ? 0 : line_bits, Count{0});
                count_cell(panel, 0, plan_.work_[stratum.begin + c].cell, out);
            }
            for (std::size_t b = 0; b < line_bits; ++b) {
                seen[b] = static_cast<Count>(seen[b] + out[b]);
            }
        }
        if (size < 2) {
            continue;
        }
        if (neighbours) {
            add_binary(stratum, counts + offset, Consecutive{side_by_side});
        } else {
            add_binary(stratum, counts, binary_);
        }
        for (std::size_t first = 0; first < single_.size();) {
            std::size_t last = first;
            while (last < single_.size() && single_[last].levels == single_[first].levels) {
                ++last;
            }
            add_singles(stratum, counts, {single_.data() + first, last - first}, value, dof);
            first = last;
        }
    }
    for (std::size_t k = 0; k < candidates.size() && neighbours; ++k) {
        value[k] = value_[candidates[k] - candidates.front()];
        dof[k] = dof_[candidates[k] - candidates.front()];
    }
    for (std::size_t k = 0; k < place_.size(); ++k) {
        value[place_[k]] = value_[k];
        dof[place_[k]] = dof_[k];
    }
}

}  // namespace serape
