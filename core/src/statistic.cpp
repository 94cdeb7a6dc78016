#include "serape/statistic.hpp"

#include <algorithm>
#include <cmath>

namespace serape {
namespace {

// The largest power of two by which `bound` can be multiplied and stay below 2^61.
int shift_for(long double bound) {
    int exponent = 0;
    std::frexp(std::max(bound, 1.0L), &exponent);
    return 61 - exponent;
}

}  // namespace

double Statistic::scale(std::uint32_t x_levels, std::uint32_t t_levels) const {
    if (kind_ == StatisticKind::g2) {
        return 1.0;
    }
    const auto fewer = static_cast<long double>(std::min(x_levels, t_levels));
    return std::ldexp(1.0, std::min(45, shift_for(static_cast<long double>(rows_) * fewer)));
}

std::int64_t Statistic::x2_cell(std::uint32_t n_xt, std::uint32_t n_x, std::uint32_t n_t, std::uint32_t n,
                                double scale) {
    const std::int64_t difference = static_cast<std::int64_t>(n_xt) * n - static_cast<std::int64_t>(n_x) * n_t;
    const auto d = static_cast<double>(difference);
    const double margins = static_cast<double>(n_x) * static_cast<double>(n_t);  // the same either way round
    return std::llrint(d / (margins * static_cast<double>(n)) * d * scale);
}

std::int64_t Statistic::x2_empty(std::uint64_t covered, std::uint32_t n, double scale) {
    const std::uint64_t uncovered = std::uint64_t{n} * n - covered;
    return std::llrint(static_cast<double>(uncovered) / static_cast<double>(n) * scale);
}

}  // namespace serape
