// Tests that are answered from distinct rows, where that is faster.
#include <algorithm>
#include <cmath>

#include "distinct_search.hpp"
#include "serape/contingency_test.hpp"
#include "serape/kernels.hpp"

namespace serape {

const PackedTable* ContingencyTest::distinct_for(std::size_t target, std::span<const std::uint32_t> candidates,
                                                 std::span<const std::uint32_t> given) const {
    const Costs& costs = kernels().costs;
    if (!table_.frequencies().empty() || !DistinctSearch::may_pay(table_) || candidates.empty()) {
        return nullptr;
    }
    double levels = 0.0;
    for (const std::uint32_t x : candidates) {
        levels += table_.levels(x);
    }
    const auto tests = static_cast<double>(candidates.size());
    ExpectedTests expected{.rows = table_.rows(),
                           .tests = tests,
                           .levels = levels / tests,
                           .cells = table_.levels(target) * strata_product(given),
                           .divisions = 1.0,
                           .divided_by = static_cast<double>(given.size() + 1)};
    const double here = expected_cost(expected, costs);
    expected.distinct_rows = true;
    expected.rows = table_.rows() / costs.expected_rows_per_distinct;
    if (here < expected_cost(expected, costs)) {
        return nullptr;
    }
    const PackedTable* const distinct = table_.distinct(here);
    if (distinct != nullptr) {
        expected.rows = distinct->rows();
    }
    return distinct == nullptr || here < expected_cost(expected, costs) ? nullptr : distinct;
}

std::optional<SubsetAnswers> ContingencyTest::test_in_distinct(const SubsetQuery& query,
                                                               CancellationToken& token) const {
    if (!table_.frequencies().empty() || !DistinctSearch::may_pay(table_) || query.xs.empty() || query.pool.empty()) {
        return {};
    }
    const auto tests = static_cast<double>(query.xs.size());
    const auto size = static_cast<double>(query.pool.size());
    const double levels = std::pow(strata_product(query.pool), 1.0 / size);
    DistinctSearch search(table_);
    if (!search.pays({.tests = tests,
                      .levels = levels,
                      .cells = table_.levels(query.target) * strata_product(query.pool) / levels,
                      .divisions = tests,
                      .divided_by = size},
                     query.target, query.pool, query.xs)) {
        return {};
    }
    SubsetQuery within = query;
    within.target = search.column(query.target);
    for (std::vector<std::uint32_t>* const columns : {&within.xs, &within.pool}) {
        std::transform(columns->begin(), columns->end(), columns->begin(),
                       [&](std::uint32_t column) { return search.column(column); });
    }
    SubsetAnswers all = ContingencyTest(search.table(), rules_).test_each_given_rest(within, token);
    for (SubsetAnswer& answer : all.answers) {
        for (std::uint32_t& column : answer.given) {
            column = search.variable(column);
        }
    }
    return all;
}

}  // namespace serape
