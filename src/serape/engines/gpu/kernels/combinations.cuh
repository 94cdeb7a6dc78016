// Subsets of one size, in the order of the members.
#pragma once
#include "common.cuh"

// Goes so many steps on; `at[0] + Size` is more than the members if there is no subset left.
template <u32 Size>
__device__ inline void advance(u32 (&at)[Size], u32 members, u32 steps) {
    for (u32 step = 0; step < steps && at[0] + Size <= members; ++step) {
        u32 k = Size - 1;
        ++at[k];
        while (k > 0 && at[k] + (Size - k) > members) {
            ++at[--k];
        }
        for (u32 next = k + 1; next < Size; ++next) {
            at[next] = at[next - 1] + 1;
        }
    }
}
