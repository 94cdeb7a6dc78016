// Residuals of a column given a conditioning set, and the two questions about a pair of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conditioning.hpp"
#include "serape/aligned.hpp"
#include "serape/outcome.hpp"
#include "serape/residual_test.hpp"
#include "spread.hpp"

namespace serape {

// What is left of a column's block, and of its squared scores if it is a number. A block of many indicators is not
// written down: the covariances of what is left of them follow from sums by level.
struct ResidualColumns {
    std::vector<LineVector<double>> block;  // orthonormal
    LineVector<double> square;              // empty if there is none
};

struct Residuals : ResidualColumns {
    enum class Form { columns, levels };  // levels: no block
    Residuals(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column, Form form);

    std::vector<LineVector<double>> curves;  // polynomials of what Z explains, orthonormal
    double explained = 0.0;                  // share that Z explains of the columns that are bent

    // Of a category:
    std::vector<std::uint16_t> level;  // by row: the number of its indicator, or their count
    std::size_t count = 0;             // of indicators
    std::vector<double> left;          // their residual sums of squares and products, in the lower half

  private:
    void make_number(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column);
    void add(const ResidualTest& test, LineVector<double> left);
    void make_levels(const ResidualTest& test, const Conditioning& conditioning, std::uint32_t column);
    std::vector<LineVector<double>> leading_components(const ResidualTest& test) const;
    // Of a column of which it is known what Z leaves.
    void add_curves(const ResidualTest& test, const Conditioning& conditioning, const double* column,
                    const double* left_of_it);
};

// Compares residuals; one per thread.
class ResidualComparison {
  public:
    explicit ResidualComparison(const ResidualTest& test) : test_(test) {}
    // x against a target of which the block is known.
    Outcome operator()(std::uint32_t x, std::uint32_t target, const Residuals& of_target, const Conditioning& given);
    // How strongly they depend, by the first question.
    ResidualEffect effect(std::uint32_t x, std::uint32_t target, const Residuals& of_target, const Conditioning& given);

  private:
    // Covariances of two blocks, each orthonormal, the wider one's row by row.
    struct Covariances {
        std::size_t p, q;
        std::vector<double> values;
        double inflation;  // how much more they vary than if the spread of x and y did not change with Z
        double dof_share;  // the degrees of freedom of their squares, as a share of their number
    };
    Covariances between(const ResidualColumns& x, const ResidualColumns& y) const;
    Covariances between_levels(const Residuals& levels, const ResidualColumns& columns,
                               const std::vector<LineVector<double>>& curves) const;
    static double log_lambda(const Covariances& covariances);
    template <class Many, class Few>
    auto with_residuals(std::uint32_t x, std::uint32_t target, const Residuals& of_target, const Conditioning& given,
                        Many many, Few few);
    Covariances wide(const Residuals& levels, const Residuals& columns, const Conditioning& given);
    // Takes curves out of columns.
    void take_out(std::vector<LineVector<double>>& curves, ResidualColumns& columns) const;
    // The curves of both, orthonormal.
    std::vector<LineVector<double>> joined(const Residuals& x, const Residuals& y) const;
    bool orthonormalise(const std::vector<LineVector<double>>& others, LineVector<double>& column) const;
    Outcome compare(const ResidualColumns& x, const ResidualColumns& y, const Conditioning& given,
                    const TakenOut& taken);
    double rows_left(const Conditioning& given) const { return given.rows_left() - taken_; }
    bool reliable(std::size_t p, std::size_t q, const Conditioning& given) const;
    double covariance_log_p(const Covariances& covariances, const Conditioning& given) const;
    // The product of columns i and j of x and y, the squares being the last, and of a member of Z if there is one.
    struct Product {
        std::size_t i, j;
        std::optional<std::size_t> factor;
    };
    double inflation(const ResidualColumns& x, const ResidualColumns& y, const Spread& of_x, const Spread& of_y,
                     const TakenOut& taken) const;
    double dof_share(double excess_variance, double count, const Conditioning& given) const;
    // The second question; nothing if there is no product for it.
    struct Curvature {
        double log_p;
        double products;
    };
    std::optional<Curvature> curvature(const ResidualColumns& x, const ResidualColumns& y, const Spread& of_x,
                                       const Spread& of_y, const Conditioning& given, const TakenOut& taken) const;
    // T² that products of residuals have mean zero.
    double t_squared(const std::vector<Product>& products, const std::vector<double>& sums, const Spread& x,
                     const Spread& y, const Conditioning& given, const TakenOut& taken) const;

    const ResidualTest& test_;
    double taken_ = 0.0;  // curves taken out, beyond Z
};

}  // namespace serape
