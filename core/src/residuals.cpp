#include "residuals.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "columns_algebra.hpp"

namespace serape {
namespace {

void take_out(const Conditioning& conditioning, std::vector<LineVector<double>>& columns) {
    std::vector<double*> left;
    for (LineVector<double>& column : columns) {
        left.push_back(column.data());
    }
    conditioning.take_out(left);
}

}  // namespace

Residuals::Residuals(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column, Form form) {
    if (form != Form::levels) {
        make_columns(test, conditioning, column);
    }
    const ResidualTest::Scores& scores = test.scores(column);
    if (!test.number(column)) {
        make_levels(test, conditioning, column);
    }
    if (conditioning.empty()) {  // nothing is explained, so nothing can be bent
        return;
    }
    if (test.number(column)) {
        for (std::size_t k = 0; k < scores.width && !block.empty(); ++k) {
            const double* first = scores.columns.data() + k * test.stride();
            add_curves(test, conditioning, LineVector<double>(first, first + test.stride()));
        }
        return;
    }
    for (LineVector<double>& component : leading_components(test)) {
        add_curves(test, conditioning, std::move(component));
    }
}

void Residuals::make_columns(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column) {
    const ResidualLimits& limits = test.limits();
    const auto add = [&](LineVector<double> scores) {  // what Z leaves of them
        if (!(dot(scores, scores) > limits.least_left)) {
            return;
        }
        take_block_out(block, scores);
        const double left = dot(scores, scores);
        if (left > limits.least_left) {
            scale(scores, 1.0 / std::sqrt(left));
            block.push_back(std::move(scores));
        }
    };
    if (!test.number(column)) {
        std::vector<LineVector<double>> made = indicators(test, test.codes(column), test.scores(column).levels);
        take_out(conditioning, made);
        for (LineVector<double>& scores : made) {
            add(std::move(scores));
        }
        return;
    }
    const ResidualTest::Scores& scores = test.scores(column);
    for (std::size_t k = 0; k < scores.width && scores.testable; ++k) {
        const double* first = scores.columns.data() + k * test.stride();
        LineVector<double> left(first, first + test.stride());
        conditioning.take_out(left.data());
        add(std::move(left));
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

// The two combinations of the indicators of which Z explains most, of length 1.
std::vector<LineVector<double>> Residuals::leading_components(const ResidualTest& test) const {
    std::vector<double> rows(count + 1, 0.0), spread(count), explained(count * count);
    for (std::size_t r = 0; r < test.rows(); ++r) {
        rows[level[r]] += test.root_weight(r) * test.root_weight(r);
    }
    for (std::size_t i = 0; i < count; ++i) {
        spread[i] = std::sqrt(rows[i] - rows[i] * rows[i] / test.effective_rows());
        for (std::size_t j = 0; j <= i; ++j) {
            const double own = (i == j ? rows[i] : 0.0) - rows[i] * rows[j] / test.effective_rows();
            explained[i * count + j] = (own - left[i * count + j]) / (spread[i] * spread[j]);
        }
    }
    std::vector<LineVector<double>> made;
    for (const std::vector<double>& vector : leading_vectors(std::move(explained), count, 2)) {
        LineVector<double>& component = made.emplace_back(test.stride(), 0.0);
        for (std::size_t r = 0; r < test.rows(); ++r) {
            component[r] = level[r] < count ? vector[level[r]] / spread[level[r]] * test.root_weight(r) : 0.0;
        }
        test.centre(component.data());
        scale(component, 1.0 / std::sqrt(dot(component, component)));
    }
    return made;
}

// What Z explains of a column may be bent, as where x is a class or a count by a sum of members of Z. Polynomials of it
// let the regression follow (Ramsey 1969).
void Residuals::add_curves(const ResidualTest& test, const Conditioning& conditioning, LineVector<double> column) {
    LineVector<double> fitted(column);
    conditioning.take_out(column.data());
    std::transform(fitted.begin(), fitted.end(), column.begin(), fitted.begin(), std::minus<>{});
    const double share = dot(fitted, fitted);
    if (share < test.limits().least_explained) {
        return;
    }
    explained += share;
    const double to_spread_1 = std::sqrt(test.effective_rows() / share);
    for (std::size_t r = 0; r < test.rows(); ++r) {
        fitted[r] = std::clamp(fitted[r] * to_spread_1 / test.root_weight(r), -4.0, 4.0);
    }
    const int few_rows = 4 + static_cast<int>(std::max(conditioning.rows_left(), 0.0) / 75.0);
    const int degrees = std::min(test.limits().max_bends, few_rows);
    LineVector<double> last(fitted), before_last(fitted.size(), 1.0);  // Hermite polynomials, as in Conditioning
    std::vector<LineVector<double>> made;
    std::vector<double> before;
    for (int degree = 2; degree <= degrees; ++degree) {
        LineVector<double>& curve = made.emplace_back(test.stride(), 0.0);
        for (std::size_t r = 0; r < test.rows(); ++r) {
            const double next = (fitted[r] * last[r] - std::sqrt(degree - 1.0) * before_last[r]) / std::sqrt(degree);
            before_last[r] = std::exchange(last[r], next);
            curve[r] = next * test.root_weight(r);
        }
        test.centre(curve.data());
        before.push_back(dot(curve, curve));
    }
    take_out(conditioning, made);
    for (std::size_t k = 0; k < made.size(); ++k) {
        LineVector<double>& curve = made[k];
        take_block_out(curves, curve);
        double own = dot(curve, curve);
        if (own < 0.01 * before[k]) {  // again, as rounding weighs more in what is left
            conditioning.take_out(curve.data());
            take_block_out(curves, curve);
            own = dot(curve, curve);
        }
        if (own > test.limits().least_curve * before[k]) {
            scale(curve, 1.0 / std::sqrt(own));
            curves.push_back(std::move(curve));
        }
    }
}

// The level of each row, and what Z leaves of the indicators.
void Residuals::make_levels(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column) {
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
    left = conditioning.left_of_levels(level, count);
}

}  // namespace serape
