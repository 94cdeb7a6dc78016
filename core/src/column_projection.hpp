// Partial correlations of a target given a set, from the columns themselves: as precise as these allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/projection.hpp"

namespace serape {

class ColumnProjection {
  public:
    // The target varies.
    ColumnProjection(const GaussianTest& test, std::size_t target, std::span<const std::uint32_t> given);
    // x varies.
    PartialCorrelation operator()(std::size_t x, Projection::Scratch& scratch) const;

  private:
    double take_out(double* column) const;  // the basis; returns the squared length of what is left

    const GaussianTest& test_;
    bool known_ = true;  // whether something is left of the target
    std::unique_ptr<Line[]> memory_;
    std::vector<const double*> vectors_;  // what is left of the target, of length 1, then the basis
};

}  // namespace serape
