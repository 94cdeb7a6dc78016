// Tail probabilities.
#include "harness.hpp"
#include "serape/chi_square.hpp"
#include "serape/critical_values.hpp"
#include "serape/student_t.hpp"

namespace serape::testing {
namespace {

const Case known_values("chi-square tail: known values", [] {
    const double known[][3] = {
        // statistic, degrees of freedom, log p by mpmath
        {1, 1, -1.1478744644493181964},     {3.841458820694124, 1, -2.9957322735539898447},
        {10, 3, -3.986416031734384042},     {5, 10, -0.11521107470692996544},
        {250, 100, -32.488900593540793028}, {90, 101, -0.25442675788631676103},
        {1000, 7, -485.65945087460853408},  {20000, 12.5, -9956.8647919487991647},
        {0.5, 4, -0.026856448685790244234}, {1e6, 2, -500000.0},
    };
    for (const auto& [statistic, dof, log_p] : known) {
        check_close(chi_square_log_sf(statistic, dof), log_p, 1e-12);
    }
});

const Case inverse("chi-square statistic: the inverse of the tail", [] {
    for (const double dof : {1.0, 2.0, 7.5, 100.0, 4000.0}) {
        for (const double log_p : {-1e-6, -0.01, -0.5, -3.0, -40.0, -900.0, -2e5}) {
            check_close(chi_square_log_sf(chi_square_statistic(log_p, dof), dof), log_p, 1e-10);
        }
    }
    check_close(chi_square_statistic(std::log(0.05), 1.0), 3.841458820694124, 1e-12);
    check_equal(chi_square_statistic(0.0, 3.0), 0.0);
    check(std::isinf(chi_square_statistic(-INFINITY, 3.0)));
    check(std::isnan(chi_square_statistic(-1.0, 0.0)));
});

const Case edges("chi-square tail: edges", [] {
    check(std::isnan(chi_square_log_sf(1.0, 0.0)));
    check(std::isnan(chi_square_log_sf(std::nan(""), 3.0)));
    check_equal(chi_square_log_sf(0.0, 3.0), 0.0);
    check_equal(chi_square_log_sf(-1.0, 3.0), 0.0);
    check(std::isinf(chi_square_log_sf(INFINITY, 3.0)));
});

const Case large_dof("chi-square tail: large degrees of freedom", [] {
    // P(X >= dof) is 1/2 less about 1 / (3 sqrt(pi dof)).
    for (const double dof : {1e10, 3e12, 0x1p53, 0x1p54, 1e20, 1e200}) {
        const double expected = 0.5 - 1.0 / (3.0 * std::sqrt(std::acos(-1.0) * dof));
        check_close(std::exp(chi_square_log_sf(dof, dof)), expected, 1e-9);
    }
    // Close to a normal variable: ln P(Z >= 3) and ln P(Z >= -3).
    const double dof = 1e18, three_deviations = 3.0 * std::sqrt(2.0 * dof);
    check_close(chi_square_log_sf(dof + three_deviations, dof), std::log(0.5 * std::erfc(3.0 / std::sqrt(2.0))), 1e-6);
    check_close(chi_square_log_sf(dof - three_deviations, dof), std::log(0.5 * std::erfc(-3.0 / std::sqrt(2.0))), 1e-6);
});

const Case joins("chi-square tail: the expansion joins the series", [] {
    for (const double deviations : {-4.0, -1.0, 0.0, 1.0, 5.0, 40.0}) {
        const auto at = [&](double dof) { return chi_square_log_sf(dof + deviations * std::sqrt(2.0 * dof), dof); };
        check_close(at(2.0001e12), at(1.9999e12), 1e-7);  // the series ends at 2e12
    }
});

const Case critical("critical values give the verdicts of the tail", [] {
    Random random(1);
    for (const double log_alpha : {-3.0, -0.5, -20.0}) {
        CriticalValues values(log_alpha);
        for (int k = 0; k < 2000; ++k) {
            const double dof = 1.0 + below(random, 25), statistic = uniform(random) * 80.0;
            check_equal(values.log_p_above(statistic, dof), chi_square_log_sf(statistic, dof) > log_alpha);
        }
    }
});

const Case student("Student's t tail: known values", [] {
    check_close(student_t_log_p(0.0, 5.0), 0.0, 0.0);
    check_close(student_t_log_p(12.706204736174698, 1.0), std::log(0.05), 1e-12);
    check_close(student_t_log_p(2.570581835636314, 5.0), std::log(0.05), 1e-12);
});

}  // namespace
}  // namespace serape::testing
