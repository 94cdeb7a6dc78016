// The names of the ways of counting.
#pragma once

#include <string>

#include "conversions.hpp"
#include "serape/candidate_counter.hpp"

namespace serape {

inline Way parse_way(const std::string& way) {
    return parse<Way>(way, {{"automatic", Way::automatic},
                            {"panels", Way::automatic},
                            {"planes", Way::planes},
                            {"scatter", Way::scatter},
                            {"sparse", Way::sparse},
                            {"ones", Way::ones}});
}
}  // namespace serape
