// Bitsets, row by row.
#pragma once

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

}  // namespace serape
