// Goes through pairs of columns of up to eight levels and finds those that depend on each other given nothing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "level_panels.hpp"
#include "serape/counting/costs.hpp"
#include "serape/critical_values.hpp"
#include "serape/parallel.hpp"
#include "serape/statistic.hpp"
#include "serape/test_rules.hpp"

namespace serape::pairs {

// How pairs of two kinds of columns are judged.
struct PairRule {
    bool tested;  // whether there are enough rows
    double dof;
    float limit;  // a bound of G² below this shows independence
};

// Which columns a target is tested with, by their places in the order.
enum class Others { later, all };

// Goes through pairs. Calls found(worker, target, other, statistic, dof) for dependent ones, from any thread.
template <class Found>
class PairDriver {
  public:
    PairDriver(const LevelPanels& panels, const Rules& rules, const LogTable& log, double log_alpha,
               std::size_t threads, const Found& found)
        : panels_(panels),
          log_(log),
          statistic_(StatisticKind::g2, panels.rows(), log),
          log_alpha_(log_alpha),
          found_(found),
          workers_(threads) {
        CriticalValues critical(log_alpha);
        for (const Kind& target : panels.kinds()) {
            for (const Kind& other : panels.kinds()) {
                rules_.push_back(rule(rules, critical, target, other));
            }
        }
    }

    // All pairs, each once.
    void run(CancellationToken& token) {
        std::vector<std::uint32_t> all(panels_.size());
        std::iota(all.begin(), all.end(), 0u);
        run(all, Others::later, token);
    }

    // Targets, by their ascending places in the order.
    void run(std::span<const std::uint32_t> targets, Others others, CancellationToken& token) {
        const Costs& costs = default_costs;
        const std::size_t pieces = costs.pieces_per_thread * workers_.size();
        const std::size_t together =
            std::clamp(targets.size() / pieces, costs.min_targets_together, costs.max_targets_together);
        parallel_for(targets.size(), together, workers_.size(), token,
                     [&](std::size_t begin, std::size_t end, std::size_t w) {
                         if (!workers_[w]) {
                             workers_[w] = std::make_unique<Worker>(log_alpha_);
                         }
                         ask(targets.subspan(begin, end - begin), others, w, token);
                     });
    }

  private:
    struct Target {
        std::size_t at;
        LevelPanels::Rows rows;
        std::int64_t constant;  // f(n) − Σ f(n_t)
    };
    struct Worker {
        explicit Worker(double log_alpha) : critical(log_alpha), counts((plane_levels - 1) * line_bits) {}
        CriticalValues critical;
        std::vector<Target> targets;
        LineVector<std::uint16_t> counts;  // by level of the target and bit
        std::uint16_t open[line_bits / 16];
    };

    // The bound is computed in single precision, which is good to a few parts in 10⁵ near the limit.
    PairRule rule(const Rules& rules, CriticalValues& critical, const Kind& a, const Kind& b) const {
        const auto freedom = [&](const Kind& kind) {
            return (rules.dof == DofRule::adjusted ? kind.occurring : kind.levels) - 1;
        };
        const std::uint32_t dof = freedom(a) * freedom(b);
        const double limit = 0.999 * critical.surely_above(dof) - 0.005;
        return {enough_rows(rules, panels_.rows(), a.levels, b.levels, 1.0), static_cast<double>(dof),
                static_cast<float>(limit)};
    }

    // Several targets together read a panel from near by.
    void ask(std::span<const std::uint32_t> places, Others others, std::size_t w, CancellationToken& token) {
        Worker& worker = *workers_[w];
        worker.targets.resize(places.size());
        for (std::size_t k = 0; k < places.size(); ++k) {
            Target& target = worker.targets[k];
            target.at = places[k];
            panels_.list_rows(target.at, target.rows);
            target.constant = log_(static_cast<std::uint32_t>(panels_.rows()));
            for (std::uint32_t t = 0; t < kind_of(target).occurring; ++t) {
                target.constant -= log_(target.rows.sizes[t]);
            }
        }
        const std::size_t begin = others == Others::all ? 0 : places.front();
        for (std::size_t k = panels_.kind_of(begin); k < panels_.kinds().size(); ++k) {
            const Kind& kind = panels_.kinds()[k];
            const std::size_t from = begin > kind.begin ? (begin - kind.begin) / kind.width : 0;
            for (std::size_t first = kind.begin + from * kind.width; first < kind.end; first += kind.width) {
                for (const Target& target : worker.targets) {
                    if (others == Others::all || target.at + 1 < std::min(first + kind.width, kind.end)) {
                        judge(target, others, k, first, worker, w);
                    }
                }
                token.check();
            }
        }
    }

    const Kind& kind_of(const Target& target) const { return panels_.kinds()[panels_.kind_of(target.at)]; }

    // A target and the columns of a panel, from `first` in the order.
    void judge(const Target& target, Others others, std::size_t k, std::size_t first, Worker& worker, std::size_t w) {
        const Kind& kind = panels_.kinds()[k];
        const PairRule& rule = rules_[panels_.kind_of(target.at) * panels_.kinds().size() + k];
        if (!rule.tested) {
            return;
        }
        const std::size_t panel = kind.first_panel + (first - kind.begin) / kind.width;
        const std::uint32_t target_levels = kind_of(target).occurring;
        const LevelPanels::Rows& rows = target.rows;
        for (std::uint32_t t = 0; t + 1 < target_levels; ++t) {
            kernels().count_bits(panels_.panel(panel), rows.rows.data() + rows.begin[t],
                                 rows.begin[t + 1] - rows.begin[t], nullptr, worker.counts.data() + t * line_bits);
        }
        const PanelLevels levels = panels_.levels_of(kind, panel);
        const LevelCounts counts{target_levels, rows.sizes, worker.counts.data()};
        kernels().bound_g2(levels, counts, rule.limit, worker.open);
        const std::size_t end = std::min(kind.width, kind.end - first);
        for (std::size_t group = 0; group * 16 < end; ++group) {
            for (unsigned bits = worker.open[group]; bits != 0; bits &= bits - 1) {
                const std::size_t column = group * 16 + static_cast<std::size_t>(std::countr_zero(bits));
                const std::size_t at = first + column;
                if (column < end && (at > target.at || (others == Others::all && at < target.at))) {
                    decide(target, levels, counts, column, at, rule.dof, worker, w);
                }
            }
        }
    }

    void decide(const Target& target, const PanelLevels& levels, const LevelCounts& counts, std::size_t column,
                std::size_t at, double dof, Worker& worker, std::size_t w) {
        std::int64_t sum = target.constant;
        std::uint32_t rest_of_target[plane_levels];
        std::copy_n(counts.sizes, counts.levels, rest_of_target);
        auto rest = static_cast<std::uint32_t>(panels_.rows());
        for (std::uint32_t l = 0; l + 1 < levels.levels; ++l) {
            const std::size_t bit = l * levels.width + column;
            std::uint32_t left = levels.totals[bit];
            rest -= left;
            sum -= log_(left);
            for (std::uint32_t t = 0; t < counts.levels; ++t) {
                const std::uint32_t n = t + 1 < counts.levels ? counts.counts[t * line_bits + bit] : left;
                left -= n;
                rest_of_target[t] -= n;
                sum += log_(n);
            }
        }
        sum -= log_(rest);
        for (std::uint32_t t = 0; t < counts.levels; ++t) {
            sum += log_(rest_of_target[t]);
        }
        const double statistic = statistic_.value(sum, 1.0);
        if (!worker.critical.log_p_above(statistic, dof)) {
            found_(w, panels_.order()[target.at], panels_.order()[at], statistic, dof);
        }
    }

    const LevelPanels& panels_;
    const LogTable& log_;
    Statistic statistic_;
    double log_alpha_;
    const Found& found_;
    std::vector<PairRule> rules_;  // by kinds of target and other
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace serape::pairs
