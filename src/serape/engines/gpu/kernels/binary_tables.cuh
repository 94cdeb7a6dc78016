// G² of binary variables, one test for each lane of a warp.
//
// The rows are divided into cells: masks of rows, two for each stratum (those with the target, those without). A warp
// counts the ones of 32 columns in these masks, column by column; then each lane has the counts of one column.
#pragma once
#include "tables.cuh"

constexpr u32 full_warp = 0xffffffffu;
constexpr u32 none_at = 0xffffffffu;

// Sums of the terms of strata, and their adjusted degrees of freedom.
struct Terms {
    i64 value;
    u32 dof;
};

// Adds a stratum of `with` rows with the target and `without`; `a` and `b` of these are ones of x.
__device__ inline void add_stratum(Terms& terms, u32 with, u32 without, u32 a, u32 b, const i64* log_table) {
    const u32 ones = a + b, rows = with + without;
    terms.value += log_table[a] + log_table[b] + log_table[with - a] + log_table[without - b] + log_table[rows] -
                   log_table[with] - log_table[without] - log_table[ones] - log_table[rows - ones];
    terms.dof += with != 0 && without != 0 && ones != 0 && ones != rows ? 1 : 0;
}

// Copies n ln n to shared memory if there is room for it; returns where it is. The block must wait afterwards.
__device__ inline const i64* near_log_table(const i64* log_table, u32 rows, u32 max_rows, i64* room) {
    if (rows > max_rows) {
        return log_table;
    }
    for (u32 k = threadIdx.x; k <= rows; k += blockDim.x) {
        room[k] = log_table[k];
    }
    return room;
}

// Counts of the columns of a warp's lanes, two of 16 bits in each number: `own[m]` has those in the masks 2m and 2m + 1.
// `plane` is that of the lane's column; the first `here` lanes have one.
template <u32 Masks>
__device__ inline void count_in_masks(const u32* planes, u32 words, u32 plane, u32 here, const u32* masks,
                                      u32 (&own)[Masks / 2]) {
    const u32 lane = threadIdx.x % warp_size;
#pragma unroll 4
    for (u32 k = 0; k < here; ++k) {
        const u32* const ones = planes + static_cast<u64>(__shfl_sync(full_warp, plane, k)) * words;
        u32 count[Masks / 2];
#pragma unroll
        for (u32 m = 0; m < Masks / 2; ++m) {
            count[m] = 0;
        }
        for (u32 word = lane; word < words; word += warp_size) {
            const u32 bits = ones[word];
#pragma unroll
            for (u32 m = 0; m < Masks / 2; ++m) {
                count[m] += static_cast<u32>(__popc(bits & masks[2 * m * words + word])) +
                            (static_cast<u32>(__popc(bits & masks[(2 * m + 1) * words + word])) << 16);
            }
        }
#pragma unroll
        for (u32 m = 0; m < Masks / 2; ++m) {
            const u32 sum = __reduce_add_sync(full_warp, count[m]);
            own[m] = lane == k ? sum : own[m];
        }
    }
}

// The weakest association met by a lane, for each number of degrees of freedom up to four.
constexpr u32 max_kinds = 4;
struct Weakest {
    i64 sum[max_kinds];
    u32 at[max_kinds];  // in the pool
};
constexpr i64 no_sum = 0x7fffffffffffffffll;

__device__ inline void clear(Weakest& weakest) {
#pragma unroll
    for (u32 k = 0; k < max_kinds; ++k) {
        weakest.sum[k] = no_sum;
        weakest.at[k] = none_at;
    }
}

// The smaller sum; of equal ones, the first in the pool.
__device__ inline void take_weaker(Weakest& weakest, u32 kind, i64 sum, u32 at) {
#pragma unroll
    for (u32 k = 0; k < max_kinds; ++k) {
        if (k == kind && (sum < weakest.sum[k] || (sum == weakest.sum[k] && at < weakest.at[k]))) {
            weakest.sum[k] = sum;
            weakest.at[k] = at;
        }
    }
}

// Every lane returns the weakest of the warp.
__device__ inline Weakest weakest_of_warp(Weakest weakest) {
    for (u32 distance = warp_size / 2; distance > 0; distance /= 2) {
#pragma unroll
        for (u32 k = 0; k < max_kinds; ++k) {
            const i64 sum = __shfl_xor_sync(full_warp, weakest.sum[k], distance);
            const u32 at = __shfl_xor_sync(full_warp, weakest.at[k], distance);
            take_weaker(weakest, k, sum, at);
        }
    }
    return weakest;
}
