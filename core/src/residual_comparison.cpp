#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "columns_algebra.hpp"
#include "residuals.hpp"
#include "serape/chi_square.hpp"
#include "serape/f_distribution.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double least_rest = 1e-10;  // of 1 − r²: less is a perfect dependence, and rounding

// No degrees of freedom if nothing is left of x or y.
Outcome unreliable(std::size_t products) {
    return {nan, static_cast<double>(products), nan, false};
}

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

ResidualComparison::Covariances ResidualComparison::between(const ResidualColumns& x, const ResidualColumns& y) const {
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

ResidualComparison::Covariances ResidualComparison::between_levels(
    const Residuals& levels, const ResidualColumns& columns, const std::vector<LineVector<double>>& curves) const {
    const std::size_t p = levels.count, q = columns.block.size();
    std::vector<double> sums(p + 1);
    const auto sum_by_level = [&](const LineVector<double>& column) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            sums[levels.level[r]] += column[r] * test_.root_weight(r);
        }
    };
    std::vector<double> factor(levels.left);
    for (const LineVector<double>& curve : curves) {
        sum_by_level(curve);
        for (std::size_t i = 0; i < p; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                factor[i * p + j] -= sums[i] * sums[j];
            }
        }
    }
    factorise(factor, p, test_.limits().least_left * test_.limits().min_level_rows);
    Covariances made{0, q, std::vector<double>(p * q)};
    for (std::size_t i = 0; i < p; ++i) {
        made.p += factor[i * p + i] > 0.0;
    }
    for (std::size_t j = 0; j < q; ++j) {
        sum_by_level(columns.block[j]);
        solve(factor, p, sums);
        for (std::size_t i = 0; i < p; ++i) {
            made.values[i * q + j] = sums[i];
        }
    }
    return made;
}

// Wilks' Λ = det(I − CᵀC), C the covariances of two orthonormal blocks.
double ResidualComparison::log_lambda(const Covariances& c) {
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
    double sum = 0.0;
    for (std::size_t i = 0; i < q; ++i) {
        sum += 2.0 * std::log(std::max(rest[i * q + i], std::sqrt(least_rest)));
    }
    return sum;
}

// Rao's approximation of Λ by F.
double ResidualComparison::covariance_log_p(const Covariances& c, const Conditioning& given, double inflation) const {
    const double pq = static_cast<double>(c.p * c.q);
    const double both = static_cast<double>(c.p * c.p + c.q * c.q);
    const double m = rows_left(given) - 0.5 * (static_cast<double>(c.p + c.q) + 1.0);
    const double t = both > 5.0 ? std::sqrt((pq * pq - 4.0) / (both - 5.0)) : 1.0;
    const double rest_dof = m * t - 0.5 * pq + 1.0;
    return f_log_sf(std::expm1(-log_lambda(c) / t), inflation, pq, rest_dof);
}

// How much more the products of residuals vary than if their spread did not change with Z.
double ResidualComparison::inflation(const ResidualColumns& x, const ResidualColumns& y, const Covariances& covariances,
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

double ResidualComparison::curvature_log_p(const ResidualColumns& x, const ResidualColumns& y,
                                           const Conditioning& given) {
    const double left = rows_left(given);
    const std::size_t most =
        std::min(test_.limits().max_curved, static_cast<std::size_t>(left / test_.limits().rows_per_product));
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
    const double share = std::min(t_squared(given) / given.rows_left(), 1.0 - least_rest);
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

bool ResidualComparison::orthonormalise(const std::vector<LineVector<double>>& others,
                                        LineVector<double>& column) const {
    take_block_out(others, column);
    double left = dot(column, column);
    if (left < 0.01) {  // again, as rounding weighs more in what is left
        take_block_out(others, column);
        left = dot(column, column);
    }
    const bool enough = left > test_.limits().least_curve;
    scale(column, enough ? 1.0 / std::sqrt(left) : 0.0);
    return enough;
}

std::vector<LineVector<double>> ResidualComparison::joined(const Residuals& x, const Residuals& y) const {
    const bool x_first = x.explained > y.explained;  // so that it does not matter which of the two is the target
    std::vector<LineVector<double>> made(x_first ? x.curves : y.curves);
    for (LineVector<double> curve : x_first ? y.curves : x.curves) {
        if (orthonormalise(made, curve)) {
            made.push_back(std::move(curve));
        }
    }
    return made;
}

void ResidualComparison::take_out(std::vector<LineVector<double>>& curves, ResidualColumns& columns) const {
    const std::size_t taken = curves.size();
    for (LineVector<double>& column : columns.block) {
        if (orthonormalise(curves, column)) {
            curves.push_back(std::move(column));
        }
    }
    if (!columns.square.empty() && !orthonormalise(curves, columns.square)) {
        columns.square.clear();
    }
    columns.block.assign(std::make_move_iterator(curves.begin() + static_cast<std::ptrdiff_t>(taken)),
                         std::make_move_iterator(curves.end()));
    curves.resize(taken);
}

bool ResidualComparison::reliable(std::size_t p, std::size_t q, const Conditioning& given) const {
    const double left = rows_left(given);
    return p * q > 0 && given.roomy() && left >= test_.limits().min_rows &&
           left >= test_.limits().rows_per_dof * static_cast<double>(p * q);
}

ResidualComparison::Covariances ResidualComparison::wide(const Residuals& levels, const Residuals& columns) {
    std::vector<LineVector<double>> curves = joined(levels, columns);
    taken_ = static_cast<double>(curves.size());
    ResidualColumns bent(columns);
    take_out(curves, bent);
    return between_levels(levels, bent, curves);
}

// Calls `many` with the covariances if there are many products, otherwise `few` with what is left of x and target.
template <class Many, class Few>
auto ResidualComparison::with_residuals(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                        const Conditioning& given, Many many, Few few) {
    const std::size_t p = test_.scores(x).width, q = test_.scores(target).width;
    if (p * q > test_.limits().max_products && (!test_.number(x) || !test_.number(target))) {
        const bool by_x = !test_.number(x) && (test_.number(target) || p >= q);
        const Residuals of_x(test_, given, x, by_x ? Residuals::Form::levels : Residuals::Form::columns);
        return many(by_x ? wide(of_x, of_target) : wide(of_target, of_x));
    }
    Residuals of_x(test_, given, x, Residuals::Form::columns);
    taken_ = 0.0;
    if (of_x.curves.empty() && of_target.curves.empty()) {
        return few(of_x, of_target);
    }
    std::vector<LineVector<double>> curves = joined(of_x, of_target);
    taken_ = static_cast<double>(curves.size());
    ResidualColumns bent(of_target);
    take_out(curves, of_x);
    take_out(curves, bent);
    return few(of_x, bent);
}

Outcome ResidualComparison::operator()(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                       const Conditioning& given) {
    return with_residuals(
        x, target, of_target, given,
        [&](const Covariances& covariances) -> Outcome {
            if (!reliable(covariances.p, covariances.q, given)) {
                return unreliable(covariances.p * covariances.q);
            }
            return decided(covariance_log_p(covariances, given, 1.0),
                           static_cast<double>(covariances.p * covariances.q));
        },
        [&](const ResidualColumns& of_x, const ResidualColumns& of_y) { return compare(of_x, of_y, given); });
}

ResidualEffect ResidualComparison::effect(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                          const Conditioning& given) {
    return with_residuals(
        x, target, of_target, given,
        [&](const Covariances& covariances) {
            return ResidualEffect{covariances.q == 0 ? nan : log_lambda(covariances), nan,
                                  static_cast<double>(covariances.p * covariances.q)};
        },
        [&](const ResidualColumns& of_x, const ResidualColumns& of_y) {
            if (of_x.block.empty() || of_y.block.empty()) {
                return ResidualEffect{nan, nan, nan};
            }
            const bool numbers = test_.number(x) && test_.number(target);
            return ResidualEffect{log_lambda(between(of_x, of_y)), numbers ? dot(of_x.block[0], of_y.block[0]) : nan,
                                  static_cast<double>(of_x.block.size() * of_y.block.size())};
        });
}

Outcome ResidualComparison::compare(const ResidualColumns& of_x, const ResidualColumns& of_target,
                                    const Conditioning& given) {
    const ResidualLimits& limits = test_.limits();
    if (!reliable(of_x.block.size(), of_target.block.size(), given)) {
        return unreliable(of_x.block.size() * of_target.block.size());
    }
    const Covariances covariances = between(of_x, of_target);
    double log_p = covariance_log_p(covariances, given, inflation(of_x, of_target, covariances, given));
    double dof = static_cast<double>(covariances.p * covariances.q);
    if (test_.curved()) {
        if (const double second = curvature_log_p(of_x, of_target, given); !std::isnan(second)) {
            log_p = log_p_of_share(log_p, limits.first_share);
            if (const double curved = log_p_of_share(second, 1.0 - limits.first_share); curved < log_p) {
                log_p = curved;
                dof = static_cast<double>(used_);
            }
        }
    }
    return decided(log_p, dof);
}

}  // namespace serape
