// The test of residuals: tails of F, orthogonality, threads, subsets.
#include <memory>

#include "../src/conditioning.hpp"
#include "harness.hpp"
#include "serape/f_distribution.hpp"
#include "serape/residual_test.hpp"
#include "serape/student_t.hpp"

namespace serape::testing {
namespace {

const Case f_tail("F tail: Student's t is the case of one degree of freedom, and edges", [] {
    for (const double t : {0.1, 1.0, 3.5, 40.0, 1e4}) {
        for (const double dof : {1.0, 7.5, 300.0}) {
            check_close(f_log_sf(t * t, dof, 1.0, dof), student_t_log_p(t, dof), 1e-10);
        }
    }
    check_equal(f_log_sf(0.0, 1.0, 3.0, 9.0), 0.0);
    check(std::isnan(f_log_sf(1.0, 1.0, 0.0, 9.0)));
    check(std::isinf(f_log_sf(1.0, 0.0, 3.0, 9.0)));
});

const Case quantiles("normal quantiles: known values", [] {
    check_close(normal_quantile(0.975), 1.959963984540054, 1e-14);
    check_close(normal_quantile(1e-10), -6.361340902404056, 1e-12);
    check_equal(normal_quantile(0.25), -normal_quantile(0.75));
});

// Three categories and four numbers, all related.
struct Mixture {
    explicit Mixture(std::size_t rows) : table(rows) {
        Random random(3);
        std::vector<std::vector<double>> numbers(4, std::vector<double>(rows));
        std::vector<std::vector<std::uint8_t>> codes(3, std::vector<std::uint8_t>(rows));
        for (std::size_t r = 0; r < rows; ++r) {
            const double common = uniform(random);
            for (std::size_t k = 0; k < numbers.size(); ++k) {
                numbers[k][r] = common * static_cast<double>(k) + uniform(random);
            }
            for (std::size_t k = 0; k < codes.size(); ++k) {
                codes[k][r] = static_cast<std::uint8_t>((common + uniform(random)) * 1.5);
            }
        }
        for (const auto& column : codes) {
            table.append(column, 3);
        }
        for (std::size_t k = 0; k < numbers.size(); ++k) {
            table.append(std::vector<std::uint8_t>(rows, 0), 1);
        }
        test = std::make_unique<ResidualTest>(table, std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1, 1}, Rules{}, true,
                                              std::span<const double>{}, false, ResidualLimits{});
        for (std::uint32_t v = 0; v < 3; ++v) {
            test->set_category(v);
            test->set_values(3 + v, numbers[v]);
        }
        test->set_values(6, numbers[3]);
    }
    PackedTable table;
    std::unique_ptr<ResidualTest> test;
};

const Case screens("residuals: screens are single tests, for any number of threads", [] {
    const Mixture mixture(333);
    const std::vector<std::uint32_t> candidates{0, 2, 4, 5, 6};
    for (const std::size_t threads : {1, 4}) {
        std::vector<double> statistic(5), dof(5);
        std::vector<std::uint8_t> reliable(5);
        CancellationToken token;
        mixture.test->screen(3, candidates, std::vector<std::uint32_t>{1}, threads, token,
                             {statistic.data(), dof.data(), reliable.data()});
        for (std::size_t k = 0; k < candidates.size(); ++k) {
            const Outcome single = mixture.test->test(candidates[k], 3, std::vector<std::uint32_t>{1});
            check(single.reliable);
            check_equal(statistic[k], single.statistic);
        }
    }
});

const Case symmetric("residuals: x and y, and the order of Z, play no part", [] {
    const Mixture mixture(200);
    const Outcome one = mixture.test->test(4, 0, std::vector<std::uint32_t>{1, 5, 6});
    check_equal(mixture.test->test(4, 0, std::vector<std::uint32_t>{6, 1, 5}).log_p, one.log_p);
    check_close(mixture.test->test(0, 4, std::vector<std::uint32_t>{5, 6, 1}).log_p, one.log_p, 1e-9);
});

const Case bytes("residuals: a conditioning set counts what it takes by row, also before rows are weighed", [] {
    const Mixture mixture(1000);
    check(Conditioning(*mixture.test, std::vector<std::uint32_t>{1, 5}).bytes() >= 1000 * sizeof(double));
});

const Case subsets("residuals: a search through subsets gives the same on any number of threads", [] {
    const Mixture mixture(250);
    SubsetQuery query;
    query.xs = {0, 2, 4, 5, 6};
    query.target = 3;
    query.pool = {1, 2, 4, 5, 6};
    query.largest = 2;
    CancellationToken token;
    const SubsetAnswers one = ResidualRows{*mixture.test}.search_subsets(query, 1, token);
    const SubsetAnswers many = ResidualRows{*mixture.test}.search_subsets(query, 4, token);
    check_equal(one.tally.tests, many.tally.tests);
    for (std::size_t k = 0; k < query.xs.size(); ++k) {
        check_equal(one.answers[k].outcome.log_p, many.answers[k].outcome.log_p);
        check_equal(one.answers[k].given, many.answers[k].given);
        const Outcome again = mixture.test->test(query.xs[k], 3, one.answers[k].given);
        check_equal(again.log_p, one.answers[k].outcome.log_p);
    }
});

}  // namespace
}  // namespace serape::testing
