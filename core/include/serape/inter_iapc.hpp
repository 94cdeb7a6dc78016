// Inter-IAPC (Rodrigues de Morais and Aussem 2010, Algorithm 2) for several targets at once, among the same candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/answers.hpp"
#include "serape/contingency_test.hpp"

namespace serape {

// One addition to a blanket, or the attempt, and the tests of the members that follow.
struct BlanketRound {
    std::vector<std::uint32_t> given;  // the members before it, in the order of their entry
    std::size_t performed = 0;         // tests of the candidates outside
    std::size_t skipped = 0;
    std::vector<std::uint32_t> independent;  // candidates outside that are independent given the members
    std::vector<FoundSubsets> tested;        // members given the others, in turn
};

// The weakest test of a candidate outside the blanket that showed it to be dependent, the first of several.
struct OutsideAssociation {
    std::uint32_t x;
    Outcome outcome;
    std::size_t round;  // of which the members are given
};

struct InterIapc {
    std::vector<BlanketRound> rounds;
    bool repeats = false;                     // whether a set of members repeated, which ended the search
    FoundSubsets separated;                   // members of the blanket given the subsets of the others
    std::vector<OutsideAssociation> weakest;  // of the candidates to weigh that were dependent, in ascending order
};

// The candidates of a target are those of all groups but itself; they must be in the table's order. `weigh` are those
// whose weakest association before they enter is asked for, too: a test of a member is in the answers anyway.
std::vector<InterIapc> inter_iapc(const ContingencyTest& test, const CandidateGroups& among,
                                  std::span<const std::uint32_t> targets, double log_alpha,
                                  std::span<const std::uint32_t> weigh, std::size_t threads, CancellationToken& token);

}  // namespace serape
