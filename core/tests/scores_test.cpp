// Scores of numbers: what candidates explain, and searches for an order by several threads.
#include <algorithm>
#include <bit>
#include <numeric>

#include "harness.hpp"
#include "serape/gaussian_score.hpp"
#include "serape/kernels.hpp"
#include "serape/order_search.hpp"

namespace serape::testing {
namespace {

const Case explained("scores: what candidates explain has the bits of plain loops, whatever their number", [] {
    for (const Kernels* const set : available_kernels()) {
        Random random(1);
        for (const std::size_t columns : {32, 33, 40, 63, 64, 100}) {
            for (std::size_t count = 0; count <= 6; ++count) {
                std::vector<std::vector<double>> values(count + 1, std::vector<double>(columns));
                std::vector<const double*> rows;
                for (std::vector<double>& row : values) {
                    std::generate(row.begin(), row.end(), [&] { return uniform(random) - 0.5; });
                    rows.push_back(row.data());
                }
                std::vector<double> factor(count * (count + 1) / 2);
                std::vector<double> inverse(count);
                std::generate(factor.begin(), factor.end(), [&] { return uniform(random) - 0.5; });
                std::generate(inverse.begin(), inverse.end(), [&] { return 1.0 + uniform(random); });
                LineVector<double> scratch(32 * count);
                std::vector<double> found(columns);
                set->explained(rows.data(), factor.data(), inverse.data(), count, 0.25, columns, scratch.data(),
                               found.data());
                for (std::size_t b = 0; b < columns; ++b) {
                    std::vector<double> v;
                    double left = 1.0;
                    for (std::size_t k = 0; k <= count; ++k) {
                        double value = rows[k][b];
                        for (std::size_t j = 0; j < k; ++j) {
                            value -= factor[k * (k - 1) / 2 + j] * v[j];
                        }
                        v.push_back(value);
                        left -= k < count ? value * value * inverse[k] : 0.0;
                    }
                    const double expected = v[count] * v[count] - 0.25 * left;
                    check_equal(std::bit_cast<std::uint64_t>(found[b]), std::bit_cast<std::uint64_t>(expected));
                }
            }
        }
    }
});

const Case orders("scores: an order is improved alike by any number of threads, in any memory", [] {
    constexpr std::size_t rows = 300, columns = 45;
    Random random(2);
    std::vector<std::vector<double>> data(columns, std::vector<double>(rows));
    GaussianTest test(rows, columns, CorrelationKind::student_t);
    std::vector<double> log_variance;
    for (std::size_t k = 0; k < columns; ++k) {
        for (std::size_t r = 0; r < rows; ++r) {
            data[k][r] = uniform(random) - 0.5;
            for (std::size_t j = k - std::min<std::size_t>(k, 3); j < k; ++j) {
                data[k][r] += (j % 2 == 0 ? 0.4 : -0.6) * data[j][r];
            }
        }
        test.append(data[k]);
        log_variance.push_back(0.0);
    }
    const GaussianScore score(test, GaussianScoreKind::bic, log_variance, 0.0);
    std::vector<std::uint32_t> order(columns);
    std::iota(order.rbegin(), order.rend(), 0U);
    std::vector<std::uint32_t> expected;
    for (const std::size_t threads : {1, 4}) {
        for (const std::size_t bytes : {OrderSearch::default_bytes, std::size_t{0}}) {
            OrderRules rules;
            rules.required.resize(columns);
            rules.earlier.resize(columns);
            for (std::uint32_t y = 0; y < columns; ++y) {
                std::vector<std::uint32_t>& others = rules.allowed.emplace_back(order.rbegin(), order.rend());
                others.erase(others.begin() + y);
            }
            rules.max_parents = columns;
            rules.rounding = 8.0 * score.unit();
            OrderSearch search(score, std::move(rules), threads, bytes);
            CancellationToken token;
            std::size_t moves = 0;
            search.set_order(order, token);
            const double before = search.total();
            search.improve([&] { ++moves; }, token);
            check(moves > 0 && search.total() > before);
            expected = expected.empty() ? search.order() : expected;
            check(search.order() == expected);
        }
    }
});

}  // namespace
}  // namespace serape::testing
