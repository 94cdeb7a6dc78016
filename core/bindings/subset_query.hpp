// What a search through conditioning sets is asked.
#pragma once

#include <optional>

#include "conversions.hpp"
#include "serape/contingency_test.hpp"

namespace serape {

inline SubsetQuestion asked_for(const Columns& xs, std::uint32_t target, const Columns& pool,
                                const std::vector<std::uint32_t>& fixed, std::size_t smallest, std::size_t largest,
                                std::optional<std::size_t> most, const std::vector<std::int64_t>& tried,
                                std::optional<double> stop_above, bool shrinking, bool until_survivor) {
    check_distinct(pool.all());
    if (tried.size() > 1 && tried.size() != xs.size()) {
        throw nanobind::value_error("tried must have one number, or one for every x");
    }
    SubsetQuestion question{.target = target, .pool = pool.all(), .fixed = fixed};
    question.smallest = smallest;
    question.largest = largest;
    question.most = most.value_or(question.most);
    question.tried = tried;
    question.stop_above = stop_above;
    question.shrinking = shrinking;
    question.until_survivor = until_survivor;
    return question;
}

}  // namespace serape
