// G² and Pearson's X² in fixed point.
//
// Both statistics are sums over the strata z of the conditioning set. Every term is a function of integer counts,
// rounded once to a fixed-point integer; integers add up exactly in any order, so every kernel, thread and shard gives
// the same bits. With n.. the counts of a stratum,
//   G²/2 = Σ_xt f(n_xt) − Σ_x f(n_x) − Σ_t f(n_t) + f(n),  f(n) = n ln n,
//   X²   = Σ_xt (n_xt·n − n_x·n_t)² / (n·n_x·n_t).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "serape/counting/functional.hpp"
#include "serape/counting/plan.hpp"
#include "serape/log_table.hpp"

namespace serape {

enum class StatisticKind { g2, x2 };

// The sum of one candidate's terms, and the degrees of freedom of the strata that occur.
struct Sum {
    std::int64_t value = 0;
    std::int64_t dof = 0;  // adjusted: Σ (non-empty rows − 1)(non-empty columns − 1)
};

// Terms of G²: n ln n, from a LogTable or, if that covers all counts, from its numbers.
template <class Log>
struct LogTerms {
    const Log* log;
    std::int64_t cell(std::uint32_t n) const {
        if constexpr (std::is_same_v<Log, std::int64_t>) {
            return log[n];
        } else {
            return (*log)(n);
        }
    }
    std::int64_t margin(std::uint32_t n) const { return cell(n); }
    template <class Total>
    static void note(Total& total, std::int64_t, std::int64_t met, std::size_t cells) {
        if constexpr (std::is_same_v<Total, Sum>) {
            total.dof += (met - 1) * static_cast<std::int64_t>(cells - 1);
        }
    }
};

class Statistic {
  public:
    Statistic(StatisticKind kind, std::size_t rows, const LogTable& log) : kind_(kind), rows_(rows), log_(log) {}
    StatisticKind kind() const { return kind_; }
    FunctionalKind functional_kind() const {
        return kind_ == StatisticKind::g2 ? FunctionalKind::g2 : FunctionalKind::x2;
    }
    const LogTable& log() const { return log_; }

    // What a stratum of these cells adds to the sum of every candidate.
    std::int64_t constant(const std::uint32_t* sizes, std::size_t cells, std::uint32_t rows) const {
        if (kind_ != StatisticKind::g2 || cells < 2) {
            return 0;
        }
        std::int64_t value = log_(rows);
        for (std::size_t c = 0; c < cells; ++c) {
            value -= log_(sizes[c]);
        }
        return value;
    }

    // Adds all strata of a candidate, without their constants. `scale` is from scale(levels, t_levels).
    void add(Sum& sum, const DenseCounts& dense, const Cells& cells, double scale) const;
    void add(Sum& sum, const SparseStratum& stratum, double scale) const;
    // Adds a stratum without its constant.
    template <class Count>
    void add(Sum& sum, const Stratum<Count>& stratum, std::uint32_t levels, double scale) const {
        if (stratum.cells < 2) {
            return;  // the target does not vary here: nothing to learn
        }
        if (kind_ == StatisticKind::x2) {
            add_x2(sum, stratum, levels, scale);
            return;
        }
        switch (levels) {
            case 2: add_g2<2>(sum, stratum); break;
            case 3: add_g2<3>(sum, stratum); break;
            case 4: add_g2<4>(sum, stratum); break;
            case 5: add_g2<5>(sum, stratum); break;
            case 6: add_g2<6>(sum, stratum); break;
            case 7: add_g2<7>(sum, stratum); break;
            case 8: add_g2<8>(sum, stratum); break;
            default: {
                std::vector<std::uint32_t> margin(levels);
                add_terms(sum, stratum, levels, margin.data(), LogTerms<LogTable>{&log_});
                break;
            }
        }
    }

    // Fixed-point scale of X² for a candidate and target of so many levels (X² <= rows · (fewer levels − 1)); 1 for G².
    double scale(std::uint32_t x_levels, std::uint32_t t_levels) const;
    // The statistic a sum stands for.
    double value(std::int64_t sum, double scale) const {
        const double value = static_cast<double>(sum) * (kind_ == StatisticKind::g2 ? 2.0 * log_.unit() : 1.0 / scale);
        return value > 0.0 ? value : 0.0;  // rounding can leave −1e−12 where the statistic is nought
    }
    // A sum from which on G² is at least this; none is large enough for X².
    std::int64_t reaching(double statistic) const {
        const double sum = statistic / (2.0 * log_.unit()) + 2.0;
        return kind_ == StatisticKind::g2 && sum < 9e18 ? static_cast<std::int64_t>(sum)
                                                        : std::numeric_limits<std::int64_t>::max();
    }
    // X² of one non-empty cell in fixed point, and of all empty cells of a stratum together: Σ n_x n_t / n over them,
    // where `covered` is Σ n_x n_t over the others (all cells make n²). Neither depends on which variable is x.
    static std::int64_t x2_cell(std::uint32_t n_xt, std::uint32_t n_x, std::uint32_t n_t, std::uint32_t n,
                                double scale);
    static std::int64_t x2_empty(std::uint64_t covered, std::uint32_t n, double scale);

  private:
    template <std::uint32_t Levels, class Count>
    void add_g2(Sum& sum, const Stratum<Count>& stratum) const {
        std::uint32_t margin[Levels] = {};
        add_terms(sum, stratum, Levels, margin, LogTerms<LogTable>{&log_});
    }
    template <class Count>
    void add_x2(Sum& sum, const Stratum<Count>& stratum, std::uint32_t levels, double scale) const {
        std::uint32_t few[plane_levels];
        std::vector<std::uint32_t> many(levels <= plane_levels ? 0 : levels);
        std::uint32_t* const margin = levels <= plane_levels ? few : many.data();
        std::uint32_t occupied = 0;
        margin[0] = stratum.rows;
        for (std::uint32_t level = 1; level < levels; ++level) {
            margin[level] = 0;
            for (std::size_t c = 0; c < stratum.cells; ++c) {
                margin[level] += stratum.counts[c * stratum.cell_stride + (level - 1) * stratum.level_stride];
            }
            margin[0] -= margin[level];
            occupied += margin[level] != 0;
        }
        occupied += margin[0] != 0;
        if (occupied < 2) {
            return;
        }
        std::uint64_t covered = 0;
        std::int64_t value = 0;
        for (std::size_t c = 0; c < stratum.cells; ++c) {
            const Count* of_level = stratum.counts + c * stratum.cell_stride;
            std::uint32_t rest = stratum.sizes[c];
            const auto add_cell = [&](std::uint32_t n, std::uint32_t level) {
                if (n != 0) {
                    value += x2_cell(n, margin[level], stratum.sizes[c], stratum.rows, scale);
                    covered += std::uint64_t{margin[level]} * stratum.sizes[c];
                }
            };
            for (std::uint32_t level = 1; level < levels; ++level) {
                const std::uint32_t n = of_level[(level - 1) * stratum.level_stride];
                add_cell(n, level);
                rest -= n;
            }
            add_cell(rest, 0);
        }
        sum.value += value + x2_empty(covered, stratum.rows, scale);
        sum.dof += static_cast<std::int64_t>(occupied - 1) * static_cast<std::int64_t>(stratum.cells - 1);
    }

    StatisticKind kind_;
    std::size_t rows_;
    const LogTable& log_;
};

// The functional of a test: G² or X² of candidates in the cells of one question.
class StatisticFunctional {
  public:
    using Total = Sum;
    static constexpr std::size_t min_cells = 2;
    StatisticFunctional(const Statistic& statistic, const Cells& cells, std::uint32_t target_levels);

    FunctionalKind kind() const { return statistic_.functional_kind(); }
    bool is_zero(const Cells& cells, std::uint32_t levels) const {
        return cells.size() == cells.strata() ||
               levels < 2;  // the target varies in no stratum, or the candidate nowhere
    }
    Sum start() const { return {constant_, 0}; }
    void add(Sum& sum, const DenseCounts& dense, const Cells& cells) const {
        statistic_.add(sum, dense, cells, statistic_.scale(dense.levels, target_levels_));
    }
    void add(Sum& sum, const SparseStratum& stratum, std::uint32_t levels) const {
        statistic_.add(sum, stratum, statistic_.scale(levels, target_levels_));
    }
    // With a ones of a cell of n rows, f(a) + f(n−a) − f(n) is nought unless a > 0.
    Sum start_of_ones() const { return {}; }
    void add_ones_in_cell(Sum& sum, std::uint32_t a, std::uint32_t n) const { sum.value += divided(a, n); }
    void add_ones_in_stratum(Sum& sum, std::uint32_t a, std::uint32_t n, std::size_t cells) const {
        sum.value -= divided(a, n);
        sum.dof += a < n ? static_cast<std::int64_t>(cells - 1) : 0;
    }

  private:
    std::int64_t divided(std::uint32_t a, std::uint32_t n) const {
        const LogTable& log = statistic_.log();
        return log(a) + log(n - a) - log(n);
    }
    const Statistic& statistic_;
    std::uint32_t target_levels_;
    std::int64_t constant_ = 0;  // what all strata add to every candidate's sum
};

}  // namespace serape
