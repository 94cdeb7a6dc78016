// Searches through conditioning sets of one size, for many pairs of variables at once: a level of the PC algorithm.
//
// One block searches for one x and target: its warps test the next subsets of the pool side by side, in the order of
// the pool, until one separates. Otherwise the weakest association is the answer: that with the largest p-value. Among
// tests with as many degrees of freedom that is the smallest sum; among others p-values decide, and where two are so
// close that rounding might, the core is asked.
//
// Compiled for SIZE, that of the subsets, from 1 to 3.
#include "combinations.cuh"
#include "tables.cuh"

constexpr u32 warps = 4;
constexpr u32 kinds = 16;  // of degrees of freedom that are kept apart

// What became of a search.
enum Verdict : u32 { unreliable = 0, dependent = 1, separated = 2, ask_core = 3 };

struct Rules {
    double rows;
    double minimum;
    u32 reliability;  // 0 none, 1 by degrees of freedom, 2 by cells
    u32 adjusted;
};

__device__ inline bool enough_rows(const Rules& rules, double x_levels, double t_levels, double strata) {
    const double dof = (x_levels - 1.0) * (t_levels - 1.0) * strata;
    if (!(dof > 0.0)) {
        return false;
    }
    const double cells = x_levels * t_levels * strata;
    return rules.reliability == 0 || rules.rows >= rules.minimum * (rules.reliability == 1 ? dof : cells);
}

extern "C" __global__ void __launch_bounds__(128)
    search_subsets(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words,
                   const u32* __restrict__ first, const u8* __restrict__ levels, const i64* __restrict__ log_table,
                   const u32* __restrict__ xs, const u32* __restrict__ question, const u32* __restrict__ targets,
                   const i64* __restrict__ pool_begin, const u32* __restrict__ pools, const i64* __restrict__ critical,
                   u32 max_dof, double two_units, double rows, double minimum, u32 reliability, u32 adjusted,
                   u32* __restrict__ verdict, i64* __restrict__ sums, u32* __restrict__ dofs, u32* __restrict__ sets,
                   u32* __restrict__ performed, u32* __restrict__ skipped) {
    __shared__ u32 counts[warps][max_cells];
    __shared__ i64 found_sum[warps];
    __shared__ u32 found_dof[warps], found_state[warps], found_set[warps][SIZE];
    __shared__ u32 kind_dof[kinds], kind_set[kinds][SIZE];
    __shared__ i64 kind_sum[kinds];
    __shared__ u32 n_kinds, done;
    enum State : u32 { past = 0, skip = 1, keep = 2, separates = 3, too_large = 4 };
    const Columns columns = {planes, zero, words, first, levels};
    const Rules rules = {rows, minimum, reliability, adjusted};
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const u64 answer = static_cast<u64>(blockIdx.y) * gridDim.x + blockIdx.x;
    const u32 x = xs[answer], of = question[answer], target = targets[of];
    const u32* const pool = pools + pool_begin[of];
    const u32 pooled = static_cast<u32>(pool_begin[of + 1] - pool_begin[of]);
    u32 own = pooled;  // place of x in the pool
    for (u32 k = 0; k < pooled; ++k) {
        own = pool[k] == x ? k : own;
    }
    const u32 members = own < pooled ? pooled - 1 : pooled;
    u32 at[SIZE];
    for (u32 k = 0; k < SIZE; ++k) {
        at[k] = k;
    }
    advance<SIZE>(at, members, warp);
    u32 n_performed = 0, n_skipped = 0;  // of thread 0
    if (threadIdx.x == 0) {
        n_kinds = 0;
        done = 0;
    }
    __syncthreads();
    while (true) {
        u32 state = past;
        Sum sum = {0, 0};
        u32 dof = 0;
        u32 given[SIZE];
        if (at[0] + SIZE <= members) {
            double strata = 1.0;
            for (u32 k = 0; k < SIZE; ++k) {
                given[k] = pool[at[k] + (at[k] >= own ? 1 : 0)];
                strata *= levels[given[k]];
            }
            const u32 x_levels = levels[x], t_levels = levels[target];
            const double full = (x_levels - 1.0) * (t_levels - 1.0) * strata;
            if (!enough_rows(rules, x_levels, t_levels, strata)) {
                state = skip;
            } else if (strata * x_levels * t_levels > max_cells || full > max_dof) {
                state = too_large;
            } else {
                const u32 n_strata = count_table<SIZE>(columns, x, target, given, counts[warp]);
                sum = sum_of_table(counts[warp], n_strata, t_levels, x_levels, log_table);
                dof = adjusted ? sum.dof : static_cast<u32>(full);
                state = dof == 0 ? skip : sum.value < critical[dof] ? separates : keep;
            }
        }
        if (lane == 0) {
            found_state[warp] = state;
            found_sum[warp] = sum.value;
            found_dof[warp] = dof;
            for (u32 k = 0; k < SIZE; ++k) {
                found_set[warp][k] = given[k];
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (u32 w = 0; w < warps && !done; ++w) {
                const u32 its = found_state[w];
                if (its == past) {
                    done = 1;
                } else if (its == too_large) {
                    verdict[answer] = ask_core;
                    done = 2;
                } else if (its == skip) {
                    ++n_skipped;
                } else if (its == separates) {
                    ++n_performed;
                    verdict[answer] = separated;
                    sums[answer] = found_sum[w];
                    dofs[answer] = found_dof[w];
                    for (u32 k = 0; k < SIZE; ++k) {
                        sets[answer * SIZE + k] = found_set[w][k];
                    }
                    done = 3;
                } else {
                    ++n_performed;
                    u32 kind = 0;
                    while (kind < n_kinds && kind_dof[kind] != found_dof[w]) {
                        ++kind;
                    }
                    if (kind == kinds) {
                        verdict[answer] = ask_core;
                        done = 2;
                    } else if (kind == n_kinds || found_sum[w] < kind_sum[kind]) {
                        n_kinds = kind == n_kinds ? n_kinds + 1 : n_kinds;
                        kind_dof[kind] = found_dof[w];
                        kind_sum[kind] = found_sum[w];
                        for (u32 k = 0; k < SIZE; ++k) {
                            kind_set[kind][k] = found_set[w][k];
                        }
                    }
                }
            }
        }
        __syncthreads();
        if (done) {
            break;
        }
        advance<SIZE>(at, members, warps);
    }
    if (threadIdx.x != 0) {
        return;
    }
    performed[answer] = n_performed;
    skipped[answer] = n_skipped;
    if (done != 1) {
        return;
    }
    if (n_kinds == 0) {
        verdict[answer] = unreliable;
        return;
    }
    u32 weakest = 0;
    bool clear = true;
    if (n_kinds > 1) {
        double highest = nearly_log_p(static_cast<double>(kind_sum[0]) * two_units, kind_dof[0]);
        clear = highest == highest;
        for (u32 kind = 1; kind < n_kinds; ++kind) {
            const double log_p = nearly_log_p(static_cast<double>(kind_sum[kind]) * two_units, kind_dof[kind]);
            clear = clear && fabs(log_p - highest) > 1e-7 * (1.0 + fabs(highest));  // false for NaN
            if (log_p > highest) {
                highest = log_p;
                weakest = kind;
            }
        }
    }
    verdict[answer] = clear ? dependent : ask_core;
    sums[answer] = kind_sum[weakest];
    dofs[answer] = kind_dof[weakest];
    for (u32 k = 0; k < SIZE; ++k) {
        sets[answer * SIZE + k] = kind_set[weakest][k];
    }
}

#ifdef SERAPE_EMULATED
EMULATE(search_subsets)
#endif
