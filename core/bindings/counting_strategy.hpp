// The names of counting strategies.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "conversions.hpp"
#include "serape/counting/plan.hpp"

namespace serape {

inline constexpr std::array<std::pair<const char*, CountingStrategy>, 6> strategy_names{
    {{"automatic", CountingStrategy::automatic},
     {"panels", CountingStrategy::panels},
     {"planes", CountingStrategy::planes},
     {"scatter", CountingStrategy::scatter},
     {"sparse", CountingStrategy::sparse},
     {"ones", CountingStrategy::ones}}};

inline CountingStrategy parse_strategy(const std::string& word) {
    for (const auto& [name, strategy] : strategy_names) {
        if (word == name) {
            return strategy;
        }
    }
    throw nanobind::value_error(("unknown option '" + word + "'").c_str());
}

inline const char* name_of(CountingStrategy strategy) {
    return strategy_names[static_cast<std::size_t>(strategy)].first;
}

}  // namespace serape
