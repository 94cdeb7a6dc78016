// What Z leaves of a column: its block, the squared scores of a number, and polynomials of what Z explains of it.
//
// None of these is written down. Each is a combination of *raw* columns (scores, their squares, indicators,
// polynomials), which are made again for each block of rows, less what Z explains of them. Their products follow from
// coordinates.
//
// A column is looked at in two passes over the rows: the first tells what Z explains of it, the second adds up the
// polynomials of that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conditioning.hpp"
#include "panel.hpp"
#include "serape/residual_test.hpp"
#include "small_matrices.hpp"

namespace serape {

class Residuals {
  public:
    enum class Form { columns, levels };  // levels: the block is the indicators as they are
    Residuals(const Conditioning& given, std::uint32_t column, Form form);

    // First pass. Base columns: the block, and the squared scores if there are any.
    std::size_t base() const { return base_; }
    void make_base(std::size_t begin, double* out) const;
    void add_base(std::size_t begin, const Panel& features, const double* base);
    void end_first();

    // Second pass.
    std::size_t bends() const { return bends_.size(); }
    std::size_t raw_curves() const { return raw_curves_; }
    void make_curves(std::size_t begin, const Panel& features, Panel& fitted, double* out) const;
    void add_curves(std::size_t begin, const Panel& features, const double* base, const double* curves);
    void end_second();
    bool is_complete() const { return !sums_; }

    // After both: subtracts from the raw columns of a block what Z explains of them. Indicators as they are stay so.
    void subtract_explained(std::size_t begin, const Panel& features, Panel& raw) const;

    // What is left, as combinations of the raw columns (base, then curves): orthonormal curves, the block, the square.
    std::size_t curves() const { return curves_; }
    std::size_t width() const { return width_; }
    bool squared() const { return squared_; }
    std::size_t raw() const { return base_ + raw_curves_; }
    std::size_t vectors() const { return curves_ + width_ + squared_; }
    const Matrix& combinations() const { return combinations_; }
    const Coordinates& coordinates() const { return *coordinates_; }  // of the raw columns
    const Matrix& own() const { return own_; }                        // products of what is left
    double explained() const { return explained_; }  // share that Z explains of the columns that are bent
    bool of_levels() const { return form_ == Form::levels; }
    std::uint32_t column() const { return column_; }
    const std::vector<double>& level_rows() const { return level_rows_; }
    std::size_t bytes() const;

  private:
    struct Bend {
        Fit fit;
        double to_spread_1;
        int degrees;
    };
    void leave_block();
    double centred_square(std::size_t raw_column) const;
    void bend(Coordinates coordinates);
    void bend_levels();
    std::size_t first_explained() const { return form_ == Form::levels ? base_ : 0; }

    const ResidualTest& test_;
    const Conditioning& given_;
    std::uint32_t column_;
    Form form_;
    std::size_t base_ = 0, block_ = 0, raw_curves_ = 0;
    std::size_t curves_ = 0, width_ = 0;
    bool squared_ = false;
    Matrix products_;  // of the raw columns
    std::unique_ptr<Sums> sums_;
    std::unique_ptr<Coordinates> coordinates_;
    Matrix left_;                            // products of what is left of the base columns
    std::vector<std::vector<double>> kept_;  // combinations of base columns: the block, and the square
    std::vector<double> level_rows_;         // of the levels with indicators
    std::vector<Bend> bends_;
    Matrix combinations_, own_;
    Fit explained_part_{0, {}, {}};  // of the raw columns, but not of indicators as they are
    double explained_ = 0.0;
};

}  // namespace serape
