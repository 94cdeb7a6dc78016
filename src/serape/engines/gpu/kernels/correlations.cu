// Searches through conditioning sets of one size by partial correlation, for many pairs of variables at once.
//
// One block searches for one x and target; its threads test the next subsets of the pool side by side, in the order of
// the pool. Partial correlations follow from the matrix of correlations by sweeping out the members of the set one
// after another, in double precision. How much rounding can matter is bounded by the product of the pivots (see the
// core's correlation_evaluator.cpp). Where a verdict, or which of two associations is the weaker, lies within that
// bound, the core is asked.
//
// Compiled for SIZE, that of the subsets, from 1 to 3.
#include "combinations.cuh"
#include "common.cuh"

constexpr u32 threads = 128;
constexpr double rounding = 1e-12;      // of a correlation, generously
constexpr double least_certain = 1e-6;  // product of pivots up to which sweeping is trusted
constexpr u64 no_rank = ~0ull;

enum Verdict : u32 { unreliable = 0, dependent = 1, separated = 2, ask_core = 3 };

struct Partial {
    double r;      // without its sign
    double bound;  // of its error
    bool known;
};

__device__ inline Partial partial_of(const double* correlations, u32 columns, u32 x, u32 t, const u32 (&given)[SIZE]) {
    const auto of = [&](u32 a, u32 b) { return correlations[static_cast<u64>(a) * columns + b]; };
    double members[SIZE][SIZE], with_x[SIZE], with_t[SIZE];
#pragma unroll
    for (u32 i = 0; i < SIZE; ++i) {
        with_x[i] = of(given[i], x);
        with_t[i] = of(given[i], t);
#pragma unroll
        for (u32 j = i + 1; j < SIZE; ++j) {
            members[i][j] = of(given[i], given[j]);
        }
        members[i][i] = 1.0;
    }
    double covariance = of(t, x), left_x = 1.0, left_t = 1.0, certain = 1.0;
#pragma unroll
    for (u32 i = 0; i < SIZE; ++i) {
        const double pivot = members[i][i];
        certain *= pivot;
        if (!(certain > least_certain)) {
            return {0.0, 0.0, false};
        }
        const double inverse = 1.0 / pivot;
#pragma unroll
        for (u32 j = i + 1; j < SIZE; ++j) {
            const double factor = members[i][j] * inverse;
#pragma unroll
            for (u32 k = j; k < SIZE; ++k) {
                members[j][k] -= factor * members[i][k];
            }
            with_x[j] -= factor * with_x[i];
            with_t[j] -= factor * with_t[i];
        }
        covariance -= with_x[i] * with_t[i] * inverse;
        left_x -= with_x[i] * with_x[i] * inverse;
        left_t -= with_t[i] * with_t[i] * inverse;
    }
    certain *= left_x * left_t;
    if (!(certain > least_certain) || !(left_x > 0.0)) {
        return {0.0, 0.0, false};
    }
    return {fabs(covariance) / sqrt(left_x * left_t), rounding / certain, true};
}

// A correlation up to `below` separates, one from `above` on does not.
extern "C" __global__ void __launch_bounds__(128)
    search_correlations(const double* __restrict__ correlations, u32 columns, const u8* __restrict__ varies,
                        const u32* __restrict__ xs, const u32* __restrict__ question, const u32* __restrict__ targets,
                        const i64* __restrict__ pool_begin, const u32* __restrict__ pools, double below, double above,
                        u32* __restrict__ verdict, u32* __restrict__ sets, u64* __restrict__ performed) {
    __shared__ u64 first_separating, first_unsure, weakest_rank[threads];
    __shared__ double weakest_r[threads], weakest_bound[threads];
    __shared__ u32 weakest_set[threads][SIZE], separating_set[SIZE];
    __shared__ u32 n_close;
    const u64 answer = static_cast<u64>(blockIdx.y) * gridDim.x + blockIdx.x;
    const u32 x = xs[answer], of = question[answer], target = targets[of];
    const u32* const pool = pools + pool_begin[of];
    const u32 pooled = static_cast<u32>(pool_begin[of + 1] - pool_begin[of]);
    u32 own = pooled;
    bool all_vary = varies[x] && varies[target];
    for (u32 k = 0; k < pooled; ++k) {
        own = pool[k] == x ? k : own;
        all_vary = all_vary && varies[pool[k]];
    }
    if (!all_vary) {
        if (threadIdx.x == 0) {
            verdict[answer] = ask_core;
        }
        return;
    }
    const u32 members = own < pooled ? pooled - 1 : pooled;
    u32 at[SIZE];
    for (u32 k = 0; k < SIZE; ++k) {
        at[k] = k;
    }
    advance<SIZE>(at, members, threadIdx.x);
    if (threadIdx.x == 0) {
        first_separating = first_unsure = no_rank;
        n_close = 0;
    }
    u64 rank = threadIdx.x, best_rank = no_rank, count = 0;
    double best = 4.0, best_bound = 0.0;
    double next = 4.0;  // the others of this thread are no weaker than this
    u32 best_set[SIZE] = {};
    __syncthreads();
    while (true) {
        const bool past = at[0] + SIZE > members;
        u32 given[SIZE];
        if (!past) {
            for (u32 k = 0; k < SIZE; ++k) {
                given[k] = pool[at[k] + (at[k] >= own ? 1 : 0)];
            }
            const Partial partial = partial_of(correlations, columns, x, target, given);
            ++count;
            if (!partial.known || (partial.r + partial.bound >= below && partial.r - partial.bound < above)) {
                atomicMin(&first_unsure, rank);
            } else if (partial.r < below) {
                atomicMin(&first_separating, rank);
            } else if (partial.r < best) {
                next = fmin(next, best - best_bound);
                best = partial.r;
                best_bound = partial.bound;
                best_rank = rank;
                for (u32 k = 0; k < SIZE; ++k) {
                    best_set[k] = given[k];
                }
            } else {
                next = fmin(next, partial.r - partial.bound);
            }
        }
        const bool go_on = __syncthreads_or(!past);
        if (first_separating == rank) {
            for (u32 k = 0; k < SIZE; ++k) {
                separating_set[k] = given[k];
            }
        }
        if (!go_on || first_separating != no_rank || first_unsure != no_rank) {
            break;
        }
        advance<SIZE>(at, members, threads);
        rank += threads;
        __syncthreads();
    }
    weakest_r[threadIdx.x] = best;
    weakest_bound[threadIdx.x] = best_bound;
    weakest_rank[threadIdx.x] = best_rank;
    for (u32 k = 0; k < SIZE; ++k) {
        weakest_set[threadIdx.x][k] = best_set[k];
    }
    __syncthreads();
    if (first_unsure < first_separating) {
        if (threadIdx.x == 0) {
            verdict[answer] = ask_core;
        }
        return;
    }
    if (first_separating != no_rank) {
        if (threadIdx.x == 0) {
            verdict[answer] = separated;
            performed[answer] = first_separating + 1;
            for (u32 k = 0; k < SIZE; ++k) {
                sets[answer * SIZE + k] = separating_set[k];
            }
        }
        return;
    }
    // The weakest of all threads; each sees whether others of its own are too close to it.
    u32 weakest = 0;
    for (u32 k = 1; k < threads; ++k) {
        weakest = weakest_r[k] < weakest_r[weakest] ? k : weakest;
    }
    const double other = threadIdx.x == weakest ? next : fmin(next, best - best_bound);
    if (other <= weakest_r[weakest] + weakest_bound[weakest] && weakest_rank[weakest] != no_rank) {
        atomicAdd(&n_close, 1u);
    }
    __shared__ u64 all;
    if (threadIdx.x == 0) {
        all = 0;
    }
    __syncthreads();
    atomicAdd(&all, count);
    __syncthreads();
    if (threadIdx.x == 0) {
        verdict[answer] = n_close > 0 ? ask_core : weakest_rank[weakest] == no_rank ? unreliable : dependent;
        performed[answer] = all;
        for (u32 k = 0; k < SIZE; ++k) {
            sets[answer * SIZE + k] = weakest_set[weakest][k];
        }
    }
}

#ifdef SERAPE_EMULATED
EMULATE(search_correlations)
#endif
