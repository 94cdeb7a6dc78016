// Logarithms of rising factorials in fixed point, the building block of Dirichlet scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "serape/wide.hpp"

namespace serape {

// h(n) = ln (1+a)(2+a)…(n−1+a) = lnΓ(n+a) − lnΓ(1+a) for a >= 0, as an integer multiple of 2^−shift; h(0) = h(1) = 0.
// Small counts are summed up in integers. Larger ones go on from there by Stirling's series: so many rows have few.
class GammaTable {
  public:
    // Counts above `most` will not be asked for. `shift` is at most 50.
    GammaTable(double a, std::size_t most, int shift);
    // The same as the table, for loops.
    struct View {
        const std::int64_t* data;
        std::size_t size;
        const GammaTable* table;
        std::int64_t operator()(std::uint32_t n) const { return n < size ? data[n] : table->slow(n); }
    };
    View view() const { return {table_.data(), table_.size(), this}; }
    // Whether counts up to `most` can be asked for.
    bool serves(std::size_t most) const { return most < table_.size() || table_.size() == largest; }
    std::size_t bytes() const { return table_.size() * sizeof(std::int64_t); }

  private:
    static constexpr std::size_t largest = 1u << 16;
    std::int64_t slow(std::uint32_t n) const;
    double a_;
    int shift_;
    Wide last_ = 0;  // h of the last count in the table, with more binary places
    std::vector<std::int64_t> table_;
};

}  // namespace serape
