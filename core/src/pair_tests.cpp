#include "serape/pair_tests.hpp"

#include <algorithm>
#include <limits>

namespace serape {

void keep_weakest(const AddedTests& tests, std::int64_t batch, std::int64_t added, const WeakestTests& known) {
    for (std::size_t k = 0; k < tests.pair.size(); ++k) {
        const auto at = static_cast<std::size_t>(tests.pair[k]);
        const bool is_first = known.batch[at] < 0;
        if (is_first) {
            known.since[at] = added + static_cast<std::int64_t>(k);
        }
        const double log_p = tests.log_p[k], statistic = tests.statistic[k];
        if (is_first || log_p > known.log_p[at] || (log_p == known.log_p[at] && statistic < known.statistic[at])) {
            known.log_p[at] = log_p;
            known.statistic[at] = statistic;
            known.batch[at] = batch;
            known.index[at] = tests.index[k];
        }
    }
}

Sides by_strength(std::span<const std::uint32_t> x, std::span<const std::uint32_t> y, std::span<const double> log_p,
                  std::span<const double> statistic, std::size_t variables, std::size_t threads,
                  CancellationToken& token) {
    std::vector<std::size_t> begin(variables + 1);
    for (const auto& side : {x, y}) {
        for (const std::uint32_t variable : side) {
            ++begin[variable + 1];
        }
    }
    for (std::size_t k = 0; k < variables; ++k) {
        begin[k + 1] += begin[k];
    }
    Sides sides;
    sides.from.resize(2 * x.size());
    sides.to.resize(2 * x.size());
    sides.edge.resize(2 * x.size());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t k = 0; k < x.size(); ++k) {
        sides.edge[next[x[k]]++] = static_cast<std::int64_t>(k);
        sides.edge[next[y[k]]++] = static_cast<std::int64_t>(k);
    }
    const auto stronger = [&](std::int64_t one, std::int64_t other) {
        const auto a = static_cast<std::size_t>(one), b = static_cast<std::size_t>(other);
        if (log_p[a] != log_p[b]) {
            return log_p[a] < log_p[b];
        }
        return statistic[a] != statistic[b] ? statistic[a] > statistic[b] : a < b;
    };
    constexpr std::size_t grain = 256;
    parallel_for(variables, grain, threads, token, [&](std::size_t first, std::size_t past, std::size_t) {
        token.check();
        for (std::size_t variable = first; variable < past; ++variable) {
            const auto own = std::span(sides.edge).subspan(begin[variable], begin[variable + 1] - begin[variable]);
            std::sort(own.begin(), own.end(), stronger);
            for (std::size_t k = begin[variable]; k < begin[variable + 1]; ++k) {
                const auto edge = static_cast<std::size_t>(sides.edge[k]);
                sides.from[k] = static_cast<std::uint32_t>(variable);
                sides.to[k] = x[edge] == variable ? y[edge] : x[edge];
            }
        }
    });
    return sides;
}

void statistic_each(const ContingencyTest& test, const SingleTests& asked, std::size_t threads,
                    CancellationToken& token, std::span<double> out) {
    constexpr std::size_t grain = 64;
    parallel_for(asked.size(), grain, threads, token, [&](std::size_t first, std::size_t past, std::size_t) {
        for (std::size_t k = first; k < past; ++k) {
            token.check();
            const Outcome outcome = test.test(asked.x[k], asked.y[k], asked.given(k));
            out[k] = outcome.reliable ? outcome.statistic : std::numeric_limits<double>::quiet_NaN();
        }
    });
}

}  // namespace serape
