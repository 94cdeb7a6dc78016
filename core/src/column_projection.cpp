#include "column_projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "serape/gaussian_test.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double dot(const double* a, const double* b, std::size_t rows) {
    double value = 0.0;
    kernels().dots(a, &b, 1, rows, &value);
    return value;
}

}  // namespace

ColumnProjection::ColumnProjection(const GaussianTest& test, std::size_t target, std::span<const std::uint32_t> given)
    : test_(test) {
    const std::size_t stride = test.stride();
    vectors_.push_back(test.column(target));
    if (given.empty()) {
        return;
    }
    memory_.reset(new Line[(given.size() + 1) * stride / line_words]);
    auto* next = reinterpret_cast<double*>(memory_.get());
    const auto add = [&](std::size_t column) {  // what is left of a column, at `next`; false if nothing is
        std::copy_n(test.column(column), stride, next);
        const double square = take_out(next);
        if (!(square > least_variance)) {
            return false;
        }
        const double length = std::sqrt(square);
        for (std::size_t i = 0; i < stride; ++i) {
            next[i] /= length;
        }
        return true;
    };
    for (const std::uint32_t z : given) {
        if (add(z)) {
            vectors_.push_back(next);
            next += stride;
        }
    }
    known_ = add(target);
    vectors_[0] = next;
}

double ColumnProjection::take_out(double* column) const {
    const std::size_t stride = test_.stride();
    const std::size_t size = vectors_.size() - 1;
    std::vector<double> products(size);
    double left = 1.0;
    for (int again = 0; again < 2; ++again) {  // twice is enough (Kahan and Parlett), once if much is left
        const double before = left;
        if (size > 0) {
            kernels().dots(column, vectors_.data() + 1, size, stride, products.data());
            kernels().subtract(column, vectors_.data() + 1, products.data(), size, stride);
        }
        left = dot(column, column, stride);
        if (left > 0.1 * before) {
            break;
        }
    }
    return left;
}

PartialCorrelation ColumnProjection::operator()(std::size_t x, Projection::Scratch& scratch) const {
    constexpr PartialCorrelation unknown{nan, nan, false, false};
    if (!known_) {
        return unknown;
    }
    const std::size_t stride = test_.stride();
    scratch.products.resize(vectors_.size());
    kernels().dots(test_.column(x), vectors_.data(), vectors_.size(), stride, scratch.products.data());
    double left = 1.0;
    for (std::size_t k = 1; k < vectors_.size(); ++k) {
        left -= scratch.products[k] * scratch.products[k];
    }
    if (left > 1e-4) {
        const double r = std::fabs(scratch.products[0]) / std::sqrt(left);
        if (r < 0.9) {
            return {r, 1.0 - r, true, scratch.products[0] < 0.0};
        }
    }
    // Little is left of x, or it is nearly the target: by what is left of the column itself.
    scratch.left.assign(test_.column(x), test_.column(x) + stride);
    double* u = scratch.left.data();
    const double square = take_out(u);
    if (!(square > least_variance)) {
        return unknown;
    }
    const double length = std::sqrt(square);
    if (vectors_.size() > 1) {
        for (std::size_t i = 0; i < stride; ++i) {
            u[i] /= length;
        }
    }
    const double* v = vectors_[0];
    const double r = dot(u, v, stride);
    if (std::fabs(r) < 0.5) {
        return {std::fabs(r), 1.0 - std::fabs(r), true, r < 0.0};
    }
    const double sign = r < 0.0 ? -1.0 : 1.0;
    for (std::size_t i = 0; i < stride; ++i) {
        u[i] -= sign * v[i];
    }
    const double rest = 0.5 * dot(u, u, stride);  // of two vectors of length 1
    return {1.0 - rest, rest, true, r < 0.0};
}

}  // namespace serape
