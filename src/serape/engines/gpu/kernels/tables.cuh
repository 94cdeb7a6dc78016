// G² of two variables given some others, by one warp. Tables of up to `max_cells` cells.
#pragma once
#include "common.cuh"

constexpr u32 max_cells = 1024;
constexpr u32 max_given = 3;

// The columns. A variable of r levels has r planes: that of level 0 is in `zero`, the others in `planes` from
// `first[variable]` on.
struct Columns {
    const u32* planes;
    const u32* zero;
    u32 words;
    const u32* first;
    const u8* levels;
};

__device__ inline const u32* plane_of(const Columns& columns, u32 variable, u32 level) {
    return level == 0 ? columns.zero + static_cast<u64>(variable) * columns.words
                      : columns.planes + (static_cast<u64>(columns.first[variable]) + level - 1) * columns.words;
}

// Counts x and t in the strata of `given`: counts[(stratum · levels of t + t) · levels of x + x], in shared memory. All
// lanes take part. Returns the number of strata.
template <u32 Given>
__device__ inline u32 count_table(const Columns& columns, u32 x, u32 t, const u32* given, u32* counts) {
    const u32 lane = threadIdx.x % warp_size;
    const u32 x_levels = columns.levels[x], t_levels = columns.levels[t];
    u32 strata = 1;
    for (u32 k = 0; k < Given; ++k) {
        strata *= columns.levels[given[k]];
    }
    for (u32 stratum = 0; stratum < strata; ++stratum) {
        const u32* of[Given + 1];
        u32 rest = stratum;
#pragma unroll
        for (u32 k = 0; k < Given; ++k) {
            const u32 levels = columns.levels[given[k]];
            of[k] = plane_of(columns, given[k], rest % levels);
            rest /= levels;
        }
        for (u32 level = 0; level < t_levels; ++level) {
            const u32* const of_t = plane_of(columns, t, level);
            for (u32 other = 0; other < x_levels; ++other) {
                const u32* const of_x = plane_of(columns, x, other);
                u32 count = 0;
                for (u32 word = lane; word < columns.words; word += warp_size) {
                    u32 rows = of_t[word] & of_x[word];
#pragma unroll
                    for (u32 k = 0; k < Given; ++k) {
                        rows &= of[k][word];
                    }
                    count += static_cast<u32>(__popc(rows));
                }
                count = __reduce_add_sync(0xffffffffu, count);
                if (lane == 0) {
                    counts[(stratum * t_levels + level) * x_levels + other] = count;
                }
            }
        }
    }
    __syncwarp();
    return strata;
}

__device__ inline i64 add_over_warp(i64 value) {
    for (u32 distance = warp_size / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

struct Sum {
    i64 value;  // G²/2 in fixed point
    u32 dof;    // adjusted: Σ (non-empty rows − 1)(non-empty columns − 1)
};

// The sum of the terms of a table; every lane returns it.
__device__ inline Sum sum_of_table(const u32* counts, u32 strata, u32 t_levels, u32 x_levels, const i64* log_table) {
    const u32 lane = threadIdx.x % warp_size;
    i64 value = 0;
    u32 dof = 0;
    for (u32 stratum = lane; stratum < strata; stratum += warp_size) {
        const u32* const table = counts + stratum * t_levels * x_levels;
        u32 rows = 0, met_t = 0, met_x = 0;
        for (u32 t = 0; t < t_levels; ++t) {
            u32 total = 0;
            for (u32 x = 0; x < x_levels; ++x) {
                value += log_table[table[t * x_levels + x]];
                total += table[t * x_levels + x];
            }
            value -= log_table[total];
            rows += total;
            met_t += total != 0;
        }
        for (u32 x = 0; x < x_levels; ++x) {
            u32 total = 0;
            for (u32 t = 0; t < t_levels; ++t) {
                total += table[t * x_levels + x];
            }
            value -= log_table[total];
            met_x += total != 0;
        }
        value += log_table[rows];
        dof += rows == 0 ? 0 : (met_t - 1) * (met_x - 1);
    }
    __syncwarp();
    return {add_over_warp(value), __reduce_add_sync(0xffffffffu, dof)};
}

// ln p of chi-square, good to some 1e-12; NaN where it cannot be told.
__device__ inline double nearly_log_p(double statistic, u32 dof) {
    const double half = 0.5 * statistic;
    double sum = 0.0, term = 1.0;
    if (dof % 2 == 0) {
        for (u32 k = 1; k <= dof / 2; ++k) {
            sum += term;
            term *= half / k;
        }
    } else {
        const double root = sqrt(half);
        sum = erfcx(root);
        term = root / 0.88622692545275801365;  // Γ(3/2)
        for (u32 k = 1; k <= dof / 2; ++k) {
            sum += term;
            term *= half / (k + 0.5);
        }
    }
    const double log_p = log(sum) - half;
    return log_p <= 1e-6 && sum < 1e300 ? log_p : nan("");
}
