// The two questions about what Z leaves of two columns, x and y.
//
// How the residuals of a column spread, and how the covariances of two of them vary if nothing relates the two but Z:
// if x and y are independent given Z, the mean of (ab)(a'b') given Z is the mean of aa' times the mean of bb', where a
// and a' are columns of what is left of x, b and b' of what is left of y. Each mean is what Z explains of aa'. The
// products (ab)(a'b') themselves would tell the same, but not where a and b are rare: two rare events that happen not
// to meet make them all but zero, and a covariance that varies as little seems to be far from zero.
//
// A sum of squared covariances also varies more than a chi-square if a few rows carry most of x and a few most of y
// (Pearson's X² of rare levels, say). Under shuffles of the rows its variance has an excess over that of a chi-square,
// the product of a fourth moment of x and one of y (Box & Watson 1962).
//
// After the two passes of `Residuals`, a third adds up products of residuals. What Z explains of them is needed row by
// row, in a fourth pass, only if the second question may decide and has moderators, or in surveys.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "conditioning.hpp"
#include "panel.hpp"
#include "residuals.hpp"
#include "serape/outcome.hpp"
#include "serape/residual_test.hpp"

namespace serape {

// A block of rows, of Z and of one x and one y.
struct Block {
    std::size_t begin = 0;
    Panel powers, features, fitted, moderators;
    Panel raw_x, raw_y;  // base columns, then curves; from the third pass on, what Z leaves of them
};

class ResidualComparison {
  public:
    ResidualComparison(const Conditioning& given, const Residuals& x, const Residuals& y);

    // First and second pass: of the raw columns that are new in it.
    void add_base(const Block& block);
    void add_curves(const Block& block);
    void end_second();  // after those of x and y

    ResidualEffect effect() const;
    bool reliable() const;
    bool is_moderated() const { return moderated_; }

    // Third pass, of a reliable test.
    void begin_third();
    void add_residuals(const Block& block);
    void end_third();

    // Fourth pass.
    bool undecided() const { return undecided_; }
    void add_spreads(const Block& block);

    Outcome outcome() const;

  private:
    // x or y: the columns that are left of it, and how they spread.
    struct Side {
        const Residuals* residuals;
        std::size_t width = 0;                         // columns of the block
        std::size_t rank = 0;                          // of them
        bool squared = false;                          // the square is left
        std::size_t first = 0;                         // among the columns that are left: the block, then the square
        bool shared = false;                           // all columns of the block have one spread
        std::size_t spreads = 0;                       // products of columns that have a spread of their own
        std::size_t products = 0;                      // these, fourth powers, and products of combined columns
        std::size_t begin = 0;                         // among all products
        double block = 0.0, across = 0.0, both = 0.0;  // sums of products of squared lengths: of the block, and with
                                                       // the square
        std::vector<double> lengths;                   // squared, by indicator, if the block is indicators

        bool has_spread(std::size_t i, std::size_t j) const { return !shared || i == j; }
        std::size_t spread(std::size_t i, std::size_t j) const;
        std::size_t fourth() const { return begin + spreads; }
        std::size_t combined() const { return begin + spreads + 1; }
    };
    // Of columns i of x and j of y, and perhaps of a moderator.
    struct Product {
        std::size_t i, j;
        std::optional<std::size_t> factor;
    };
    // What the products of columns i of x and j of y are multiplied by in the direction of their sums.
    struct Part {
        std::size_t i, j;
        double constant = 0.0;
        std::vector<double> by_moderator;  // if there is any
    };

    const ResidualTest& test() const { return given_.test(); }
    double rows_left() const { return given_.rows_left() - static_cast<double>(curves_); }
    const Side& wider() const { return sides_[sides_[0].width < sides_[1].width]; }
    const Side& narrower() const { return sides_[!(sides_[0].width < sides_[1].width)]; }
    bool combines(const Side& side) const { return !wide_ && side.shared; }
    double covariance(std::size_t of_wider, std::size_t of_narrower) const;

    void leave(const Matrix& own, std::size_t offset_x, std::size_t offset_y, bool x_first);
    void ask_about_curvature();
    void make_columns(const Block& block);
    void make_lengths(const Block& block, const Side& side, double* lengths, double* of_both) const;
    void make_products(const Block& block);
    double explained(std::size_t of_x, std::size_t of_y) const;
    double log_lambda() const;
    double inflation() const;
    double concentration() const;
    double dof_share(double excess_variance, double count) const;
    double first_log_p() const;
    void find_direction();
    double constant_variance() const;
    double second_log_p(double variance) const;

    const Conditioning& given_;
    std::array<Side, 2> sides_;  // x and y
    bool wide_;                  // the block of one side is indicators as they are
    Matrix cross_;               // products of raw columns of x and y
    std::size_t curves_ = 0;     // that are taken out of both, beyond Z
    Matrix sums_;                // products of the columns that are left of x and of y
    std::size_t count_ = 0;      // of columns that are made: curves, and those of both sides
    Matrix factors_;             // of raw columns in them, negative: of x and then of y
    Matrix of_curves_;           // factors of raw columns in the curves

    std::vector<Product> asked_;  // of the second question
    bool with_square_ = false, moderated_ = false;
    Matrix moderated_sums_, moderators_;
    std::size_t products_ = 0;
    std::unique_ptr<Sums> product_sums_;
    Matrix with_curves_;  // products with curves
    Matrix explained_;    // products of what is explained of products of x and of y

    std::vector<Part> parts_;
    double most_ = 0.0;  // T² if the spread of x and y did not change with Z
    bool undecided_ = false, by_row_ = false;
    std::vector<std::size_t> needed_;  // products of which the explained part is needed by row
    Fit of_needed_;
    Matrix raw_of_needed_;
    double variance_ = 0.0;  // by row

    Panel columns_, made_, extra_;
    std::array<double, panel_rows> root_{};  // by row, of the inverse of the share of its variance that is left
};

}  // namespace serape
