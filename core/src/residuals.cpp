#include "residuals.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "columns_algebra.hpp"

namespace serape {

Residuals::Residuals(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column, Form form) {
    if (form != Form::levels) {
        make_columns(test, conditioning, column);
    }
    if (form != Form::columns && !test.number(column)) {
        make_levels(test, conditioning, column);
    }
}

void Residuals::make_columns(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column) {
    const ResidualLimits& limits = test.limits();
    const auto add = [&](LineVector<double> scores) {
        const bool bends = block.size() < (test.number(column) ? 1 : 2);
        LineVector<double> fitted(bends ? scores : LineVector<double>());
        if (!(conditioning.take_out(scores.data()) > limits.least_left)) {
            return;
        }
        if (bends) {
            std::transform(fitted.begin(), fitted.end(), scores.begin(), fitted.begin(), std::minus<>{});
            const int few_rows = 4 + static_cast<int>(std::max(conditioning.rows_left(), 0.0) / 75.0);
            add_curves(test, conditioning, std::move(fitted), std::min(limits.max_bends, few_rows));
        }
        take_block_out(block, scores);
        const double left = dot(scores, scores);
        if (left > limits.least_left) {
            scale(scores, 1.0 / std::sqrt(left));
            block.push_back(std::move(scores));
        }
    };
    if (!test.number(column)) {
        for (LineVector<double>& scores : indicators(test, test.codes(column), test.scores(column).levels)) {
            add(std::move(scores));
        }
        return;
    }
    const ResidualTest::Scores& scores = test.scores(column);
    for (std::size_t k = 0; k < scores.width && scores.testable; ++k) {
        const double* first = scores.columns.data() + k * test.stride();
        add(LineVector<double>(first, first + test.stride()));
    }
    if (!test.curved() || scores.values <= 2 || block.empty()) {
        return;
    }
    square.assign(test.stride(), 0.0);
    for (std::size_t r = 0; r < test.rows(); ++r) {
        square[r] = scores.columns[r] * scores.columns[r] / test.root_weight(r);
    }
    test.centre(square.data());
    const double before = dot(square, square);
    conditioning.take_out(square.data());
    take_block_out(block, square);
    const double left = dot(square, square);
    if (left > limits.least_left * before) {
        scale(square, 1.0 / std::sqrt(left));
    } else {
        square.clear();
    }
}

// What Z explains of a column may be bent, as where x is a class or a count by a sum of members of Z. Polynomials of it
// let the regression follow (Ramsey 1969).
void Residuals::add_curves(const ResidualTest& test, const Conditioning& conditioning, LineVector<double> fitted,
                           int degrees) {
    const double explained = dot(fitted, fitted);
    if (explained < test.limits().least_explained) {
        return;
    }
    const double to_spread_1 = std::sqrt(test.effective_rows() / explained);
    for (std::size_t r = 0; r < test.rows(); ++r) {
        fitted[r] = std::clamp(fitted[r] * to_spread_1 / test.root_weight(r), -4.0, 4.0);
    }
    LineVector<double> last(fitted), before_last(fitted.size(), 1.0);  // Hermite polynomials, as in Conditioning
    for (int degree = 2; degree <= degrees; ++degree) {
        LineVector<double> curve(test.stride(), 0.0);
        for (std::size_t r = 0; r < test.rows(); ++r) {
            const double next = (fitted[r] * last[r] - std::sqrt(degree - 1.0) * before_last[r]) / std::sqrt(degree);
            before_last[r] = std::exchange(last[r], next);
            curve[r] = next * test.root_weight(r);
        }
        test.centre(curve.data());
        const double before = dot(curve, curve);
        const double alone = conditioning.take_out(curve.data());
        take_block_out(curves, curve);
        const double left = dot(curve, curve);
        if (alone > test.limits().least_left * before && left > test.limits().least_curve * alone) {
            scale(curve, 1.0 / std::sqrt(left));
            curves.push_back(std::move(curve));
        }
    }
}

void Residuals::make_levels(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column) {
    const ResidualLimits& limits = test.limits();
    const std::uint32_t levels = test.table().levels(column);
    level = test.codes(column);
    const std::vector<std::uint32_t>& indicated = test.scores(column).levels;
    count = indicated.size();
    std::vector<std::uint16_t> number(levels, static_cast<std::uint16_t>(count));
    for (std::size_t k = 0; k < count; ++k) {
        number[indicated[k]] = static_cast<std::uint16_t>(k);
    }
    for (std::uint16_t& l : level) {
        l = number[l];
    }
    factor = conditioning.left_of_levels(level, count);
    factorise(factor, count, limits.least_left * limits.min_level_rows);
    for (std::size_t k = 0; k < count; ++k) {
        rank += factor[k * count + k] > 0.0;
    }
}

}  // namespace serape
