// Searches through conditioning sets: what is asked, and the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "serape/outcome.hpp"
#include "serape/tally.hpp"

namespace serape {

// Asks, for each x, for the first conditioning set that separates it from the target, or else for its weakest
// association. Conditioning sets are the fixed members and a subset of the pool without x: smaller subsets first, those
// of one size in the order of the pool.
struct SubsetQuery {
    std::vector<std::uint32_t> xs;
    std::uint32_t target = 0;
    std::vector<std::uint32_t> pool;  // distinct
    std::vector<std::uint32_t> fixed = {};
    std::size_t smallest = 0;  // sizes of the subsets
    std::size_t largest = 0;
    std::size_t max_size = std::numeric_limits<std::size_t>::max();  // larger conditioning sets are skipped
    // By x, or one number for all: subsets of so many first members of the pool are known, and neither tested nor
    // counted. −1 for none, 0 for the empty set. No number: none.
    std::vector<std::int64_t> n_exhausted = {};
    std::optional<double> stop_above = {};  // the first reliable test with log p above this separates an x
    bool shrinking = false;                 // a separated x leaves the pool for those after it
    bool until_survivor = false;            // the search ends with the first x that no set separates
    // The search is cut short after so many tests, or a few more; on one thread always after the same ones.
    std::uint64_t max_tests = std::numeric_limits<std::uint64_t>::max();

    // Whether the questions about an x depend on the answers about those before it.
    bool one_by_one() const { return shrinking || until_survivor; }
};

struct SubsetAnswer {
    Outcome outcome{};                 // of the separating test, or else of the weakest association met
    std::vector<std::uint32_t> given;  // its conditioning set
    bool separated = false;
};

struct SubsetAnswers {
    std::vector<SubsetAnswer> answers;  // of the x that were asked about
    Tally tally;
    bool cut = false;  // short, by max_tests: not all x have their answer
};

// What became of a growing pool.
struct GrownPool {
    // A variable that joined the pool, or left it.
    struct Change {
        std::uint32_t variable;
        bool joined;
    };
    std::vector<std::uint32_t> searched;  // the x of the answers: candidates, and members that were examined
    SubsetAnswers found;
    std::vector<Change> changes;
    std::size_t asked = 0;  // how many of the candidates were searched
};

}  // namespace serape
