// Statistics of contingency tables against plain loops.
#include <map>

#include "harness.hpp"
#include "serape/chi_square.hpp"
#include "serape/contingency_test.hpp"

namespace serape::testing {
namespace {

struct Plain {
    double statistic = 0.0;
    double dof = 0.0;  // adjusted
};

Plain plain(const RandomTable& random, StatisticKind kind, std::size_t x, std::size_t y,
            const std::vector<std::uint32_t>& given) {
    std::map<std::vector<std::uint16_t>, std::map<std::pair<int, int>, double>> strata;
    for (std::size_t i = 0; i < random.table.rows(); ++i) {
        std::vector<std::uint16_t> key;
        for (const std::uint32_t z : given) {
            key.push_back(random.codes[z][i]);
        }
        strata[key][{random.codes[x][i], random.codes[y][i]}] += 1.0;
    }
    Plain out;
    for (const auto& [key, cells] : strata) {
        std::map<int, double> of_x, of_y;
        double rows = 0.0;
        for (const auto& [cell, count] : cells) {
            of_x[cell.first] += count;
            of_y[cell.second] += count;
            rows += count;
        }
        for (const auto& [a, in_a] : of_x) {
            for (const auto& [b, in_b] : of_y) {
                const auto at = cells.find({a, b});
                const double count = at == cells.end() ? 0.0 : at->second;
                const double expected = in_a * in_b / rows;
                if (kind == StatisticKind::x2) {
                    out.statistic += (count - expected) * (count - expected) / expected;
                } else if (count > 0.0) {
                    out.statistic += 2.0 * count * std::log(count / expected);
                }
            }
        }
        out.dof += static_cast<double>((of_x.size() - 1) * (of_y.size() - 1));
    }
    return out;
}

const Case one_test("statistics: one test against plain loops", [] {
    for (const std::uint32_t levels : {2U, 5U, 30U}) {
        const RandomTable random(levels, 500, 6, levels);
        for (const StatisticKind kind : {StatisticKind::g2, StatisticKind::x2}) {
            const ContingencyTest test(random.table, {kind, DofRule::adjusted, Reliability::none, 0.0});
            for (const std::vector<std::uint32_t>& given : {std::vector<std::uint32_t>{}, {2}, {3, 4}, {2, 3, 5}}) {
                const Plain expected = plain(random, kind, 0, 1, given);
                const Outcome found = test.test(0, 1, given);
                check(std::fabs(found.statistic - expected.statistic) < 1e-6 * (1.0 + expected.statistic));
                check_equal(found.dof, expected.dof);
                check_equal(test.test(1, 0, given).statistic, found.statistic);
                if (found.dof > 0.0) {
                    check_equal(found.log_p, chi_square_log_sf(found.statistic, found.dof));
                }
            }
        }
    }
});

const Case full_dof("statistics: degrees of freedom and reliability by levels", [] {
    const RandomTable random(3, 200, 5, 4);
    const double full = (random.table.levels(0) - 1.0) * (random.table.levels(1) - 1.0) * random.table.levels(2);
    for (const double minimum : {1.0, 200.0 / full, 201.0 / full}) {
        const ContingencyTest test(random.table, {StatisticKind::g2, DofRule::full, Reliability::dof, minimum});
        const Outcome found = test.test(0, 1, std::vector<std::uint32_t>{2});
        check_equal(found.dof, full);
        check_equal(found.reliable, 200.0 >= minimum * full);
    }
});

const Case screens("statistics: a screen equals test by test, whatever the threads", [] {
    const RandomTable random(11, 400, 60, 5);
    const ContingencyTest test(random.table, {StatisticKind::g2, DofRule::adjusted, Reliability::dof, 5.0});
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t x = 3; x < 60; ++x) {
        candidates.push_back(x);
    }
    for (const std::vector<std::uint32_t>& given : {std::vector<std::uint32_t>{}, {1}, {1, 2}}) {
        for (const std::size_t threads : {1, 4}) {
            std::vector<double> statistic(candidates.size()), dof(candidates.size());
            std::vector<std::uint8_t> reliable(candidates.size());
            CancellationToken token;
            test.screen(0, candidates, given, threads, token, {statistic.data(), dof.data(), reliable.data()});
            for (std::size_t k = 0; k < candidates.size(); ++k) {
                const Outcome expected = test.test(candidates[k], 0, given);
                check_equal(reliable[k] != 0, expected.reliable);
                if (expected.reliable) {
                    check_equal(statistic[k], expected.statistic);
                    check_equal(dof[k], expected.dof);
                }
            }
        }
    }
});

}  // namespace
}  // namespace serape::testing
