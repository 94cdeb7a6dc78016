// The cells of a target, a child and one more variable, all binary.
#pragma once
#include "binary_tables.cuh"

struct Rules {
    const i64* critical;  // by degrees of freedom, the smallest significant sum
    u32 adjusted;
};

__device__ inline u32 dof_of(const Rules& rules, const Terms& terms, u32 strata) {
    return rules.adjusted ? terms.dof : strata;
}

// Masks of the cells of target, child and one more variable, if there is one. Without a child (`none_at`), the cells in
// which it would be 0 are empty. All threads take part, and must wait afterwards.
template <u32 Masks>
__device__ inline void make_cells(const Columns& columns, u32 target, u32 child, u32 also, u32* masks) {
    for (u32 at = threadIdx.x; at < Masks * columns.words; at += blockDim.x) {
        const u32 mask = at / columns.words, word = at % columns.words;
        const u32 level = 1 - mask / 2 % 2;  // of the child
        u32 rows = plane_of(columns, target, 1 - mask % 2)[word];
        rows &= child != none_at ? plane_of(columns, child, level)[word] : level == 1 ? 0xffffffffu : 0u;
        if (Masks == 8) {
            rows &= plane_of(columns, also, 1 - mask / 4)[word];
        }
        masks[at] = rows;
    }
}

__device__ inline void add_sizes(const u32* masks, u32 n_masks, u32 words, u32* sizes) {
    const u32 lane = threadIdx.x % warp_size;
    for (u32 mask = threadIdx.x / warp_size; mask < n_masks; mask += blockDim.x / warp_size) {
        u32 count = 0;
        for (u32 word = lane; word < words; word += warp_size) {
            count += static_cast<u32>(__popc(masks[mask * words + word]));
        }
        count = __reduce_add_sync(full_warp, count);
        if (lane == 0) {
            sizes[mask] = count;
        }
    }
}
