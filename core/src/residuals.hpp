// Residuals of a column given a conditioning set, and the two questions about a pair of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conditioning.hpp"
#include "serape/aligned.hpp"
#include "serape/outcome.hpp"
#include "serape/residual_test.hpp"

namespace serape {

// What is left of a column's block, and of its squared scores if it is a number. A block of many indicators is not
// written down: the covariances of what is left of them follow from sums by level.
struct Residuals {
    enum class Form { columns, levels, both };
    Residuals(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column, Form form);

    std::vector<LineVector<double>> block;   // orthonormal columns
    LineVector<double> square;               // empty if there is none
    std::vector<LineVector<double>> curves;  // polynomials of what Z explains of the first columns, orthonormal

    std::vector<std::uint16_t> level;  // by row: the number of its indicator, or their count
    std::size_t count = 0;             // of indicators
    std::vector<double> factor;        // of their residual covariances (Cholesky); zero where nothing is left
    std::size_t rank = 0;

  private:
    void add_curves(const ResidualTest& test, const Conditioning& conditioning, LineVector<double> fitted, int degrees);
    void make_columns(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column);
    void make_levels(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column);
};

// Compares residuals; one per thread.
class ResidualComparison {
  public:
    explicit ResidualComparison(const ResidualTest& test) : test_(test) {}
    // x against a target of which both forms are known.
    Outcome operator()(std::uint32_t x, std::uint32_t target, const Residuals& of_target, const Conditioning& given);

  private:
    // Covariances of two blocks, each orthonormal, the wider one's row by row.
    struct Covariances {
        std::size_t p, q;
        std::vector<double> values;
    };
    Covariances between(const Residuals& x, const Residuals& y) const;
    Covariances between_levels(const Residuals& levels, const Residuals& columns) const;
    Outcome wide(const Residuals& levels, const Residuals& columns, const Conditioning& given);
    void take_curves_out(Residuals& x, Residuals& y);
    Outcome compare(const Residuals& x, const Residuals& y, const Conditioning& given);
    double rows_left(const Conditioning& given) const { return given.rows_left() - taken_; }
    bool reliable(std::size_t p, std::size_t q, const Conditioning& given) const;
    double covariance_log_p(const Covariances& covariances, const Conditioning& given, double inflation) const;
    double inflation(const Residuals& x, const Residuals& y, const Covariances& covariances, const Conditioning& given);
    double curvature_log_p(const Residuals& x, const Residuals& y, const Conditioning& given);
    // T² that all products of residuals have mean zero, with a variance for each row of its own.
    double t_squared(const Conditioning& given);
    void multiply(const LineVector<double>& a, const LineVector<double>& b, const double* factor);

    const ResidualTest& test_;
    std::vector<LineVector<double>> products_;
    std::size_t used_ = 0;
    double taken_ = 0.0;  // curves taken out, beyond Z
};

}  // namespace serape
