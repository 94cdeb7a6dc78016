#include "residual_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "serape/chi_square.hpp"
#include "serape/f_distribution.hpp"
#include "small_matrices.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least_rest = 1e-10;  // of 1 − r²: less is a perfect dependence, and rounding

// F on the scale of chi-square: the statistic that has the same p with the degrees of freedom of F's numerator. All
// that compares tests reads p from these two.
Outcome decided(double log_p, double dof) {
    const double statistic = chi_square_statistic(log_p, dof);
    return {statistic, dof, chi_square_log_sf(statistic, dof), true};
}

// The p-value of one of several questions, if it has a share of the level: 1 − (1 − p)^(1/share).
double log_p_of_share(double log_p, double share) {
    return log_p < -30.0 ? log_p - std::log(share) : std::log(-std::expm1(std::log1p(-std::exp(log_p)) / share));
}

// The excess of a fourth moment of `more` orthonormal columns and `fewer` of them over that of normal ones.
double excess(double moment, std::size_t more, std::size_t fewer) {
    return moment - static_cast<double>(more * fewer) - 2.0 * static_cast<double>(fewer);
}

}  // namespace

std::size_t ResidualComparison::Side::spread(std::size_t i, std::size_t j) const {
    if (shared) {
        return begin + (i < width ? 0 : 1);
    }
    return begin + (i < j ? j * (j + 1) / 2 + i : i * (i + 1) / 2 + j);
}

ResidualComparison::ResidualComparison(const Conditioning& given, const Residuals& x, const Residuals& y)
    : given_(given), wide_(x.of_levels() || y.of_levels()), cross_(x.base(), y.base()) {
    sides_[0].residuals = &x;
    sides_[1].residuals = &y;
}

void ResidualComparison::add_base(const Block& block) {
    const Residuals &x = *sides_[0].residuals, &y = *sides_[1].residuals;
    add_products(block.raw_x[0], x.base(), block.raw_y[0], y.base(), cross_[0], cross_.columns);
}

void ResidualComparison::add_curves(const Block& block) {
    const Residuals &x = *sides_[0].residuals, &y = *sides_[1].residuals;
    if (cross_.rows < x.raw() || cross_.columns < y.raw()) {
        Matrix more(x.raw(), y.raw());
        for (std::size_t i = 0; i < cross_.rows; ++i) {
            std::copy_n(cross_[i], cross_.columns, more[i]);
        }
        cross_ = std::move(more);
    }
    add_products(block.raw_x[x.base()], x.raw_curves(), block.raw_y[0], y.raw(), cross_[x.base()], cross_.columns);
    add_products(block.raw_x[0], x.base(), block.raw_y[y.base()], y.raw_curves(), cross_[0] + y.base(), cross_.columns);
}

// The curves of both are taken out of both: first those of the side of which Z explains more, so that it does not
// matter which of the two is the target.
void ResidualComparison::end_second() {
    const Residuals &x = *sides_[0].residuals, &y = *sides_[1].residuals;
    Matrix left(cross_);
    add_products(x.coordinates(), y.coordinates(), -1.0, left[0], left.columns);
    const Matrix between = product_transposed(product(x.combinations(), left), y.combinations());
    const bool x_first = x.explained() > y.explained();
    const std::size_t offset_x = x_first ? 0 : y.vectors(), offset_y = x_first ? x.vectors() : 0;
    Matrix own(x.vectors() + y.vectors(), x.vectors() + y.vectors());
    for (std::size_t i = 0; i < x.vectors(); ++i) {
        std::copy_n(x.own()[i], x.vectors(), own[offset_x + i] + offset_x);
        for (std::size_t j = 0; j < y.vectors(); ++j) {
            own(offset_x + i, offset_y + j) = own(offset_y + j, offset_x + i) = between(i, j);
        }
    }
    for (std::size_t j = 0; j < y.vectors(); ++j) {
        std::copy_n(y.own()[j], y.vectors(), own[offset_y + j] + offset_y);
    }
    leave(own, offset_x, offset_y, x_first);
}

void ResidualComparison::leave(const Matrix& own, std::size_t offset_x, std::size_t offset_y, bool x_first) {
    const std::array<std::size_t, 2> offsets{offset_x, offset_y};
    const ResidualLimits& limits = test().limits();
    Elimination left(own);
    for (const std::size_t s : x_first ? std::array<std::size_t, 2>{0, 1} : std::array<std::size_t, 2>{1, 0}) {
        for (std::size_t k = 0; k < sides_[s].residuals->curves(); ++k) {
            if (offsets[s] == 0) {
                left.keep(k);
            } else {
                left.add(offsets[s] + k, limits.least_curve);
            }
        }
    }
    curves_ = left.combinations.size();
    std::array<std::vector<std::vector<double>>, 2> combinations;
    std::vector<std::vector<double>> images;  // of those of y
    for (std::size_t s = 0; s < 2; ++s) {
        Side& side = sides_[s];
        const Residuals& residuals = *side.residuals;
        for (std::size_t k = 0; k < residuals.width() + residuals.squared(); ++k) {
            const std::size_t at = offsets[s] + residuals.curves() + k;
            bool added = true;
            if (residuals.of_levels()) {
                added = left.add(at, limits.least_left * limits.min_level_rows);
            } else if (curves_ > 0) {
                added = left.add(at, limits.least_curve);
            } else {
                left.keep(at);
            }
            if (k < residuals.width()) {
                side.rank += added;
            } else {
                side.squared = added && !wide_;
            }
        }
        side.width = residuals.of_levels() ? residuals.width() : side.rank;
        left.forget_from(curves_ + side.rank + side.squared);
        combinations[s].assign(left.combinations.begin() + static_cast<std::ptrdiff_t>(curves_),
                               left.combinations.end());
        images.assign(left.images.begin() + static_cast<std::ptrdiff_t>(curves_), left.images.end());
        left.forget_from(curves_);
    }
    sums_ = Matrix(combinations[0].size(), combinations[1].size());
    for (std::size_t i = 0; i < sums_.rows; ++i) {
        for (std::size_t j = 0; j < sums_.columns; ++j) {
            sums_(i, j) =
                std::inner_product(combinations[0][i].begin(), combinations[0][i].end(), images[j].begin(), 0.0);
        }
    }
    // The columns that are made row by row, of raw ones.
    std::vector<const std::vector<double>*> made;
    for (const std::vector<double>& curve : left.combinations) {
        made.push_back(&curve);
    }
    for (std::size_t s = 0; s < 2; ++s) {
        sides_[s].first = made.size();
        for (const std::vector<double>& column : combinations[s]) {
            if (!sides_[s].residuals->of_levels()) {
                made.push_back(&column);
            }
        }
    }
    count_ = made.size();
    const Residuals &x = *sides_[0].residuals, &y = *sides_[1].residuals;
    factors_ = Matrix(x.raw() + y.raw(), count_);
    for (std::size_t s = 0, row = 0; s < 2; row += sides_[s].residuals->raw(), ++s) {
        const Residuals& residuals = *sides_[s].residuals;
        const Matrix& of_raw = residuals.combinations();
        for (std::size_t j = 0; j < count_; ++j) {
            std::vector<double> raw(residuals.raw(), 0.0);
            for (std::size_t i = 0; i < residuals.vectors(); ++i) {
                const double factor = (*made[j])[offsets[s] + i];
                for (std::size_t k = 0; factor != 0.0 && k < raw.size(); ++k) {
                    raw[k] += factor * of_raw(i, k);
                }
            }
            for (std::size_t k = 0; k < raw.size(); ++k) {
                factors_(row + k, j) = -raw[k];
            }
        }
    }
}

bool ResidualComparison::reliable() const {
    const double products = static_cast<double>(sides_[0].rank * sides_[1].rank);
    const double left = rows_left();
    return products > 0.0 && given_.roomy() && left >= test().limits().min_rows &&
           left >= test().limits().rows_per_dof * products;
}

double ResidualComparison::covariance(std::size_t of_wider, std::size_t of_narrower) const {
    return &wider() == &sides_[0] ? sums_(of_wider, of_narrower) : sums_(of_narrower, of_wider);
}

// Wilks' Λ = det(I − CᵀC), C the covariances of two orthonormal blocks.
double ResidualComparison::log_lambda() const {
    const bool x_wider = sides_[0].rank >= sides_[1].rank;
    const std::size_t p = sides_[!x_wider].rank, q = sides_[x_wider].rank;
    const auto at = [&](std::size_t i, std::size_t j) { return x_wider ? sums_(i, j) : sums_(j, i); };
    std::vector<double> rest(q * q, 0.0);
    for (std::size_t i = 0; i < q; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double value = i == j ? 1.0 : 0.0;
            for (std::size_t k = 0; k < p; ++k) {
                value -= at(k, i) * at(k, j);
            }
            rest[i * q + j] = value;
        }
    }
    factorise(rest, q, least_rest);
    double sum = 0.0;
    for (std::size_t i = 0; i < q; ++i) {
        sum += 2.0 * std::log(std::max(rest[i * q + i], std::sqrt(least_rest)));
    }
    return sum;
}

ResidualEffect ResidualComparison::effect() const {
    const std::size_t products = sides_[0].rank * sides_[1].rank;
    if (products == 0) {
        return {nan, nan, wide_ ? 0.0 : nan};
    }
    const bool numbers = test().number(sides_[0].residuals->column()) && test().number(sides_[1].residuals->column());
    return {log_lambda(), numbers ? sums_(0, 0) : nan, static_cast<double>(products)};
}

void ResidualComparison::begin_third() {
    if (test().curved() && !wide_) {
        ask_about_curvature();
    }
    if (given_.empty()) {
        return;
    }
    for (Side& side : sides_) {
        side.begin = products_;
        side.shared = side.residuals->of_levels() || side.width > test().limits().max_spreads;
        const std::size_t all = side.width + side.squared;
        side.spreads = side.shared ? 1 + side.squared : all * (all + 1) / 2;
        const std::size_t q = narrower().width;
        side.products = side.spreads + 1 + (combines(side) ? q * (q + 1) / 2 : 0);
        products_ += side.products;
    }
    product_sums_ = std::make_unique<Sums>(given_, products_);
    with_curves_ = Matrix(curves_, products_);
}

void ResidualComparison::ask_about_curvature() {
    const std::size_t most =
        std::min(test().limits().max_curved, static_cast<std::size_t>(rows_left() / test().limits().rows_per_product));
    const std::size_t p = sides_[0].width, q = sides_[1].width;
    const std::size_t wide_p = p + sides_[0].squared, wide_q = q + sides_[1].squared;
    if (const std::size_t squares = wide_p * wide_q - p * q; squares > 0 && squares <= most) {
        with_square_ = true;
        for (std::size_t i = 0; i < wide_p; ++i) {
            for (std::size_t j = i < p ? q : 0; j < wide_q; ++j) {
                asked_.push_back({i, j, std::nullopt});
            }
        }
    }
    const std::size_t moderated = p * q * given_.moderators();
    if (moderated > 0 && asked_.size() + moderated <= most) {
        moderated_ = true;
        for (std::size_t f = 0; f < given_.moderators(); ++f) {
            for (std::size_t k = 0; k < p * q; ++k) {
                asked_.push_back({k / q, k % q, f});
            }
        }
        moderated_sums_ = Matrix(p * q, given_.moderators());
        moderators_ = Matrix(given_.moderators(), given_.moderators());
    }
}

// What is left of x and y in the rows of a block, and of their variance.
void ResidualComparison::make_columns(const Block& block) {
    const std::size_t raw_x = sides_[0].residuals->raw(), raw_y = sides_[1].residuals->raw();
    columns_.clear(count_);
    subtract_products(columns_[0], count_, block.raw_x[0], raw_x, factors_[0], count_);
    subtract_products(columns_[0], count_, block.raw_y[0], raw_y, factors_[raw_x], count_);
    const double* const root = given_.root_weights() + block.begin;
    std::copy_n(root, panel_rows, root_.begin());
    if (curves_ > 0) {
        for (std::size_t r = 0; r < panel_rows; ++r) {
            double left = root[r] > 0.0 ? 1.0 / (root[r] * root[r]) : 0.0;
            for (std::size_t k = 0; k < curves_; ++k) {
                left -= columns_[k][r] * columns_[k][r];
            }
            root_[r] = left > 1e-9 ? 1.0 / std::sqrt(left) : 0.0;
        }
    }
}

// The squared length of each row of the block, and of it with the square.
void ResidualComparison::make_lengths(const Block& block, const Side& side, double* lengths, double* of_both) const {
    std::fill_n(lengths, panel_rows, 0.0);
    if (side.residuals->of_levels()) {
        const ResidualTest::Scores& scores = test().scores(side.residuals->column());
        const double* const root = given_.roots() + block.begin;
        std::array<std::uint16_t, panel_rows> buffer;
        const std::uint16_t* const codes = given_.in_rows(scores.codes.data(), block.begin, buffer);
        for (std::size_t r = 0; r < panel_rows; ++r) {
            lengths[r] = root[r] * root[r] * side.lengths[scores.indicator[codes[r]]];
        }
    }
    for (std::size_t k = side.first; k < side.first + side.width && !side.residuals->of_levels(); ++k) {
        for (std::size_t r = 0; r < panel_rows; ++r) {
            lengths[r] += columns_[k][r] * columns_[k][r];
        }
    }
    std::copy_n(lengths, panel_rows, of_both);
    if (side.squared) {
        const double* const square = columns_[side.first + side.width];
        for (std::size_t r = 0; r < panel_rows; ++r) {
            of_both[r] += square[r] * square[r];
        }
    }
}

// Products of residuals. A row of which much is taken out has small residuals; they count as if they were as large as
// those of other rows.
void ResidualComparison::make_products(const Block& block) {
    made_.resize(products_);
    const double* const inverse = given_.inverse_roots() + block.begin;
    std::array<double, panel_rows> weight, lengths, of_both;
    for (std::size_t r = 0; r < panel_rows; ++r) {
        weight[r] = root_[r] * (test().surveyed() ? inverse[r] : 1.0);
    }
    for (Side& side : sides_) {
        std::size_t at = side.begin;
        const auto multiply = [&](const double* a, const double* b) {
            double* const out = made_[at++];
            for (std::size_t r = 0; r < panel_rows; ++r) {
                out[r] = a[r] * b[r] * weight[r];
            }
        };
        make_lengths(block, side, lengths.data(), of_both.data());
        if (side.shared) {
            double* const out = made_[at++];
            const double share = 1.0 / static_cast<double>(side.width);
            for (std::size_t r = 0; r < panel_rows; ++r) {
                out[r] = lengths[r] * share * weight[r];
            }
        }
        for (std::size_t i = side.shared ? side.width : 0; i < side.width + side.squared; ++i) {
            for (std::size_t j = side.shared ? side.width : 0; j <= i; ++j) {
                multiply(columns_[side.first + i], columns_[side.first + j]);
            }
        }
        double* const fourth = made_[at++];
        for (std::size_t r = 0; r < panel_rows; ++r) {
            const double root = root_[r] * (test().surveyed() ? 1.0 : inverse[r]);
            fourth[r] = lengths[r] * lengths[r] * root * weight[r];
        }
        if (!combines(side)) {
            continue;
        }
        // Of the wider side, the columns x'ⱼ = Σ cᵢⱼ xᵢ, as few as those of the narrower one.
        const std::size_t q = narrower().width;
        const double* combined = columns_[side.first];
        if (&side == &wider()) {
            extra_.clear(q);
            for (std::size_t i = 0; i < side.width; ++i) {
                for (std::size_t j = 0; j < q; ++j) {
                    const double factor = covariance(i, j);
                    for (std::size_t r = 0; r < panel_rows; ++r) {
                        extra_[j][r] += factor * columns_[side.first + i][r];
                    }
                }
            }
            combined = extra_[0];
        }
        for (std::size_t j = 0; j < q; ++j) {
            for (std::size_t l = 0; l <= j; ++l) {
                multiply(combined + j * panel_stride, combined + l * panel_stride);
            }
        }
    }
}

void ResidualComparison::add_residuals(const Block& block) {
    make_columns(block);
    std::array<double, panel_rows> lengths, of_both;
    for (Side& side : sides_) {
        if (side.residuals->of_levels() && side.lengths.empty()) {
            double others = test().effective_rows();
            for (const double rows : side.residuals->level_rows()) {
                side.lengths.push_back(1.0 / rows - 1.0 / test().effective_rows());
                others -= rows;
            }
            side.lengths.push_back(1.0 / others - 1.0 / test().effective_rows());
        }
        make_lengths(block, side, lengths.data(), of_both.data());
        double own = 0.0, across = 0.0, both = 0.0;
        for (std::size_t r = 0; r < panel_rows; ++r) {
            const double weight = root_[r] * root_[r];
            own += lengths[r] * lengths[r] * weight;
            across += of_both[r] * lengths[r] * weight;
            both += of_both[r] * of_both[r] * weight;
        }
        side.block += own;
        side.across += across;
        side.both += both;
    }
    if (products_ > 0) {
        make_products(block);
        product_sums_->add(block.begin, block.features, made_[0]);
        add_products(columns_[0], curves_, made_[0], products_, with_curves_[0], products_);
    }
    if (!moderated_) {
        return;
    }
    const std::size_t p = sides_[0].width, q = sides_[1].width, count = given_.moderators();
    extra_.resize(std::max(p * q, count));
    for (std::size_t k = 0; k < p * q; ++k) {
        const double *a = columns_[sides_[0].first + k / q], *b = columns_[sides_[1].first + k % q];
        for (std::size_t r = 0; r < panel_rows; ++r) {
            extra_[k][r] = a[r] * b[r];
        }
    }
    add_products(extra_[0], p * q, block.moderators[0], count, moderated_sums_[0], count);
    const double* const root = given_.roots() + block.begin;
    std::array<double, panel_rows> weight;
    for (std::size_t r = 0; r < panel_rows; ++r) {
        const double copy = test().surveyed() ? root[r] : 1.0;
        const double own = root_[r] > 0.0 ? copy * copy / root_[r] : 0.0;
        weight[r] = own * own / (rows_left() * rows_left());
    }
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t r = 0; r < panel_rows; ++r) {
            extra_[k][r] = block.moderators[k][r] * weight[r];
        }
    }
    add_products(extra_[0], count, block.moderators[0], count, moderators_[0], count);
}

void ResidualComparison::end_third() {
    for (Side& side : sides_) {
        for (double* sum : {&side.block, &side.across, &side.both}) {
            *sum *= rows_left();
        }
    }
    if (!asked_.empty()) {
        find_direction();
    }
    if (given_.empty()) {
        return;
    }
    const Coordinates coordinates = product_sums_->coordinates();
    const Side &x = sides_[0], &y = sides_[1];
    by_row_ = test().surveyed();
    explained_ = Matrix(x.products, y.products);
    if (!by_row_) {
        for (std::size_t i = 0; i < x.products; ++i) {
            for (std::size_t j = 0; j < y.products; ++j) {
                double sum = 0.0;
                kernels().panel_products(coordinates[x.begin + i], 1, coordinates[y.begin + j], 1, coordinates.length,
                                         coordinates.length, &sum, 1);
                for (std::size_t k = 0; k < curves_; ++k) {
                    sum += with_curves_(k, x.begin + i) * with_curves_(k, y.begin + j);
                }
                explained_(i, j) = sum;
            }
        }
    }
    // T² is largest if the spread of x and y does not change with Z; the second question may decide only if it does so
    // then.
    undecided_ = by_row_ || (moderated_ && most_ > 0.0 &&
                             log_p_of_share(second_log_p(most_), 1.0 - test().limits().first_share) <
                                 log_p_of_share(first_log_p(), test().limits().first_share));
    if (!undecided_) {
        product_sums_.reset();
        return;
    }
    for (const Side& side : sides_) {
        for (std::size_t k = 0; k < side.products; ++k) {
            const bool of_squares_alone = side.squared && k + 1 == side.spreads;
            if (by_row_ || (k < side.spreads && !of_squares_alone)) {
                needed_.push_back(side.begin + k);
            }
        }
    }
    Coordinates left(needed_.size(), given_.length());
    raw_of_needed_ = Matrix(factors_.rows, needed_.size());
    for (std::size_t n = 0; n < needed_.size(); ++n) {
        std::copy_n(coordinates[needed_[n]], given_.length(), left[n]);
        for (std::size_t k = 0; k < curves_; ++k) {
            const double factor = with_curves_(k, needed_[n]);
            for (std::size_t i = 0; i < factors_.rows; ++i) {
                raw_of_needed_(i, n) -= factor * factors_(i, k);
            }
        }
    }
    of_needed_ = given_.fit(left);
    product_sums_.reset();
}

// The direction in which the sums of products are furthest from zero, by their variance if the spread of x and y did
// not change with Z.
void ResidualComparison::find_direction() {
    const std::size_t count = asked_.size();
    const double left = rows_left();
    std::vector<double> constant(count * count, 0.0), direction;
    double largest = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        const Product& a = asked_[k];
        direction.push_back(a.factor ? moderated_sums_(a.i * sides_[1].width + a.j, *a.factor) : sums_(a.i, a.j));
        for (std::size_t j = 0; j <= k; ++j) {
            const Product& b = asked_[j];
            if (a.i == b.i && a.j == b.j) {
                constant[k * count + j] = a.factor ? moderators_(*a.factor, *b.factor) : 1.0 / left;
            }
        }
        largest = std::max(largest, constant[k * count + k]);
    }
    factorise(constant, count, 1e-9 * largest);
    solve(constant, count, direction);
    most_ = std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0);
    solve_transposed(constant, count, direction);
    std::map<std::pair<std::size_t, std::size_t>, Part> parts;
    for (std::size_t k = 0; k < count; ++k) {
        const Product& a = asked_[k];
        Part& part = parts.try_emplace({a.i, a.j}, Part{a.i, a.j, 0.0, {}}).first->second;
        if (a.factor) {
            part.by_moderator.resize(given_.moderators(), 0.0);
            part.by_moderator[*a.factor] += direction[k];
        } else {
            part.constant = direction[k];
        }
    }
    for (auto& [at, part] : parts) {
        parts_.push_back(std::move(part));
    }
}

double ResidualComparison::explained(std::size_t of_x, std::size_t of_y) const {
    return explained_(of_x - sides_[0].begin, of_y - sides_[1].begin);
}

// Fourth pass: what is explained of products, row by row.
void ResidualComparison::add_spreads(const Block& block) {
    const Side &x = sides_[0], &y = sides_[1];
    made_.clear(needed_.size());  // of all of them the negative
    subtract_products(made_[0], needed_.size(), block.raw_x[0], x.residuals->raw(), raw_of_needed_[0], needed_.size());
    subtract_products(made_[0], needed_.size(), block.raw_y[0], y.residuals->raw(), raw_of_needed_[x.residuals->raw()],
                      needed_.size());
    given_.subtract(of_needed_, block.begin, block.features, made_[0]);
    if (by_row_) {
        const double* const root = given_.roots() + block.begin;
        for (std::size_t n = 0; n < needed_.size(); ++n) {
            for (std::size_t r = 0; r < panel_rows; ++r) {
                made_[n][r] *= root[r];
            }
        }
        add_products(made_[0], x.products, made_[x.products], y.products, explained_[0], y.products);
    }
    if (!moderated_ || !(most_ > 0.0)) {
        return;
    }
    const auto find = [&](std::size_t product) -> const double* {
        return made_[static_cast<std::size_t>(std::find(needed_.begin(), needed_.end(), product) - needed_.begin())];
    };
    extra_.resize(parts_.size());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
        std::fill_n(extra_[k], panel_rows, parts_[k].constant);
        for (std::size_t f = 0; f < parts_[k].by_moderator.size(); ++f) {
            const double factor = parts_[k].by_moderator[f];
            for (std::size_t r = 0; r < panel_rows; ++r) {
                extra_[k][r] += factor * block.moderators[f][r];
            }
        }
    }
    for (std::size_t a = 0; a < parts_.size(); ++a) {
        for (std::size_t b = a; b < parts_.size(); ++b) {
            const Part &one = parts_[a], &other = parts_[b];
            if ((one.by_moderator.empty() && other.by_moderator.empty()) || !x.has_spread(one.i, other.i) ||
                !y.has_spread(one.j, other.j)) {
                continue;
            }
            const double* const of_x = find(x.spread(one.i, other.i));
            const double* const of_y = find(y.spread(one.j, other.j));
            double sum = 0.0;
            for (std::size_t r = 0; r < panel_rows; ++r) {
                sum += extra_[a][r] * extra_[b][r] * of_x[r] * of_y[r];
            }
            variance_ += (a < b ? 2.0 : 1.0) * sum;
        }
    }
}

// Of the products in the direction of their sums, those without moderators.
double ResidualComparison::constant_variance() const {
    const Side &x = sides_[0], &y = sides_[1];
    double variance = 0.0;
    for (std::size_t a = 0; a < parts_.size(); ++a) {
        for (std::size_t b = a; b < parts_.size(); ++b) {
            const Part &one = parts_[a], &other = parts_[b];
            if (one.by_moderator.empty() && other.by_moderator.empty() && x.has_spread(one.i, other.i) &&
                y.has_spread(one.j, other.j)) {
                variance += (a < b ? 2.0 : 1.0) * one.constant * other.constant *
                            explained(x.spread(one.i, other.i), y.spread(one.j, other.j));
            }
        }
    }
    return variance;
}

// How much more the covariances vary than if the spread of x and y did not change with Z: of wide blocks on average,
// otherwise in their own direction.
double ResidualComparison::inflation() const {
    if (given_.empty()) {
        return 1.0;
    }
    const Side &x = sides_[0], &y = sides_[1];
    if (wide_) {
        double sum = 0.0;
        for (std::size_t i = 0; i < x.width; ++i) {
            for (std::size_t j = 0; j < y.width; ++j) {
                sum += explained(x.spread(i, i), y.spread(j, j));
            }
        }
        return std::max(rows_left() * sum / static_cast<double>(x.width * y.width), 1.0);
    }
    // The variance of Σ cᵢⱼ xᵢ yⱼ = Σ x'ⱼ yⱼ, by the columns x'ⱼ = Σ cᵢⱼ xᵢ.
    const Side &many = wider(), &few = narrower();
    const std::size_t p = many.width, q = few.width;
    const auto together = [&](std::size_t of_many, std::size_t of_few) {
        return &many == &x ? explained(of_many, of_few) : explained(of_few, of_many);
    };
    double variance = 0.0, squares = 0.0;
    for (std::size_t j = 0, pair = 0; j < q; ++j) {
        for (std::size_t l = 0; l <= j; ++l, ++pair) {
            const std::size_t of_few = few.shared ? few.combined() + pair : few.spread(j, l);
            double sum = 0.0;
            if (many.shared) {
                sum = together(many.combined() + pair, of_few);
            } else {
                for (std::size_t k = 0; k < p * p; ++k) {
                    sum += covariance(k / p, j) * covariance(k % p, l) * together(many.spread(k / p, k % p), of_few);
                }
            }
            variance += (j == l ? 1.0 : 2.0) * sum;
        }
    }
    for (std::size_t k = 0; k < p * q; ++k) {
        squares += covariance(k / q, k % q) * covariance(k / q, k % q);
    }
    return squares > 0.0 ? std::max(rows_left() * variance / squares, 1.0) : 1.0;
}

// How much more than if Z had no part in it the fourth moments of x and y meet in the same rows, beside the square of
// that of their variances.
double ResidualComparison::concentration() const {
    if (given_.empty()) {
        return 1.0;
    }
    const Side &x = sides_[0], &y = sides_[1];
    double squares = 0.0;
    for (std::size_t i = 0; i < x.width; ++i) {
        for (std::size_t j = 0; j < y.width; ++j) {
            squares += explained(x.spread(i, i), y.spread(j, j));
        }
    }
    const double variances = std::max(rows_left() * squares / static_cast<double>(x.width * y.width), 1.0);
    const double fourths = std::pow(rows_left(), 3) * explained(x.fourth(), y.fourth()) / (x.block * y.block);
    return std::max(fourths, 0.0) / (variances * variances);
}

// The degrees of freedom that a sum of squared covariances has, as a share of their number.
double ResidualComparison::dof_share(double excess_variance, double count) const {
    return 1.0 / (1.0 + std::max(excess_variance, 0.0) / (2.0 * count * rows_left()));
}

// The first question: Rao's approximation of Λ by F.
double ResidualComparison::first_log_p() const {
    const Side &x = sides_[0], &y = sides_[1];
    const double p = static_cast<double>(x.rank), q = static_cast<double>(y.rank), pq = p * q;
    const double both = p * p + q * q;
    const double m = rows_left() - 0.5 * (p + q + 1.0);
    const double t = both > 5.0 ? std::sqrt((pq * pq - 4.0) / (both - 5.0)) : 1.0;
    const double rest_dof = m * t - 0.5 * pq + 1.0;
    const double more = excess(x.block, x.width, x.width) * excess(y.block, y.width, y.width) * concentration();
    const double share = dof_share(more, pq);
    return f_log_sf(std::expm1(-log_lambda() / t), inflation(), pq * share, rest_dof * share);
}

// The second question: T² that all products asked about have mean zero, with the larger of two variances in the
// direction of the sums, as if the spread of x and y were constant, and as Z explains it.
double ResidualComparison::second_log_p(double variance) const {
    const Side &x = sides_[0], &y = sides_[1];
    const std::size_t p = x.width, q = y.width;
    double more = 0.0;
    if (with_square_) {
        const std::size_t wide_p = p + x.squared, wide_q = q + y.squared;
        more += excess(x.both, wide_p, wide_p) * excess(y.both, wide_q, wide_q) -
                2.0 * excess(x.across, wide_p, p) * excess(y.across, wide_q, q) +
                excess(x.block, p, p) * excess(y.block, q, q);
    }
    if (moderated_) {
        const std::size_t count = p * q * given_.moderators();
        more += excess(x.block * y.block * given_.moderators_fourth(), count, count);
    }
    const double left = rows_left(), d = static_cast<double>(asked_.size());
    const double dof = dof_share(more * concentration(), d);
    const double t_squared = most_ > 0.0 ? most_ * most_ / std::max(variance, most_) : most_;
    const double share = std::min(t_squared / left, 1.0 - least_rest);
    return f_log_sf(share, 1.0 - share, d * dof, (left - d) * dof);
}

Outcome ResidualComparison::outcome() const {
    double dof = static_cast<double>(sides_[0].rank * sides_[1].rank);
    if (!reliable()) {  // no degrees of freedom if nothing is left of x or y
        return {nan, dof, nan, false};
    }
    double log_p = first_log_p();
    if (!asked_.empty()) {
        const double first_share = test().limits().first_share;
        log_p = log_p_of_share(log_p, first_share);
        const bool may_decide = given_.empty() || !moderated_ || undecided_;
        if (may_decide) {
            const double variance = given_.empty() ? most_ : constant_variance() + variance_;
            const double curved = log_p_of_share(second_log_p(variance), 1.0 - first_share);
            if (curved < log_p) {
                log_p = curved;
                dof = static_cast<double>(asked_.size());
            }
        }
    }
    return decided(log_p, dof);
}

}  // namespace serape
