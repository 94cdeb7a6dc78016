// Bitsets, row by row.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace serape {

// Calls `use` with the number of every bit that is set in the words first … last−1, in ascending order.
template <class Use>
inline void for_each_one(const std::uint64_t* bits, std::size_t first, std::size_t last, const Use& use) {
    for (std::size_t word = first; word < last; ++word) {
        for (std::uint64_t w = bits[word]; w != 0; w &= w - 1) {
            use(static_cast<std::uint32_t>(word * 64 + static_cast<std::size_t>(std::countr_zero(w))));
        }
    }
}

// Transposes a 64×64 bit matrix in place: bit j of word i becomes bit i of word j.
inline void transpose64(std::array<std::uint64_t, 64>& m) {
    std::uint64_t mask = 0x00000000ffffffff;
    for (unsigned width = 32; width != 0; width >>= 1, mask ^= mask << width) {
        for (unsigned k = 0; k < 64; k = ((k | width) + 1) & ~width) {
            const std::uint64_t t = ((m[k] >> width) ^ m[k | width]) & mask;
            m[k] ^= t << width;
            m[k | width] ^= t;
        }
    }
}

}  // namespace serape
