// Screens of many candidates for many conditioning sets at once: which depend on the target?
//
// Candidates come in groups, and each group has a set. Every group is tested given its set and each of several variables
// (`also`). One thread takes one candidate. It counts the ones that the candidate's planes share with the cells of the
// target and the strata, level by level: the terms of level 0 follow from what is left of each cell.
//
// Compiled for CELLS, the most cells (strata times levels of the target), and GIVEN, the most members of a set.
#include "common.cuh"

constexpr u32 threads = 256;
constexpr u32 chunk = 64;  // words of 32 bits that are in shared memory at a time

struct Dependent {
    u32 also, candidate;  // indices
    i64 sum;
    u32 dof, unused;
};

// The plane of a level of a variable: that of level 0 is in `zero`.
__device__ inline const u32* plane_of_level(const u32* planes, const u32* zero, u32 words, const u32* first,
                                            u32 variable, u32 level) {
    return level == 0 ? zero + static_cast<u64>(variable) * words
                      : planes + (static_cast<u64>(first[variable]) + level - 1) * words;
}

// Adds the terms of one level of the candidate: Σ f(n) over the cells, less f of its total in each stratum.
template <u32 Cells>
__device__ inline void add_level(const u32 (&count)[Cells], u32 n_cells, u32 t_levels, const i64* log_table, i64& value,
                                 u64& met) {
    u32 total = 0, in_stratum = 0, stratum = 0;
#pragma unroll
    for (u32 cell = 0; cell < Cells; ++cell) {
        if (cell < n_cells) {
            value += log_table[count[cell]];
            total += count[cell];
            if (++in_stratum == t_levels) {
                value -= log_table[total];
                met += static_cast<u64>(total != 0) << (4 * stratum++);
                total = in_stratum = 0;
            }
        }
    }
}

// A block takes candidates of one group: from `begin_of_block` on, up to `group_end`. `group_sets` has room for GIVEN
// members of the set of each group, and `group_given` says how many there are. A group whose set contains a variable of
// `also` is not tested given that.
extern "C" __global__ void __launch_bounds__(256)
screens(const u32* __restrict__ planes, const u32* __restrict__ zero, u32 words, const u32* __restrict__ first,
        const u8* __restrict__ levels, const i64* __restrict__ log_table, u32 target,
        const u32* __restrict__ candidates, const u32* __restrict__ group_of_block,
        const u32* __restrict__ begin_of_block, const u32* __restrict__ group_end, const u32* __restrict__ group_sets,
        const u32* __restrict__ group_given, u32 n_groups, const u32* __restrict__ also,
        const i64* __restrict__ critical, double rows, double minimum, u32 reliability, u32 adjusted,
        u64* __restrict__ n_found, u64 room, Dependent* __restrict__ found, u32* __restrict__ performed) {
    __shared__ u32 cells[CELLS][chunk + 1];
    __shared__ u32 sizes[CELLS];
    __shared__ u32 given[GIVEN + 1];
    __shared__ u32 n_performed;
    const u32 group = group_of_block[blockIdx.x];
    const u32 with = also[blockIdx.y];
    const u32 n_given = group_given[group];
    const u32 t_levels = levels[target];
    bool repeated = false;
    u32 strata = 1;
    for (u32 k = 0; k <= n_given; ++k) {
        const u32 member = k < n_given ? group_sets[group * GIVEN + k] : with;
        repeated = repeated || (k < n_given && member == with);
        strata *= levels[member];
        if (threadIdx.x == 0) {
            given[k] = member;
        }
    }
    if (repeated) {
        return;  // the whole block: this group is left out
    }
    if (threadIdx.x == 0) {
        n_performed = 0;
    }
    for (u32 cell = threadIdx.x; cell < CELLS; cell += threads) {
        sizes[cell] = 0;
    }
    const u32 n_cells = strata * t_levels;
    const u32 at = begin_of_block[blockIdx.x] + threadIdx.x;
    const bool works = at < group_end[group];
    const u32 x = works ? candidates[at] : target;
    const u32 x_levels = levels[x];
    const double full = (x_levels - 1.0) * (t_levels - 1.0) * strata;
    const double needed = reliability == 1 ? full : x_levels * 1.0 * t_levels * strata;
    const bool reliable = works && full > 0.0 && (reliability == 0 || rows >= minimum * needed);

    u32 left[CELLS];  // rows of a cell that have none of the levels so far
    i64 value = 0;
    u64 met = 0;  // by stratum, how many levels of x occur: 4 bits each
#pragma unroll
    for (u32 cell = 0; cell < CELLS; ++cell) {
        left[cell] = 0;
    }
    __syncthreads();
    for (u32 level = 1; level < 9; ++level) {
        if (!__syncthreads_or(reliable && level < x_levels)) {
            break;
        }
        u32 count[CELLS];
#pragma unroll
        for (u32 cell = 0; cell < CELLS; ++cell) {
            count[cell] = 0;
        }
        for (u32 from = 0; from < words; from += chunk) {
            const u32 width = words - from < chunk ? words - from : chunk;
            __syncthreads();
            for (u32 place = threadIdx.x; place < CELLS * width; place += threads) {
                const u32 cell = place / width, word = place % width;
                u32 bits = 0;
                if (cell < n_cells) {
                    u32 rest = cell / t_levels;
                    bits = plane_of_level(planes, zero, words, first, target, cell % t_levels)[from + word];
                    for (u32 k = 0; k <= n_given; ++k) {
                        const u32 its = levels[given[k]];
                        bits &= plane_of_level(planes, zero, words, first, given[k], rest % its)[from + word];
                        rest /= its;
                    }
                    if (level == 1) {
                        atomicAdd(&sizes[cell], static_cast<u32>(__popc(bits)));
                    }
                }
                cells[cell][word] = bits;
            }
            __syncthreads();
            if (reliable && level < x_levels) {
                const u32* const own = planes + (static_cast<u64>(first[x]) + level - 1) * words + from;
                for (u32 word = 0; word < width; word += 4) {
                    const uint4 four = *reinterpret_cast<const uint4*>(own + word);
#pragma unroll
                    for (u32 cell = 0; cell < CELLS; ++cell) {
                        count[cell] += static_cast<u32>(__popc(cells[cell][word] & four.x) + __popc(cells[cell][word + 1] & four.y) +
                                                        __popc(cells[cell][word + 2] & four.z) + __popc(cells[cell][word + 3] & four.w));
                    }
                }
            }
        }
        if (reliable && level < x_levels) {
            add_level<CELLS>(count, n_cells, t_levels, log_table, value, met);
#pragma unroll
            for (u32 cell = 0; cell < CELLS; ++cell) {
                left[cell] += count[cell];
            }
        }
    }
    if (reliable) {
#pragma unroll
        for (u32 cell = 0; cell < CELLS; ++cell) {
            left[cell] = cell < n_cells ? sizes[cell] - left[cell] : 0;
        }
        add_level<CELLS>(left, n_cells, t_levels, log_table, value, met);
        u32 dof = 0;
        for (u32 stratum = 0; stratum < strata; ++stratum) {
            u32 total = 0, occupied = 0;
            for (u32 t = 0; t < t_levels; ++t) {
                const u32 size = sizes[stratum * t_levels + t];
                value -= log_table[size];
                total += size;
                occupied += size != 0;
            }
            value += log_table[total];
            dof += total == 0 ? 0 : (occupied - 1) * (static_cast<u32>(met >> (4 * stratum) & 15) - 1);
        }
        dof = adjusted ? dof : static_cast<u32>(full);
        if (dof > 0) {
            atomicAdd(&n_performed, 1u);
            if (value >= critical[dof]) {
                const u64 place = atomicAdd(n_found, static_cast<u64>(1));
                if (place < room) {
                    found[place] = {blockIdx.y, at, value, dof, 0};
                }
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(&performed[blockIdx.y * n_groups + group], n_performed);
    }
}

#ifdef SERAPE_EMULATED
EMULATE(screens)
#endif
