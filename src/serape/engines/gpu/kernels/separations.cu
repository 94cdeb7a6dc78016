// The separations of HPC: the dependent candidates of a target given one of the others, or, for each of several
// children, given it and one of the others. All variables are binary; all are in the order of their strength.
//
// 0. `count_ones`: the counts of each in the cells of target and child.
// 1. `separate_by_stronger`: each is tested given the child and one that is stronger, the strongest first, until one
//    separates it. The weaker ones are asked about before it, so those stronger have not left the pool.
// 2. `separate_by_weaker`: those that are left, the weakest first, given the child and one that is weaker and left.
#include "binary_cells.cuh"

__device__ inline u32 part(u64 counts, u32 cell) {
    return static_cast<u32>(counts >> (16 * cell)) & 0xffff;
}

// Tests x given the child and z. The ones of x, of z and of both are counted in the four cells of target and child.
__device__ inline Terms test_given(const u32* sizes, u64 of_x, u64 of_z, const u32 (&of_both)[2],
                                   const i64* log_table) {
    Terms terms = {0, 0};
#pragma unroll
    for (u32 stratum = 0; stratum < 2; ++stratum) {
        const u32 with = 2 * stratum, without = with + 1;
        const u32 a = of_both[stratum] & 0xffff, b = of_both[stratum] >> 16;
        const u32 z_with = part(of_z, with), z_without = part(of_z, without);
        add_stratum(terms, z_with, z_without, a, b, log_table);
        add_stratum(terms, sizes[with] - z_with, sizes[without] - z_without, part(of_x, with) - a,
                    part(of_x, without) - b, log_table);
    }
    return terms;
}

// Divides the cells by x: its rows in each.
__device__ inline void cells_of_x(const u32* ones, const u32* cells, u32 words, u32* masks, u32 thread, u32 threads) {
    for (u32 at = thread; at < 4 * words; at += threads) {
        masks[at] = cells[at] & ones[at % words];
    }
}

// A warp's verdict on 32 tests of one x in order.
struct Judged {
    u32 separating;  // the first lane whose test separates x, or none
    u32 performed, skipped;
};

__device__ inline Judged judge(const Rules& rules, u32 strata, const Terms& terms, bool tested, u32 z_at,
                               Weakest& weakest, u32& own_dof) {
    const u32 lane = threadIdx.x % warp_size;
    const u32 dof = tested ? dof_of(rules, terms, strata) : 0;
    own_dof = dof;
    const u32 reliable = __ballot_sync(full_warp, dof != 0);
    const u32 skips = __ballot_sync(full_warp, tested && dof == 0);
    const u32 separates = __ballot_sync(full_warp, dof != 0 && terms.value < rules.critical[dof]);
    const u32 until = separates == 0 ? warp_size : static_cast<u32>(__ffs(static_cast<int>(separates))) - 1;
    const u32 before = until == warp_size ? full_warp : (1u << until) - 1;
    if (dof != 0 && lane < until) {
        take_weaker(weakest, dof - 1, terms.value, z_at);
    }
    return {until == warp_size ? none_at : until,
            static_cast<u32>(__popc(reliable & before)) + (until == warp_size ? 0 : 1),
            static_cast<u32>(__popc(skips & before))};
}

// The answers, for each dependent candidate in their order: `verdict` (0 no test was reliable, 1 no set separates it, 2
// one does), `sum`, `dof`, and `which`, the other member of the set by its place in the order. `kind_sum` and `kind_at`
// have, by degrees of freedom, the weakest association given a stronger variable. `performed` has two numbers for each
// child: of tests performed and skipped.

// Counts the ones of variables in the cells of a target and no child: 16 bits for each cell. A warp takes 32 of them.
extern "C" __global__ void __launch_bounds__(256)
    count_ones(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words, const u32* __restrict__ first,
               const u8* __restrict__ levels, u32 target, u32 n, const u32* __restrict__ id, u64* __restrict__ counts) {
    SHARED_BYTES(memory);
    const Columns columns = {planes, zero, words, first, levels};
    u32* const cells = reinterpret_cast<u32*>(memory);
    make_cells<4>(columns, target, none_at, none_at, cells);
    __syncthreads();
    const u32 lane = threadIdx.x % warp_size, base = blockIdx.x * 256 + threadIdx.x - lane;
    if (base >= n) {
        return;
    }
    const u32 here = n - base < warp_size ? n - base : warp_size;
    u32 own[2] = {};
    count_in_masks<4>(planes, words, first[id[base + (lane < here ? lane : 0)]], here, cells, own);
    if (lane < here) {
        counts[base + lane] = own[0];
    }
}

// One block for some dependent candidates (x: `together` of them) of a child (y). A warp takes the next when it is done
// with one: most are separated soon, and some are tested with all others.
extern "C" __global__ void __launch_bounds__(256)
    separate_by_stronger(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words,
                         const u32* __restrict__ first, const u8* __restrict__ levels,
                         const i64* __restrict__ log_table, u32 rows, u32 max_near_rows,
                         const i64* __restrict__ critical, u32 adjusted, u32 target, const u32* __restrict__ children,
                         const i64* __restrict__ begin, const u32* __restrict__ id, const u64* __restrict__ counts,
                         u32* verdict, i64* sum, u32* dof, u32* which, i64* kind_sum, u32* kind_at, u64* performed,
                         u32 together) {
    __shared__ u32 sizes[4], taken;
    SHARED_BYTES(memory);
    const u32 n = static_cast<u32>(begin[blockIdx.y + 1] - begin[blockIdx.y]);
    if (blockIdx.x * together >= n || n < 2) {
        return;
    }
    const Columns columns = {planes, zero, words, first, levels};
    const Rules rules = {critical, adjusted};
    const u32 strata = children[blockIdx.y] == none_at ? 2 : 4;
    u32* const cells = reinterpret_cast<u32*>(memory);
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    u32* const masks = cells + 4 * (1 + warp) * words;
    const i64* const near = near_log_table(log_table, rows, max_near_rows, reinterpret_cast<i64*>(cells + 36 * words));
    make_cells<4>(columns, target, children[blockIdx.y], none_at, cells);
    __syncthreads();
    add_sizes(cells, 4, words, sizes);
    if (threadIdx.x == 0) {
        taken = 0;
    }
    __syncthreads();
    const u64 from = static_cast<u64>(begin[blockIdx.y]);
    const u32 end = (blockIdx.x + 1) * together < n ? (blockIdx.x + 1) * together : n;
    u64 n_performed = 0, n_skipped = 0;
    while (true) {
        u32 x_at = 0;
        if (lane == 0) {
            x_at = blockIdx.x * together + atomicAdd(&taken, 1u);
        }
        x_at = __shfl_sync(full_warp, x_at, 0);
        if (x_at >= end) {
            break;
        }
        __syncwarp();
        cells_of_x(plane_of(columns, id[from + x_at], 1), cells, words, masks, lane, warp_size);
        __syncwarp();
        const u64 of_x = counts[from + x_at];
        Weakest weakest;
        clear(weakest);
        bool separated = false;
        for (u32 base = 0; base < x_at && !separated; base += warp_size) {
            const u32 here = x_at - base < warp_size ? x_at - base : warp_size;
            const u64 z = from + base + (lane < here ? lane : 0);
            u32 both[2] = {};
            count_in_masks<4>(planes, words, first[id[z]], here, masks, both);
            Terms terms = {0, 0};
            if (lane < here) {
                terms = test_given(sizes, of_x, counts[z], both, near);
            }
            u32 own_dof;
            const Judged judged = judge(rules, strata, terms, lane < here, base + lane, weakest, own_dof);
            n_performed += judged.performed;
            n_skipped += judged.skipped;
            separated = judged.separating != none_at;
            if (lane == judged.separating) {
                sum[from + x_at] = terms.value;
                dof[from + x_at] = own_dof;
                which[from + x_at] = base + lane;
            }
        }
        if (!separated) {
            weakest = weakest_of_warp(weakest);
        }
        if (lane == 0) {
            verdict[from + x_at] = separated ? 2 : 1;
            for (u32 k = 0; k < max_kinds && !separated; ++k) {
                kind_sum[(from + x_at) * max_kinds + k] = weakest.sum[k];
                kind_at[(from + x_at) * max_kinds + k] = weakest.at[k];
            }
        }
    }
    if (lane == 0) {
        atomicAdd(&performed[2 * blockIdx.y], n_performed);
        atomicAdd(&performed[2 * blockIdx.y + 1], n_skipped);
    }
}

// A block for each child. `close` becomes 1 for a child where rounding might decide which association is the weakest.
extern "C" __global__ void __launch_bounds__(256)
    separate_by_weaker(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words,
                       const u32* __restrict__ first, const u8* __restrict__ levels, const i64* __restrict__ log_table,
                       u32 rows, u32 max_near_rows, const i64* __restrict__ critical, u32 adjusted, u32 target,
                       const u32* __restrict__ children, const i64* __restrict__ begin, const u32* __restrict__ id,
                       const u64* __restrict__ counts, double two_units, u32* __restrict__ live, u32* verdict, i64* sum,
                       u32* dof, u32* which, const i64* kind_sum, const u32* kind_at, u64* performed, u32* close) {
    constexpr u32 warps = 8;
    __shared__ u32 sizes[4];
    __shared__ u32 separating[warps], tests[warps], skips[warps], n_live;
    __shared__ Weakest of_warp[warps];
    SHARED_BYTES(memory);
    const u32 n = static_cast<u32>(begin[blockIdx.x + 1] - begin[blockIdx.x]);
    if (n < 2) {
        return;
    }
    const Columns columns = {planes, zero, words, first, levels};
    const Rules rules = {critical, adjusted};
    const u32 strata = children[blockIdx.x] == none_at ? 2 : 4;
    u32* const cells = reinterpret_cast<u32*>(memory);
    u32* const masks = cells + 4 * words;
    const i64* const near = near_log_table(log_table, rows, max_near_rows, reinterpret_cast<i64*>(cells + 8 * words));
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    make_cells<4>(columns, target, children[blockIdx.x], none_at, cells);
    __syncthreads();
    add_sizes(cells, 4, words, sizes);
    if (threadIdx.x == 0) {
        n_live = 0;
    }
    __syncthreads();
    const u64 from = static_cast<u64>(begin[blockIdx.x]);
    u64 n_performed = 0, n_skipped = 0;  // the same in all threads
    for (u32 chunk = (n + warp_size - 1) / warp_size; chunk-- > 0;) {
        const u32 at = chunk * warp_size + lane;
        u32 left = __ballot_sync(full_warp, at < n && verdict[from + (at < n ? at : 0)] != 2);
        for (; left != 0;) {
            const u32 bit = 31 - static_cast<u32>(__clz(static_cast<int>(left)));
            left &= ~(1u << bit);
            const u32 x_at = chunk * warp_size + bit;
            const u32 n_weaker = n_live;
            cells_of_x(plane_of(columns, id[from + x_at], 1), cells, words, masks, threadIdx.x, blockDim.x);
            __syncthreads();
            const u64 of_x = counts[from + x_at];
            Weakest weakest;
            clear(weakest);
            bool separated = false;
            for (u32 round = 0; round < n_weaker && !separated; round += warps * warp_size) {
                const u32 base = round + warp * warp_size;  // in the order from the strongest, the last that is live
                const u32 here = base >= n_weaker ? 0 : n_weaker - base < warp_size ? n_weaker - base : warp_size;
                Terms terms = {0, 0};
                u32 z_at = 0, own_dof = 0;
                Judged judged = {none_at, 0, 0};
                if (here != 0) {
                    z_at = live[from + n_weaker - 1 - (base + (lane < here ? lane : 0))];
                    u32 both[2] = {};
                    count_in_masks<4>(planes, words, first[id[from + z_at]], here, masks, both);
                    if (lane < here) {
                        terms = test_given(sizes, of_x, counts[from + z_at], both, near);
                    }
                    judged = judge(rules, strata, terms, lane < here, z_at, weakest, own_dof);
                }
                if (lane == 0) {
                    separating[warp] = judged.separating;
                    tests[warp] = judged.performed;
                    skips[warp] = judged.skipped;
                }
                __syncthreads();
                u32 by = none_at;  // the first warp with a separating test
                for (u32 w = 0; w < warps && by == none_at; ++w) {
                    n_performed += tests[w];
                    n_skipped += skips[w];
                    by = separating[w] != none_at ? w : none_at;
                }
                separated = by != none_at;
                if (by == warp && lane == judged.separating) {
                    sum[from + x_at] = terms.value;
                    dof[from + x_at] = own_dof;
                    which[from + x_at] = z_at;
                    verdict[from + x_at] = 2;
                }
                __syncthreads();
            }
            if (separated) {
                continue;
            }
            weakest = weakest_of_warp(weakest);
            if (lane == 0) {
                of_warp[warp] = weakest;
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                live[from + n_weaker] = x_at;
                n_live = n_weaker + 1;
                u32 best = none_at;
                bool clear_cut = true;
                double highest = 0.0;
                for (u32 k = 0; k < max_kinds; ++k) {
                    i64 smallest = kind_sum[(from + x_at) * max_kinds + k];
                    u32 its = kind_at[(from + x_at) * max_kinds + k];
                    for (u32 w = 0; w < warps; ++w) {
                        if (of_warp[w].sum[k] < smallest || (of_warp[w].sum[k] == smallest && of_warp[w].at[k] < its)) {
                            smallest = of_warp[w].sum[k];
                            its = of_warp[w].at[k];
                        }
                    }
                    if (smallest == no_sum) {
                        continue;
                    }
                    const double log_p = nearly_log_p(static_cast<double>(smallest) * two_units, k + 1);
                    if (best != none_at) {
                        clear_cut = clear_cut && fabs(log_p - highest) > 1e-7 * (1.0 + fabs(highest));
                    }
                    if (best == none_at || log_p > highest) {
                        best = k;
                        highest = log_p;
                        sum[from + x_at] = smallest;
                        dof[from + x_at] = k + 1;
                        which[from + x_at] = its;
                    }
                }
                verdict[from + x_at] = best == none_at ? 0 : 1;
                if (!clear_cut) {
                    close[blockIdx.x] = 1;
                }
            }
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) {
        performed[2 * blockIdx.x] += n_performed;
        performed[2 * blockIdx.x + 1] += n_skipped;
    }
}

#ifdef SERAPE_EMULATED
EMULATE(count_ones)
EMULATE(separate_by_stronger)
EMULATE(separate_by_weaker)
#endif
