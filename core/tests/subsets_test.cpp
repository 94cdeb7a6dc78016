// Searches through conditioning sets against plain enumeration, for counts and for correlations.
#include <algorithm>
#include <string>

#include "harness.hpp"
#include "serape/contingency_test.hpp"
#include "serape/gaussian_test.hpp"

namespace serape::testing {
namespace {

// Subsets of `size` of the first members, in lexicographic order.
std::vector<std::vector<std::uint32_t>> subsets(const std::vector<std::uint32_t>& members, std::size_t size) {
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

void check_same(const SubsetAnswers& found, const SubsetAnswers& expected) {
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

SubsetQuery random_query(Random& random, std::uint32_t columns) {
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

template <class Test>
void check_queries(const Test& test, std::uint64_t seed, std::uint32_t columns) {
    Random random(seed);
    for (int k = 0; k < 60; ++k) {
        const SubsetQuery query = random_query(random, columns);
        const SubsetAnswers expected = enumerate(test, query);
        for (const std::size_t threads : {1, 4}) {
            CancellationToken token;
            check_same(test.search_subsets(query, threads, token), expected);
        }
    }
}

void fill(GaussianTest& test, std::uint64_t seed, std::size_t columns) {
    const std::size_t rows = test.rows();
    Random random(seed);
    std::vector<std::vector<double>> values;
    for (std::size_t j = 0; j < columns; ++j) {
        std::vector<double> column(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            column[i] = uniform(random) + uniform(random) + (j > 0 ? values[j / 2][i] : 0.0);
        }
        if (j == 5) {
            column = values[3];  // a copy: collinear sets
        }
        test.append(column);
        values.push_back(std::move(column));
    }
}

const Case counts("subsets: counts against enumeration", [] {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const RandomTable random(seed, seed == 1 ? 60 : 500, 9, seed == 4 ? 12 : 3);
        for (const DofRule dof : {DofRule::full, DofRule::adjusted}) {
            const ContingencyTest test(random.table, {StatisticKind::g2, dof, Reliability::dof, 5.0});
            check_queries(test, seed, 9);
        }
    }
});

const Case correlations("subsets: correlations against enumeration", [] {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        for (const CorrelationKind kind : {CorrelationKind::fisher_z, CorrelationKind::student_t}) {
            GaussianTest test(seed == 1 ? 7 : 80, 9, kind);
            fill(test, seed, 9);
            check_queries(test, seed, 9);
        }
    }
});

const Case many_pairs("subsets: pairs of a large pool, side by side and in turn", [] {
    const RandomTable random(21, 640, 90, 2);
    const ContingencyTest test(random.table, {StatisticKind::g2, DofRule::adjusted, Reliability::dof, 5.0});
    SubsetQuery query;
    query.target = 89;
    for (std::uint32_t z = 0; z < 89; ++z) {
        query.pool.push_back(z);
    }
    query.xs.assign(query.pool.rbegin(), query.pool.rend());
    query.smallest = query.largest = 1;
    for (const bool shrinking : {false, true}) {
        for (const double level : {-1.0, -8.0}) {
            query.shrinking = shrinking;
            query.stop_above = level;
            const SubsetAnswers expected = enumerate(test, query);
            for (const std::size_t threads : {1, 4}) {
                CancellationToken token;
                check_same(test.search_subsets(query, threads, token), expected);
            }
        }
    }
});

const Case formula("subsets: sizes beyond the bound are counted by formula", [] {
    const RandomTable random(2, 100, 62, 2);
    const ContingencyTest counting(random.table, {StatisticKind::g2, DofRule::full, Reliability::none, 0.0});
    GaussianTest correlating(100, 62, CorrelationKind::fisher_z);
    fill(correlating, 2, 62);
    SubsetQuery query;
    query.xs = {0};
    query.target = 61;
    for (std::uint32_t z = 1; z < 61; ++z) {
        query.pool.push_back(z);
    }
    query.largest = 60;
    query.max_size = 1;
    for (int k = 0; k < 2; ++k) {
        CancellationToken token;
        const Tally tally =
            k == 0 ? counting.search_subsets(query, 1, token).tally : correlating.search_subsets(query, 1, token).tally;
        for (std::size_t size = 2; size <= 60; ++size) {
            check_equal(tally.skipped[size], choose(60, size));
        }
    }
});

const Case cancelled("subsets: a search is cancelled", [] {
    GaussianTest test(200, 62, CorrelationKind::fisher_z);
    fill(test, 4, 62);
    SubsetQuery query;
    query.xs = {0, 1, 2};
    query.target = 61;
    for (std::uint32_t z = 3; z < 60; ++z) {
        query.pool.push_back(z);
    }
    query.largest = 50;
    for (const std::size_t threads : {1, 3}) {
        CancellationToken token([] { return true; });
        check_throws<Cancelled>([&] { test.search_subsets(query, threads, token); });
    }
});

}  // namespace
}  // namespace serape::testing
