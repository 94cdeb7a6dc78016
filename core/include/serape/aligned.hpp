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

// Memory in whole lines. Much of it is asked for in huge pages, where the system has them: there are fewer to look up,
// to clear one by one when they are first written to, and to copy the addresses of when the process forks.
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr std::size_t min_huge_bytes = 2 * huge_page;

inline std::align_val_t line_alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= min_huge_bytes ? huge_page : line_bytes};
}
inline void* allocate_lines(std::size_t bytes) {
    void* memory = ::operator new(bytes, line_alignment(bytes));
#if defined(__linux__)
    if (bytes >= min_huge_bytes) {
        madvise(memory, bytes, MADV_HUGEPAGE);  // advice: without it, the memory is as good
    }
#endif
    return memory;
}
inline void free_lines(void* memory, std::size_t bytes) {
    ::operator delete(memory, line_alignment(bytes));
}

template <class T>
struct LineAllocator {
    using value_type = T;
    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}
    T* allocate(std::size_t n) { return static_cast<T*>(allocate_lines(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) { free_lines(p, n * sizeof(T)); }
    template <class U>
    bool operator==(const LineAllocator<U>&) const {
        return true;
    }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

// The same, but what is resized is not cleared: for memory that several threads write to for the first time.
template <class T>
struct UnclearedAllocator : LineAllocator<T> {
    template <class U>
    struct rebind {
        using other = UnclearedAllocator<U>;
    };
    template <class U>
    void construct(U* p) {
        ::new (static_cast<void*>(p)) U;
    }
};

template <class T>
using UnclearedVector = std::vector<T, UnclearedAllocator<T>>;

// 512 bits that the compiler keeps in whatever registers the machine has.
using Line = SERAPE_VECTOR(std::uint64_t, line_words);

}  // namespace serape
