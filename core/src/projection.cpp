#include "serape/projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "column_projection.hpp"
#include "serape/gaussian_test.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Correlations are trusted where the variance inflation factors of the set add up to no more than the first, and the
// set leaves more than the second of a variance: a correlation was then off by some 1e-13, and never by 2e-11, in
// thousands of random sets.
constexpr double most_inflation = 1000.0;
constexpr double least_left = 0.01;

constexpr std::size_t row_begin(std::size_t row) {
    return row * (row + 1) / 2;
}

// The trace of the inverse of a correlation matrix, of whose Cholesky factor the lower half is given row by row.
double inflation(const std::vector<double>& factor, std::size_t size) {
    double sum = 0.0;
    std::vector<double> column(size);
    for (std::size_t j = 0; j < size; ++j) {  // a column of the factor's inverse
        for (std::size_t i = j; i < size; ++i) {
            double value = i == j ? 1.0 : 0.0;
            for (std::size_t k = j; k < i; ++k) {
                value -= factor[row_begin(i) + k] * column[k];
            }
            column[i] = value / factor[row_begin(i) + i];
            sum += column[i] * column[i];
        }
    }
    return sum;
}

}  // namespace

Projection::Projection(const GaussianTest& test, std::size_t target, std::span<const std::uint32_t> given)
    : test_(test),
      target_(static_cast<std::uint32_t>(target)),
      given_(given.begin(), given.end()),
      dof_(test.rule().dof(test.effective_rows(), given.size())),
      possible_(dof_ >= 1.0 && test.varies(target)) {
    factorised_ = possible_ && factorise();
}

Projection::~Projection() = default;

// Solves for the shares of each member in a basis of those before it, and of the target; false if that is not precise.
bool Projection::factorise() {
    const std::size_t size = given_.size();
    factor_.resize(row_begin(size + 1));
    for (std::size_t i = 0; i <= size; ++i) {
        const std::uint32_t variable = i < size ? given_[i] : target_;
        double* const shares = factor_.data() + row_begin(i);
        double left = test_.varies(variable) ? 1.0 : 0.0;
        for (std::size_t k = 0; k < i; ++k) {
            const double* const other = factor_.data() + row_begin(k);
            double share = test_.correlation(given_[k], variable);
            for (std::size_t j = 0; j < k; ++j) {
                share -= other[j] * shares[j];
            }
            shares[k] = share / other[k];
            left -= shares[k] * shares[k];
        }
        if (!(left > 1.0 / most_inflation)) {
            return false;
        }
        shares[i] = std::sqrt(left);
        target_left_ = left;
    }
    return target_left_ > least_left && (size < 2 || inflation(factor_, size) <= most_inflation);
}

void load_correlations(const GaussianTest& test, std::span<const std::uint32_t> given, std::uint32_t target,
                       std::span<const std::uint32_t> xs, std::size_t width, Projection::Scratch& scratch) {
    const Correlations& known = test.correlations();
    const std::size_t size = given.size();
    scratch.shares.assign((size + 1) * width, 0.0);
    if (!known.kept()) {
        scratch.products.resize(size + 1);
        scratch.vectors.resize(size + 1);
        for (std::size_t k = 0; k <= size; ++k) {
            scratch.vectors[k] = test.column(k < size ? given[k] : target);
        }
        for (std::size_t b = 0; b < xs.size(); ++b) {
            kernels().dots(test.column(xs[b]), scratch.vectors.data(), size + 1, test.stride(),
                           scratch.products.data());
            for (std::size_t k = 0; k <= size; ++k) {
                scratch.shares[k * width + b] = scratch.products[k];
            }
        }
        return;
    }
    for (std::size_t k = 0; k <= size; ++k) {
        const std::uint32_t member = k < size ? given[k] : target;
        double* const out = scratch.shares.data() + k * width;
        if (const Correlations::Row row = known.row(member)) {
            for (std::size_t b = 0; b < xs.size(); ++b) {
                out[b] = row[xs[b]].load(std::memory_order_relaxed);
            }
        } else {
            for (std::size_t b = 0; b < xs.size(); ++b) {
                out[b] = known(member, xs[b]);
            }
        }
    }
}

const ColumnProjection& Projection::columns() const {
    std::call_once(projected_, [&] { columns_ = std::make_unique<ColumnProjection>(test_, target_, given_); });
    return *columns_;
}

void Projection::partials(std::span<const std::uint32_t> xs, Scratch& scratch, PartialCorrelation* out) const {
    constexpr PartialCorrelation unknown{nan, nan, false, false};
    if (!factorised_) {
        for (std::size_t b = 0; b < xs.size(); ++b) {
            out[b] = possible_ && test_.varies(xs[b]) ? columns()(xs[b], scratch) : unknown;
        }
        return;
    }
    const std::size_t size = given_.size();
    const std::size_t width = (xs.size() + line_words - 1) / line_words * line_words;
    load_correlations(test_, given_, target_, xs, width, scratch);
    std::array<double, block> left;
    left.fill(1.0);
    scratch.vectors.resize(size);
    for (std::size_t k = 0; k <= size; ++k) {  // the last is the target: what is left there are covariances
        double* const shares = scratch.shares.data() + k * width;
        const double* const factor = factor_.data() + row_begin(k);
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
    for (std::size_t b = 0; b < xs.size(); ++b) {
        if (!test_.varies(xs[b])) {
            out[b] = unknown;
            continue;
        }
        const double r = left[b] > least_left ? std::fabs(covariance[b]) / std::sqrt(left[b] * target_left_) : 1.0;
        out[b] = r < 0.9 ? PartialCorrelation{r, 1.0 - r, true, covariance[b] < 0.0} : columns()(xs[b], scratch);
    }
}

Outcome Projection::outcome(std::uint32_t x, Scratch& scratch) const {
    PartialCorrelation partial{};
    partials({&x, 1}, scratch, &partial);
    if (!partial.known) {
        return {nan, dof_, nan, false};
    }
    const double statistic = test_.rule().statistic(partial.r, partial.rest, dof_);
    return {statistic, dof_, test_.rule().log_p(statistic, dof_), true};
}

}  // namespace serape
