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
    if (test.number(column)) {
        make_number(test, conditioning, column);
        return;
    }
    if (form != Form::levels) {
        std::vector<LineVector<double>> made = indicators(test, test.codes(column), test.scores(column).levels);
        take_out(conditioning, made);
        for (LineVector<double>& left : made) {
            add(test, std::move(left));
        }
    }
    make_levels(test, conditioning, column);
    if (!conditioning.empty()) {  // otherwise nothing is explained, so nothing can be bent
        const std::vector<LineVector<double>> components = leading_components(test);
        std::vector<LineVector<double>> left(components);
        take_out(conditioning, left);
        for (std::size_t k = 0; k < components.size(); ++k) {
            add_curves(test, conditioning, components[k].data(), left[k].data());
        }
    }
}

// Adds what Z leaves of a column to the block.
void Residuals::add(const ResidualTest& test, LineVector<double> left) {
    const double least = test.limits().least_left;
    if (!(dot(left, left) > least)) {
        return;
    }
    take_block_out(block, left);
    const double own = dot(left, left);
    if (own > least) {
        scale(left, 1.0 / std::sqrt(own));
        block.push_back(std::move(left));
    }
}

void Residuals::make_number(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column) {
    const ResidualTest::Scores& scores = test.scores(column);
    if (!scores.testable) {
        return;
    }
    std::vector<LineVector<double>> left;  // of the scores, and of their squares
    for (std::size_t k = 0; k < scores.width; ++k) {
        const double* first = scores.columns.data() + k * test.stride();
        left.emplace_back(first, first + test.stride());
    }
    const bool squared = test.curved() && scores.values > 2;
    double before = 0.0;
    if (squared) {
        LineVector<double>& squares = left.emplace_back(test.stride(), 0.0);
        for (std::size_t r = 0; r < test.rows(); ++r) {
            squares[r] = scores.columns[r] * scores.columns[r] / test.root_weight(r);
        }
        test.centre(squares.data());
        before = dot(squares, squares);
    }
    take_out(conditioning, left);
    for (std::size_t k = 0; k < scores.width; ++k) {
        add(test, left[k]);
    }
    if (block.empty()) {
        return;
    }
    if (squared) {
        take_block_out(block, left.back());
        const double own = dot(left.back(), left.back());
        if (own > test.limits().least_left * before) {
            square = std::move(left.back());
            scale(square, 1.0 / std::sqrt(own));
        }
    }
    for (std::size_t k = 0; k < scores.width && !conditioning.empty(); ++k) {
        add_curves(test, conditioning, scores.columns.data() + k * test.stride(), left[k].data());
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
void Residuals::add_curves(const ResidualTest& test, const Conditioning& conditioning, const double* column,
                           const double* left_of_it) {
    LineVector<double> fitted(test.stride());
    std::transform(column, column + test.stride(), left_of_it, fitted.begin(), std::minus<>{});
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
