// Some columns of a block of rows, one after the other: what the kernels of small matrix products work on.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "serape/aligned.hpp"
#include "serape/kernels.hpp"
#include "serape/residual_test.hpp"

namespace serape {

// Values from one column of a panel to the next. A power of two would put the same row of all columns into a few lines
// of the cache.
inline constexpr std::size_t panel_stride = panel_rows + 8;

// A polynomial of degree 0.
alignas(64) inline constexpr std::array<double, panel_rows> constant_panel = [] {
    std::array<double, panel_rows> ones{};
    ones.fill(1.0);
    return ones;
}();

class Panel {
  public:
    void resize(std::size_t columns) { values_.resize(std::max(values_.size(), columns * panel_stride)); }
    void clear(std::size_t columns) {
        resize(columns);
        std::fill_n(values_.begin(), columns * panel_stride, 0.0);
    }
    double* operator[](std::size_t k) { return values_.data() + k * panel_stride; }
    const double* operator[](std::size_t k) const { return values_.data() + k * panel_stride; }

  private:
    UnclearedVector<double> values_;
};

// out[i · stride + j] += Σ ones[i] · others[j] over the rows of a block.
inline void add_products(const double* ones, std::size_t one_count, const double* others, std::size_t other_count,
                         double* out, std::size_t stride) {
    kernels().panel_products(ones, one_count, others, other_count, panel_rows, panel_stride, out, stride);
}

// columns[j] −= Σ factors[i · stride + j] · others[i].
inline void subtract_products(double* columns, std::size_t count, const double* others, std::size_t other_count,
                              const double* factors, std::size_t stride) {
    kernels().panel_subtract(columns, count, others, other_count, factors, stride, panel_rows, panel_stride);
}

}  // namespace serape
