#include "serape/ranking.hpp"

#include <limits>
#include <unordered_map>

#include "serape/chi_square.hpp"

namespace serape {

Strongest strongest(std::span<const double> statistic, std::span<const double> dof, std::span<const std::uint8_t> reliable) {
    struct Group {
        double statistic = -1.0;
        std::vector<std::size_t> ties;
    };
    std::unordered_map<double, Group> groups;
    Group* group = nullptr;
    double of_dof = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < statistic.size(); ++k) {
        if (reliable[k] == 0) {
            continue;
        }
        if (dof[k] != of_dof) {
            of_dof = dof[k];
            group = &groups[of_dof];
        }
        if (statistic[k] > group->statistic) {
            group->statistic = statistic[k];
            group->ties.assign(1, k);
        } else if (statistic[k] == group->statistic) {
            group->ties.push_back(k);
        }
    }
    Strongest best{{}, 0.0};
    double best_statistic = -1.0;
    for (auto& [freedom, candidate] : groups) {
        const double log_p = chi_square_log_sf(candidate.statistic, freedom);
        if (best.ties.empty() || log_p < best.log_p || (log_p == best.log_p && candidate.statistic > best_statistic)) {
            best = {std::move(candidate.ties), log_p};
            best_statistic = candidate.statistic;
        }
    }
    return best;
}

}  // namespace serape
