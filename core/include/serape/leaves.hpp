// Rows that are alike: a division of rows into leaves within which continuous variables hardly vary.
//
// A k-d tree (Bentley 1975) over ranks: rows are halved at the median of the variable whose ranks spread most, until a
// half would have fewer rows than `fewest`. Tied values stay together, so that halves may be unequal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serape {

struct Leaves {
    std::vector<std::uint32_t> rows;   // leaf by leaf, ascending within each
    std::vector<std::uint32_t> begin;  // in `rows`, one more than leaves
    std::vector<std::uint32_t> part;   // by leaf: the part it lies in

    std::size_t size() const { return part.size(); }
    std::size_t bytes() const { return (rows.size() + begin.size() + part.size()) * sizeof(std::uint32_t); }
    std::span<const std::uint32_t> leaf(std::size_t k) const {
        return {rows.data() + begin[k], rows.data() + begin[k + 1]};
    }
};

// `parts`: the rows of part p are rows[starts[p] … starts[p + 1]); each is divided for itself. `ranks`: by variable,
// the rank of each row, tied values having the same.
Leaves grow_leaves(std::vector<std::uint32_t> rows, std::span<const std::uint32_t> starts,
                   const std::vector<const std::uint32_t*>& ranks, std::size_t fewest);

// The rank of every value: how many values are below it.
std::vector<std::uint32_t> ranks_of(std::span<const double> values);

}  // namespace serape
