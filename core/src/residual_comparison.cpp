#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
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

void add_times(const LineVector<double>& column, double factor, LineVector<double>& sum) {
    for (std::size_t r = 0; r < sum.size(); ++r) {
        sum[r] += factor * column[r];
    }
}

void multiply(LineVector<double>& column, const LineVector<double>& by) {
    for (std::size_t r = 0; r < column.size(); ++r) {
        column[r] *= by[r];
    }
}

}  // namespace

// With the larger of two variances in the direction of the sums: as if the spread of x and y were constant, and as Z
// explains it.
double ResidualComparison::t_squared(const std::vector<Product>& products, const std::vector<double>& sums,
                                     const Spread& x, const Spread& y, const Conditioning& given,
                                     const TakenOut& taken) const {
    const std::size_t count = products.size();
    const bool moderated =
        std::any_of(products.begin(), products.end(), [](const Product& p) { return p.factor.has_value(); });
    const std::size_t factors = moderated ? given.moderators().size() : 0;
    const double left = taken.rows_left();
    std::vector<double> together(factors * factors);  // of factors: the sums of their products
    for (std::size_t k = 0; k < factors; ++k) {
        LineVector<double> factor(given.moderators()[k]);
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            const double root = taken.root_weights()[r];
            const double own = root > 0.0 ? test_.root_of_copy(r) * test_.root_of_copy(r) / root : 0.0;
            factor[r] *= own * own / (left * left);
        }
        for (std::size_t j = 0; j <= k; ++j) {
            together[k * factors + j] = together[j * factors + k] = dot(factor, given.moderators()[j]);
        }
    }
    std::vector<double> constant(count * count, 0.0), direction(sums);
    double largest = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t j = 0; j <= k; ++j) {
            const Product &a = products[k], &b = products[j];
            if (a.i == b.i && a.j == b.j) {
                constant[k * count + j] = a.factor ? together[*a.factor * factors + *b.factor] : 1.0 / left;
            }
        }
        largest = std::max(largest, constant[k * count + k]);
    }
    factorise(constant, count, 1e-9 * largest);
    solve(constant, count, direction);
    const double most = std::inner_product(direction.begin(), direction.end(), direction.begin(), 0.0);
    if (taken.nothing() || !(most > 0.0)) {
        return most;
    }
    solve_transposed(constant, count, direction);
    // The variance of Σ fₖ aₖ bₖ, a and b being columns of x and of y, and f a sum of factors.
    std::map<std::pair<std::size_t, std::size_t>, LineVector<double>> parts;
    for (std::size_t k = 0; k < count; ++k) {
        LineVector<double>& part = parts.try_emplace({products[k].i, products[k].j}, test_.stride(), 0.0).first->second;
        if (products[k].factor) {
            add_times(given.moderators()[*products[k].factor], direction[k], part);
        } else {
            std::fill(part.begin(), part.end(), direction[k]);
        }
    }
    double variance = 0.0;
    for (const auto& [a, of_a] : parts) {
        for (const auto& [b, of_b] : parts) {
            const LineVector<double>* of_x = x.product(a.first, b.first);
            const LineVector<double>* of_y = y.product(a.second, b.second);
            if (a <= b && of_x != nullptr && of_y != nullptr) {
                LineVector<double> product(of_a);
                multiply(product, of_b);
                multiply(product, *of_x);
                variance += (a < b ? 2.0 : 1.0) * dot(product, *of_y);
            }
        }
    }
    return most * most / std::max(variance, most);
}

ResidualComparison::Covariances ResidualComparison::between(const ResidualColumns& x, const ResidualColumns& y) const {
    const bool swap = x.block.size() < y.block.size();
    const auto& rows = swap ? y.block : x.block;
    const auto& columns = swap ? x.block : y.block;
    Covariances made{rows.size(), columns.size(), {}, 1.0, 1.0};
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
    Covariances made{0, q, std::vector<double>(p * q), 1.0, 1.0};
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
double ResidualComparison::covariance_log_p(const Covariances& c, const Conditioning& given) const {
    const double pq = static_cast<double>(c.p * c.q);
    const double both = static_cast<double>(c.p * c.p + c.q * c.q);
    const double m = rows_left(given) - 0.5 * (static_cast<double>(c.p + c.q) + 1.0);
    const double t = both > 5.0 ? std::sqrt((pq * pq - 4.0) / (both - 5.0)) : 1.0;
    const double rest_dof = m * t - 0.5 * pq + 1.0;
    return f_log_sf(std::expm1(-log_lambda(c) / t), c.inflation, pq * c.dof_share, rest_dof * c.dof_share);
}

// How much more the covariances vary than if the spread of x and y did not change with Z, in their own direction.
double ResidualComparison::inflation(const ResidualColumns& x, const ResidualColumns& y, const Spread& of_x,
                                     const Spread& of_y, const TakenOut& taken) const {
    const std::size_t p = x.block.size(), q = y.block.size();
    if (taken.nothing()) {
        return 1.0;
    }
    if (p < q) {
        return inflation(y, x, of_y, of_x, taken);
    }
    std::vector<double> c(p * q);
    for (std::size_t k = 0; k < c.size(); ++k) {
        c[k] = dot(x.block[k / q], y.block[k % q]);
    }
    const double squares = std::inner_product(c.begin(), c.end(), c.begin(), 0.0);
    // The variance of Σ cᵢⱼ xᵢ yⱼ = Σ x'ⱼ yⱼ, by the columns x'ⱼ = Σ cᵢⱼ xᵢ, as few as those of y.
    std::vector<LineVector<double>> of_combined, of_other;
    std::vector<double> times;
    for (std::size_t j = 0; j < q; ++j) {
        for (std::size_t l = 0; l <= j; ++l) {
            times.push_back(j == l ? 1.0 : 2.0);
            LineVector<double>& one = of_combined.emplace_back(test_.stride(), 0.0);
            if (!of_x.shared()) {
                for (std::size_t k = 0; k < p * p; ++k) {
                    add_times(*of_x.product(k / p, k % p), c[k / p * q + j] * c[k % p * q + l], one);
                }
            } else {
                LineVector<double> other(test_.stride(), 0.0);
                for (std::size_t i = 0; i < p; ++i) {
                    add_times(x.block[i], c[i * q + j], one);
                    add_times(x.block[i], c[i * q + l], other);
                }
                multiply(one, other);
            }
            LineVector<double>& of_pair = of_other.emplace_back(of_y.shared() ? y.block[j] : *of_y.product(j, l));
            if (of_y.shared()) {
                multiply(of_pair, y.block[l]);
            }
        }
    }
    if (of_x.shared()) {
        taken.explain(of_combined);
    }
    if (of_y.shared()) {
        taken.explain(of_other);
    }
    double variance = 0.0;
    for (std::size_t k = 0; k < times.size(); ++k) {
        variance += times[k] * dot(of_combined[k], of_other[k]);
    }
    return squares > 0.0 ? std::max(taken.rows_left() * variance / squares, 1.0) : 1.0;
}

// The degrees of freedom that a sum of squared covariances has, as a share of their number.
double ResidualComparison::dof_share(double excess_variance, double count, const Conditioning& given) const {
    return 1.0 / (1.0 + std::max(excess_variance, 0.0) / (2.0 * count * rows_left(given)));
}

std::optional<ResidualComparison::Curvature> ResidualComparison::curvature(const ResidualColumns& x,
                                                                           const ResidualColumns& y, const Spread& of_x,
                                                                           const Spread& of_y,
                                                                           const Conditioning& given,
                                                                           const TakenOut& taken) const {
    const double left = taken.rows_left();
    const std::size_t most =
        std::min(test_.limits().max_curved, static_cast<std::size_t>(left / test_.limits().rows_per_product));
    const std::size_t p = x.block.size(), q = y.block.size();
    const std::size_t wide_p = p + !x.square.empty(), wide_q = q + !y.square.empty();
    std::vector<Product> products;
    std::vector<double> sums;
    double more = 0.0;  // excess of the variance
    const auto add = [&](std::size_t i, std::size_t j, std::optional<std::size_t> factor) {
        const LineVector<double>& a = i < p ? x.block[i] : x.square;
        const LineVector<double>& b = j < q ? y.block[j] : y.square;
        products.push_back({i, j, factor});
        if (!factor) {
            sums.push_back(dot(a, b));
            return;
        }
        LineVector<double> product(a);
        multiply(product, given.moderators()[*factor]);
        sums.push_back(dot(product, b));
    };
    if (wide_p * wide_q - p * q <= most) {
        for (std::size_t i = 0; i < wide_p; ++i) {
            for (std::size_t j = i < p ? q : 0; j < wide_q; ++j) {
                add(i, j, std::nullopt);
            }
        }
        more += excess(of_x.both, wide_p, wide_p) * excess(of_y.both, wide_q, wide_q) -
                2.0 * excess(of_x.across, wide_p, p) * excess(of_y.across, wide_q, q) +
                excess(of_x.block, p, p) * excess(of_y.block, q, q);
    }
    const std::size_t moderated = p * q * given.moderators().size();
    if (moderated > 0 && products.size() + moderated <= most) {
        LineVector<double> lengths(test_.stride(), 0.0);
        for (std::size_t f = 0; f < given.moderators().size(); ++f) {
            const LineVector<double>& factor = given.moderators()[f];
            for (std::size_t r = 0; r < test_.rows(); ++r) {
                lengths[r] += factor[r] * factor[r];
            }
            for (std::size_t k = 0; k < p * q; ++k) {
                add(k / q, k % q, f);
            }
        }
        double fourth = 0.0;
        for (std::size_t r = 0; r < test_.rows(); ++r) {
            fourth += lengths[r] * lengths[r] * test_.root_weight(r) * test_.root_weight(r);
        }
        more += excess(of_x.block * of_y.block * fourth / test_.effective_rows(), moderated, moderated);
    }
    if (products.empty()) {
        return std::nullopt;
    }
    const double d = static_cast<double>(products.size());
    const double dof = dof_share(more * of_x.concentration(of_y, taken), d, given);
    const double share = std::min(t_squared(products, sums, of_x, of_y, given, taken) / left, 1.0 - least_rest);
    return Curvature{f_log_sf(share, 1.0 - share, d * dof, (left - d) * dof), d};
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

ResidualComparison::Covariances ResidualComparison::wide(const Residuals& levels, const Residuals& columns,
                                                         const Conditioning& given) {
    std::vector<LineVector<double>> curves = joined(levels, columns);
    taken_ = static_cast<double>(curves.size());
    ResidualColumns bent(columns);
    take_out(curves, bent);
    Covariances made = between_levels(levels, bent, curves);
    const TakenOut taken(test_, given, curves);
    const Spread of_levels(test_, taken, levels.level, levels.count), of_columns(test_, taken, bent);
    made.inflation = of_levels.inflation(of_columns, taken);
    made.dof_share =
        dof_share(of_levels.excess_variance(of_columns, taken), static_cast<double>(made.p * made.q), given);
    return made;
}

// Calls `many` with the covariances if there are many products, otherwise `few` with what is left of x and target.
template <class Many, class Few>
auto ResidualComparison::with_residuals(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                        const Conditioning& given, Many many, Few few) {
    const std::size_t p = test_.scores(x).width, q = test_.scores(target).width;
    if (p * q > test_.limits().max_products && (!test_.number(x) || !test_.number(target))) {
        const bool by_x = !test_.number(x) && (test_.number(target) || p >= q);
        const Residuals of_x(test_, given, x, by_x ? Residuals::Form::levels : Residuals::Form::columns);
        return many(by_x ? wide(of_x, of_target, given) : wide(of_target, of_x, given));
    }
    Residuals of_x(test_, given, x, Residuals::Form::columns);
    taken_ = 0.0;
    std::vector<LineVector<double>> curves = joined(of_x, of_target);
    if (curves.empty()) {
        return few(of_x, of_target, curves);
    }
    taken_ = static_cast<double>(curves.size());
    ResidualColumns bent(of_target);
    take_out(curves, of_x);
    take_out(curves, bent);
    return few(of_x, bent, curves);
}

Outcome ResidualComparison::operator()(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                       const Conditioning& given) {
    return with_residuals(
        x, target, of_target, given,
        [&](const Covariances& covariances) -> Outcome {
            if (!reliable(covariances.p, covariances.q, given)) {
                return unreliable(covariances.p * covariances.q);
            }
            return decided(covariance_log_p(covariances, given), static_cast<double>(covariances.p * covariances.q));
        },
        [&](const ResidualColumns& of_x, const ResidualColumns& of_y, const std::vector<LineVector<double>>& curves) {
            return compare(of_x, of_y, given, TakenOut(test_, given, curves));
        });
}

ResidualEffect ResidualComparison::effect(std::uint32_t x, std::uint32_t target, const Residuals& of_target,
                                          const Conditioning& given) {
    return with_residuals(
        x, target, of_target, given,
        [&](const Covariances& covariances) {
            return ResidualEffect{covariances.q == 0 ? nan : log_lambda(covariances), nan,
                                  static_cast<double>(covariances.p * covariances.q)};
        },
        [&](const ResidualColumns& of_x, const ResidualColumns& of_y, const std::vector<LineVector<double>>&) {
            if (of_x.block.empty() || of_y.block.empty()) {
                return ResidualEffect{nan, nan, nan};
            }
            const bool numbers = test_.number(x) && test_.number(target);
            return ResidualEffect{log_lambda(between(of_x, of_y)), numbers ? dot(of_x.block[0], of_y.block[0]) : nan,
                                  static_cast<double>(of_x.block.size() * of_y.block.size())};
        });
}

Outcome ResidualComparison::compare(const ResidualColumns& of_x, const ResidualColumns& of_target,
                                    const Conditioning& given, const TakenOut& taken) {
    const ResidualLimits& limits = test_.limits();
    if (!reliable(of_x.block.size(), of_target.block.size(), given)) {
        return unreliable(of_x.block.size() * of_target.block.size());
    }
    const Spread spread_x(test_, taken, of_x), spread_y(test_, taken, of_target);
    Covariances covariances = between(of_x, of_target);
    double dof = static_cast<double>(covariances.p * covariances.q);
    covariances.inflation = inflation(of_x, of_target, spread_x, spread_y, taken);
    covariances.dof_share = dof_share(spread_x.excess_variance(spread_y, taken), dof, given);
    double log_p = covariance_log_p(covariances, given);
    if (test_.curved()) {
        if (const auto second = curvature(of_x, of_target, spread_x, spread_y, given, taken)) {
            log_p = log_p_of_share(log_p, limits.first_share);
            if (const double curved = log_p_of_share(second->log_p, 1.0 - limits.first_share); curved < log_p) {
                log_p = curved;
                dof = second->products;
            }
        }
    }
    return decided(log_p, dof);
}

}  // namespace serape
