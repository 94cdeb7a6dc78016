// The search of HPC for a superset of the spouses, for many children at once: all variables are binary.
//
// 1. `screen_groups`: for each child, the candidates that depend on the target given their group's set and the child.
// 2. `rank_dependents`, `place_in_order`: these from the strongest to the weakest.
// What follows is in separations.cu.
#include "binary_cells.cuh"

struct Entries {  // dependent candidates by child, `room` for each
    u32 room;
    u32* count;
    u32* id;
    u32* dof;
    i64* sum;
    double* log_p;
    u64* counts;  // of ones in the four cells of target and child, 16 bits each
};

template <u32 Masks>
__device__ inline void screen_tile(const Columns& columns, const u32* candidates, u32 begin, u32 end, const u32* masks,
                                   const u32* sizes, const i64* log_table, const Rules& rules, double two_units,
                                   u32 child_at, const Entries& found, u32* skipped) {
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, warps = blockDim.x / warp_size;
    u32 n_skipped = 0;
    for (u32 base = begin + warp * warp_size; base < end; base += warps * warp_size) {
        const u32 here = end - base < warp_size ? end - base : warp_size;
        const u32 id = candidates[base + (lane < here ? lane : 0)];
        u32 own[Masks / 2] = {};
        count_in_masks<Masks>(columns.planes, columns.words, columns.first[id], here, masks, own);
        Terms terms = {0, 0};
#pragma unroll
        for (u32 stratum = 0; stratum < Masks / 2; ++stratum) {
            add_stratum(terms, sizes[2 * stratum], sizes[2 * stratum + 1], own[stratum] & 0xffff, own[stratum] >> 16,
                        log_table);
        }
        const u32 dof = dof_of(rules, terms, Masks / 2);
        if (lane < here && dof == 0) {
            ++n_skipped;
        }
        if (lane < here && dof != 0 && terms.value >= rules.critical[dof]) {
            const u32 at = atomicAdd(&found.count[child_at], 1u);
            if (at < found.room) {
                const u64 to = static_cast<u64>(child_at) * found.room + at;
                u64 low = own[0], high = own[1];
                if (Masks == 8) {
                    low += own[Masks / 2 - 2];  // two numbers of 16 bits that do not overflow
                    high += own[Masks / 2 - 1];
                }
                found.id[to] = id;
                found.dof[to] = dof;
                found.sum[to] = terms.value;
                found.log_p[to] = nearly_log_p(static_cast<double>(terms.value) * two_units, dof);
                found.counts[to] = low | high << 32;
            }
        }
    }
    n_skipped = __reduce_add_sync(full_warp, n_skipped);
    if (lane == 0 && n_skipped != 0) {
        atomicAdd(skipped, n_skipped);
    }
}

// One block for a tile of candidates of one group (x) and a child (y). `skipped` has two numbers for each child: of tests
// given one variable and given two.
extern "C" __global__ void __launch_bounds__(256)
    screen_groups(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words,
                  const u32* __restrict__ first, const u8* __restrict__ levels, const i64* __restrict__ log_table,
                  u32 rows, u32 max_near_rows, const i64* __restrict__ critical, u32 adjusted, double two_units,
                  u32 target, const u32* __restrict__ children, const u32* __restrict__ candidates,
                  const u32* __restrict__ tile_begin, const u32* __restrict__ tile_end,
                  const u32* __restrict__ tile_given, u32 room, u32* count, u32* id, u32* dof, i64* sum, double* log_p,
                  u64* counts, u32* skipped) {
    __shared__ u32 sizes[8];
    SHARED_BYTES(memory);
    const u32 given = tile_given[blockIdx.x], child = children[blockIdx.y];
    if (given == child) {
        return;
    }
    const Columns columns = {planes, zero, words, first, levels};
    const Rules rules = {critical, adjusted};
    const Entries found = {room, count, id, dof, sum, log_p, counts};
    u32* const masks = reinterpret_cast<u32*>(memory);
    const i64* const near = near_log_table(log_table, rows, max_near_rows, reinterpret_cast<i64*>(masks + 8 * words));
    const bool one = given == none_at;
    if (one) {
        make_cells<4>(columns, target, child, given, masks);
    } else {
        make_cells<8>(columns, target, child, given, masks);
    }
    __syncthreads();
    add_sizes(masks, one ? 4 : 8, words, sizes);
    __syncthreads();
    const u32 begin = tile_begin[blockIdx.x], end = tile_end[blockIdx.x];
    if (one) {
        screen_tile<4>(columns, candidates, begin, end, masks, sizes, near, rules, two_units, blockIdx.y, found,
                       &skipped[2 * blockIdx.y]);
    } else {
        screen_tile<8>(columns, candidates, begin, end, masks, sizes, near, rules, two_units, blockIdx.y, found,
                       &skipped[2 * blockIdx.y + 1]);
    }
}

// The place of each dependent candidate (x: 256 of them) of a child (y): how many are stronger. Pairs so close that
// rounding might decide are listed, up to `max_close` of them: the child, and the entries of the stronger and the weaker.
extern "C" __global__ void __launch_bounds__(256)
    rank_dependents(u32 room, const u32* __restrict__ count, const u32* __restrict__ id, const u32* __restrict__ dof,
                    const i64* __restrict__ sum, const double* __restrict__ log_p, u32* __restrict__ place,
                    u32 max_close, u32* n_close, u32* __restrict__ close) {
    __shared__ u32 other_id[256], other_dof[256];
    __shared__ i64 other_sum[256];
    __shared__ double other_log_p[256];
    const u32 n = count[blockIdx.y] < room ? count[blockIdx.y] : room;
    const u64 from = static_cast<u64>(blockIdx.y) * room;
    const u32 at = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x * 256 >= n) {
        return;
    }
    const u64 own = from + (at < n ? at : 0);
    const u32 own_id = id[own], own_dof = dof[own];
    const i64 own_sum = sum[own];
    const double own_log_p = log_p[own];
    const double margin = 1e-10 * (1.0 + fabs(own_log_p)), sum_margin = 1e-9 * static_cast<double>(own_sum);
    u32 n_stronger = 0;
    for (u32 base = 0; base < n; base += 256) {
        __syncthreads();
        if (base + threadIdx.x < n) {
            const u64 other = from + base + threadIdx.x;
            other_id[threadIdx.x] = id[other];
            other_dof[threadIdx.x] = dof[other];
            other_sum[threadIdx.x] = sum[other];
            other_log_p[threadIdx.x] = log_p[other];
        }
        __syncthreads();
        const u32 here = n - base < 256 ? n - base : 256;
        for (u32 k = 0; k < here; ++k) {
            bool stronger, near;
            if (other_dof[k] == own_dof) {
                const i64 more = other_sum[k] - own_sum;
                stronger = more > 0 || (more == 0 && other_id[k] < own_id);
                near = more != 0 && fabs(static_cast<double>(more)) < sum_margin;
            } else {
                const double less = other_log_p[k] - own_log_p;
                stronger = less < 0.0;
                near = !(fabs(less) > margin);  // true for NaN
            }
            n_stronger += stronger ? 1 : 0;
            if (near && (stronger || other_dof[k] < own_dof) && at < n) {
                const u32 to = atomicAdd(n_close, 1u);
                if (to < max_close) {
                    close[3 * to] = blockIdx.y;
                    close[3 * to + 1] = stronger ? base + k : at;
                    close[3 * to + 2] = stronger ? at : base + k;
                }
            }
        }
    }
    if (at < n) {
        place[own] = n_stronger;
    }
}

// Writes the dependent candidates of each child (y) in their order, from `begin[child]` on.
extern "C" __global__ void place_in_order(u32 room, const i64* __restrict__ begin, const u32* __restrict__ id,
                                          const u64* __restrict__ counts, const u32* __restrict__ place,
                                          u32* __restrict__ to_id, u64* __restrict__ to_counts) {
    const u32 at = blockIdx.x * blockDim.x + threadIdx.x;
    const i64 to = begin[blockIdx.y];
    if (at >= begin[blockIdx.y + 1] - to) {
        return;
    }
    const u64 from = static_cast<u64>(blockIdx.y) * room + at;
    to_id[to + place[from]] = id[from];
    to_counts[to + place[from]] = counts[from];
}

#ifdef SERAPE_EMULATED
EMULATE(screen_groups)
EMULATE(rank_dependents)
EMULATE(place_in_order)
#endif
