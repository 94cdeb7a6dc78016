// What compilers call differently. GCC and Clang have vectors and numbers of 128 bits of their own; for others there
// are plain twins (vectors.hpp, wide.hpp), which SERAPE_EXTENSIONS=0 chooses everywhere.
#pragma once

#if !defined(SERAPE_EXTENSIONS)
#if defined(__GNUC__) || defined(__clang__)
#define SERAPE_EXTENSIONS 1
#else
#define SERAPE_EXTENSIONS 0
#endif
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define SERAPE_X86 1
#include <immintrin.h>
#else
#define SERAPE_X86 0
#endif

// The instructions of the set "avx512".
#if SERAPE_EXTENSIONS && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && \
    defined(__AVX512DQ__) && defined(__AVX512VPOPCNTDQ__)
#define SERAPE_AVX512 1
#endif

#if defined(_MSC_VER)
#include <intrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define SERAPE_INLINE [[gnu::always_inline]] inline
#define SERAPE_PRAGMA(text) _Pragma(#text)
#define SERAPE_UNROLL(times) SERAPE_PRAGMA(GCC unroll times)
#else
#define SERAPE_INLINE __forceinline
#define SERAPE_UNROLL(times)
#endif

namespace serape {

// Fetches the cache line of an address that will be read; `locality` from 0 (used once) to 3 (kept in all caches).
template <int locality = 3>
SERAPE_INLINE void prefetch([[maybe_unused]] const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address, 0, locality);
#elif SERAPE_X86
    _mm_prefetch(static_cast<const char*>(address), locality == 3 ? _MM_HINT_T0 : _MM_HINT_T1);
#endif
}

// Tells the processor that a loop only waits.
inline void pause_briefly() {
#if SERAPE_X86
    _mm_pause();
#elif defined(_MSC_VER) && defined(_M_ARM64)
    __yield();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace serape
