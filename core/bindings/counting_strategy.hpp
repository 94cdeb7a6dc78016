// The names of counting strategies.
#pragma once

#include <string>

#include "conversions.hpp"
#include "serape/counting/plan.hpp"

namespace serape {

inline CountingStrategy parse_strategy(const std::string& name) {
    return parse<CountingStrategy>(name, {{"automatic", CountingStrategy::automatic},
                                          {"panels", CountingStrategy::panels},
                                          {"planes", CountingStrategy::planes},
                                          {"scatter", CountingStrategy::scatter},
                                          {"sparse", CountingStrategy::sparse},
                                          {"ones", CountingStrategy::ones}});
}

}  // namespace serape
