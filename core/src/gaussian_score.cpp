#include "serape/gaussian_score.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "serape/kernels.hpp"
#include "serape/log_gamma.hpp"

namespace serape {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double log_pi = 1.1447298858494002;
constexpr double prior_weight = 1.0;  // of the means
constexpr double prior_dof = 2.0;     // beyond the number of variables
constexpr double prior_scale = prior_weight * (prior_dof - 1.0) / (prior_weight + 1.0);  // of the matrix

constexpr std::size_t row_begin(std::size_t row) {
    return row * (row + 1) / 2;
}

}  // namespace

GaussianScore::GaussianScore(const GaussianTest& columns, GaussianScoreKind kind, std::vector<double> log_variance,
                             double cost)
    : columns_(columns),
      kind_(kind),
      rows_(columns.effective_rows()),
      cost_(0.5 * std::log(rows_) + cost),
      unit_(std::ldexp(1.0, std::ilogb(rows_) - 34)),
      of_column_(std::move(log_variance)) {
    for (std::size_t k = 0; k < of_column_.size(); ++k) {
        if (kind == GaussianScoreKind::bge) {  // sums of squares, with those of the prior
            const double log_sum = columns.varies(k) ? std::log(rows_) + of_column_[k] : -infinity;
            const double share = 1.0 / (1.0 + prior_scale * std::exp(-log_sum));
            shrink_.push_back(std::sqrt(share));
            of_column_[k] = share > 0.0 ? log_sum - std::log(share) : std::log(prior_scale);
        } else {
            const double fit = std::log(2.0 * std::numbers::pi) + 1.0 + of_column_[k];
            of_column_[k] = rounded(columns.varies(k) ? -0.5 * rows_ * fit - std::log(rows_) : 0.0);
        }
    }
}

double GaussianScore::rounded(double value) const {
    return std::nearbyint(value / unit_) * unit_;
}

GaussianScore::Terms GaussianScore::terms(std::size_t parents) const {
    const auto count = static_cast<double>(parents);
    if (kind_ == GaussianScoreKind::bic) {
        return {-cost_ * count, count + 2.0 > rows_ ? 0.0 : 0.5 * rows_, 0.0};
    }
    const double before = 0.5 * (prior_dof + count + 1.0);
    const double after = before + 0.5 * rows_;
    const double constant = 0.5 * std::log(prior_weight / (rows_ + prior_weight)) - 0.5 * rows_ * log_pi +
                            log_gamma(after) - log_gamma(before) +
                            0.5 * (prior_dof + 2.0 * count + 1.0) * std::log(prior_scale);
    return {constant, after, 0.5};
}

double GaussianScore::score(std::size_t child, const Terms& terms, double left, double log_determinant) const {
    const double log_left = std::log(left);
    if (kind_ == GaussianScoreKind::bic) {
        return of_column_[child] + rounded(terms.constant - terms.of_left * log_left);
    }
    return rounded(terms.constant - terms.of_left * (of_column_[child] + log_left) -
                   terms.of_determinant * log_determinant);
}

// The determinant of a column alone, in logarithms; only BGe asks for determinants.
double GaussianScore::log_scale(std::size_t column) const {
    return kind_ == GaussianScoreKind::bge ? of_column_[column] : 0.0;
}

GaussianScore::Basis GaussianScore::basis(std::size_t child, std::span<const std::uint32_t> parents) const {
    Basis made{{}, {}, parents.size(), 1.0, 0.0};
    std::vector<std::uint32_t> sorted(parents.begin(), parents.end());
    std::sort(sorted.begin(), sorted.end());
    sorted.push_back(static_cast<std::uint32_t>(child));
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const bool last = i + 1 == sorted.size();
        const std::size_t size = made.members.size();
        made.factor.resize(row_begin(size + 1));
        double* const shares = made.factor.data() + row_begin(size);
        double left = columns_.varies(sorted[i]) || last ? 1.0 : 0.0;
        for (std::size_t k = 0; k < size; ++k) {
            const double* const other = made.factor.data() + row_begin(k);
            double share = correlation(made.members[k], sorted[i]);
            for (std::size_t j = 0; j < k; ++j) {
                share -= other[j] * shares[j];
            }
            shares[k] = share / other[k];
            left -= shares[k] * shares[k];
        }
        if (last) {
            made.left = std::max(left, least_variance);
            break;
        }
        made.log_determinant += log_scale(sorted[i]);
        if (left > least_variance) {
            shares[size] = std::sqrt(left);
            made.members.push_back(sorted[i]);
            made.log_determinant += std::log(left);
        }
    }
    return made;
}

// Scores of the child with one more parent, of up to `Projection::block` candidates.
void GaussianScore::add_each(const Basis& basis, std::size_t child, std::span<const std::uint32_t> candidates,
                             Projection::Scratch& scratch, double* out) const {
    const std::size_t size = basis.members.size();
    const std::size_t width = (candidates.size() + line_words - 1) / line_words * line_words;
    load_correlations(columns_, basis.members, static_cast<std::uint32_t>(child), candidates, width, scratch);
    std::array<double, Projection::block> left;
    left.fill(1.0);
    scratch.vectors.resize(size);
    for (std::size_t k = 0; k <= size; ++k) {  // the last is the child: what is left there are covariances
        double* const shares = scratch.shares.data() + k * width;
        const double* const factor = basis.factor.data() + row_begin(k);
        if (!shrink_.empty()) {
            const double own = shrink_[k < size ? basis.members[k] : child];
            for (std::size_t b = 0; b < candidates.size(); ++b) {
                shares[b] *= own * shrink_[candidates[b]];
            }
        }
        kernels().subtract(shares, scratch.vectors.data(), factor, k, width);
        if (k < size) {
            for (std::size_t b = 0; b < width; ++b) {
                shares[b] /= factor[k];
                left[b] -= shares[b] * shares[b];
            }
            scratch.vectors[k] = shares;
        }
    }
    const double* const covariance = scratch.shares.data() + size * width;
    const Terms with_one_more = terms(basis.parents + 1);
    for (std::size_t b = 0; b < candidates.size(); ++b) {
        double of_child = basis.left;
        double log_determinant = basis.log_determinant + log_scale(candidates[b]);
        if (left[b] > least_variance && columns_.varies(candidates[b])) {
            of_child = std::max(of_child - covariance[b] * covariance[b] / left[b], least_variance);
            log_determinant += std::log(left[b]);
        }
        out[b] = score(child, with_one_more, of_child, log_determinant);
    }
}

void GaussianScore::additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                      CancellationToken& token, double* out) const {
    std::vector<std::uint32_t> asked;
    std::vector<std::size_t> begins;
    std::size_t size = 0;
    for (const AdditionQuery& query : queries) {
        begins.push_back(size);
        size += query.candidates.size();
        if (query.candidates.size() * 4 > columns_.columns()) {  // rows of correlations are worth making
            asked.push_back(query.child);
            asked.insert(asked.end(), query.parents.begin(), query.parents.end());
        }
    }
    columns_.correlations().make_rows(asked, threads, token);
    std::vector<Projection::Scratch> scratch(std::max<std::size_t>(threads, 1));
    const auto add = [&](const AdditionQuery& query, const Basis& made, std::size_t first, std::size_t last,
                         std::size_t worker, double* to) {
        for (std::size_t k = first; k < last; k += Projection::block) {
            const std::size_t count = std::min(Projection::block, last - k);
            add_each(made, query.child, query.candidates.subspan(k, count), scratch[worker], to + k);
        }
    };
    if (queries.size() == 1) {
        const Basis made = basis(queries[0].child, queries[0].parents);
        const std::size_t grain = 64 * Projection::block;
        parallel_for(size, grain, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
            add(queries[0], made, first, last, worker, out);
        });
        return;
    }
    parallel_for(queries.size(), 4, threads, token, [&](std::size_t first, std::size_t last, std::size_t worker) {
        for (std::size_t k = first; k < last; ++k) {
            const AdditionQuery& query = queries[k];
            add(query, basis(query.child, query.parents), 0, query.candidates.size(), worker, out + begins[k]);
        }
    });
}

void GaussianScore::families(std::size_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                             std::size_t threads, CancellationToken& token, double* out) const {
    parallel_for(parent_sets.size(), 64, threads, token, [&](std::size_t first, std::size_t last, std::size_t) {
        for (std::size_t k = first; k < last; ++k) {
            const Basis made = basis(child, parent_sets[k]);
            out[k] = score(child, terms(made.parents), made.left, made.log_determinant);
        }
    });
}

}  // namespace serape
