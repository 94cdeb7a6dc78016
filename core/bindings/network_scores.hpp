// What the arguments of a score of networks must be.
#pragma once

#include "conversions.hpp"
#include "serape/network_score.hpp"

namespace serape {

// A family names its child and each of its parents once.
void check_family(const NetworkScore& score, std::uint32_t child, std::span<const std::uint32_t> parents);

// A candidate is no member of the family.
void check_addition(const NetworkScore& score, const AdditionQuery& query);

}  // namespace serape
