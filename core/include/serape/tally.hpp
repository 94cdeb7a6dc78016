// Numbers of tests that gave a verdict, and of tests that were skipped, by size of the conditioning set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace serape {

// Numbers stop at 2^63 rather than wrap.
struct Tally {
    std::vector<std::uint64_t> tests;
    std::vector<std::uint64_t> skipped;
    void add_test(std::size_t size, std::uint64_t count = 1) { add(tests, size, count); }
    void add_skip(std::size_t size, std::uint64_t count = 1) { add(skipped, size, count); }
    void merge(const Tally& other);
    std::uint64_t performed() const { return std::accumulate(tests.begin(), tests.end(), std::uint64_t{0}); }

  private:
    static void add(std::vector<std::uint64_t>& to, std::size_t size, std::uint64_t count);
};

inline constexpr std::uint64_t most_count = std::uint64_t{1} << 63;

// n choose k, stopping at most_count.
std::uint64_t choose(std::uint64_t n, std::uint64_t k);

}  // namespace serape
