#include "serape/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "serape/chi_square.hpp"
#include "serape/critical_values.hpp"

namespace serape {

Strongest strongest(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable) {
    struct Group {
        double statistic = -1.0;
        std::vector<std::size_t> ties;
    };
    // Degrees of freedom are mostly small whole numbers: those have a index of their own.
    constexpr std::size_t few = 512;
    std::vector<Group> small;
    std::unordered_map<double, Group> large;
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        if (reliable[k] == 0) {
            continue;
        }
        const auto whole = dof[k] < few ? static_cast<std::size_t>(dof[k]) : few;
        const bool is_small = whole < few && static_cast<double>(whole) == dof[k];
        if (is_small && whole >= small.size()) {
            small.resize(whole + 1);
        }
        Group& group = is_small ? small[whole] : large[dof[k]];
        if (statistic[k] > group.statistic) {
            group.statistic = statistic[k];
            group.ties.assign(1, k);
        } else if (statistic[k] == group.statistic) {
            group.ties.push_back(k);
        }
    }
    Strongest best{{}, 0.0};
    double best_statistic = -1.0;
    const auto consider = [&](double freedom, Group& candidate) {
        if (candidate.ties.empty()) {
            return;
        }
        const double log_p = chi_square_log_sf(candidate.statistic, freedom);
        if (best.ties.empty() || log_p < best.log_p || (log_p == best.log_p && candidate.statistic > best_statistic)) {
            best = {std::move(candidate.ties), log_p};
            best_statistic = candidate.statistic;
        } else if (log_p == best.log_p && candidate.statistic == best_statistic) {  // as statistics of 0 do
            best.ties.insert(best.ties.end(), candidate.ties.begin(), candidate.ties.end());
        }
    };
    for (std::size_t freedom = 0; freedom < small.size(); ++freedom) {
        consider(static_cast<double>(freedom), small[freedom]);
    }
    for (auto& [freedom, group] : large) {
        consider(freedom, group);
    }
    std::sort(best.ties.begin(), best.ties.end());
    return best;
}

Partition partition(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable, double log_alpha) {
    Partition found;
    CriticalValues critical(log_alpha);
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        if (reliable[k] != 0) {
            const bool independent = critical.log_p_above(statistic[k], dof[k]);
            (independent ? found.independent : found.dependent).push_back(static_cast<std::int64_t>(k));
        }
    }
    return found;
}

RankedSplit ranked_split(std::span<const std::uint32_t> xs, std::span<const double> statistic,
                         std::span<const double> dof, std::span<const std::uint8_t> reliable, double log_alpha,
                         bool with_independent) {
    const auto column = [&](std::int64_t index) { return xs[static_cast<std::size_t>(index)]; };
    RankedSplit found;
    CriticalValues critical(log_alpha);
    // Up to this, log p is above with any degrees of freedom; most statistics are, and unreliable ones are NaN.
    const double small = with_independent ? -1.0 : critical.surely_above(1);
    std::vector<std::int64_t> indices;
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        if (statistic[k] <= small || reliable[k] == 0) {
            continue;
        }
        if (!critical.log_p_above(statistic[k], dof[k])) {
            indices.push_back(static_cast<std::int64_t>(k));
        } else if (with_independent) {
            found.independent.push_back(xs[k]);
        }
    }
    std::stable_sort(indices.begin(), indices.end(),
                     [&](std::int64_t a, std::int64_t b) { return column(a) < column(b); });
    for (const std::int64_t index : ranked(statistic, dof, indices)) {
        found.dependent.push_back(column(index));
    }
    return found;
}

std::vector<std::int64_t> ranked(std::span<const double> statistic, std::span<const double> dof,
                                 std::span<const std::int64_t> indices) {
    struct Ranked {
        double log_p;
        double statistic;
        std::size_t at;
        bool operator<(const Ranked& other) const {
            return log_p != other.log_p           ? log_p < other.log_p
                   : statistic != other.statistic ? statistic > other.statistic
                                                  : at < other.at;
        }
    };
    std::vector<Ranked> all(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        const auto index = static_cast<std::size_t>(indices[k]);
        const double log_p = chi_square_log_sf(statistic[index], dof[index]);
        // What is no number counts as the weakest, so that there is an order.
        all[k] = {std::isnan(log_p) ? std::numeric_limits<double>::infinity() : log_p,
                  std::isnan(statistic[index]) ? -std::numeric_limits<double>::infinity() : statistic[index], k};
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> order(indices.size());
    std::transform(all.begin(), all.end(), order.begin(), [&](const Ranked& one) { return indices[one.at]; });
    return order;
}

std::vector<std::uint32_t> ranked_columns(std::span<const std::uint32_t> xs, std::span<const double> statistic,
                                          std::span<const double> dof) {
    const auto column = [&](std::int64_t index) { return xs[static_cast<std::size_t>(index)]; };
    std::vector<std::int64_t> indices(xs.size());
    std::iota(indices.begin(), indices.end(), std::int64_t{0});
    std::sort(indices.begin(), indices.end(), [&](std::int64_t a, std::int64_t b) { return column(a) < column(b); });
    std::vector<std::uint32_t> columns;
    columns.reserve(xs.size());
    for (const std::int64_t index : ranked(statistic, dof, indices)) {
        columns.push_back(column(index));
    }
    return columns;
}

std::optional<std::uint32_t> named_twice(std::span<const std::uint32_t> columns) {
    std::vector<std::uint32_t> sorted(columns.begin(), columns.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    return twice == sorted.end() ? std::nullopt : std::optional(*twice);
}

std::vector<std::size_t> lowest(std::span<const double> log_p, std::span<const double> statistic) {
    std::vector<std::size_t> best;
    for (std::size_t k = 0; k < log_p.size(); ++k) {
        if (best.empty() || log_p[k] < log_p[best[0]] ||
            (log_p[k] == log_p[best[0]] && statistic[k] > statistic[best[0]])) {
            best.assign(1, k);
        } else if (log_p[k] == log_p[best[0]] && statistic[k] == statistic[best[0]]) {
            best.push_back(k);
        }
    }
    return best;
}

std::string bits_of(std::span<const std::uint32_t> columns) {
    const auto last = std::max_element(columns.begin(), columns.end());
    std::string bits(last == columns.end() ? 0 : *last / 8 + std::size_t{1}, '\0');
    for (const std::uint32_t column : columns) {
        bits[column / 8] = static_cast<char>(bits[column / 8] | 1 << column % 8);
    }
    return bits;
}

std::vector<std::uint32_t> gaps(std::span<const std::uint32_t> columns) {
    std::vector<std::uint32_t> missing;
    const auto fill = [&](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t column = from; column < to; ++column) {
            missing.push_back(column);
        }
    };
    // A stretch without gaps is skipped at once: its last column tells.
    constexpr std::size_t stretch = 64;
    std::uint32_t next = 0;
    for (std::size_t begin = 0; begin < columns.size(); begin += stretch) {
        const std::size_t end = std::min(begin + stretch, columns.size());
        if (columns[end - 1] != next + (end - begin - 1)) {
            for (std::size_t k = begin; k < end; ++k) {
                fill(next, columns[k]);
                next = columns[k] + 1;
            }
        } else {
            next = columns[end - 1] + 1;
        }
    }
    return missing;
}

std::vector<std::uint32_t> without(std::span<const std::uint32_t> columns, std::vector<std::uint32_t> excluded,
                                   bool ascending) {
    std::sort(excluded.begin(), excluded.end());
    std::vector<std::uint32_t> kept;
    kept.reserve(columns.size());
    if (ascending) {
        auto from = columns.begin();
        for (const std::uint32_t column : excluded) {
            const auto at = std::lower_bound(from, columns.end(), column);
            kept.insert(kept.end(), from, at);
            from = at != columns.end() && *at == column ? at + 1 : at;
        }
        kept.insert(kept.end(), from, columns.end());
    } else {
        std::copy_if(columns.begin(), columns.end(), std::back_inserter(kept), [&](std::uint32_t column) {
            return !std::binary_search(excluded.begin(), excluded.end(), column);
        });
    }
    return kept;
}

}  // namespace serape
