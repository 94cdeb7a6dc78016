// What all kernels share.
//
// The text is CUDA, compiled when it is first used. The tests compile the same text for the CPU, with `emulator.hpp` in
// place of CUDA's own words.
#pragma once
#ifdef SERAPE_EMULATED
#include "emulator.hpp"
#endif

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

constexpr u32 warp_size = 32;

// c += the number of ones that rows of `a` and rows of `b` share: 16 rows by 8, 256 bits of each. Lane 4r + q has the
// words q of rows r and r + 8 of `a`, two of each, and two of row r of `b`; and the counts of rows r and r + 8 of `a`
// with rows 2q and 2q + 1 of `b`.
#ifndef SERAPE_EMULATED
__device__ inline void count_shared_ones(int (&c)[4], uint2 low, uint2 high, uint2 b) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(low.x), "r"(high.x), "r"(low.y), "r"(high.y), "r"(b.x), "r"(b.y));
}

// Begins to copy 16 bytes to shared memory, or zeros there; `wait_for_copies` waits for those of this thread.
__device__ inline void copy_16_bytes(uint4* to, const u32* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<u32>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}
__device__ inline void wait_for_copies() {
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// Shared memory whose size is set at the launch.
#define SHARED_BYTES(name) extern __shared__ uint4 name[]
#endif
