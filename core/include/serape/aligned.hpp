// Memory aligned to cache lines, the unit of every kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "serape/vectors.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace serape {

inline constexpr std::size_t line_bytes = 64;
inline constexpr std::size_t line_words = 8;  // 64-bit words in a line
inline constexpr std::size_t line_bits = 512;
inline constexpr std::uint32_t plane_levels = 8;  // the most levels of a column that is kept as bitsets
inline constexpr std::size_t huge_page = 2u << 20;

template <class T>
struct LineAllocator {
    using value_type = T;
    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{line_bytes})); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{line_bytes}); }
    template <class U>
    bool operator==(const LineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

// 512 bits that the compiler keeps in whatever registers the machine has.
using Line = SERAPE_VECTOR(std::uint64_t, line_words);

}  // namespace serape
