#include "serape/panel_counter.hpp"

#include <algorithm>

#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr std::size_t most_rows_at_once = 65'528;  // the kernel counts in 16 bits
constexpr std::size_t largest_pair_tables = 1u << 17;

struct Reading {
    std::size_t rows;
    bool subtract_largest;
};

// Which rows are read: all but the largest cell's, or all but those of strata in which the target is constant (these
// add nothing), whichever is fewer.
Reading reading(const PackedTable& table, const Cells& cells) {
    std::size_t idle = 0;
    for (std::size_t z = 0; z < cells.strata(); ++z) {
        if (cells.stratum_begin[z + 1] - cells.stratum_begin[z] < 2) {
            idle += cells.stratum_count[z];
        }
    }
    const std::size_t largest = cells.count[cells.largest];
    return {table.rows() - std::max(idle, largest), largest >= idle};
}

}  // namespace

double PanelPlan::cost(const PackedTable& table, const Cells& cells, std::size_t panels) {
    const auto rows = static_cast<double>(reading(table, cells).rows);
    const double panel_bytes = static_cast<double>(table.rows()) * line_bytes;
    // Beyond the caches every line waits for memory.
    const double wait = panel_bytes * static_cast<double>(panels) > 24e6 ? 1.5 : 0.0;
    const double listing = 2.0 * static_cast<double>(table.rows());
    return static_cast<double>(panels) *
               (rows * (kernels().row_cost + wait) + static_cast<double>(cells.size()) * kernels().digit_cost) +
           listing;
}

PanelPlan::PanelPlan(const PackedTable& table, const Statistic& statistic, Cells& cells, std::uint32_t target_levels,
                     bool adjusted_dof)
    : table_(table), statistic_(statistic), cells_(cells), panels_(table.panels()), adjusted_(adjusted_dof) {
    cells.need_rows();
    subtract_largest_ = reading(table, cells).subtract_largest;
    const LogTable& log = statistic.log();
    const bool pair_tables = statistic.kind() == StatisticKind::g2 && table.rows() <= largest_pair_tables;

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

PanelCounter::PanelCounter(const PanelPlan& plan)
    : plan_(plan), seen_(line_bits), block_(line_bits), value_(line_bits), dof_(line_bits) {
    std::size_t widest = 0;
    for (const auto& stratum : plan.strata_) {
        widest = std::max<std::size_t>(widest, stratum.end - stratum.begin);
    }
    counts_.resize(widest * line_bits);
}

void PanelCounter::operator()(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value,
                              std::int64_t* dof) {
    if (plan_.table_.rows() <= most_rows_at_once) {
        count<std::uint16_t>(panel, candidates, value, dof);
    } else {
        count<std::uint32_t>(panel, candidates, value, dof);
    }
}

template <class Count>
void PanelCounter::count_cell(std::size_t panel, std::size_t cell, Count* out) {
    const Cells& cells = plan_.cells_;
    const Line* lines = plan_.panels_.panel(panel);
    // The next panel is fetched meanwhile, if both fit the second-level cache.
    const bool fetch = panel + 1 < plan_.panels_.count && plan_.table_.rows() <= 6'000;
    const Line* ahead = fetch ? plan_.panels_.panel(panel + 1) : nullptr;
    const std::uint32_t* rows = cells.rows.data() + cells.rows_begin[cell];
    const std::size_t listed = cells.rows_begin[cell + 1] - cells.rows_begin[cell];
    if constexpr (sizeof(Count) == 2) {
        kernels().count_bits(lines, rows, listed, ahead, out);
    } else {
        std::fill_n(out, line_bits, Count{0});
        for (std::size_t begin = 0; begin < listed; begin += most_rows_at_once) {
            kernels().count_bits(lines, rows + begin, std::min(most_rows_at_once, listed - begin), ahead,
                                 block_.data());
            for (std::size_t b = 0; b < line_bits; ++b) {
                out[b] += block_[b];
            }
        }
    }
}

// Adds a stratum to value_ and dof_ of the bits begin … end−1, each a binary candidate. G² only.
template <class Count>
void PanelCounter::add_binary(const PanelPlan::StratumWork& stratum, const Count* counts, std::size_t begin,
                              std::size_t end) {
    const std::size_t cells = stratum.end - stratum.begin;
    const PanelPlan::CellWork* work = plan_.work_.data() + stratum.begin;
    const std::uint32_t n = plan_.cells_.stratum_count[stratum.stratum];
    if (stratum.pair != nullptr && cells == 2) {
        const std::int64_t* pair_0 = work[0].pair;
        const std::int64_t* pair_1 = work[1].pair;
        const std::int64_t* pair = stratum.pair;
        for (std::size_t b = begin; b < end; ++b) {
            const std::size_t a_0 = counts[b];
            const std::size_t a_1 = counts[line_bits + b];
            value_[b] += pair_0[a_0] + pair_1[a_1] - pair[a_0 + a_1];
        }
    } else {
        const LogTable& log = plan_.statistic_.log();
        for (std::size_t b = begin; b < end; ++b) {
            std::uint32_t margin = 0;
            std::int64_t value = 0;
            for (std::size_t c = 0; c < cells; ++c) {
                const std::uint32_t a = counts[c * line_bits + b];
                margin += a;
                value += work[c].pair != nullptr ? work[c].pair[a] : log(a) + log(plan_.cells_.count[work[c].cell] - a);
            }
            value_[b] += value - (stratum.pair != nullptr ? stratum.pair[margin] : log(margin) + log(n - margin));
        }
    }
    if (plan_.adjusted_) {
        const auto freedom = static_cast<std::uint32_t>(cells - 1);
        for (std::size_t b = begin; b < end; ++b) {
            std::uint32_t margin = 0;
            for (std::size_t c = 0; c < cells; ++c) {
                margin += counts[c * line_bits + b];
            }
            dof_[b] += margin != 0 && margin != n ? freedom : 0;
        }
    }
}

template <class Count>
void PanelCounter::count(std::size_t panel, std::span<const std::uint32_t> candidates, std::int64_t* value,
                         std::int64_t* dof) {
    const PackedTable& table = plan_.table_;
    const Panels& panels = plan_.panels_;
    const std::size_t first_bit = panel * line_bits;
    const bool g2 = plan_.statistic_.kind() == StatisticKind::g2;

    // Binary candidates of G² are added up bit by bit over runs of neighbours, all others one by one.
    runs_.clear();
    single_.clear();
    if (g2 && panels.binary[panel] != 0 && candidates.back() - candidates.front() + 1 == candidates.size()) {
        runs_.push_back({0, panels.slot[candidates.front()] - first_bit, candidates.size()});
    } else {
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const std::size_t bit = panels.slot[candidates[k]] - first_bit;
            const std::uint32_t levels = table.levels(candidates[k]);
            if (!g2 || levels != 2) {
                single_.push_back({k, bit, levels});
                value[k] = plan_.constant_;
                dof[k] = 0;
            } else if (!runs_.empty() && runs_.back().position + runs_.back().length == k &&
                       runs_.back().bit + runs_.back().length == bit) {
                ++runs_.back().length;
            } else {
                runs_.push_back({k, bit, 1});
            }
        }
    }
    for (const Run& run : runs_) {
        std::fill_n(value_.data() + run.bit, run.length, plan_.constant_);
        std::fill_n(dof_.data() + run.bit, run.length, 0u);
    }

    auto* counts = reinterpret_cast<Count*>(counts_.data());
    auto* seen = reinterpret_cast<Count*>(seen_.data());
    std::fill_n(seen, line_bits, Count{0});
    for (const auto& stratum : plan_.strata_) {
        const std::size_t size = stratum.end - stratum.begin;
        for (std::size_t c = 0; c < size; ++c) {
            const std::uint32_t cell = plan_.work_[stratum.begin + c].cell;
            Count* out = counts + c * line_bits;
            if (plan_.subtract_largest_ && cell == plan_.cells_.largest) {
                const std::uint32_t* totals = panels.totals.data() + first_bit;
                for (std::size_t b = 0; b < line_bits; ++b) {
                    out[b] = static_cast<Count>(totals[b] - seen[b]);
                }
            } else {
                count_cell(panel, cell, out);
                for (std::size_t b = 0; b < line_bits; ++b) {
                    seen[b] = static_cast<Count>(seen[b] + out[b]);
                }
            }
        }
        if (size < 2) {
            continue;
        }
        for (const Run& run : runs_) {
            add_binary(stratum, counts, run.bit, run.bit + run.length);
        }
        for (const Single& one : single_) {
            Sum sum{value[one.position], dof[one.position]};
            plan_.statistic_.add(sum,
                                 Stratum<Count>{counts + one.bit, line_bits, plan_.sizes_.data() + stratum.begin, size,
                                                plan_.cells_.stratum_count[stratum.stratum]},
                                 one.levels, plan_.scale_[one.levels]);
            value[one.position] = sum.value;
            dof[one.position] = sum.dof;
        }
    }
    for (const Run& run : runs_) {
        std::copy_n(value_.data() + run.bit, run.length, value + run.position);
        std::copy_n(dof_.data() + run.bit, run.length, dof + run.position);
    }
}

}  // namespace serape
