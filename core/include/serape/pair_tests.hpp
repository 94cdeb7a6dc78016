// Tests of many pairs of variables in arrays, as a search for a skeleton keeps them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/contingency_test.hpp"
#include "serape/parallel.hpp"

namespace serape {

// By pair, the weakest test so far: its values, the number of its batch (−1 if there is none) and its index there, and
// when the first test of the pair was added.
struct WeakestTests {
    std::span<double> log_p, statistic;
    std::span<std::int64_t> batch, index, since;
};

// Several tests: the pair of each, its index in its batch, and its values.
struct AddedTests {
    std::span<const std::int64_t> pair, index;
    std::span<const double> log_p, statistic;
};

// Adds the tests of a batch, of which `added` came before; of tests as weak as each other, the first stays.
void keep_weakest(const AddedTests& tests, std::int64_t batch, std::int64_t added, const WeakestTests& known);

// Every edge from both sides.
struct Sides {
    std::vector<std::uint32_t> from, to;
    std::vector<std::int64_t> edge;
};

// The edges of each variable, by variable: by log p, then the larger statistic first, then in their order. All
// variables are below `variables`.
Sides by_strength(std::span<const std::uint32_t> x, std::span<const std::uint32_t> y, std::span<const double> log_p,
                  std::span<const double> statistic, std::size_t variables, std::size_t threads,
                  CancellationToken& token);

// Questions X ⊥ Y | Z: the sets are one after another, `ends` tells where each ends.
struct SingleTests {
    std::span<const std::uint32_t> x, y;
    std::span<const std::int64_t> ends;
    std::span<const std::uint32_t> members;

    std::size_t size() const { return x.size(); }
    std::span<const std::uint32_t> given(std::size_t k) const {
        const auto begin = static_cast<std::size_t>(k == 0 ? 0 : ends[k - 1]);
        return members.subspan(begin, static_cast<std::size_t>(ends[k]) - begin);
    }
};

// The statistic of each; not a number if a test carries no information.
void statistic_each(const ContingencyTest& test, const SingleTests& asked, std::size_t threads,
                    CancellationToken& token, std::span<double> out);

}  // namespace serape
