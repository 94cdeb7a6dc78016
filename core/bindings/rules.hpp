// The names of statistics, rules and scores.
#pragma once

#include <cmath>
#include <string>

#include "conversions.hpp"
#include "serape/family_score.hpp"
#include "serape/test_rules.hpp"

namespace serape {

inline Rules parse_rules(const std::string& statistic, const std::string& dof, const std::string& reliability,
                         double minimum) {
    return {parse<StatisticKind>(statistic, {{"g2", StatisticKind::g2}, {"x2", StatisticKind::x2}}),
            parse<DofRule>(dof, {{"full", DofRule::full}, {"adjusted", DofRule::adjusted}}),
            parse<Reliability>(reliability,
                               {{"none", Reliability::none}, {"dof", Reliability::dof}, {"cells", Reliability::cells}}),
            minimum};
}

inline ScoreKind parse_score(const std::string& kind, double ess) {
    if (!(ess > 0.0) || !std::isfinite(ess)) {
        throw nanobind::value_error("ess must be positive and finite");
    }
    return parse<ScoreKind>(kind, {{"loglik", ScoreKind::loglik},
                                   {"bic", ScoreKind::bic},
                                   {"aic", ScoreKind::aic},
                                   {"bdeu", ScoreKind::bdeu},
                                   {"k2", ScoreKind::k2}});
}

}  // namespace serape
