// The search of HPC for a superset of the spouses (Rodrigues de Morais and Aussem 2010, Algorithm 4), for several
// children at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "serape/answers.hpp"
#include "serape/contingency_test.hpp"

namespace serape {

struct SpouseQuery {
    std::uint32_t target = 0;
    std::vector<std::uint32_t> children;
    double log_alpha = 0.0;
    bool as_written = false;  // in the order of the table, rather than the weakest first, given the strongest first
    std::size_t max_size = std::numeric_limits<std::size_t>::max();
};

struct Spouses {
    std::vector<std::uint32_t> dependents;  // the strongest first
    FoundSubsets found;                     // about the same in the order in which they are tested; none if only one
    Tally screened;
};

// For each child, the candidates that depend on the target given their group's set and the child; of several, each is
// then tested given the child and one of the others, and leaves them if that separates it.
std::vector<Spouses> find_spouses(const ContingencyTest& test, const CandidateGroups& groups, const SpouseQuery& query,
                                  std::size_t threads, CancellationToken& token);

}  // namespace serape
