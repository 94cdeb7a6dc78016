#include "serape/dependent_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

#include "level_panels.hpp"
#include "serape/chi_square.hpp"
#include "serape/counting/costs.hpp"
#include "serape/critical_values.hpp"
#include "serape/statistic.hpp"

namespace serape {
namespace {

using namespace pairs;

// How pairs of two kinds of columns are judged.
struct PairRule {
    bool tested;  // whether there are enough rows
    double dof;
    float limit;  // a bound of G² below this shows independence
};

// Goes through all pairs, each once. Calls found(worker, x, y, statistic, dof) for dependent ones, from any thread.
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

    void run(CancellationToken& token) {
        const Costs& costs = default_costs;
        const std::size_t pieces = costs.pieces_per_thread * workers_.size();
        const std::size_t together =
            std::clamp(panels_.size() / pieces, costs.min_targets_together, costs.max_targets_together);
        parallel_for(panels_.size(), together, workers_.size(), token,
                     [&](std::size_t begin, std::size_t end, std::size_t w) {
                         if (!workers_[w]) {
                             workers_[w] = std::make_unique<Worker>(log_alpha_);
                         }
                         ask(begin, end, w, token);
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
    void ask(std::size_t begin, std::size_t end, std::size_t w, CancellationToken& token) {
        Worker& worker = *workers_[w];
        worker.targets.resize(end - begin);
        for (std::size_t at = begin; at < end; ++at) {
            Target& target = worker.targets[at - begin];
            target.at = at;
            panels_.list_rows(at, target.rows);
            target.constant = log_(static_cast<std::uint32_t>(panels_.rows()));
            for (std::uint32_t t = 0; t < kind_of(target).occurring; ++t) {
                target.constant -= log_(target.rows.sizes[t]);
            }
        }
        for (std::size_t k = panels_.kind_of(begin); k < panels_.kinds().size(); ++k) {
            const Kind& kind = panels_.kinds()[k];
            const std::size_t from = begin > kind.begin ? (begin - kind.begin) / kind.width : 0;
            for (std::size_t first = kind.begin + from * kind.width; first < kind.end; first += kind.width) {
                for (const Target& target : worker.targets) {
                    if (target.at + 1 < std::min(first + kind.width, kind.end)) {
                        judge(target, k, first, worker, w);
                    }
                }
                token.check();
            }
        }
    }

    const Kind& kind_of(const Target& target) const { return panels_.kinds()[panels_.kind_of(target.at)]; }

    // A target and the columns of a panel, from `first` in the order; those up to the target have been its targets.
    void judge(const Target& target, std::size_t k, std::size_t first, Worker& worker, std::size_t w) {
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
                if (column < end && first + column > target.at) {
                    decide(target, levels, counts, column, first + column, rule.dof, worker, w);
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

struct FoundPair {
    std::uint32_t x, y;
    double statistic;
};
struct alignas(line_bytes) FoundPairs {  // of one thread
    std::vector<FoundPair> all;
};

// From both sides, column by column, each in ascending order.
void collect(std::vector<FoundPairs>& found, const std::vector<std::uint8_t>& freedom, std::size_t threads,
             CancellationToken& token, DependentPairs& out) {
    for (const FoundPairs& some : found) {
        for (const FoundPair& pair : some.all) {
            ++out.start[pair.x + 1];
            ++out.start[pair.y + 1];
        }
    }
    std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
    out.partner.resize(out.start.back());
    out.statistic.resize(out.start.back());
    out.dof.resize(out.start.back());
    std::vector<std::size_t> next(out.start.begin(), out.start.end() - 1);
    for (FoundPairs& some : found) {
        for (const FoundPair& pair : some.all) {
            for (const auto& [from, to] : {std::pair(pair.x, pair.y), std::pair(pair.y, pair.x)}) {
                const std::size_t place = next[from]++;
                out.partner[place] = to;
                out.statistic[place] = pair.statistic;
            }
        }
        some.all = {};
    }
    constexpr std::size_t grain = 256;
    parallel_for(out.start.size() - 1, grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        std::vector<std::pair<std::uint32_t, double>> own;
        for (std::size_t column = first; column < last; ++column) {
            own.clear();
            for (std::size_t k = out.start[column]; k < out.start[column + 1]; ++k) {
                own.emplace_back(out.partner[k], out.statistic[k]);
            }
            std::sort(own.begin(), own.end());
            for (std::size_t k = 0; k < own.size(); ++k) {
                const std::size_t place = out.start[column] + k;
                std::tie(out.partner[place], out.statistic[place]) = own[k];
                out.dof[place] = static_cast<std::uint8_t>(freedom[column] * freedom[own[k].first]);
            }
        }
    });
}

// The strongest partners of one column so far; many threads add to them.
class Best {
  public:
    void add(std::uint32_t column, double statistic, double dof, std::size_t strongest) {
        while (busy_.test_and_set(std::memory_order_acquire)) {
        }
        ++dependents;
        if (strongest > 0 && !(partners.size() == strongest && surely_weaker(statistic, dof))) {
            const Partner partner{chi_square_log_sf(statistic, dof), statistic, dof, column};
            if (partners.size() < strongest || partner < partners.back()) {
                if (partners.size() == strongest) {
                    partners.pop_back();
                }
                partners.insert(std::upper_bound(partners.begin(), partners.end(), partner), partner);
            }
        }
        busy_.clear(std::memory_order_release);
    }

    struct Partner {
        double log_p, statistic, dof;
        std::uint32_t column;
        bool operator<(const Partner& other) const {  // stronger
            return log_p != other.log_p           ? log_p < other.log_p
                   : statistic != other.statistic ? statistic > other.statistic
                                                  : column < other.column;
        }
    };
    std::uint32_t dependents = 0;
    std::vector<Partner> partners;  // the strongest first

  private:
    // Weaker than the last, without computing log p.
    bool surely_weaker(double statistic, double dof) const {
        return statistic < partners.back().statistic && dof >= partners.back().dof;
    }
    std::atomic_flag busy_;
};

template <class Found>
void for_each_dependent_pair(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                             double log_alpha, std::size_t threads, CancellationToken& token, const Found& found) {
    const LevelPanels panels(table, columns);
    token.check();
    PairDriver<Found>(panels, rules, table.log_table(), log_alpha, threads, found).run(token);
}

}  // namespace

std::size_t tested_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns) {
    std::size_t count[plane_levels + 1][plane_levels + 1] = {};  // by levels, and by those that occur
    for (const std::uint32_t column : columns) {
        ++count[table.levels(column)][occurring_levels(table, column)];
    }
    std::size_t tested = 0;  // from both sides
    for (std::uint32_t a = 2; a <= plane_levels; ++a) {
        for (std::uint32_t b = 2; b <= plane_levels; ++b) {
            const std::uint32_t least = rules.dof == DofRule::adjusted ? 2 : 0;
            const auto all = [&](std::uint32_t levels) {
                return std::accumulate(count[levels] + least, count[levels] + plane_levels + 1, std::size_t{0});
            };
            if (enough_rows(rules, table.rows(), a, b, 1.0)) {
                tested += all(a) * (all(b) - (a == b && all(a) > 0 ? 1 : 0));
            }
        }
    }
    return tested / 2;
}

DependentPairs dependent_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                               double log_alpha, std::size_t most, std::size_t threads, CancellationToken& token) {
    threads = std::max<std::size_t>(threads, 1);
    DependentPairs out;
    out.start.assign(table.columns() + 1, 0);
    std::vector<FoundPairs> found(threads);
    std::atomic<std::size_t> count = 0;
    struct TooMany {};
    const auto keep = [&](std::size_t worker, std::uint32_t x, std::uint32_t y, double statistic, double) {
        constexpr std::size_t step = 1024;  // pairs of one thread, counted together
        std::vector<FoundPair>& own = found[worker].all;
        own.push_back({x, y, statistic});
        if (own.size() % step == 0 && count.fetch_add(step) + step > most) {
            throw TooMany{};
        }
    };
    try {
        for_each_dependent_pair(table, rules, columns, log_alpha, threads, token, keep);
    } catch (const TooMany&) {
        out.complete = false;
        return out;
    }
    std::vector<std::uint8_t> freedom(table.columns(), 0);
    for (const std::uint32_t column : columns) {
        const bool adjusted = rules.dof == DofRule::adjusted;
        freedom[column] =
            static_cast<std::uint8_t>((adjusted ? occurring_levels(table, column) : table.levels(column)) - 1);
    }
    collect(found, freedom, threads, token, out);
    return out;
}

AllPairs strongest_pairs(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                         double log_alpha, std::size_t strongest, std::size_t threads, CancellationToken& token) {
    threads = std::max<std::size_t>(threads, 1);
    std::vector<Best> best(table.columns());
    for_each_dependent_pair(table, rules, columns, log_alpha, threads, token,
                            [&](std::size_t, std::uint32_t x, std::uint32_t y, double statistic, double dof) {
                                best[x].add(y, statistic, dof, strongest);
                                best[y].add(x, statistic, dof, strongest);
                            });
    AllPairs out;
    out.strongest = strongest;
    out.partners.assign(table.columns() * strongest, AllPairs::none);
    out.statistic.assign(table.columns() * strongest, std::numeric_limits<double>::quiet_NaN());
    out.dof.assign(table.columns() * strongest, 1.0);
    for (std::size_t column = 0; column < table.columns(); ++column) {
        out.dependents.push_back(best[column].dependents);
        std::size_t place = column * strongest;
        for (const Best::Partner& partner : best[column].partners) {
            out.partners[place] = partner.column;
            out.statistic[place] = partner.statistic;
            out.dof[place++] = partner.dof;
        }
    }
    return out;
}

}  // namespace serape
