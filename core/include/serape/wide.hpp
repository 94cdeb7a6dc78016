// Unsigned numbers of 128 bits: those of GCC and Clang where they are, a plain twin elsewhere.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include "serape/compiler.hpp"

namespace serape {

// The plain twin, with the operators that the core uses.
class PlainWide {
  public:
    constexpr PlainWide() = default;
    template <std::integral Number>
    constexpr PlainWide(Number number) : low_(static_cast<std::uint64_t>(number)) {}  // NOLINT: as a built-in number
    explicit PlainWide(long double number) {                                          // not negative
        const long double high = std::floor(std::ldexp(number, -64));
        high_ = static_cast<std::uint64_t>(high);
        low_ = static_cast<std::uint64_t>(number - std::ldexp(high, 64));
    }

    template <std::integral Number>
    explicit constexpr operator Number() const {
        return static_cast<Number>(low_);
    }
    friend constexpr bool operator==(const PlainWide&, const PlainWide&) = default;

    friend constexpr PlainWide operator+(PlainWide a, PlainWide b) {
        const std::uint64_t low = a.low_ + b.low_;
        return {a.high_ + b.high_ + (low < a.low_), low};
    }
    PlainWide& operator+=(PlainWide other) { return *this = *this + other; }

    friend constexpr PlainWide operator<<(PlainWide a, int bits) {
        if (bits >= 64) {
            return {a.low_ << (bits - 64), 0};
        }
        return bits == 0 ? a : PlainWide{a.high_ << bits | a.low_ >> (64 - bits), a.low_ << bits};
    }
    friend constexpr PlainWide operator>>(PlainWide a, int bits) {
        if (bits >= 64) {
            return {0, a.high_ >> (bits - 64)};
        }
        return bits == 0 ? a : PlainWide{a.high_ >> bits, a.low_ >> bits | a.high_ << (64 - bits)};
    }

    friend constexpr PlainWide operator*(PlainWide a, PlainWide b) {
        PlainWide product = of_words(a.low_, b.low_);
        product.high_ += a.high_ * b.low_ + a.low_ * b.high_;
        return product;
    }

    // By a number of at most 63 bits.
    friend constexpr PlainWide operator/(PlainWide a, std::uint64_t by) {
        return by >> 32 == 0 ? a.divided_by_half(by) : a.divided_by_bits(by);
    }

  private:
    constexpr PlainWide(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

    static constexpr PlainWide of_words(std::uint64_t a, std::uint64_t b) {
        constexpr std::uint64_t half = 0xffffffff;
        const std::uint64_t first = (a & half) * (b & half);
        const std::uint64_t second = (a >> 32) * (b & half) + (first >> 32);
        const std::uint64_t third = (a & half) * (b >> 32) + (second & half);
        return {(a >> 32) * (b >> 32) + (second >> 32) + (third >> 32), third << 32 | (first & half)};
    }

    // Long division with digits of 32 bits.
    constexpr PlainWide divided_by_half(std::uint64_t by) const {
        const std::uint64_t digits[4] = {high_ >> 32, high_ & 0xffffffff, low_ >> 32, low_ & 0xffffffff};
        std::uint64_t found[4] = {};
        std::uint64_t rest = 0;
        for (int k = 0; k < 4; ++k) {
            const std::uint64_t now = rest << 32 | digits[k];
            found[k] = now / by;
            rest = now % by;
        }
        return {found[0] << 32 | found[1], found[2] << 32 | found[3]};
    }

    constexpr PlainWide divided_by_bits(std::uint64_t by) const {
        PlainWide found;
        std::uint64_t rest = 0;
        for (int k = 127; k >= 0; --k) {
            rest = rest << 1 | ((k >= 64 ? high_ >> (k - 64) : low_ >> k) & 1);
            found = found << 1;
            if (rest >= by) {
                rest -= by;
                found.low_ |= 1;
            }
        }
        return found;
    }

    std::uint64_t high_ = 0, low_ = 0;
};

#if SERAPE_EXTENSIONS && defined(__SIZEOF_INT128__) && !defined(_MSC_VER)  // clang-cl cannot link their division
using Wide = unsigned __int128;
#else
using Wide = PlainWide;
#endif

}  // namespace serape
