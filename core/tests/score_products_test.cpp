// Gram matrices of scores: plain loops, threads, parts of the rows, what is known, and refusals.
#include "serape/score_products.hpp"

#include <array>
#include <cmath>
#include <stdexcept>

#include "harness.hpp"
#include "serape/kernels.hpp"

namespace serape::testing {
namespace {

// A number with ties, one without, and a category.
struct Scored {
    explicit Scored(std::size_t count) : rows(count), table(count) {
        Random random(5);
        std::vector<std::uint8_t> level(rows);
        for (std::size_t r = 0; r < rows; ++r) {
            const double x = uniform(random);
            tied.push_back(std::floor(x * 4.0));
            smooth.push_back(x + uniform(random));
            level[r] = static_cast<std::uint8_t>((x + uniform(random)) * 1.5);
        }
        table.append(std::vector<std::uint8_t>(rows, 0), 1);
        table.append(std::vector<std::uint8_t>(rows, 0), 1);
        table.append(level, 3);
        test = std::make_unique<ResidualTest>(table, std::vector<std::uint8_t>{1, 1, 0}, Rules{}, true,
                                              std::span<const double>{}, false, ResidualLimits{});
        test->set_values(0, tied);
        test->set_values(1, smooth);
        test->set_category(2);
        CancellationToken token;
        scores = scores_of(*test, std::array<std::uint32_t, 3>{0, 1, 2}, 4, 1, token);
    }
    std::vector<double> products(std::span<const ColumnScore> of, std::size_t known, std::size_t threads) const {
        std::vector<double> out(of.size() * (of.size() - known));
        CancellationToken token;
        score_products(*test, of, known, threads, token, out.data());
        return out;
    }

    std::size_t rows;
    std::vector<double> tied, smooth;
    PackedTable table;
    std::unique_ptr<ResidualTest> test;
    std::vector<ColumnScore> scores;
};

const Case listed("scores: those of a number of few values are fewer than the values", [] {
    const Scored scored(2000);
    std::size_t of_tied = 0;
    for (const ColumnScore& one : scored.scores) {
        of_tied += one.column == 0;
    }
    check_equal(of_tied, std::size_t{3});
    check_equal(scored.scores.size(), std::size_t{3 + 4 + 2});
    check(scores_of(*scored.test, 1, 1).size() == 1);
});

const Case standard("scores: means of squares are 1, products of powers are 0", [] {
    const Scored scored(2000);
    const std::vector<double> found = scored.products(scored.scores, 0, 1);
    const std::size_t n = scored.scores.size();
    for (std::size_t i = 0; i < n; ++i) {
        check_close(found[i * n + i] / 2000.0, 1.0, 1e-12);
        for (std::size_t j = 0; j < n; ++j) {
            check_equal(found[i * n + j], found[j * n + i]);
            const bool powers = scored.scores[i].column == 1 && scored.scores[j].column == 1;
            check(i == j || !powers || std::abs(found[i * n + j] / 2000.0) < 1e-12);
        }
    }
});

const Case same_bits("scores: the same bits for any number of threads, and whatever is known", [] {
    const Scored scored(40'000);  // several ranges of rows
    const std::vector<double> found = scored.products(scored.scores, 0, 1);
    check(scored.products(scored.scores, 0, 5) == found);
    const std::size_t n = scored.scores.size();
    for (const std::size_t known : {std::size_t{1}, std::size_t{4}, n}) {
        const std::vector<double> rest = scored.products(scored.scores, known, 3);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = known; j < n; ++j) {
                check_equal(rest[i * (n - known) + j - known], found[i * n + j]);
            }
        }
    }
});

const Case parts("scores: sums of parts of the rows add up", [] {
    const Scored scored(1000);
    const std::vector<double> expected = scored.products(scored.scores, 0, 1);
    std::vector<double> total(expected.size(), 0.0);
    const double scale = std::sqrt(1000.0);
    std::size_t begin = 0;
    for (const std::size_t size : {std::size_t{1}, std::size_t{555}, std::size_t{444}}) {
        ScoredPart part(size);
        for (const std::uint32_t column : {0u, 1u}) {
            const ScoreSource source = score_source(*scored.test, column, 4);
            std::vector<double> values, common;
            for (std::size_t r = begin; r < begin + size; ++r) {
                values.push_back(source.scores[r] * scale);
                if (source.common != nullptr) {
                    common.push_back(source.common[r] * scale);
                }
            }
            part.add_number(values, common, {source.polynomials.begin(), source.polynomials.end()});
        }
        const ScoreSource source = score_source(*scored.test, 2, 1);
        part.add_category({source.codes + begin, size}, 3, {source.levels.begin(), source.levels.end()}, source.shares);
        std::vector<double> out(expected.size());
        CancellationToken token;
        part.products(scored.scores, 0, 1, token, out.data());
        for (std::size_t k = 0; k < out.size(); ++k) {
            total[k] += out[k];
        }
        begin += size;
    }
    for (std::size_t k = 0; k < total.size(); ++k) {
        check(std::abs(total[k] - expected[k]) < 1e-9);
    }
});

const Case refused("scores: those that a column lacks are refused", [] {
    const Scored scored(100);
    using Kind = ColumnScore::Kind;
    for (const ColumnScore& wrong :
         {ColumnScore{Kind::power, 1, 99}, ColumnScore{Kind::level, 1, 0}, ColumnScore{Kind::score, 2, 1},
          ColumnScore{Kind::score, 7, 1}, ColumnScore{static_cast<Kind>(9), 0, 0}, ColumnScore{Kind::common, 1, 1}}) {
        bool is_refused = false;
        try {
            scored.products(std::array{wrong}, 0, 1);
        } catch (const std::invalid_argument&) {
            is_refused = true;
        }
        check(is_refused);
    }
});

const Case levels("scores: levels with indicators, by their rows", [] {
    const std::vector<double> rows{10.0, 30.0, 0.0, 4.0, 20.0};
    check(indicated_levels(rows, 64, 5.0) == std::vector<std::uint32_t>{4, 0});
    check(indicated_levels(rows, 2, 5.0) == std::vector<std::uint32_t>{4});
    check(indicated_levels(std::vector<double>{7.0}, 64, 5.0).empty());
    check(indicated_levels(std::vector<double>{7.0, 3.0}, 64, 5.0) == std::vector<std::uint32_t>{0});
});

}  // namespace
}  // namespace serape::testing
