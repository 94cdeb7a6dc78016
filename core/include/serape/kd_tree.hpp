// A k-d tree (Bentley 1975) over ranks: its leaves hold rows within which continuous variables hardly vary.
//
// Rows are halved at the median of the variable whose ranks spread most, until a half would have fewer rows than
// `min_rows`. If several spread as much, it is the one whose values deviate most, so that the order of the variables
// plays no part. Tied values stay together, so that halves may be unequal. The rows at the median go to the smaller
// half; of equal halves, to that whose mean is nearer, so that the leaves are the same for the negative of a variable.
// If both are equally near, the rows are not halved by this variable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace serape {

struct KdTree {
    std::vector<std::uint32_t> rows;     // leaf by leaf, ascending within each
    std::vector<std::uint32_t> begin;    // in `rows`, one more than leaves
    std::vector<std::uint32_t> stratum;  // by leaf: the stratum it lies in

    std::size_t size() const { return stratum.size(); }
    std::size_t bytes() const { return (rows.size() + begin.size() + stratum.size()) * sizeof(std::uint32_t); }
    std::span<const std::uint32_t> leaf(std::size_t k) const {
        return {rows.data() + begin[k], rows.data() + begin[k + 1]};
    }
};

// The rows of stratum s are rows[starts[s] … starts[s + 1]); each stratum is divided for itself. `ranks`: by variable,
// the rank of each row, tied values having the same. `values`: by variable, of about the same scale and centre.
KdTree build_kd_tree(std::vector<std::uint32_t> rows, std::span<const std::uint32_t> starts,
                     const std::vector<const std::uint32_t*>& ranks, const std::vector<const double*>& values,
                     std::size_t min_rows);

// Twice the rank of every value, from 0 on; tied values have their mean rank.
std::vector<std::uint32_t> ranks_of(std::span<const double> values);

}  // namespace serape
