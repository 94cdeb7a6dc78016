#include "serape/tally.hpp"

#include <algorithm>

#include "serape/wide.hpp"

namespace serape {
namespace {

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    return a > most_count - std::min(b, most_count) ? most_count : a + b;
}

}  // namespace

void Tally::add(std::vector<std::uint64_t>& to, std::size_t size, std::uint64_t count) {
    if (count == 0) {
        return;
    }
    if (to.size() <= size) {
        to.resize(size + 1, 0);
    }
    to[size] = plus(to[size], count);
}

void Tally::merge(const Tally& other) {
    for (std::size_t size = 0; size < other.tests.size(); ++size) {
        add_test(size, other.tests[size]);
    }
    for (std::size_t size = 0; size < other.skipped.size(); ++size) {
        add_skip(size, other.skipped[size]);
    }
}

std::uint64_t choose(std::uint64_t n, std::uint64_t k) {
    if (k > n) {
        return 0;
    }
    const std::uint64_t fewer = std::min(k, n - k);
    double estimate = 1.0;
    std::uint64_t value = 1;
    for (std::uint64_t i = 1; i <= fewer; ++i) {
        estimate *= static_cast<double>(n - fewer + i) / static_cast<double>(i);
        if (estimate > 9e18) {
            return most_count;
        }
        value = static_cast<std::uint64_t>(Wide{value} * (n - fewer + i) / i);
    }
    return value;
}

}  // namespace serape
