#include "serape/gamma_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace serape {
namespace {

constexpr int places = 52;  // binary places of a logarithm: as good as a double's; none is above 2^10

std::int64_t scaled(Wide value, int shift) {
    return static_cast<std::int64_t>((value + (Wide{1} << (places - shift - 1))) >> (places - shift));
}

}  // namespace

GammaTable::GammaTable(double a, std::size_t most, int shift) : a_(a), shift_(shift) {
    table_.assign(std::min(std::bit_ceil(most + 2), largest), 0);
    for (std::size_t n = 2; n < table_.size(); ++n) {
        last_ += static_cast<Wide>(std::llrint(std::ldexp(std::log(static_cast<double>(n - 1) + a), places)));
        table_[n] = scaled(last_, shift);
    }
}

// With x = a + the last count in the table and m more, lnΓ(x+m) − lnΓ(x); x is so large that two terms of Stirling's
// series are exact.
std::int64_t GammaTable::slow(std::uint32_t n) const {
    const std::size_t last = table_.size() - 1;
    const long double x = static_cast<long double>(a_) + static_cast<long double>(last);
    const auto m = static_cast<long double>(n - last);
    const auto rest = [](long double y) { return (1.0L - 1.0L / (30.0L * y * y)) / (12.0L * y); };
    const long double more = (x - 0.5L) * std::log1p(m / x) + m * (std::log(x + m) - 1.0L) + rest(x + m) - rest(x);
    return scaled(last_ + static_cast<Wide>(std::ldexp(more, places)), shift_);
}

}  // namespace serape
