// How the residuals of a column spread, and how the covariances of two of them vary if nothing relates the two but Z.
//
// If x and y are independent given Z, the mean of (ab)(a'b') given Z is the mean of aa' times the mean of bb': a and a'
// are columns of what is left of x, b and b' of what is left of y. Each mean is what Z explains of aa'. The products
// (ab)(a'b') themselves would tell the same, but not where a and b are rare: two rare events that happen not to meet
// make them all but zero, and a covariance that varies as little seems to be far from zero.
//
// A sum of squared covariances also varies more than a chi-square if a few rows carry most of x and a few most of y
// (Pearson's X² of rare levels, say). Under shuffles of the rows its variance has an excess over that of a chi-square,
// the product of a fourth moment of x and one of y (Box & Watson 1962).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conditioning.hpp"
#include "serape/aligned.hpp"
#include "serape/residual_test.hpp"

namespace serape {

struct ResidualColumns;

// Z, and curves of what it explains: all that has been taken out of two columns.
class TakenOut {
  public:
    TakenOut(const ResidualTest& test, const Conditioning& given, const std::vector<LineVector<double>>& curves);
    bool nothing() const { return given_.empty(); }
    double rows_left() const { return rows_left_; }
    // By row: the root of the inverse of the share of its variance that is left; 0 if none is.
    const LineVector<double>& root_weights() const { return root_weights_; }
    // What is explained of products of columns of residuals, in place. A row of which much is taken out has small
    // residuals; they count as if they were as large as those of other rows.
    void explain(std::vector<LineVector<double>>& products) const;

  private:
    const ResidualTest& test_;
    const Conditioning& given_;
    const std::vector<LineVector<double>>& curves_;
    double rows_left_;
    LineVector<double> root_weights_;
};

class Spread {
  public:
    // Of a block and of its square, if it has one.
    Spread(const ResidualTest& test, const TakenOut& taken, const ResidualColumns& columns);
    // Of many indicators that are not written down: `level` is the number of the one that is 1, by row.
    Spread(const ResidualTest& test, const TakenOut& taken, std::span<const std::uint16_t> level, std::size_t count);

    bool shared() const { return shared_; }  // all columns of the block have one spread
    // What is explained of the product of two columns, the square being the last; null: nothing.
    const LineVector<double>* product(std::size_t i, std::size_t j) const;

    // How much more than if Z had no part in it the variances of two columns meet in the same rows; at least 1.
    double inflation(const Spread& other, const TakenOut& taken) const;
    // How much more than if Z had no part in it the fourth moments of two columns meet in the same rows, beside the
    // square of that of their variances.
    double concentration(const Spread& other, const TakenOut& taken) const;

    // By how much the variance of the sum of squared covariances of two blocks exceeds that of a chi-square, times the
    // rows left.
    double excess_variance(const Spread& other, const TakenOut& taken) const;

    // Fourth moments: the sums over rows of products of the squared lengths of a row's values.
    double block = 0.0;   // of the block and the block
    double across = 0.0;  // of the block, and of the block and its square
    double both = 0.0;    // of the block and its square

  private:
    void explain(const ResidualTest& test, const TakenOut& taken, LineVector<double> lengths,
                 std::vector<LineVector<double>> products);

    std::size_t width_ = 0;
    bool shared_ = false;  // one spread for all columns of the block
    std::vector<LineVector<double>> fitted_;
    LineVector<double> squares_, fourths_;  // what is explained of squared lengths, and of their squares
};

// The excess of a fourth moment of `more` orthonormal columns and `fewer` of them over that of normal ones.
inline double excess(double moment, std::size_t more, std::size_t fewer) {
    return moment - static_cast<double>(more * fewer) - 2.0 * static_cast<double>(fewer);
}

}  // namespace serape
