// G² of all pairs of binary variables, given nothing: how many depend on each, and the strongest of these.
//
// The variables are in the order of their numbers of ones; those with as many are of one *class*. Within a pair of
// classes G² depends on the count of shared ones alone and is convex in it, so two limits tell which counts show
// dependence. Only for pairs that may be among the strongest is n ln n of the four cells added up: the same integers as
// in the core. Two more limits tell that, from a bound: n ln(n/e) <= (n − e) n/e, with which all cells but that of the
// shared ones are replaced, so that G² <= 2 (n ln(n/e) − (n − e) n/e + X²) with n and e of the shared ones.
//
// Compiled for KEEP, the strongest partners that are kept of each variable, and KEPT_STEPS: if planes are of so many
// steps, those of a tile of rows stay in shared memory, and those of the next columns are copied while G² is computed.
// With 0, a step is copied at a time.
#include "tiles.cuh"

constexpr u32 half_tile = tile / 2;

// G²/2 of two variables that share `n` ones, in fixed point.
__device__ inline i64 sum_of(const i64* log_table, u32 rows, u32 a, u32 b, u32 n) {
    return log_table[n] + log_table[a - n] + log_table[b - n] + log_table[rows - a - b + n] - log_table[a] -
           log_table[rows - a] - log_table[b] - log_table[rows - b] + log_table[rows];
}

// For every two classes, of `ones` each, the limits: fewer shared ones than the lower 16 bits, or as many as the upper
// or more, show dependence. One thread a pair of classes.
extern "C" __global__ void pair_limits(const u32* __restrict__ ones, u32 classes, const i64* __restrict__ log_table,
                                       u32 rows, i64 critical, u32* __restrict__ limits) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= classes * classes) {
        return;
    }
    const u32 a = ones[at / classes], b = ones[at % classes];
    const u32 least = a + b > rows ? a + b - rows : 0, most = a < b ? a : b;
    const u32 expected = static_cast<u32>(static_cast<u64>(a) * b / rows);
    u32 low = least, high = expected < least ? least : expected;  // below: dependent up to some count, from `least` on
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (sum_of(log_table, rows, a, b, middle) >= critical) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const u32 below = low;
    low = high = expected + 1 > least ? expected + 1 : least;
    high = most + 1 > high ? most + 1 : high;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (sum_of(log_table, rows, a, b, middle) >= critical) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    limits[at] = below | low << 16;
}

// Counts from `below` on, `width` of them.
struct Limits {
    u32 below, width;
    __device__ bool outside(u32 n) const { return n - below >= width; }
    // With a count that was outside, and all between it and the limits, inside.
    __device__ Limits with(u32 n) const {
        return n < below ? Limits{n, below + width - n} : Limits{below, n + 1 - below};
    }
};

// The counts outside which the bound of G² reaches `too_weak`, of those that show dependence. The bound falls up to the
// expected count and rises from there on, because X² weighs (n − e)² by no less than 1/e. `most` is the largest count.
__device__ inline Limits strong_limits(Limits dependent, float expected, float scale, u32 most, float too_weak) {
    const auto reaches = [&](u32 n) {
        const float shared = static_cast<float>(n), over = shared - expected, ratio = __fdividef(shared, expected);
        return over * over * scale + 2.0f * (n == 0 ? 0.0f : shared * __logf(ratio) - over * ratio) >= too_weak;
    };
    u32 low = dependent.below + dependent.width, high = most + 1;
    if (low <= most && !reaches(most)) {
        low = high;
    }
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (reaches(middle)) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    const u32 above = low;
    low = 0;
    high = dependent.below;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (reaches(middle)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return {low, above - low};
}

// `id` has the position of each variable in the table, `total` its ones, `scale` N^1.5 / (n₀ n₁) times √2, `own_sum`
// n₀ ln n₀ + n₁ ln n₁, `of` its class.
// `needed` is, by variable, a sum that each of its strongest partners reaches; it starts at `critical`.
extern "C" __global__ void __launch_bounds__(256, 2)
    binary_pairs(const u32* __restrict__ planes, u32 words, const u32* __restrict__ id, const u32* __restrict__ plane,
                 const float* __restrict__ total, const float* __restrict__ scale, const i64* __restrict__ own_sum,
                 const u32* __restrict__ of, u32 count, const u32* __restrict__ limits, u32 classes,
                 const i64* __restrict__ log_table, u32 rows, double two_units, float margin, i64* __restrict__ needed,
                 u32* __restrict__ dependents, i64* __restrict__ best_sum, u32* __restrict__ best_id) {
    SHARED_BYTES(memory);
#if KEPT_STEPS > 0
    uint4* const a = memory + tile_memory;
    uint4* const b = a + KEPT_STEPS * step_memory;
#endif
    __shared__ u32 a_planes[tile], b_planes[tile];
    __shared__ float column_ones[tile], column_scale[tile];
    __shared__ u32 column_class[tile];
    __shared__ i64 column_own[tile];
    const u16* const counts = reinterpret_cast<const u16*>(memory);
    const u32 tiles = (count + tile - 1) / tile;
    const u32 from = static_cast<u32>(static_cast<u64>(tiles) * blockIdx.y / gridDim.y);
    const u32 to = static_cast<u32>(static_cast<u64>(tiles) * (blockIdx.y + 1) / gridDim.y);
    const u32 own = threadIdx.x % tile, part = threadIdx.x / tile;
    const u32 row = blockIdx.x * tile + own;
    const bool works = row < count;
    if (part == 0) {
        a_planes[own] = works ? plane[row] : none;
    }
    const float ones = works ? total[row] : 0.0f, share = ones / static_cast<float>(rows);
    const float row_scale = works ? scale[row] : 0.0f;
    const i64 row_sum = log_table[rows] - (works ? own_sum[row] : 0);
    const u32* const own_limits = limits + static_cast<u64>(works ? of[row] : 0) * classes;
    const u64 list = (static_cast<u64>(row) * gridDim.y + blockIdx.y) * 2 + part;
    i64* const sums = best_sum + list * KEEP;
    u32* const ids = best_id + list * KEEP;
    u32 n_dependent = 0;
    u32 listed = 0;
    u32 known = none - 1;  // the class of which limits are known; they stay true, because `needed` only grows
    Limits dependent = {}, strong = {};

#if KEPT_STEPS > 0
    const auto begin_columns = [&](u32 at_tile) {
        __syncthreads();
        if (part == 0) {
            const u32 column = at_tile * tile + own;
            b_planes[own] = column < count ? plane[column] : none;
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < KEPT_STEPS; ++k) {
            copy_step(b + k * step_memory, planes, words, b_planes, k * step);
        }
    };
    __syncthreads();
#pragma unroll
    for (u32 k = 0; k < KEPT_STEPS; ++k) {
        copy_step(a + k * step_memory, planes, words, a_planes, k * step);
    }
    begin_columns(from);
#endif
    for (u32 at_tile = from; at_tile < to; ++at_tile) {
        const u32 first = at_tile * tile;
#if KEPT_STEPS > 0
        wait_for_copies();
        __syncthreads();
        {
            Shared shared = {};
#pragma unroll
            for (u32 k = 0; k < KEPT_STEPS; ++k) {
                count_step(shared, a + k * step_memory, b + k * step_memory);
            }
            store_counts(reinterpret_cast<u16*>(memory), shared);
        }
        if (at_tile + 1 < to) {
            begin_columns(at_tile + 1);  // which are copied meanwhile
        } else {
            __syncthreads();
        }
#endif
        if (part == 0) {
            const u32 column = first + own;
#if KEPT_STEPS == 0
            b_planes[own] = column < count ? plane[column] : none;
#endif
            const bool there = column < count;
            column_ones[own] = there ? total[column] : 0.0f;
            column_scale[own] = there ? scale[column] : 0.0f;
            column_class[own] = there ? of[column] : none;
            column_own[own] = there ? own_sum[column] : 0;
        }
#if KEPT_STEPS == 0
        count_tile(memory, planes, words, a_planes, b_planes);
#else
        __syncthreads();
#endif
        if (!works) {
            continue;
        }
        const i64 least = needed[row];
        const u32 begin = part * half_tile;
        for (u32 from_column = begin; from_column < begin + half_tile && first + from_column < count;
             from_column += warp_size) {
            u32 open = 0;
#pragma unroll 8
            for (u32 k = 0; k < warp_size; k += 2) {
                const u32 two = *reinterpret_cast<const u32*>(counts + own * stride + from_column + k);
#pragma unroll
                for (u32 half = 0; half < 2; ++half) {
                    const u32 c = from_column + k + half;
                    if (column_class[c] != known) {
                        known = column_class[c];
                        if (known == none) {
                            dependent = strong = {0, none};  // no column
                        } else {
                            const u32 limit = own_limits[known];
                            const float too_weak =
                                static_cast<float>(static_cast<double>(least) * two_units) * 0.9999f - margin;
                            dependent = {limit & 0xffff, (limit >> 16) - (limit & 0xffff)};
                            strong = strong_limits(dependent, share * column_ones[c], row_scale * column_scale[c],
                                                   static_cast<u32>(fminf(ones, column_ones[c])), too_weak);
                        }
                    }
                    const u32 n = half == 0 ? two & 0xffff : two >> 16;
                    n_dependent += dependent.outside(n);
                    open |= static_cast<u32>(strong.outside(n)) << (k + half);
                }
            }
            for (; open != 0; open &= open - 1) {
                const u32 c = from_column + static_cast<u32>(__ffs(static_cast<int>(open)) - 1);
                const u32 n = counts[own * stride + c];
                const bool current = column_class[c] == known;
                if (first + c == row || (current && !strong.outside(n))) {
                    continue;
                }
                const u32 a = static_cast<u32>(ones), b = static_cast<u32>(column_ones[c]);
                const i64 sum = log_table[n] + log_table[a - n] + log_table[b - n] + log_table[rows - a - b + n] +
                                row_sum - column_own[c];
                const u32 other = id[first + c];
                if (sum < least ||
                    (listed == KEEP && (sum < sums[KEEP - 1] || (sum == sums[KEEP - 1] && other > ids[KEEP - 1])))) {
                    if (current) {
                        strong = strong.with(n);  // columns of a class come in the order of their positions
                    }
                    continue;
                }
                u32 place = listed < KEEP ? listed++ : KEEP - 1;
                for (; place > 0 && (sums[place - 1] < sum || (sums[place - 1] == sum && ids[place - 1] > other));
                     --place) {
                    sums[place] = sums[place - 1];
                    ids[place] = ids[place - 1];
                }
                sums[place] = sum;
                ids[place] = other;
                if (listed == KEEP) {
                    atomicMax(&needed[row], sums[KEEP - 1]);
                }
            }
        }
    }
    if (works) {
        const u32 place = row / tile;  // where the variable is compared with itself
        const u32 itself = place >= from && place < to && own / half_tile == part;
        const u32 limit = own_limits[of[row]], n = static_cast<u32>(ones);
        atomicAdd(&dependents[row], n_dependent - (itself && (n < (limit & 0xffff) || n >= limit >> 16) ? 1 : 0));
    }
}
#include "best.cuh"

#ifdef SERAPE_EMULATED
EMULATE(pair_limits)
EMULATE(binary_pairs)
EMULATE(merge_best)
#endif
