#include "serape/test_rules.hpp"

#include <limits>

#include "serape/chi_square.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double strata_product(const CountTable& table) {
    double product = 1.0;
    for (const std::uint32_t levels : table.given_levels) {
        product *= levels;
    }
    return product;
}

}  // namespace

bool enough_rows(const Rules& rules, std::size_t rows, double x_levels, double y_levels, double strata) {
    const double dof = (x_levels - 1.0) * (y_levels - 1.0) * strata;
    if (!(dof > 0.0)) {
        return false;
    }
    const auto n = static_cast<double>(rows);
    switch (rules.reliability) {
        case Reliability::dof: return n >= rules.minimum * dof;
        case Reliability::cells: return n >= rules.minimum * x_levels * y_levels * strata;
        default: return true;
    }
}

Outcome outcome_of(const Rules& rules, const Statistic& statistic, std::size_t rows, std::uint32_t x_levels,
                   std::uint32_t y_levels, double strata, const Sum& sum) {
    Outcome out{};
    out.statistic = statistic.value(sum.value, statistic.scale(x_levels, y_levels));
    out.dof =
        rules.dof == DofRule::adjusted ? static_cast<double>(sum.dof) : (x_levels - 1.0) * (y_levels - 1.0) * strata;
    out.log_p = out.dof > 0.0 ? chi_square_log_sf(out.statistic, out.dof) : nan;
    out.reliable = out.dof > 0.0 && enough_rows(rules, rows, x_levels, y_levels, strata);
    return out;
}

CountedTest::CountedTest(std::size_t rows, Rules rules)
    : rows_(rows), rules_(rules), log_(rows), statistic_(rules.statistic, rows, log_) {}

Sum CountedTest::sum(const CountTable& table, std::size_t candidate) const {
    const double scale = statistic_.scale(table.candidate_levels[candidate], table.target_levels);
    Sum sum;
    CountedStrata strata(table, candidate);
    strata.for_each([&](const SparseStratum& stratum) {
        sum.value += statistic_.constant(stratum.sizes.data(), stratum.sizes.size(), stratum.rows);
        statistic_.add(sum, stratum, scale);
    });
    return sum;
}

void CountedTest::screen(const CountTable& table, Answers out) const {
    check_rows(table, rows_);
    const double strata = strata_product(table);
    for (std::size_t k = 0; k < table.candidate_levels.size(); ++k) {
        const std::uint32_t levels = table.candidate_levels[k];
        out.statistic[k] = nan;
        out.dof[k] = (levels - 1.0) * (table.target_levels - 1.0) * strata;
        out.reliable[k] = 0;
        if (enough_rows(rules_, rows_, levels, table.target_levels, strata)) {
            const Outcome found = test(table, k);
            out.dof[k] = found.dof;
            out.statistic[k] = found.reliable ? found.statistic : nan;
            out.reliable[k] = found.reliable;
        }
    }
}

Outcome CountedTest::test(const CountTable& table, std::size_t candidate) const {
    check_rows(table, rows_);
    return outcome_of(rules_, statistic_, rows_, table.candidate_levels[candidate], table.target_levels,
                      strata_product(table), sum(table, candidate));
}

}  // namespace serape
