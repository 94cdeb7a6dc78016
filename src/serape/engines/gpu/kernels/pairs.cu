// G² of the pairs of some variables (rows) with others (columns), given nothing.
//
// All rows have as many levels, and so do all columns. A variable of r levels has r − 1 planes, bitsets of the rows of
// the data in which it has a level from 1 on. A block takes a tile of rows and sweeps over its share of the columns.
// For each tile of columns, tensor cores count the ones that planes share; then each thread takes pairs of a row.
//
// An upper bound without logarithms shows that most pairs are independent (see the core's dependent_pairs.hpp). For the
// others n ln n of all cells is added up in fixed point: the same integers as in the core.
//
// Compiled for ROW_PLANES and COLUMN_PLANES, which are at least the levels − 1 of rows and columns (planes that a
// variable lacks are empty), and KEEP: the strongest partners that are kept of each row; 0 to list all dependent pairs.
//
// Of rows and columns are given: `id`, positions in the table, ascending; `plane`, for each variable and level from 1
// on which plane, or `none`; `total`, for each variable and level how many rows of the data have it; `inverse`, 1 /
// total, and 0 for 0; `scale`, for each binary variable √2 N^1.5 / (n₀ n₁); `own`, for each variable Σ n ln n over its
// levels. With `later`, only pairs are tested whose
// column comes after its row in the table.
#include "tiles.cuh"

constexpr u32 tile_rows = tile / ROW_PLANES, tile_columns = tile / COLUMN_PLANES;
constexpr u32 parts = threads / tile_rows < tile_columns ? threads / tile_rows : tile_columns;  // threads for each row
#if KEEP == 0
constexpr u32 buffer = 512;  // pairs
#endif

struct Found {
    u32 x, y;
    i64 sum;
};

// Which columns of a part may depend on a row: bits from the first on. For binary variables a quicker bound is twice
// Pearson's X², because the terms of `above` are at most twice those of X², and its four terms share (n − e)².
__device__ inline u64 open_columns(const u16* counts, u32 own, u32 part, u32 width, const float* column_total,
                                   const float* column_scale, u32 first_column, const float* total, float row_scale,
                                   float share, float surely_independent) {
    u64 open = 0;
    u64 bit = 1;
    for (u32 c = part; c < width; c += parts, bit <<= 1) {
#if ROW_PLANES == 1 && COLUMN_PLANES == 1
        const u32 column = first_column + c;
        const float over =
            static_cast<float>(counts[own * stride + c]) - total[1] * share * column_total[2 * column + 1];
        open |= over * over * row_scale * column_scale[column] < surely_independent ? 0 : bit;
#else
        open |= bit;
#endif
    }
    return open;
}

extern "C" __global__ void __launch_bounds__(256, 2)
    pairs(const u32* __restrict__ planes, u32 words, const u32* __restrict__ row_id, const u32* __restrict__ row_plane,
          const float* __restrict__ row_total, const float* __restrict__ row_inverse,
          const float* __restrict__ row_scale, const i64* __restrict__ row_own, u32 row_count,
          const u32* __restrict__ column_id, const u32* __restrict__ column_plane,
          const float* __restrict__ column_total, const float* __restrict__ column_inverse,
          const float* __restrict__ column_scale, const i64* __restrict__ column_own, u32 column_count,
          const i64* __restrict__ log_table, u32 n_rows, double two_units, i64 critical, float surely_independent,
          float surely_dependent, float margin, u32 later, u32* __restrict__ dependents, i64* __restrict__ best_sum,
          u32* __restrict__ best_id, u64* __restrict__ n_found, u64 room, Found* __restrict__ found) {
    __shared__ uint4 memory[tile_memory];
    const u16* const counts = reinterpret_cast<const u16*>(memory);
    __shared__ u32 a_plane[tile], b_plane[tile];
#if KEEP == 0
    __shared__ Found list[buffer];
    __shared__ u32 listed;
    __shared__ u64 place_of_list;
    if (threadIdx.x == 0) {
        listed = 0;
    }
#endif
    const u32 first_row = blockIdx.x * tile_rows;
    const u32 column_tiles = (column_count + tile_columns - 1) / tile_columns;
    const u32 from = static_cast<u32>(static_cast<u64>(column_tiles) * blockIdx.y / gridDim.y);
    const u32 to = static_cast<u32>(static_cast<u64>(column_tiles) * (blockIdx.y + 1) / gridDim.y);
    for (u32 k = threadIdx.x; k < tile; k += threads) {
        const u32 at = first_row * ROW_PLANES + k;
        a_plane[k] = k < tile_rows * ROW_PLANES && at < row_count * ROW_PLANES ? row_plane[at] : none;
    }
    const u32 own = threadIdx.x % tile_rows, part = threadIdx.x / tile_rows;
    const u32 row = first_row + own;
    const bool works = part < parts && row < row_count;
    const float rows_of_data = static_cast<float>(n_rows), share = 1.0f / rows_of_data;
    float total[ROW_PLANES + 1], inverse[ROW_PLANES + 1];
    i64 row_sum = 0;
    u32 id = none;
    float row_scale_of = 0.0f;
    if (works) {
        row_scale_of = row_scale[row];
        for (u32 level = 0; level <= ROW_PLANES; ++level) {
            total[level] = row_total[row * (ROW_PLANES + 1) + level];
            inverse[level] = row_inverse[row * (ROW_PLANES + 1) + level] * rows_of_data;
        }
        row_sum = log_table[n_rows] - row_own[row];
        id = row_id[row];
    }
#if KEEP > 0
    u32 n_dependent = 0;
    i64 best[KEEP];
    u32 partner[KEEP];
    float too_weak = -1.0f;  // G² below it is none of the strongest
    for (u32 k = 0; k < KEEP; ++k) {
        best[k] = -1;
        partner[k] = none;
    }
#endif

    for (u32 at_tile = from; at_tile < to; ++at_tile) {
        const u32 first_column = at_tile * tile_columns;
        const u32 past = first_column + tile_columns < column_count ? first_column + tile_columns : column_count;
        if (later && column_id[past - 1] <= row_id[first_row]) {
            continue;  // the same for all threads
        }
        for (u32 k = threadIdx.x; k < tile; k += threads) {
            const u32 at = first_column * COLUMN_PLANES + k;
            b_plane[k] =
                k < tile_columns * COLUMN_PLANES && at < column_count * COLUMN_PLANES ? column_plane[at] : none;
        }
        count_tile(memory, planes, words, a_plane, b_plane);
        const u32 width = past - first_column;
        u64 open = works ? open_columns(counts, own, part, width, column_total, column_scale, first_column, total,
                                        row_scale_of, share, surely_independent)
                         : 0;
        for (; open != 0; open &= open - 1) {
            const u32 c = part + static_cast<u32>(__ffsll(static_cast<i64>(open)) - 1) * parts;
            const u32 column = first_column + c;
            const u32 other = column_id[column];
            if (other == id || (later && other < id)) {
                continue;
            }
            // The table, level 0 by subtraction.
            float n[ROW_PLANES + 1][COLUMN_PLANES + 1];
            const float* of_column = column_total + column * (COLUMN_PLANES + 1);
            const float* inverse_of_column = column_inverse + column * (COLUMN_PLANES + 1);
#pragma unroll
            for (u32 j = 0; j <= COLUMN_PLANES; ++j) {
                n[0][j] = of_column[j];
            }
#pragma unroll
            for (u32 i = 1; i <= ROW_PLANES; ++i) {
                n[i][0] = total[i];
#pragma unroll
                for (u32 j = 1; j <= COLUMN_PLANES; ++j) {
                    n[i][j] =
                        static_cast<float>(counts[(own * ROW_PLANES + i - 1) * stride + c * COLUMN_PLANES + j - 1]);
                    n[i][0] -= n[i][j];
                    n[0][j] -= n[i][j];
                }
                n[0][0] -= n[i][0];
            }
            float above = 0.0f, below = 0.0f;  // bounds of G²
#pragma unroll
            for (u32 j = 0; j <= COLUMN_PLANES; ++j) {
                const float column_share = of_column[j] * share, by_column = inverse_of_column[j];
#pragma unroll
                for (u32 i = 0; i <= ROW_PLANES; ++i) {
                    const float over = n[i][j] - total[i] * column_share;
                    const float relative = over * inverse[i] * by_column;
                    above += over * relative * (1.0f - fminf(relative, 0.0f));
                    below += __fdividef(over * relative, 1.0f + relative * (1.0f / 3.0f));
                }
            }
            if (above < surely_independent) {
                continue;
            }
#if KEEP > 0
            if (below > surely_dependent && above < too_weak) {
                ++n_dependent;
                continue;
            }
#endif
            i64 sum = row_sum - column_own[column];
#pragma unroll
            for (u32 i = 0; i <= ROW_PLANES; ++i) {
#pragma unroll
                for (u32 j = 0; j <= COLUMN_PLANES; ++j) {
                    sum += log_table[static_cast<u32>(n[i][j])];
                }
            }
            if (sum < critical) {
                continue;
            }
#if KEEP > 0
            ++n_dependent;
            if (sum > best[KEEP - 1]) {  // of ties the earlier column stays
                i64 falling = sum;
                u32 its = other;
                bool placed = false;
#pragma unroll
                for (u32 k = 0; k < KEEP; ++k) {
                    placed = placed || falling > best[k];
                    if (placed) {
                        const i64 lower = best[k];
                        const u32 that = partner[k];
                        best[k] = falling;
                        partner[k] = its;
                        falling = lower;
                        its = that;
                    }
                }
                too_weak = static_cast<float>(static_cast<double>(best[KEEP - 1]) * two_units) * 0.9999f - margin;
            }
#else
            const Found one = {id, other, sum};
            const u32 at = atomicAdd(&listed, 1u);
            if (at < buffer) {
                list[at] = one;
            } else {
                const u64 direct = atomicAdd(n_found, static_cast<u64>(1));
                if (direct < room) {
                    found[direct] = one;
                }
            }
#endif
        }
#if KEEP == 0
        __syncthreads();
        const u32 full = listed < buffer ? listed : buffer;
        if (2 * full >= buffer || at_tile + 1 == to) {
            if (threadIdx.x == 0) {
                place_of_list = atomicAdd(n_found, static_cast<u64>(full));
            }
            __syncthreads();
            for (u32 k = threadIdx.x; k < full; k += threads) {
                if (place_of_list + k < room) {
                    found[place_of_list + k] = list[k];
                }
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                listed = 0;
            }
        } else if (threadIdx.x == 0) {
            listed = full;
        }
        __syncthreads();
#endif
    }
#if KEEP > 0
    if (works) {
        atomicAdd(&dependents[row], n_dependent);
        const u64 list_of = (static_cast<u64>(row) * gridDim.y + blockIdx.y) * parts + part;
        for (u32 k = 0; k < KEEP; ++k) {
            best_sum[list_of * KEEP + k] = best[k];
            best_id[list_of * KEEP + k] = partner[k];
        }
    }
#endif
}

#if KEEP > 0
#include "best.cuh"
#endif

#ifdef SERAPE_EMULATED
EMULATE(pairs)
#if KEEP > 0
EMULATE(merge_best)
#endif
#endif
