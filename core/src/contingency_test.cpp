#include "serape/contingency_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

ContingencyTest::ContingencyTest(const PackedTable& table, Rules rules)
    : table_(table), rules_(rules), statistic_(rules.statistic, table.rows_counted(), table.log_table()) {}

double ContingencyTest::strata_product(std::span<const std::uint32_t> given) const {
    double product = 1.0;
    for (const std::uint32_t z : given) {
        product *= table_.levels(z);
    }
    return product;
}

double ContingencyTest::full_dof(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const {
    return (table_.levels(x) - 1.0) * (table_.levels(y) - 1.0) * strata_product(given);
}

bool ContingencyTest::enough_rows(double x_levels, double y_levels, double strata) const {
    return serape::enough_rows(rules_, table_.rows_counted(), x_levels, y_levels, strata);
}

Outcome ContingencyTest::outcome(std::size_t x, std::size_t y, double strata, const Sum& sum) const {
    return outcome_of(rules_, statistic_, table_.rows_counted(), table_.levels(x), table_.levels(y), strata, sum);
}

Outcome ContingencyTest::test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const {
    // The statistic is symmetric; dividing by the variable of fewer levels is cheaper.
    if (table_.levels(y) > table_.levels(x)) {
        std::swap(x, y);
    }
    const auto candidate = static_cast<std::uint32_t>(x);
    if (const PackedTable* const distinct = distinct_for(y, {&candidate, 1}, given)) {
        return ContingencyTest(*distinct, rules_).test(x, y, given);
    }
    Cells cells(table_, y, given);
    const TestCells counted(table_, statistic_, cells, table_.levels(y), CandidateKinds(table_, {&candidate, 1}));
    CandidateCounter counter;
    return outcome(x, y, strata_product(given), counted(counter, x));
}

void ContingencyTest::marginals(std::span<const std::uint32_t> targets, std::size_t threads, CancellationToken& token,
                                Answers out) const {
    const std::size_t columns = table_.columns();
    std::vector<std::size_t> turn(columns, targets.size());  // of a target, its place among them
    for (std::size_t row = 0; row < targets.size(); ++row) {
        turn[targets[row]] = row;
    }
    const auto set = [&](std::size_t row, std::size_t column, double statistic, double dof, std::uint8_t reliable) {
        const std::size_t place = row * columns + column;
        out.statistic[place] = statistic;
        out.dof[place] = dof;
        out.reliable[place] = reliable;
    };
    parallel_for(targets.size(), 4, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        std::vector<std::uint32_t> candidates;
        std::vector<double> numbers(2 * columns);
        std::vector<std::uint8_t> reliable(columns);
        for (std::size_t row = first; row < last; ++row) {
            candidates.clear();
            for (std::uint32_t column = 0; column < columns; ++column) {
                if (turn[column] > row) {  // targets before this one have tested it
                    candidates.push_back(column);
                }
            }
            const Answers here{numbers.data(), numbers.data() + columns, reliable.data()};
            screen(targets[row], candidates, {}, 1, token, here);
            set(row, targets[row], nan, nan, 0);
            for (std::size_t k = 0; k < candidates.size(); ++k) {
                set(row, candidates[k], here.statistic[k], here.dof[k], here.reliable[k]);
            }
        }
    });
    for (std::size_t row = 0; row < targets.size(); ++row) {  // the same tests, seen from the other side
        for (std::size_t before = 0; before < row; ++before) {
            const std::size_t from = before * columns + targets[row];
            set(row, targets[before], out.statistic[from], out.dof[from], out.reliable[from]);
        }
    }
}

std::size_t ContingencyTest::first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                             std::span<const std::uint32_t> given, double log_alpha,
                                             CancellationToken& token, Answers out) const {
    if (const PackedTable* const distinct = distinct_for(target, candidates, given)) {
        return ContingencyTest(*distinct, rules_).first_dependent(target, candidates, given, log_alpha, token, out);
    }
    const double strata = strata_product(given);
    Cells cells(table_, target, given);
    const TestCells counted(table_, statistic_, cells, table_.levels(target), CandidateKinds(table_, candidates));
    CandidateCounter counter;
    for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (k % 64 == 63) {
            token.check();
        }
        const std::uint32_t x = candidates[k];
        if (!enough_rows(table_.levels(x), table_.levels(target), strata)) {
            out.statistic[k] = nan;
            out.dof[k] = full_dof(x, target, given);
            out.reliable[k] = 0;
            continue;
        }
        const Outcome found = outcome(x, target, strata, counted(counter, x));
        out.statistic[k] = found.reliable ? found.statistic : nan;
        out.dof[k] = found.dof;
        out.reliable[k] = found.reliable;
        if (found.reliable && found.log_p <= log_alpha) {
            return k + 1;
        }
    }
    return candidates.size();
}

SubsetAnswers ContingencyTest::test_each_given_rest(const SubsetQuery& query, CancellationToken& token) const {
    if (std::optional<SubsetAnswers> found = test_in_distinct(query, token)) {
        return std::move(*found);
    }
    const std::vector<std::uint32_t>& xs = query.xs;
    SubsetAnswers all{std::vector<SubsetAnswer>(xs.size()), {}};
    std::vector<std::uint32_t> live(query.pool);
    std::erase(live, query.target);
    for (std::size_t k = 0; k < xs.size(); ++k) {
        token.check();
        SubsetAnswer& answer = all.answers[k];
        answer.outcome = no_outcome;
        if (xs[k] == query.target) {
            continue;
        }
        answer.given = live;
        std::erase(answer.given, xs[k]);
        const std::size_t size = answer.given.size();
        if (size <= query.max_size &&
            enough_rows(table_.levels(xs[k]), table_.levels(query.target), strata_product(answer.given))) {
            answer.outcome = test(xs[k], query.target, answer.given);
        }
        if (!answer.outcome.reliable) {
            all.tally.add_skip(size);
            answer = {no_outcome, {}, false};
            continue;
        }
        all.tally.add_test(size);
        answer.separated = answer.outcome.log_p > *query.stop_above;
        if (answer.separated) {
            std::erase(live, xs[k]);
        }
    }
    return all;
}

}  // namespace serape
