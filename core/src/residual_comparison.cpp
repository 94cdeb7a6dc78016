#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "columns_algebra.hpp"
#include "residuals.hpp"
#include "serape/f_distribution.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least_rest = 1e-10;  // of 1 − r²: less is a perfect dependence, and rounding

// No degrees of freedom if nothing is left of x or y.
Outcome unreliable(std::size_t products) {
    return {nan, products > 0 ? 2.0 : 0.0, nan, false};
}

}  // namespace

double ResidualComparison::t_squared(const Conditioning& given) {
    const std::size_t count = used_;
    const double* root_weights = given.root_weights();
    std::vector<double> sums(count);
    std::vector<const double*> columns(count);
    for (std::size_t k = 0; k < count; ++k) {
        sums[k] = std::accumulate(products_[k].begin(), products_[k].end(), 0.0);
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            products_[k][r] *= root_weights[r];
        }
        columns[k] = products_[k].data();
    }
    std::vector<double> variance(count * count);
    for (std::size_t k = 0; k < count; ++k) {
        kernels().dots(columns[k], columns.data(), k + 1, test_.stride(), variance.data() + k * count);
    }
    double largest = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        largest = std::max(largest, variance[k * count + k]);
    }
    factorise(variance, count, 1e-9 * largest);
    solve(variance, count, sums);
    return std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
}

ResidualComparison::Covariances ResidualComparison::between(const Residuals& x, const Residuals& y) const {
    const bool swap = x.block.size() < y.block.size();
    const auto& rows = swap ? y.block : x.block;
    const auto& columns = swap ? x.block : y.block;
    Covariances made{rows.size(), columns.size(), {}};
    for (const LineVector<double>& row : rows) {
        for (const LineVector<double>& column : columns) {
            made.values.push_back(dot(row, column));
        }
    }
    return made;
}

ResidualComparison::Covariances ResidualComparison::between_levels(const Residuals& levels,
                                                                   const Residuals& columns) const {
    const std::size_t p = levels.count, q = columns.block.size();
    Covariances made{p, q, std::vector<double>(p * q)};
    std::vector<double> sums(p + 1);
    for (std::size_t j = 0; j < q; ++j) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            sums[levels.level[r]] += columns.block[j][r] * test_.root_weight(r);
        }
        solve(levels.factor, p, sums);
        for (std::size_t i = 0; i < p; ++i) {
            made.values[i * q + j] = sums[i];
        }
    }
    return made;
}

// Wilks' Λ = det(I − CᵀC), C the covariances of two orthonormal blocks; Rao's approximation by F.
double ResidualComparison::covariance_log_p(const Covariances& c, const Conditioning& given, double inflation) const {
    const std::size_t q = c.q;
    std::vector<double> rest(q * q, 0.0);
    for (std::size_t i = 0; i < q; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double value = i == j ? 1.0 : 0.0;
            for (std::size_t k = 0; k < c.values.size() / q; ++k) {
                value -= c.values[k * q + i] * c.values[k * q + j];
            }
            rest[i * q + j] = value;
        }
    }
    factorise(rest, q, least_rest);
    double log_lambda = 0.0;
    for (std::size_t i = 0; i < q; ++i) {
        log_lambda += 2.0 * std::log(std::max(rest[i * q + i], std::sqrt(least_rest)));
    }
    const double pq = static_cast<double>(c.p * q);
    const double both = static_cast<double>(c.p * c.p + q * q);
    const double m = rows_left(given) - 0.5 * (static_cast<double>(c.p + q) + 1.0);
    const double t = both > 5.0 ? std::sqrt((pq * pq - 4.0) / (both - 5.0)) : 1.0;
    const double rest_dof = m * t - 0.5 * pq + 1.0;
    return f_log_sf(std::expm1(-log_lambda / t), inflation, pq, rest_dof);
}

// How much more the products of residuals vary than if their spread did not change with Z.
double ResidualComparison::inflation(const Residuals& x, const Residuals& y, const Covariances& covariances,
                                     const Conditioning& given) {
    double squares = 0.0;
    for (const double value : covariances.values) {
        squares += value * value;
    }
    used_ = 0;
    for (const LineVector<double>& a : x.block) {
        for (const LineVector<double>& b : y.block) {
            multiply(a, b, nullptr);
        }
    }
    const double robust = t_squared(given);
    return robust > 0.0 ? rows_left(given) * squares / robust : 1.0;
}

double ResidualComparison::curvature_log_p(const Residuals& x, const Residuals& y, const Conditioning& given) {
    const double left = rows_left(given);
    const std::size_t most =
        std::min(test_.limits().max_products, static_cast<std::size_t>(left / test_.limits().rows_per_product));
    used_ = 0;
    const std::size_t squares = (x.square.empty() ? 0 : y.block.size()) + (y.square.empty() ? 0 : x.block.size()) +
                                (x.square.empty() || y.square.empty() ? 0 : 1);
    if (squares <= most) {
        for (const LineVector<double>& column : y.block) {
            multiply(x.square, column, nullptr);
        }
        for (const LineVector<double>& column : x.block) {
            multiply(column, y.square, nullptr);
        }
        multiply(x.square, y.square, nullptr);
    }
    if (used_ + x.block.size() * y.block.size() * given.moderators().size() <= most) {
        for (const LineVector<double>& a : x.block) {
            for (const LineVector<double>& b : y.block) {
                for (const LineVector<double>& factor : given.moderators()) {
                    multiply(a, b, factor.data());
                }
            }
        }
    }
    if (used_ == 0) {
        return nan;
    }
    const double d = static_cast<double>(used_);
    const double share = std::min(t_squared(given) / test_.effective_rows(), 1.0 - least_rest);
    return f_log_sf(share, 1.0 - share, d, left - d);
}

// Adds the product of two columns, and of a third if there is one; none if one of the two is empty.
void ResidualComparison::multiply(const LineVector<double>& a, const LineVector<double>& b, const double* factor) {
    if (a.empty() || b.empty()) {
        return;
    }
    if (used_ == products_.size()) {
        products_.emplace_back(test_.stride(), 0.0);
    }
    LineVector<double>& product = products_[used_++];
    for (std::size_t r = 0; r < test_.rows(); ++r) {
        product[r] = a[r] * b[r];
    }
    for (std::size_t r = 0; r < test_.rows() && factor != nullptr; ++r) {
        product[r] *= factor[r];
    }
}

// Takes the curves of both out of both.
void ResidualComparison::take_curves_out(Residuals& x, Residuals& y) {
    const double least = test_.limits().least_curve;
    const auto orthonormal = [&](const std::vector<LineVector<double>>& others, LineVector<double>& column) {
        take_block_out(others, column);
        const double left = dot(column, column);
        scale(column, left > least ? 1.0 / std::sqrt(left) : 0.0);
        return left > least;
    };
    std::vector<LineVector<double>> basis(y.curves);
    for (LineVector<double>& curve : x.curves) {
        if (orthonormal(basis, curve)) {
            basis.push_back(std::move(curve));
        }
    }
    const std::size_t taken = basis.size();
    for (Residuals* one : {&x, &y}) {
        std::vector<LineVector<double>> block = std::exchange(one->block, {});
        for (LineVector<double>& column : block) {
            if (orthonormal(basis, column)) {
                basis.push_back(std::move(column));
            }
        }
        if (!one->square.empty() && !orthonormal(basis, one->square)) {
            one->square.clear();
        }
        const auto first = basis.begin() + static_cast<std::ptrdiff_t>(taken);
        one->block.assign(std::make_move_iterator(first), std::make_move_iterator(basis.end()));
        basis.resize(taken);
    }
    taken_ = static_cast<double>(taken);
}

bool ResidualComparison::reliable(std::size_t p, std::size_t q, const Conditioning& given) const {
    const double left = rows_left(given);
    return p * q > 0 && given.roomy() && left >= test_.limits().min_rows &&
           left >= test_.limits().rows_per_dof * static_cast<double>(p * q);
}

Outcome ResidualComparison::wide(const Residuals& levels, const Residuals& columns, const Conditioning& given) {
    taken_ = 0.0;
    Covariances covariances = between_levels(levels, columns);
    covariances.p = levels.rank;
    if (!reliable(covariances.p, covariances.q, given)) {
        return unreliable(covariances.p * covariances.q);
    }
    const double log_p = covariance_log_p(covariances, given, 1.0);
    return {-2.0 * log_p, 2.0, log_p, true};
}

Outcome ResidualComparison::operator()(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                       const Conditioning& given) {
    const std::size_t p = test_.scores(x).width, q = test_.scores(target).width;
    const ResidualLimits& limits = test_.limits();
    if (p * q > limits.max_products && (!test_.number(x) || !test_.number(target))) {
        const bool by_x = !test_.number(x) && (test_.number(target) || p >= q);
        const Residuals of_x(test_, given, x, by_x ? Residuals::Form::levels : Residuals::Form::columns);
        return by_x ? wide(of_x, of_target, given) : wide(of_target, of_x, given);
    }
    Residuals of_x(test_, given, x, Residuals::Form::columns);
    if (!of_x.curves.empty() || !of_target.curves.empty()) {
        Residuals bent(of_target);
        take_curves_out(of_x, bent);
        return compare(of_x, bent, given);
    }
    taken_ = 0.0;
    return compare(of_x, of_target, given);
}

Outcome ResidualComparison::compare(const Residuals& of_x, const Residuals& of_target, const Conditioning& given) {
    const ResidualLimits& limits = test_.limits();
    if (!reliable(of_x.block.size(), of_target.block.size(), given)) {
        return unreliable(of_x.block.size() * of_target.block.size());
    }
    const Covariances covariances = between(of_x, of_target);
    double log_p = covariance_log_p(covariances, given, inflation(of_x, of_target, covariances, given));
    if (test_.curved()) {
        if (const double second = curvature_log_p(of_x, of_target, given); !std::isnan(second)) {
            log_p = std::min({log_p - std::log(limits.first_share), second - std::log(1.0 - limits.first_share), 0.0});
        }
    }
    return {-2.0 * log_p, 2.0, log_p, true};
}

}  // namespace serape
