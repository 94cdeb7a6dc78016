#include "serape/ranking.hpp"

#include <unordered_map>

#include "serape/chi_square.hpp"

namespace serape {

Strongest strongest(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable) {
    struct Group {
        double statistic = -1.0;
        std::vector<std::size_t> ties;
    };
    // Degrees of freedom are mostly small whole numbers: those have a place of their own.
    constexpr std::size_t few = 512;
    std::vector<Group> small(few);
    std::unordered_map<double, Group> large;
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        if (reliable[k] == 0) {
            continue;
        }
        const auto whole = dof[k] < few ? static_cast<std::size_t>(dof[k]) : few;
        Group& group = whole < few && static_cast<double>(whole) == dof[k] ? small[whole] : large[dof[k]];
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
        }
    };
    for (std::size_t freedom = 0; freedom < few; ++freedom) {
        consider(static_cast<double>(freedom), small[freedom]);
    }
    for (auto& [freedom, group] : large) {
        consider(freedom, group);
    }
    return best;
}

}  // namespace serape
