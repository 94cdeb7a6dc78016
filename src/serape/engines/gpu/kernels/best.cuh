// The strongest of several lists of each row: by sum, then by position; at most KEEP. One thread a row.
#pragma once
#include "tiles.cuh"

extern "C" __global__ void merge_best(const i64* __restrict__ best_sum, const u32* __restrict__ best_id, u32 lists,
                                      u32 row_count, u32 keep, i64* __restrict__ sum, u32* __restrict__ id) {
    const u32 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= row_count) {
        return;
    }
    i64 top[KEEP];
    u32 its[KEEP];
    for (u32 k = 0; k < KEEP; ++k) {
        top[k] = -1;
        its[k] = none;
    }
    for (u32 entry = 0; entry < lists * KEEP; ++entry) {
        const u64 at = static_cast<u64>(row) * lists * KEEP + entry;
        i64 falling = best_sum[at];
        u32 that = best_id[at];
        for (u32 k = 0; k < KEEP && falling >= 0; ++k) {
            if (falling > top[k] || (falling == top[k] && that < its[k])) {
                const i64 lower = top[k];
                const u32 other = its[k];
                top[k] = falling;
                its[k] = that;
                falling = lower;
                that = other;
            }
        }
    }
    for (u32 k = 0; k < keep; ++k) {
        sum[static_cast<u64>(row) * keep + k] = top[k];
        id[static_cast<u64>(row) * keep + k] = its[k];
    }
}
