// What a conditioning set explains, ready to be taken out of any column.
//
// The categories of Z divide the rows into cells, and a mean of each cell is taken out. The numbers of Z enter as an
// orthonormal basis, as rich as the rows allow: first their blocks, then polynomials up to degree 3, products of two
// numbers and slopes by cell, degrees up to 5, curves by cell, higher degrees. Every step is taken for all members or
// for none, so the order of Z plays no part. If the joint cells of several categories are too many, the one with most
// levels divides the rows and the others have indicators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/residual_test.hpp"

namespace serape {

class Conditioning {
  public:
    Conditioning(const ResidualTest& test, std::span<const std::uint32_t> given);

    // Takes out of a column what Z explains; returns the squared length of what is left.
    double take_out(double* column) const;
    // The same of many columns, which are read together: the same bits in less time.
    void take_out(std::span<double* const> columns) const;
    double rows_left() const { return rows_left_; }  // degrees of freedom of a residual
    bool empty() const { return cell_.empty() && basis_.empty(); }
    // Whether there are rows enough for the squares of all numbers, and levels are few enough to be added side by side.
    bool roomy() const { return roomy_; }
    // By row: the root of the inverse of the share of its variance that Z leaves, or 0 if Z fits the row perfectly.
    const double* root_weights() const { return root_weights_.data(); }
    // Columns of Z by which dependence may vary: scores and indicators, of mean square 1.
    const std::vector<LineVector<double>>& moderators() const { return moderators_; }
    std::size_t bytes() const;
    // The matrix of what Z leaves of indicators: their sums of squares and products less what Z explains. `level`: by
    // row, the number of the indicator that is 1, or `count` if none is.
    std::vector<double> left_of_levels(std::span<const std::uint16_t> level, std::size_t count) const;

  private:
    using Column = LineVector<double>;

    void divide(const std::vector<std::uint32_t>& categories);
    void enrich(const std::vector<std::uint32_t>& numbers, double budget);
    void add(Column column) { add_all({&column, 1}); }
    void add_all(std::span<Column> columns);  // each orthogonalised, unless the basis explains it already
    void take_means_out(double* column) const;
    Column scaled(const double* scores) const;
    Column weighted(Column column) const;  // times √w
    void moderate(const double* scores);
    void weigh();

    const ResidualTest& test_;
    std::vector<std::uint32_t> cell_;  // by row; empty: one cell
    std::vector<double> cell_rows_;
    std::vector<Column> basis_;
    std::vector<const double*> vectors_;
    Column root_weights_;
    std::vector<Column> moderators_;
    std::size_t first_width_ = 0;
    double rows_left_ = 0.0;
    bool roomy_ = true;
};

// The frequent levels of a category but the first of them.
std::vector<std::uint32_t> indicated_levels(const ResidualTest& test, std::span<const std::uint16_t> codes,
                                            std::uint32_t levels, std::size_t max_levels, double min_rows);
// Their indicators, centred and of length 1.
std::vector<LineVector<double>> indicators(const ResidualTest& test, std::span<const std::uint16_t> codes,
                                           std::span<const std::uint32_t> indicated);

}  // namespace serape
