// HITON's loop for many targets at once, one warp for each: the candidates of a target are searched in turn, and one that
// no subset of the pool separates joins it. Then each older member is searched given the subsets with the new one, and
// leaves the pool if one separates it.
//
// Subsets are tested in the order of the pool, smaller ones first. Where a table or a pool is too large, the core is
// asked about the target. Who has joined a pool is listed, also of those that have left it: nobody else changed it.
#include "tables.cuh"

constexpr u32 warps = 4;
constexpr u32 max_pool = 16;
constexpr u32 none = 0xffffffffu;

struct Rules {
    double rows;
    double minimum;
    u32 reliability;  // 0 none, 1 by degrees of freedom, 2 by cells
    u32 adjusted;
    const i64* critical;
    u32 max_dof;
    u32 max_size;  // of conditioning sets; larger ones are skipped
};

__device__ inline bool enough_rows(const Rules& rules, double x_levels, double t_levels, double strata) {
    const double dof = (x_levels - 1.0) * (t_levels - 1.0) * strata;
    if (!(dof > 0.0)) {
        return false;
    }
    const double cells = x_levels * t_levels * strata;
    return rules.reliability == 0 || rules.rows >= rules.minimum * (rules.reliability == 1 ? dof : cells);
}

// Counts x and t in the strata of a set, as `count_table` does, of any size.
__device__ inline void count_cells(const Columns& columns, u32 x, u32 t, const u32* given, u32 size, u32 strata,
                                   u32* counts) {
    const u32 lane = threadIdx.x % warp_size;
    const u32 x_levels = columns.levels[x], t_levels = columns.levels[t];
    for (u32 cell = lane; cell < strata * t_levels * x_levels; cell += warp_size) {
        counts[cell] = 0;
    }
    __syncwarp();
    for (u32 base = 0; base < columns.words; base += warp_size) {
        const u32 word = base + lane;  // words are a multiple of 32
        for (u32 stratum = 0; stratum < strata; ++stratum) {
            u32 rest = stratum, rows = 0xffffffffu;
            for (u32 k = 0; k < size; ++k) {
                const u32 levels = columns.levels[given[k]];
                rows &= plane_of(columns, given[k], rest % levels)[word];
                rest /= levels;
            }
            if (__ballot_sync(0xffffffffu, rows != 0) == 0) {
                continue;
            }
            for (u32 level = 0; level < t_levels; ++level) {
                const u32 of_t = rows & plane_of(columns, t, level)[word];
                for (u32 other = 0; other < x_levels; ++other) {
                    const u32 both = of_t & plane_of(columns, x, other)[word];
                    const u32 count = __reduce_add_sync(0xffffffffu, static_cast<u32>(__popc(both)));
                    if (lane == 0) {
                        counts[(stratum * t_levels + level) * x_levels + other] += count;
                    }
                }
            }
        }
    }
    __syncwarp();
}

enum Verdict : u32 { dependent = 0, separated = 1, ask_core = 2 };

struct Tally {  // of one target, by size of the conditioning set
    u32 performed[max_pool + 1];
    u32 skipped[max_pool + 1];
};

__device__ inline u32 choose(u32 n, u32 k) {
    u32 count = 1;
    for (u32 j = 0; j < k; ++j) {
        count = count * (n - j) / (j + 1);
    }
    return k > n ? 0 : count;
}

// Searches the subsets of `others`, with `newest` in each if there is one, for one that separates x from the target.
// `tally` is that of the warp in shared memory; lane 0 counts. All lanes return the same.
__device__ inline u32 search(const Columns& columns, const Rules& rules, const i64* log_table, u32 x, u32 target,
                             const u32* others, u32 n_others, u32 newest, u32* counts, Tally* tally) {
    const u32 lane = threadIdx.x % warp_size;
    const u32 x_levels = columns.levels[x], t_levels = columns.levels[target];
    const u32 fixed = newest != none ? 1 : 0;
    for (u32 size = 1; size <= n_others + fixed; ++size) {
        const u32 free = size - fixed;
        u32 at[max_pool], given[max_pool];
        for (u32 k = 0; k < free; ++k) {
            at[k] = k;
        }
        bool any = false;
        while (true) {
            double strata = 1.0;
            for (u32 k = 0; k < size; ++k) {
                given[k] = k < free ? others[at[k]] : newest;
                strata *= columns.levels[given[k]];
            }
            u32 performed = 0;
            bool separates = false;
            if (size <= rules.max_size && enough_rows(rules, x_levels, t_levels, strata)) {
                any = true;
                const double full = (x_levels - 1.0) * (t_levels - 1.0) * strata;
                if (strata * x_levels * t_levels > max_cells || full > rules.max_dof) {
                    return ask_core;
                }
                const u32 n_strata = static_cast<u32>(strata);
                count_cells(columns, x, target, given, size, n_strata, counts);
                const Sum sum = sum_of_table(counts, n_strata, t_levels, x_levels, log_table);
                const u32 dof = rules.adjusted ? sum.dof : static_cast<u32>(full);
                performed = dof != 0 ? 1 : 0;
                separates = dof != 0 && sum.value < rules.critical[dof];
            }
            if (lane == 0) {
                tally->performed[size] += performed;
                tally->skipped[size] += 1 - performed;
            }
            if (separates) {
                return separated;
            }
            u32 k = free;  // the next subset
            while (k > 0 && at[k - 1] + (free - k + 1) == n_others) {
                --k;
            }
            if (k == 0) {
                break;
            }
            ++at[k - 1];
            for (u32 next = k; next < free; ++next) {
                at[next] = at[next - 1] + 1;
            }
        }
        if (!any) {  // a larger set is no more reliable
            for (u32 larger = size + 1; larger <= n_others + fixed && lane == 0; ++larger) {
                tally->skipped[larger] += choose(n_others, larger - fixed);
            }
            break;
        }
    }
    return dependent;
}

// `members` has room for max_pool of each target, and `joined` for max_joined, of which there may be more; `n_members` is
// `none` where the core must be asked. `performed` and `skipped` have max_pool + 1 numbers for each target.
extern "C" __global__ void __launch_bounds__(128)
    grow_pools(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words, const u32* __restrict__ first,
               const u8* __restrict__ levels, const i64* __restrict__ log_table, u32 n_targets,
               const u32* __restrict__ targets, const i64* __restrict__ begin, const u32* __restrict__ candidates,
               const i64* __restrict__ critical, u32 max_dof, double rows, double minimum, u32 reliability,
               u32 adjusted, u32 max_size, u32 max_joined, u32* __restrict__ members, u32* __restrict__ n_members,
               u32* __restrict__ joined, u32* __restrict__ n_joined, u32* __restrict__ performed, u32* __restrict__ skipped) {
    __shared__ u32 all_counts[warps][max_cells];
    __shared__ Tally tallies[warps];
    const Columns columns = {planes, zero, words, first, levels};
    const Rules rules = {rows, minimum, reliability, adjusted, critical, max_dof, max_size};
    const u32 lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    const u32 own = blockIdx.x * warps + warp;
    if (own >= n_targets) {
        return;
    }
    u32* const counts = all_counts[warp];
    Tally* const tally = &tallies[warp];
    for (u32 k = lane; k <= max_pool; k += warp_size) {
        tally->performed[k] = 0;
        tally->skipped[k] = 0;
    }
    __syncwarp();
    const u32 target = targets[own];
    u32 pool[max_pool], others[max_pool];
    u32 n = 0, n_ever = 0, verdict = dependent;
    for (i64 c = begin[own]; c < begin[own + 1] && verdict != ask_core; ++c) {
        const u32 x = candidates[c];
        verdict = search(columns, rules, log_table, x, target, pool, n, none, counts, tally);
        if (verdict == separated) {
            continue;
        }
        if (verdict == ask_core || n == max_pool) {
            verdict = ask_core;
            break;
        }
        pool[n++] = x;
        if (lane == 0 && n_ever < max_joined) {
            joined[static_cast<u64>(own) * max_joined + n_ever] = x;
        }
        ++n_ever;
        for (u32 k = 0; k + 1 < n;) {
            u32 n_others = 0;
            for (u32 j = 0; j + 1 < n; ++j) {
                if (j != k) {
                    others[n_others++] = pool[j];
                }
            }
            verdict = search(columns, rules, log_table, pool[k], target, others, n_others, x, counts, tally);
            if (verdict == ask_core) {
                break;
            }
            if (verdict == dependent) {
                ++k;
                continue;
            }
            --n;
            for (u32 j = k; j < n; ++j) {
                pool[j] = pool[j + 1];
            }
        }
    }
    __syncwarp();
    if (lane == 0) {
        n_members[own] = verdict == ask_core ? none : n;
        n_joined[own] = n_ever;
        for (u32 k = 0; k < n; ++k) {
            members[static_cast<u64>(own) * max_pool + k] = pool[k];
        }
    }
    for (u32 k = lane; k <= max_pool; k += warp_size) {
        performed[static_cast<u64>(own) * (max_pool + 1) + k] = tally->performed[k];
        skipped[static_cast<u64>(own) * (max_pool + 1) + k] = tally->skipped[k];
    }
}

#ifdef SERAPE_EMULATED
EMULATE(grow_pools)
#endif
