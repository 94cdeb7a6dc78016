#include "residuals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace serape {

Residuals::Residuals(const Conditioning& given, std::uint32_t column, Form form)
    : test_(given.test()), given_(given), column_(column), form_(form) {
    const ResidualTest::Scores& scores = test_.scores(column);
    block_ = base_ = scores.testable ? scores.width : 0;
    if (test_.number(column) && base_ > 0 && test_.curved() && scores.values > 2) {
        ++base_;
    }
    products_ = Matrix(base_, base_);
    sums_ = std::make_unique<Sums>(given, base_);
}

void Residuals::make_base(std::size_t begin, double* out) const {
    const ResidualTest::Scores& scores = test_.scores(column_);
    if (test_.number(column_)) {
        for (std::size_t k = 0; k < block_; ++k) {
            std::array<double, panel_rows> buffer;
            const double* const column = given_.in_rows(scores.columns.data() + k * test_.stride(), begin, buffer);
            std::copy_n(column, panel_rows, out + k * panel_stride);
        }
        if (base_ > block_) {
            const double* const first = out;
            const double* const inverse = given_.inverse_roots() + begin;
            double* const squares = out + block_ * panel_stride;
            for (std::size_t r = 0; r < panel_rows; ++r) {
                squares[r] = first[r] * first[r] * inverse[r];
            }
        }
        return;
    }
    std::fill_n(out, block_ * panel_stride, 0.0);
    const double* const root = given_.roots() + begin;
    std::array<std::uint16_t, panel_rows> buffer;
    const std::uint16_t* const codes = given_.in_rows(scores.codes.data(), begin, buffer);
    for (std::size_t r = 0; r < panel_rows; ++r) {
        out[scores.indicator[codes[r]] * panel_stride + r] = root[r];  // beyond the block if a level has none
    }
}

void Residuals::add_base(std::size_t begin, const Panel& features, const double* base) {
    add_products(base, base_, base, base_, products_[0], base_);
    sums_->add(begin, features, base);
}

void Residuals::end_first() {
    coordinates_ = std::make_unique<Coordinates>(sums_->coordinates());
    left_ = products_;
    add_products(*coordinates_, *coordinates_, -1.0, left_[0], base_);
    leave_block();
    if (given_.empty() || (test_.number(column_) && width_ == 0)) {  // nothing is explained, so nothing can be bent
        return;
    }
    if (test_.number(column_)) {
        for (std::size_t k = 0; k < block_; ++k) {
            Coordinates one(1, given_.length());
            std::copy_n((*coordinates_)[k], given_.length(), one[0]);
            bend(std::move(one));
        }
    } else {
        bend_levels();
    }
    if (bends_.empty()) {
        return;
    }
    Matrix more(raw(), raw());
    for (std::size_t i = 0; i < base_; ++i) {
        std::copy_n(products_[i], base_, more[i]);
    }
    products_ = std::move(more);
    sums_ = std::make_unique<Sums>(given_, raw_curves_);
}

// The orthonormal columns of the block, and the square less the block.
void Residuals::leave_block() {
    for (std::size_t k = 0; k < block_ && !test_.number(column_); ++k) {
        level_rows_.push_back(products_(k, k));
    }
    Elimination kept(left_);
    for (std::size_t k = 0; k < base_; ++k) {
        if (form_ == Form::levels) {
            kept.keep(k);
        } else if ((k >= block_ && width_ == 0) || !kept.add(k, test_.limits().least_left * centred_square(k))) {
            continue;
        }
        width_ += k < block_;
        squared_ = k >= block_;
    }
    kept_ = std::move(kept.combinations);
}

// The squared length of a raw column, centred.
double Residuals::centred_square(std::size_t raw_column) const {
    const double mean = given_.mean_part((*coordinates_)[raw_column]);
    return products_(raw_column, raw_column) - mean * mean;
}

// The two combinations of the indicators of which Z explains most.
void Residuals::bend_levels() {
    const double rows = test_.effective_rows();
    std::vector<double> spread(block_), explained(block_ * block_);
    for (std::size_t i = 0; i < block_; ++i) {
        spread[i] = std::sqrt(level_rows_[i] - level_rows_[i] * level_rows_[i] / rows);
        for (std::size_t j = 0; j <= i; ++j) {
            const double own = (i == j ? level_rows_[i] : 0.0) - level_rows_[i] * level_rows_[j] / rows;
            explained[i * block_ + j] = (own - left_(i, j)) / (spread[i] * spread[j]);
        }
    }
    for (const std::vector<double>& vector : leading_vectors(std::move(explained), block_, 2)) {
        Coordinates one(1, given_.length());
        double mean = 0.0, length = 0.0;
        for (std::size_t k = 0; k < block_; ++k) {
            const double factor = vector[k] / spread[k];
            mean += factor * level_rows_[k] / rows;
            length += factor * factor * level_rows_[k];
            for (std::size_t c = 0; c < given_.length(); ++c) {
                one[0][c] += factor * (*coordinates_)[k][c];
            }
        }
        given_.add_constant(-mean, one[0]);
        for (double& value : one.values) {
            value /= std::sqrt(length - rows * mean * mean);
        }
        bend(std::move(one));
    }
}

// What Z explains of a column may be bent, as where x is a class or a count by a sum of members of Z. Polynomials of it
// let the regression follow (Ramsey 1969). The column is centred and of length 1.
void Residuals::bend(Coordinates coordinates) {
    double share = 0.0;
    for (const double value : coordinates.values) {
        share += value * value;
    }
    if (share < test_.limits().least_explained) {
        return;
    }
    explained_ += share;
    const int few_rows = 4 + static_cast<int>(std::max(given_.rows_left(), 0.0) / 75.0);
    const int degrees = std::min(test_.limits().max_bends, few_rows);
    raw_curves_ += static_cast<std::size_t>(degrees - 1);
    bends_.push_back({given_.fit(coordinates), std::sqrt(test_.effective_rows() / share), degrees});
}

void Residuals::make_curves(std::size_t begin, const Panel& features, Panel& fitted, double* out) const {
    const double* const root = given_.roots() + begin;
    const double* const inverse = given_.inverse_roots() + begin;
    for (const Bend& bend : bends_) {
        fitted.clear(1);
        given_.subtract(bend.fit, begin, features, fitted[0]);
        double* const first = fitted[0];
        for (std::size_t r = 0; r < panel_rows; ++r) {
            first[r] = std::clamp(-first[r] * bend.to_spread_1 * inverse[r], -4.0, 4.0);
        }
        // Hermite polynomials, as of the numbers in Z.
        alignas(64) std::array<std::array<double, panel_rows>, 3> kept;  // of the last degrees
        const double* before = constant_panel.data();
        const double* last = first;
        for (int degree = 2; degree <= bend.degrees; ++degree, out += panel_stride) {
            const double back = std::sqrt(degree - 1.0), over = 1.0 / std::sqrt(static_cast<double>(degree));
            double* const next = kept[static_cast<std::size_t>(degree) % kept.size()].data();
            kernels().next_polynomial(first, last, before, 0.0, back, over, panel_rows, next);
            kernels().multiply(next, root, panel_rows, out);
            before = std::exchange(last, next);
        }
    }
}

void Residuals::add_curves(std::size_t begin, const Panel& features, const double* base, const double* curves) {
    if (raw_curves_ > 0) {
        add_products(curves, raw_curves_, base, base_, products_[base_], raw());
        add_products(curves, raw_curves_, curves, raw_curves_, products_[base_] + base_, raw());
        sums_->add(begin, features, curves);
    }
}

void Residuals::end_second() {
    Matrix left(left_);
    if (raw_curves_ > 0) {
        const Coordinates of_curves = sums_->coordinates();
        auto all = std::make_unique<Coordinates>(raw(), given_.length());
        std::copy(coordinates_->values.begin(), coordinates_->values.end(), all->values.begin());
        std::copy(of_curves.values.begin(), of_curves.values.end(), (*all)[base_]);
        coordinates_ = std::move(all);
        left = products_;
        for (std::size_t i = 0; i < base_; ++i) {
            for (std::size_t j = base_; j < raw(); ++j) {
                left(i, j) = left(j, i);
            }
        }
        add_products(*coordinates_, *coordinates_, -1.0, left[0], raw());
    }
    sums_.reset();
    // A polynomial that is constant (a square of ±1, say) is rounding, whatever is left of it.
    const double constant = test_.limits().least_left * test_.effective_rows();
    Elimination curves(left);
    for (std::size_t k = base_; k < raw(); ++k) {
        curves.add(k, test_.limits().least_curve * std::max(centred_square(k), constant));
    }
    std::vector<std::vector<double>>& made = curves.combinations;
    curves_ = made.size();
    made.insert(made.end(), kept_.begin(), kept_.end());
    combinations_ = Matrix(made.size(), raw());
    for (std::size_t k = 0; k < made.size(); ++k) {
        std::copy(made[k].begin(), made[k].end(), combinations_[k]);
    }
    own_ = product_transposed(product(combinations_, left), combinations_);
    const std::size_t first = first_explained();
    Coordinates explained(raw() - first, given_.length());
    std::copy_n((*coordinates_)[first], explained.values.size(), explained.values.begin());
    explained_part_ = given_.fit(explained);
}

std::size_t Residuals::bytes() const {
    const auto of = [](const Fit& fit) { return fit.factors.size() + fit.means.size(); };
    std::size_t values = coordinates_->values.size() + of(explained_part_) + 4 * raw() * raw();
    for (const Bend& bend : bends_) {
        values += of(bend.fit);
    }
    return values * sizeof(double);
}

void Residuals::subtract_explained(std::size_t begin, const Panel& features, Panel& raw) const {
    given_.subtract(explained_part_, begin, features, raw[first_explained()]);
}

}  // namespace serape
