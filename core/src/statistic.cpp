#include "serape/statistic.hpp"

#include <algorithm>
#include <cmath>

namespace serape {
namespace {

constexpr std::size_t largest_table = std::size_t{1} << 20;

// The largest power of two by which `bound` can be multiplied and stay below 2^61.
int shift_for(long double bound) {
    int exponent = 0;
    std::frexp(std::max(bound, 1.0L), &exponent);
    return 61 - exponent;
}

std::int64_t fixed_log(std::uint32_t n, int shift) {
    return n < 2 ? 0
                 : std::llrintl(std::ldexp(static_cast<long double>(n) * std::log(static_cast<long double>(n)), shift));
}

}  // namespace

LogTable::LogTable(std::size_t rows)
    : shift_(std::min(50, shift_for(2.0L * static_cast<long double>(rows) *
                                    std::log(static_cast<long double>(std::max<std::size_t>(rows, 2)))))) {
    unit_ = std::ldexp(1.0, -shift_);
    table_.resize(std::min(rows + 1, largest_table));
    for (std::size_t n = 0; n < table_.size(); ++n) {
        table_[n] = fixed_log(static_cast<std::uint32_t>(n), shift_);
    }
}

std::int64_t LogTable::slow(std::uint32_t n) const {
    return fixed_log(n, shift_);
}

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
    const double expected = static_cast<double>(n_x) * static_cast<double>(n_t) * static_cast<double>(n);
    return std::llrint(d / expected * d * scale);
}

std::int64_t Statistic::x2_empty(std::uint32_t n_x, std::uint32_t missed, std::uint32_t n, double scale) {
    return std::llrint(static_cast<double>(n_x) * static_cast<double>(missed) / static_cast<double>(n) * scale);
}

}  // namespace serape
