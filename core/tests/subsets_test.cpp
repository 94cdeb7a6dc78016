// Searches through conditioning sets against plain enumeration, for counts and for correlations.
#include <algorithm>
#include <string>

#include "enumeration.hpp"
#include "harness.hpp"
#include "serape/contingency_test.hpp"
#include "serape/gaussian_test.hpp"

namespace serape::testing {
namespace {

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

// The candidates in turn, each search by itself: what grow_pool must find.
template <class Test>
GrownPool grow_plainly(const Test& test, const SubsetQuery& query, bool examine) {
    GrownPool grown;
    std::vector<std::uint32_t> pool = query.pool;
    const auto separates = [&](std::uint32_t x, std::int64_t n_exhausted) {
        SubsetQuery one = query;
        one.xs = {x};
        one.pool = pool;
        one.n_exhausted = {n_exhausted};
        const SubsetAnswers found = enumerate(test, one);
        grown.searched.push_back(x);
        grown.found.answers.push_back(found.answers[0]);
        grown.found.tally.merge(found.tally);
        return found.answers[0].separated;
    };
    for (const std::uint32_t x : query.xs) {
        if (!pool.empty() && separates(x, 0)) {
            continue;
        }
        const std::vector<std::uint32_t> older = pool;
        pool.push_back(x);
        grown.changes.push_back({x, true});
        for (std::size_t k = 0; examine && k < older.size(); ++k) {
            if (separates(older[k], static_cast<std::int64_t>(pool.size()) - 1)) {
                std::erase(pool, older[k]);
                grown.changes.push_back({older[k], false});
            }
        }
    }
    return grown;
}

// Asks again for the candidates that a call has left.
template <class Test>
GrownPool grow_in_parts(const Test& test, SubsetQuery query, bool examine, std::uint64_t enough) {
    GrownPool all;
    while (!query.xs.empty()) {
        CancellationToken token;
        const GrownPool part = test.grow_pool(query, examine, enough, token);
        all.searched.insert(all.searched.end(), part.searched.begin(), part.searched.end());
        all.changes.insert(all.changes.end(), part.changes.begin(), part.changes.end());
        all.found.answers.insert(all.found.answers.end(), part.found.answers.begin(), part.found.answers.end());
        all.found.tally.merge(part.found.tally);
        for (const GrownPool::Change& change : part.changes) {
            if (change.joined) {
                query.pool.push_back(change.variable);
            } else {
                std::erase(query.pool, change.variable);
            }
        }
        query.xs.erase(query.xs.begin(), query.xs.begin() + static_cast<std::ptrdiff_t>(part.asked));
    }
    return all;
}

template <class Test>
void check_growth(const Test& test, std::uint64_t seed, std::uint32_t columns) {
    Random random(seed);
    for (int k = 0; k < 20; ++k) {
        SubsetQuery query;
        for (std::uint32_t v = 0; v < columns; ++v) {
            query.xs.push_back(v);
        }
        std::shuffle(query.xs.begin(), query.xs.end(), random);
        query.target = query.xs.back();
        query.xs.pop_back();
        query.largest = columns;
        query.max_size = 1 + below(random, 3);
        query.n_exhausted = {0};
        query.stop_above = -0.5 - 6.0 * uniform(random);
        for (const bool examine : {false, true}) {
            const GrownPool expected = grow_plainly(test, query, examine);
            for (const std::uint64_t enough : {1U, 40U, 1'000'000U}) {
                const GrownPool found = grow_in_parts(test, query, examine, enough);
                check_equal(found.searched, expected.searched);
                check_same(found.found, expected.found);
                check_equal(found.changes.size(), expected.changes.size());
                for (std::size_t c = 0; c < found.changes.size(); ++c) {
                    check_equal(found.changes[c].variable, expected.changes[c].variable);
                    check_equal(found.changes[c].joined, expected.changes[c].joined);
                }
            }
        }
    }
}

const Case growth("subsets: a growing pool against enumeration", [] {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const RandomTable random(seed, seed == 1 ? 60 : 500, 9, seed == 4 ? 40 : 3);
        for (const DofRule dof : {DofRule::full, DofRule::adjusted}) {
            const Reliability reliability = seed == 4 ? Reliability::none : Reliability::dof;  // large tables, too
            for (const StatisticKind kind : {StatisticKind::g2, StatisticKind::x2}) {
                check_growth(ContingencyTest(random.table, {kind, dof, reliability, 5.0}), seed, 9);
            }
        }
        GaussianTest test(seed == 1 ? 7 : 80, 9, CorrelationKind::fisher_z);
        fill(test, seed, 9);
        check_growth(test, seed, 9);
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
