// Distinct rows, and tests that are answered from them, against the rows themselves.
#include "serape/distinct_rows.hpp"

#include <map>
#include <numeric>

#include "enumeration.hpp"
#include "harness.hpp"
#include "serape/chi_square.hpp"
#include "serape/contingency_test.hpp"

namespace serape::testing {
namespace {

constexpr std::size_t tall = 33'000;  // rows, enough for distinct rows to be thought of

// The rows of some columns, with their frequencies.
std::map<std::vector<std::uint16_t>, std::uint32_t> counted(const PackedTable& table,
                                                            const std::vector<std::uint32_t>& columns) {
    std::vector<std::vector<std::uint16_t>> rows(table.rows());
    std::vector<std::uint16_t> codes(table.rows());
    for (const std::uint32_t column : columns) {
        table.unpack(column, codes);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i].push_back(codes[i]);
        }
    }
    std::map<std::vector<std::uint16_t>, std::uint32_t> found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        found[rows[i]] += table.frequencies().empty() ? 1 : table.frequencies()[i];
    }
    return found;
}

std::vector<std::uint32_t> all_columns(const PackedTable& table) {
    std::vector<std::uint32_t> all(table.columns());
    std::iota(all.begin(), all.end(), 0u);
    return all;
}

// The tests of a table, each row by row.
struct RowByRow {
    const ContingencyTest& of;
    Outcome test(std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given) const {
        double statistic = 0.0, dof = 0.0;
        std::uint8_t reliable = 0;
        CancellationToken token;
        of.screen(y, {&x, 1}, given, 1, token, {&statistic, &dof, &reliable}, CountingStrategy::sparse);
        return {statistic, dof, dof > 0.0 ? chi_square_log_sf(statistic, dof) : 0.0, reliable != 0};
    }
};

const Case rows("distinct rows: each once, with its frequency", [] {
    for (const std::uint32_t levels : {2U, 3U, 8U, 9U, 40U, 300U}) {
        for (const std::size_t columns : {1, 3, 12, 40}) {  // keys of one word and of several
            const RandomTable random(levels + columns, 1000, columns, levels);
            const std::vector<std::uint32_t> all = all_columns(random.table);
            const std::optional<PackedTable> found = distinct_rows(random.table, all, 1000);
            check(found.has_value());
            const auto expected = counted(random.table, all);
            check_equal(found->rows(), expected.size());
            check_equal(found->rows_counted(), 1000u);
            check(counted(*found, all) == expected);
            // Of distinct rows, of some columns in another order.
            const std::vector<std::uint32_t> last{static_cast<std::uint32_t>(columns - 1), 0};
            const std::optional<PackedTable> fewer = distinct_rows(*found, last, 1000);
            check(fewer.has_value());
            check(counted(*fewer, {0, 1}) == counted(random.table, last));
            check_equal(fewer->levels(0), random.table.levels(columns - 1));
        }
    }
});

const Case too_many("distinct rows: too many are given up", [] {
    const RandomTable random(3, tall, 8, 12);
    const std::vector<std::uint32_t> all = all_columns(random.table);
    check(!distinct_rows(random.table, all, tall / 4));
    check(!distinct_rows(random.table, std::vector<std::uint32_t>{0}, 1));
    check(random.table.distinct(1e12) == nullptr);
});

const Case kept("distinct rows: made once they pay, anew after a column is appended", [] {
    RandomTable random(4, tall, 6, 3);
    check(random.table.distinct(1.0) == nullptr);
    const std::size_t bytes = random.table.bytes();
    const PackedTable* const found = random.table.distinct(1e12);
    check(found != nullptr);
    check(random.table.distinct(0.0) == found);
    check(random.table.bytes() > bytes);
    random.table.append(random.codes[0], random.table.levels(0));
    check_equal(random.table.distinct(1e12)->columns(), 7u);
});

const Case screens("distinct rows: screens and single tests give the same bits", [] {
    for (const StatisticKind kind : {StatisticKind::g2, StatisticKind::x2}) {
        for (const DofRule dof : {DofRule::full, DofRule::adjusted}) {
            const RandomTable random(1, tall, 9, 5);
            check(random.table.distinct(1e12) != nullptr);
            const ContingencyTest test(random.table, {kind, dof, Reliability::none, 5.0});
            for (std::uint32_t size = 0; size <= 7; ++size) {
                const std::vector<std::uint32_t> all = all_columns(random.table);
                const std::vector<std::uint32_t> given(all.begin(), all.begin() + size);
                const std::vector<std::uint32_t> candidates(all.begin() + size, all.end() - 1);
                const auto screened = [&](CountingStrategy strategy) {
                    std::vector<double> statistic(candidates.size()), freedom(candidates.size());
                    std::vector<std::uint8_t> reliable(candidates.size());
                    CancellationToken token;
                    test.screen(8, candidates, given, 2, token, {statistic.data(), freedom.data(), reliable.data()},
                                strategy);
                    return std::tuple(statistic, freedom, reliable);
                };
                check(screened(CountingStrategy::automatic) == screened(CountingStrategy::sparse));
                for (const std::uint32_t x : candidates) {
                    const Outcome found = test.test(x, 8, given);
                    const Outcome expected = RowByRow{test}.test(x, 8, given);
                    check_equal(found.statistic, expected.statistic);
                    check_equal(found.dof, expected.dof);
                }
            }
        }
    }
});

const Case rest("distinct rows: tests given the rest give the same answers", [] {
    const RandomTable random(6, tall, 9, 3);
    const ContingencyTest test(random.table, {StatisticKind::g2, DofRule::adjusted, Reliability::dof, 5.0});
    SubsetQuery query;
    query.xs = query.pool = {7, 2, 4, 0, 5, 3, 1};
    query.target = 8;
    query.stop_above = -3.0;
    CancellationToken token;
    const SubsetAnswers found = test.test_each_given_rest(query, token);
    check(random.table.distinct(0.0) != nullptr);
    std::vector<std::uint32_t> live = query.pool;
    for (std::size_t k = 0; k < query.xs.size(); ++k) {
        std::vector<std::uint32_t> given = live;
        std::erase(given, query.xs[k]);
        const Outcome expected = RowByRow{test}.test(query.xs[k], 8, given);
        check_equal(found.answers[k].outcome.statistic, expected.statistic);
        check_equal(found.answers[k].given, given);
        check_equal(found.answers[k].separated, expected.log_p > *query.stop_above);
        if (found.answers[k].separated) {
            std::erase(live, query.xs[k]);
        }
    }
});

const Case subsets_of_few("distinct rows: searches through subsets against enumeration", [] {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        const RandomTable random(seed, tall, 9, seed == 1 ? 5 : 12);
        const ContingencyTest test(random.table, {StatisticKind::g2, DofRule::adjusted, Reliability::dof, 5.0});
        Random draws(seed);
        for (int k = 0; k < 27; ++k) {
            SubsetQuery query = random_query(draws, 9);
            if (k < 4) {  // all subsets of a large pool
                query.target = 8;
                query.fixed.clear();
                query.pool = {5, 1, 0, 3, 6, 2};
                query.xs = k % 2 == 0 ? query.pool : std::vector<std::uint32_t>{7, 2, 4};
                query.smallest = 0;
                query.largest = 6;
                query.n_exhausted.clear();
                query.stop_above.reset();
                query.shrinking = query.until_survivor = false;
                if (k >= 2) {
                    query.stop_above = -4.0;
                    query.shrinking = true;
                }
            }
            const SubsetAnswers expected = enumerate(RowByRow{test}, query);
            for (const std::size_t threads : {1, 4}) {
                CancellationToken token;
                check_same(test.search_subsets(query, threads, token), expected);
            }
        }
        check_equal(random.table.distinct(0.0) != nullptr, seed == 1);
    }
});

}  // namespace
}  // namespace serape::testing
