// Counts of the ones that 128 planes share with 128 others, by tensor cores. For blocks of 256 threads.
#pragma once
#include "common.cuh"

constexpr u32 tile = 128;
constexpr u32 threads = 256;                    // 8 warps, each counts 32 × 64 pairs of planes
constexpr u32 step = 32;                        // words of 32 bits; planes are padded to whole steps
constexpr u32 stride = tile + 2;                // of counts: rows in different banks
constexpr u32 none = 0xffffffffu;               // in place of a plane that is not there
constexpr u32 tile_memory = tile * stride / 8;  // of counts, in units of 16 bytes
constexpr u32 step_memory = tile * step / 4;    // of a step of 128 planes

// Where four words of a plane are: two planes that are read at once lie in different banks.
__device__ inline u32 place_of(u32 plane, u32 four) {
    return plane * (step / 4) + (four ^ (plane % 2 * 4));
}

// Begins to copy a step of 128 planes, whose numbers are in shared memory.
__device__ inline void copy_step(uint4* to, const u32* planes, u32 words, const u32* at, u32 k) {
#pragma unroll
    for (u32 part = 0; part < step_memory / threads; ++part) {
        const u32 number = threadIdx.x + part * threads;
        const u32 plane = at[number / (step / 4)], four = number % (step / 4);
        const u64 from = plane == none ? 0 : static_cast<u64>(plane) * words + k + four * 4;
        copy_16_bytes(to + place_of(number / (step / 4), four), planes + from, plane != none);
    }
}

using Shared = int[2][8][4];  // counts of a thread

// Adds the ones that the planes of a step share.
__device__ inline void count_step(Shared& shared, const uint4* a, const uint4* b) {
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const u32 in_row = lane / 4, quarter = lane % 4;
    const u32 warp_row = warp / 2 * 32, warp_column = warp % 2 * 64;
#pragma unroll
    for (u32 half = 0; half < 2; ++half) {
        const u32 four = half * 4 + quarter;
        uint4 of_a[2][2];
#pragma unroll
        for (u32 m = 0; m < 2; ++m) {
            of_a[m][0] = a[place_of(warp_row + m * 16 + in_row, four)];
            of_a[m][1] = a[place_of(warp_row + m * 16 + 8 + in_row, four)];
        }
#pragma unroll
        for (u32 n = 0; n < 8; ++n) {
            const uint4 of_b = b[place_of(warp_column + n * 8 + in_row, four)];
#pragma unroll
            for (u32 m = 0; m < 2; ++m) {
                const uint4 &low = of_a[m][0], &high = of_a[m][1];
                count_shared_ones(shared[m][n], {low.x, low.y}, {high.x, high.y}, {of_b.x, of_b.y});
                count_shared_ones(shared[m][n], {low.z, low.w}, {high.z, high.w}, {of_b.z, of_b.w});
            }
        }
    }
}

// counts[a * stride + b]
__device__ inline void store_counts(u16* counts, const Shared& shared) {
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const u32 warp_row = warp / 2 * 32, warp_column = warp % 2 * 64;
#pragma unroll
    for (u32 m = 0; m < 2; ++m) {
#pragma unroll
        for (u32 n = 0; n < 8; ++n) {
            const int (&four)[4] = shared[m][n];
            u16* const at = counts + (warp_row + m * 16 + lane / 4) * stride + warp_column + n * 8 + lane % 4 * 2;
            *reinterpret_cast<u32*>(at) = static_cast<u32>(four[0]) | static_cast<u32>(four[1]) << 16;
            *reinterpret_cast<u32*>(at + 8 * stride) = static_cast<u32>(four[2]) | static_cast<u32>(four[3]) << 16;
        }
    }
}

// Counts a tile in `memory`, which has room for counts: planes are there first. All threads wait for each other before
// and after.
__device__ inline void count_tile(uint4* memory, const u32* planes, u32 words, const u32* a_planes,
                                  const u32* b_planes) {
    uint4* const a = memory;
    uint4* const b = memory + step_memory;
    Shared shared = {};
    for (u32 k = 0; k < words; k += step) {
        __syncthreads();
        copy_step(a, planes, words, a_planes, k);
        copy_step(b, planes, words, b_planes, k);
        wait_for_copies();
        __syncthreads();
        count_step(shared, a, b);
    }
    __syncthreads();
    store_counts(reinterpret_cast<u16*>(memory), shared);
    __syncthreads();
}
