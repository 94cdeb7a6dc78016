// Partial correlations of a target given a set, with any x.
//
// They follow from the correlations of columns: with the Cholesky factor of those of the set, the shares of a column in
// an orthonormal basis of the set are solved for, and what the shares leave is compared. This loses digits where the
// set is nearly collinear or explains nearly all of x or of the target, and where x is nearly the target. There the
// columns themselves are used: an orthonormal basis of the set is taken out of them. Which way is taken depends on the
// columns, the set and its order alone, so that an answer has the same bits whichever question it belongs to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/outcome.hpp"

namespace serape {

class ColumnProjection;
class GaussianTest;

struct PartialCorrelation {
    double r;     // without its sign
    double rest;  // 1 − r, exact also where r is close to 1
    bool known;   // false: there is nothing to test
    bool negative;
};

class Projection {
  public:
    static constexpr std::size_t block = 64;  // x side by side

    struct Scratch {  // one per thread
        std::vector<double> products;
        LineVector<double> left;
        LineVector<double> shares;  // by member of the set and x, then products with the target
        std::vector<const double*> vectors;
    };

    Projection(const GaussianTest& test, std::size_t target, std::span<const std::uint32_t> given);
    ~Projection();

    // Of up to `block` x.
    void partials(std::span<const std::uint32_t> xs, Scratch& scratch, PartialCorrelation* out) const;
    Outcome outcome(std::uint32_t x, Scratch& scratch) const;
    double dof() const { return dof_; }

  private:
    bool factorise();
    const ColumnProjection& columns() const;

    const GaussianTest& test_;
    std::uint32_t target_;
    std::vector<std::uint32_t> given_;
    double dof_;
    bool possible_;                     // whether the target varies and there is a degree of freedom
    bool factorised_ = false;           // whether correlations are precise enough
    std::vector<double> factor_;        // lower half, row by row; the last row belongs to the target
    double target_left_ = 1.0;          // of its variance
    mutable std::once_flag projected_;  // made when it is needed
    mutable std::unique_ptr<ColumnProjection> columns_;
};

// The correlations of some x with the members of a set and with a target, `width` apart, into `scratch.shares`.
void load_correlations(const GaussianTest& test, std::span<const std::uint32_t> given, std::uint32_t target,
                       std::span<const std::uint32_t> xs, std::size_t width, Projection::Scratch& scratch);

}  // namespace serape
