#include "serape/dependent_pairs.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <utility>

#include "level_panels.hpp"
#include "pair_driver.hpp"
#include "serape/chi_square.hpp"

namespace serape {
namespace {

using namespace pairs;

struct FoundPair {
    std::uint32_t x, y;
    double statistic;
};
struct alignas(line_bytes) FoundPairs {  // of one thread
    std::vector<FoundPair> all;
};

// Keeps the pairs of each thread until there are too many.
class Keeper {
  public:
    Keeper(std::size_t threads, std::size_t most)
        : found(threads), most_(most), step_(std::clamp<std::size_t>(most / (16 * threads), 1, 1024)) {}

    struct TooMany {};
    void operator()(std::size_t worker, std::uint32_t x, std::uint32_t y, double statistic, double) const {
        std::vector<FoundPair>& own = found[worker].all;
        own.push_back({x, y, statistic});
        if (own.size() % step_ == 0 && count_.fetch_add(step_) + step_ > most_) {
            throw TooMany{};
        }
    }

    mutable std::vector<FoundPairs> found;

  private:
    std::size_t most_;
    std::size_t step_;  // pairs of one thread, counted together
    mutable std::atomic<std::size_t> count_ = 0;
};

// By column, its degrees of freedom in a test given nothing.
std::vector<std::uint8_t> freedom_of(const PackedTable& table, const Rules& rules,
                                     std::span<const std::uint32_t> columns) {
    std::vector<std::uint8_t> freedom(table.columns(), 0);
    for (const std::uint32_t column : columns) {
        const bool adjusted = rules.dof == DofRule::adjusted;
        freedom[column] =
            static_cast<std::uint8_t>((adjusted ? occurring_levels(table, column) : table.levels(column)) - 1);
    }
    return freedom;
}

// Calls add(target, other, statistic) for each pair that was found; with `both`, from both sides.
template <class Add>
void for_each_side(const FoundPairs& found, bool both, const Add& add) {
    for (const FoundPair& pair : found.all) {
        add(pair.x, pair.y, pair.statistic);
        if (both) {
            add(pair.y, pair.x, pair.statistic);
        }
    }
}

// Target by target, the partners of each in ascending order. `index` has the index of each target, by column.
DependentPairs collect(std::vector<FoundPairs>& found, bool both, std::span<const std::uint32_t> targets,
                       const std::vector<std::uint32_t>& index, const std::vector<std::uint8_t>& freedom,
                       std::size_t threads, CancellationToken& token) {
    DependentPairs out;
    out.start.assign(targets.size() + 1, 0);
    for (const FoundPairs& some : found) {
        for_each_side(some, both, [&](std::uint32_t x, std::uint32_t, double) { ++out.start[index[x] + 1]; });
    }
    std::partial_sum(out.start.begin(), out.start.end(), out.start.begin());
    out.partner.resize(out.start.back());
    out.statistic.resize(out.start.back());
    out.dof.resize(out.start.back());
    std::vector<std::size_t> next(out.start.begin(), out.start.end() - 1);
    for (FoundPairs& some : found) {
        for_each_side(some, both, [&](std::uint32_t x, std::uint32_t y, double statistic) {
            const std::size_t place = next[index[x]]++;
            out.partner[place] = y;
            out.statistic[place] = statistic;
        });
        some.all = {};
    }
    constexpr std::size_t grain = 256;
    parallel_for(targets.size(), grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        std::vector<std::pair<std::uint32_t, double>> own;
        for (std::size_t k = first; k < last; ++k) {
            own.clear();
            for (std::size_t place = out.start[k]; place < out.start[k + 1]; ++place) {
                own.emplace_back(out.partner[place], out.statistic[place]);
            }
            std::sort(own.begin(), own.end());
            std::size_t place = out.start[k];
            for (const auto& [partner, statistic] : own) {
                out.partner[place] = partner;
                out.statistic[place] = statistic;
                out.dof[place++] = static_cast<std::uint8_t>(freedom[targets[k]] * freedom[partner]);
            }
        }
    });
    return out;
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
    const bool adjusted = rules.dof == DofRule::adjusted;
    std::size_t count[plane_levels + 1][plane_levels + 1] = {};  // by levels, and by those that occur, if they matter
    for (const std::uint32_t column : columns) {
        ++count[table.levels(column)][adjusted ? occurring_levels(table, column) : 0];
    }
    std::size_t tested = 0;  // from both sides
    for (std::uint32_t a = 2; a <= plane_levels; ++a) {
        for (std::uint32_t b = 2; b <= plane_levels; ++b) {
            const std::uint32_t least = adjusted ? 2 : 0;
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
    Keeper keep(threads, most);
    try {
        for_each_dependent_pair(table, rules, columns, log_alpha, threads, token, keep);
    } catch (const Keeper::TooMany&) {
        return {.complete = false};
    }
    std::vector<std::uint32_t> all(table.columns());
    std::iota(all.begin(), all.end(), 0u);
    return collect(keep.found, true, all, all, freedom_of(table, rules, columns), threads, token);
}

struct PairBlocks::Content {
    Content(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns, double log_alpha)
        : table(table),
          rules(rules),
          log_alpha(log_alpha),
          panels(table, columns),
          freedom(freedom_of(table, rules, columns)),
          place(table.columns(), none) {
        for (std::uint32_t at = 0; at < panels.size(); ++at) {
            place[panels.order()[at]] = at;
        }
    }
    static constexpr std::uint32_t none = 0xffffffff;
    const PackedTable& table;
    Rules rules;
    double log_alpha;
    LevelPanels panels;
    std::vector<std::uint8_t> freedom;
    std::vector<std::uint32_t> place;  // of a column in the order of the panels; none if it does not vary
};

PairBlocks::PairBlocks(const PackedTable& table, const Rules& rules, std::span<const std::uint32_t> columns,
                       double log_alpha)
    : content_(std::make_unique<Content>(table, rules, columns, log_alpha)) {}

PairBlocks::~PairBlocks() = default;

DependentPairs PairBlocks::of(std::span<const std::uint32_t> targets, std::size_t most, std::size_t threads,
                              CancellationToken& token) const {
    const Content& own = *content_;
    threads = std::max<std::size_t>(threads, 1);
    std::vector<std::uint32_t> places, index(own.place.size(), 0);  // the table may have grown since
    for (std::size_t k = 0; k < targets.size(); ++k) {
        index.at(targets[k]) = static_cast<std::uint32_t>(k);
        if (own.place[targets[k]] != Content::none) {
            places.push_back(own.place[targets[k]]);
        }
    }
    std::sort(places.begin(), places.end());
    Keeper keep(threads, most);
    try {
        PairDriver<Keeper>(own.panels, own.rules, own.table.log_table(), own.log_alpha, threads, keep)
            .run(places, Others::all, token);
    } catch (const Keeper::TooMany&) {
        return {.complete = false};
    }
    return collect(keep.found, false, targets, index, own.freedom, threads, token);
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
