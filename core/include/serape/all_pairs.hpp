// G² of all pairs of binary columns, given nothing: for every column how many others depend on it, and which most.
//
// Columns are put in the order of their numbers of ones, so that those with as many are side by side (a *group*). For
// one column after another (copies of earlier ones left out), its ones (or its zeros, if they are fewer) are counted in
// all others by panels. Within a group G² depends on the count alone and is convex in it, so two limits tell which of
// its members are dependent, and only the group's largest and smallest counts need be looked at to know whether it
// holds any of the strongest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"

namespace serape {

struct AllPairs {
    std::size_t strongest = 0;              // partners kept for each column, at most
    std::vector<std::uint32_t> dependents;  // by column: how many others depend on it
    std::vector<std::uint32_t> partners;    // by column: the strongest first, then `none`
    std::vector<double> statistic;          // of the partners
    std::vector<double> dof;
    static constexpr std::uint32_t none = ~0U;
};

inline constexpr std::size_t most_rows_of_pairs = 65'528;  // counts have 16 bits

// A pair is dependent if its log p is at most `log_alpha`. All columns must be of at most two levels. Of partners that
// tie exactly the earlier columns are kept. Constant columns depend on nothing; with fewer than `least_rows` rows
// nothing does.
AllPairs all_pairs(const PackedTable& table, double log_alpha, std::size_t strongest, std::size_t least_rows,
                   std::size_t threads, CancellationToken& token);

}  // namespace serape
