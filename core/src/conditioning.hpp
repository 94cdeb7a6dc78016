// What a conditioning set explains of any column, without a column of its own that is as long as the rows.
//
// The categories of Z divide the rows into cells, and a mean of each cell is taken out. The numbers of Z enter as
// features, as rich as the rows allow: first their blocks, then polynomials up to degree 3, products of two numbers and
// slopes by cell, degrees up to 5, curves by cell, higher degrees. Every step is taken for all members or for none, so
// the order of Z plays no part. If the joint cells of several categories are too many, the one with most levels divides
// the rows and the others have indicators.
//
// Features are made again for every block of rows that is looked at. Of a column v, a pass over the blocks makes the
// sums by cell and the products with the features. From them and the Cholesky factor of the features' products follow
// its *coordinates* A(v) in an orthonormal basis of Z. So what Z leaves of v and w has the product v·w − A(v)·A(w).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "feature_products.hpp"
#include "panel.hpp"
#include "serape/aligned.hpp"
#include "serape/residual_test.hpp"

namespace serape {

// Of some columns, one after the other: by cell, then by feature.
struct Coordinates {
    Coordinates(std::size_t some, std::size_t each) : count(some), length(each), values(some * each, 0.0) {}
    double* operator[](std::size_t k) { return values.data() + k * length; }
    const double* operator[](std::size_t k) const { return values.data() + k * length; }

    std::size_t count, length;
    LineVector<double> values;
};

// Adds so many times the product of each pair of coordinates to a matrix.
void add_products(const Coordinates& one, const Coordinates& other, double times, double* out, std::size_t stride);

// What Z explains of some columns, as a sum of features and of means of cells.
struct Fit {
    std::size_t count;
    std::vector<double> factors;  // by feature and column
    LineVector<double> means;     // by column and cell, each column padded
};

class Conditioning {
  public:
    Conditioning(const ResidualTest& test, std::span<const std::uint32_t> given);

    const ResidualTest& test() const { return test_; }
    bool empty() const { return cell_.empty() && features_.empty(); }
    double rows_left() const { return rows_left_; }  // degrees of freedom of a residual
    // Whether there are rows enough for the squares of all numbers, and levels are few enough to be added side by side.
    bool roomy() const { return roomy_; }
    std::size_t cells() const { return cell_rows_.size(); }
    std::size_t features() const { return features_.size(); }
    std::size_t length() const { return padded_cells_ + padded_features_; }  // of coordinates
    // Blocks are of rows in an order of their own, in which those of a cell are side by side. By row in this order: the
    // roots of weights and their inverses, and the values of a column in the block that begins here.
    const double* roots() const { return roots_.empty() ? test_.root_weights() : roots_.data(); }
    const double* inverse_roots() const { return inverses_.empty() ? test_.inverse_root_weights() : inverses_.data(); }
    template <class Value>
    const Value* in_rows(const Value* column, std::size_t begin, std::array<Value, panel_rows>& buffer) const {
        if (row_.empty()) {
            return column + begin;
        }
        for (std::size_t r = 0; r < panel_rows; ++r) {
            buffer[r] = column[row_[begin + r]];
        }
        return buffer.data();
    }
    // By row: the root of the inverse of the share of its variance that Z leaves, or 0 if Z fits the row perfectly.
    // Known after a pass over all blocks.
    const double* root_weights() const { return root_weights_.data(); }
    bool is_weighed() const { return is_weighed_; }
    void weigh(std::size_t begin, const Panel& features);
    void end_weighing();
    std::size_t bytes() const;

    // The features in the block of rows that begins here; `powers` is for what they are made from.
    void make_features(std::size_t begin, Panel& powers, Panel& out) const;
    // The product of the column that has these coordinates with the constant column of length 1.
    double mean_part(const double* coordinates) const;
    // Adds a multiple of the root of the weights to the column that has these coordinates.
    void add_constant(double constant, double* coordinates) const;
    Fit fit(const Coordinates& coordinates) const;
    void subtract(const Fit& fit, std::size_t begin, const Panel& features, double* columns) const;

    // Columns by which dependence may vary: scores and indicators of members, of mean square 1.
    std::size_t moderators() const { return moderators_.size(); }
    void make_moderators(std::size_t begin, Panel& out) const;
    // The mean of the squared sum of their squares.
    double moderators_fourth() const { return moderators_fourth_; }

  private:
    friend class Sums;

    struct Feature {
        enum class Kind : std::uint8_t { score, indicator, power, product } kind;
        std::uint32_t a;         // the column; otherwise the position among the numbers
        std::uint32_t b;         // column of scores, level, degree, position of the other number
        std::int64_t cell = -1;  // in which the feature is, a slope or a curve; elsewhere it is 0

        bool is_sparse() const { return cell >= 0 || kind == Kind::indicator; }
    };
    // Features side by side, of which each row has a value in one at most: slopes or curves of a number by cell, or the
    // indicators of a category.
    struct OneOfRow {
        bool by_cell;
        std::uint32_t of;                    // the position among the numbers, or the category
        std::uint32_t degree;                // of the number
        std::vector<std::uint32_t> feature;  // by cell or level; as many as there are features if there is none
    };
    struct Moderator {
        std::uint32_t column;
        std::uint32_t level;
        double mean, scale;
    };

    void divide(const std::vector<std::uint32_t>& categories);
    void enrich(const std::vector<std::uint32_t>& numbers);
    bool fits(std::size_t more);
    void add(Feature feature, bool first);
    void add_pending();
    // Fills the products of all features with those that wait, and the sums of these by cell.
    void multiply_pending(std::vector<double>& products, Coordinates& sums);
    FeatureKey key(const Feature& feature) const;
    void moderate(const std::vector<std::uint32_t>& numbers, const std::vector<std::uint32_t>& categories);
    void arrange();
    // An orthonormal basis, negative, less the means of cells.
    Fit basis() const;
    template <class Body>
    void each_basis(const Fit& basis, std::size_t begin, const Panel& features, Panel& out, const Body& body) const;
    void refine();
    void subtract_means(const double* means, std::size_t count, std::size_t begin, double* columns) const;
    void make(std::size_t begin, std::span<const Feature> which, std::span<const OneOfRow> sparse, Panel& powers,
              Panel& out) const;
    std::vector<OneOfRow> sparse_among(std::span<const Feature> which) const;
    void add_cell_sums(std::size_t begin, const double* columns, std::size_t count, double* sums) const;
    std::uint32_t cell(std::size_t row) const { return cell_.empty() ? 0 : cell_[row]; }

    const ResidualTest& test_;
    std::vector<std::uint32_t> divided_by_;  // categories
    std::vector<std::uint32_t> row_;         // of the table, by row of the blocks; empty: the same
    std::vector<std::uint32_t> cell_;        // by row; empty: one cell
    LineVector<double> roots_, inverses_;    // if there are weights and rows have another order
    std::vector<double> cell_rows_, root_cell_rows_;
    std::size_t padded_cells_ = 0, padded_features_ = 0;
    std::vector<std::uint32_t> numbers_;                                  // of more than two values
    std::vector<std::span<const ResidualTest::Polynomial>> polynomials_;  // of these
    std::size_t highest_ = 1;                                             // degree
    std::vector<Feature> features_, pending_;
    std::vector<OneOfRow> sparse_;  // among the features
    std::size_t first_width_ = 0, first_pending_ = 0;
    double budget_ = 0.0;
    Coordinates of_features_{0, 0};  // by cell alone
    std::vector<double> root_;       // of their products less the means of cells: lower triangle, by row
    LineVector<double> root_weights_;
    bool is_weighed_ = false;
    std::unique_ptr<Fit> basis_;  // until rows are weighed
    Panel vectors_, moderated_;
    std::vector<Moderator> moderators_;
    double moderators_fourth_ = 0.0;
    double rows_left_ = 0.0;
    bool roomy_ = true;
};

// Sums over rows, block by block, from which the coordinates of columns follow.
class Sums {
  public:
    Sums(const Conditioning& given, std::size_t count)
        : given_(given),
          count_(count),
          cross_(given.features() * count, 0.0),
          by_cell_(count * given.padded_cells_, 0.0) {}
    void add(std::size_t begin, const Panel& features, const double* columns);
    Coordinates coordinates() const;

  private:
    const Conditioning& given_;
    std::size_t count_;
    std::vector<double> cross_;  // by feature and column
    std::vector<double> by_cell_;
};

// The cells into which categories divide the rows, by row up to the stride, and how many there are.
struct DividedRows {
    std::vector<std::uint32_t> cell;
    std::size_t count = 1;
};
DividedRows divide_rows(const ResidualTest& test, std::span<const std::uint32_t> categories);

// The frequent levels of a category but the first of them.
std::vector<std::uint32_t> indicated_levels(std::span<const double> rows, std::size_t max_levels, double min_rows);

}  // namespace serape
