// Searches through conditioning sets by plain enumeration, and random queries.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "harness.hpp"
#include "serape/outcome.hpp"
#include "serape/subset_query.hpp"

namespace serape::testing {

// Subsets of `size` of the first members, in lexicographic order.
inline std::vector<std::vector<std::uint32_t>> subsets(const std::vector<std::uint32_t>& members, std::size_t size) {
    std::vector<std::vector<std::uint32_t>> all;
    std::vector<std::uint32_t> chosen;
    const auto grow = [&](const auto& self, std::size_t from) -> void {
        if (chosen.size() == size) {
            all.push_back(chosen);
            return;
        }
        for (std::size_t k = from; k < members.size(); ++k) {
            chosen.push_back(members[k]);
            self(self, k + 1);
            chosen.pop_back();
        }
    };
    grow(grow, 0);
    return all;
}

// As the query says, test by test.
template <class Test>
SubsetAnswers enumerate(const Test& test, const SubsetQuery& query) {
    SubsetAnswers all;
    const auto in = [](const std::vector<std::uint32_t>& list, std::uint32_t z) {
        return std::find(list.begin(), list.end(), z) != list.end();
    };
    std::vector<std::uint32_t> pool = query.pool;
    for (std::size_t k = 0; k < query.xs.size(); ++k) {
        const std::uint32_t x = query.xs[k];
        SubsetAnswer answer{no_outcome, {}, false};
        const std::int64_t exhausted = query.n_exhausted.empty()       ? -1
                                       : query.n_exhausted.size() == 1 ? query.n_exhausted[0]
                                                                       : query.n_exhausted[k];
        std::vector<std::uint32_t> others;
        for (const std::uint32_t z : pool) {
            if (z != x && z != query.target && !in(query.fixed, z)) {
                others.push_back(z);
            }
        }
        const bool admitted = x != query.target && !in(query.fixed, x);
        for (std::size_t size = query.smallest; admitted && size <= query.largest && !answer.separated; ++size) {
            for (const std::vector<std::uint32_t>& subset : subsets(others, size)) {
                const bool known =
                    exhausted >= 0 && std::all_of(subset.begin(), subset.end(), [&](std::uint32_t z) {
                        return std::find(query.pool.begin(), query.pool.end(), z) - query.pool.begin() < exhausted;
                    });
                if (known) {
                    continue;
                }
                std::vector<std::uint32_t> given = query.fixed;
                given.insert(given.end(), subset.begin(), subset.end());
                const Outcome out = given.size() > query.max_size ? no_outcome : test.test(x, query.target, given);
                if (!out.reliable) {
                    all.tally.add_skip(given.size());
                    continue;
                }
                all.tally.add_test(given.size());
                const bool separates = query.stop_above && out.log_p > *query.stop_above;
                if (separates || !answer.outcome.reliable || weaker(out, answer.outcome)) {
                    answer = {out, given, separates};
                }
                if (separates) {
                    break;
                }
            }
        }
        all.answers.push_back(answer);
        if (answer.separated && query.shrinking) {
            std::erase(pool, x);
        }
        if (!answer.separated && query.until_survivor) {
            break;
        }
    }
    return all;
}

inline void check_same(const SubsetAnswers& found, const SubsetAnswers& expected) {
    check_equal(found.answers.size(), expected.answers.size());
    for (std::size_t k = 0; k < found.answers.size(); ++k) {
        const SubsetAnswer& one = found.answers[k];
        const SubsetAnswer& other = expected.answers[k];
        check_equal(one.separated, other.separated);
        check_equal(one.outcome.reliable, other.outcome.reliable);
        check_equal(one.given, other.given);
        if (one.outcome.reliable) {
            check_equal(one.outcome.statistic, other.outcome.statistic);
            check_equal(one.outcome.dof, other.outcome.dof);
            check_equal(one.outcome.log_p, other.outcome.log_p);
        }
    }
    check_equal(found.tally.tests, expected.tally.tests);
    check_equal(found.tally.skipped, expected.tally.skipped);
}

inline SubsetQuery random_query(Random& random, std::uint32_t columns) {
    std::vector<std::uint32_t> order(columns);
    for (std::uint32_t v = 0; v < columns; ++v) {
        order[v] = v;
    }
    std::shuffle(order.begin(), order.end(), random);
    const std::size_t length = 2 + below(random, 5);
    SubsetQuery query;
    query.target = order.back();
    query.pool.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(length));
    if (below(random, 3) == 0) {
        query.fixed.assign(1, order[columns - 2]);
    }
    if (below(random, 2) == 0) {
        query.xs.assign(query.pool.rbegin(), query.pool.rend());
    } else {
        query.xs.assign(order.begin() + 2, order.end());
    }
    query.smallest = below(random, 2);
    query.largest = query.smallest + below(random, 4);
    if (below(random, 3) == 0) {
        query.max_size = below(random, 4);
    }
    if (below(random, 3) != 0) {
        query.stop_above = -0.5 - 6.0 * uniform(random);
        query.shrinking = below(random, 2) == 0;
        query.until_survivor = below(random, 4) == 0;
    }
    const std::uint32_t kind = below(random, 3);
    query.n_exhausted.resize(kind == 2 ? query.xs.size() : kind);
    for (std::int64_t& count : query.n_exhausted) {
        count = static_cast<std::int64_t>(below(random, static_cast<std::uint32_t>(length + 1))) - 1;
    }
    return query;
}

}  // namespace serape::testing
