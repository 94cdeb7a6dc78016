#include "serape/log_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace serape {
namespace {

// Everything is done in integers, so that every processor and compiler makes the same table. Logarithms are fixed-point
// numbers with 90 binary places; with the 31 bits of the largest count their product still fits 128 bits.
constexpr int places = 90;
constexpr std::uint32_t largest_table = 1u << 20;

// ln(b/a) = 2 (q + q³/3 + q⁵/5 + …) with q = (b − a) / (b + a), given that difference and sum.
Wide log_ratio(std::uint64_t difference, std::uint64_t sum) {
    Wide power = (Wide{1} << places) * difference / sum;
    Wide total = 0;
    for (std::uint64_t k = 1; power != 0; k += 2) {
        total += power / k;
        power = power * difference / sum * difference / sum;
    }
    return 2 * total;
}

// n ln n, rounded to a multiple of 2^−shift.
std::int64_t scaled(std::uint32_t n, Wide log, int shift) {
    const Wide half = Wide{1} << (places - shift - 1);
    return static_cast<std::int64_t>((log * n + half) >> (places - shift));
}

}  // namespace

LogTable::LogTable(std::size_t rows) {
    // Sums of terms stay below twice n ln n of all rows, and below 2^61.
    const double bound =
        2.0 * static_cast<double>(rows) * std::log(static_cast<double>(std::max<std::size_t>(rows, 2)));
    shift_ = std::min(50, 60 - std::ilogb(bound));
    unit_ = std::ldexp(1.0, -shift_);

    const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(rows + 1, largest_table));
    table_.assign(size, 0);
    Wide log = 0;
    for (std::uint32_t n = 2; n < size; ++n) {
        log += log_ratio(1, 2 * std::uint64_t{n} - 1);  // ln n − ln(n−1)
        table_[n] = scaled(n, log, shift_);
        if (rows >= largest_table && n >= largest_table / 2) {
            logs_.push_back(log);
        }
    }
}

std::int64_t LogTable::slow(std::uint32_t n) const {
    // n = head · 2^bits · (1 + a little), with ln head in the table.
    const int bits = std::bit_width(n) - std::bit_width(largest_table - 1);
    const std::uint32_t head = n >> bits;
    const std::uint64_t rounded = std::uint64_t{head} << bits;
    const Wide log_two = log_ratio(1, 3);
    const Wide log =
        logs_[head - largest_table / 2] + log_two * static_cast<unsigned>(bits) + log_ratio(n - rounded, n + rounded);
    return scaled(n, log, shift_);
}

}  // namespace serape
