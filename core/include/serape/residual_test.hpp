// Conditional independence of any columns, by the residuals of their scores.
//
// A column is a *block* of scores. A number has the normal scores of its ranks and, if many rows share one value, an
// indicator of that value. A category has an indicator for each level but the most frequent one. The blocks of x and y
// are regressed on a richer basis of Z (Conditioning), and the residuals are compared in two ways:
//
// 1. Is the covariance of the residuals zero? Wilks' Λ of the two blocks with Rao's F, divided by how much more the
//    covariances vary than they would if the spread of x and of y did not depend on Z, and with fewer degrees of
//    freedom where few rows carry most of x and few most of y (ResidualComparison).
// 2. Is there curved dependence that the first question does not see? The same products with squared scores, and with
//    members of Z as factors: T² that all of them have mean zero, with the same variance and degrees of freedom.
//
// The first question has four fifths of the level, the second one fifth: the smaller of 1 − (1 − p)^(1/share) counts
// (Šidák). The degrees of freedom are the products of the question that has it, and the statistic is that of chi-square
// with the same p. Questions about categories alone are left to G².
//
// Rows may have weights w: frequencies, or survey weights scaled to add up to the effective number of rows, (Σw)²/Σw²
// before scaling. Every column is multiplied by √w, so that products of columns are weighted sums. Questions about
// categories alone are answered as all others then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/contingency_test.hpp"
#include "serape/outcome.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/subset_query.hpp"

namespace serape {

// Rows of a block. A block of all features of a conditioning set stays in the cache.
inline constexpr std::size_t panel_rows = 128;

// Limits, each a trade of flexibility for rows or time.
struct ResidualLimits {
    double rows_per_column = 5.0;      // of a basis of Z, beyond its first columns
    std::size_t max_width = 96;        // of such a basis, beyond its first columns: a bound of time
    std::size_t max_degree = 12;       // of polynomials of a number
    std::size_t max_indicators = 256;  // of levels in Z whose cells are too many
    int max_bends = 11;                // degree of what Z explains of x or y
    std::size_t max_levels = 64;       // of x or y that have an indicator: the most frequent ones
    double min_level_rows = 5.0;       // of a level with an indicator; of a number, rows off its most frequent value
    double rows_per_dof = 5.0;         // of a reliable test
    double min_rows = 10.0;            // left by Z in a reliable test
    std::size_t max_products = 64;     // of the first question; beyond, the larger block is not written down
    std::size_t max_spreads = 4;       // columns of a block beyond which the second question gives all one spread
    std::size_t max_curved = 32;       // products of the second question
    double rows_per_product = 20.0;    // of the second question
    double first_share = 0.8;          // of the level
    double least_explained = 0.05;     // of a column's variance by Z, from which what is explained may be bent
    double least_curve = 1e-4;         // of a curve's variance, below which the others are that curve
    double least_new = 1e-6;           // of a basis column's variance, below which the others are that column
    double least_left = 1e-8;          // of a column's variance, below which nothing is left of it
    std::size_t kept_bytes = std::size_t{64} << 20;  // of conditioning sets of searches: a bound of memory
};

// The levels of a category that have indicators, by the rows of each level: the frequent ones but the first of them.
std::vector<std::uint32_t> indicated_levels(std::span<const double> rows, std::size_t max_levels, double min_rows);

// ln Λ of the first question, the correlation of the residuals of two numbers' scores, and the number of products; NaN
// if there is none.
struct ResidualEffect {
    double log_lambda;
    double correlation;
    double products;
};

class Conditioning;
class FeatureProducts;
class KnownOutcomes;
class PreparedSets;
class ResidualTest;

// What a search through conditioning sets asks of: all rows, and first a part of them, if there is one.
struct ResidualRows {
    const ResidualTest& all;
    const ResidualTest* part = nullptr;  // the same columns
    double clear = 0.0;                  // the log p up to which the part shows dependence

    SubsetAnswers search_subsets(const SubsetQuery& query, std::size_t threads, CancellationToken& token) const;
};

class ResidualTest {
  public:
    // `numbers`: by column of the table, whether it is one; the table's codes of such a column are not looked at.
    // `weights`: one positive number a row, or none; frequencies say how often a row occurs.
    ResidualTest(const PackedTable& table, std::vector<std::uint8_t> numbers, Rules rules, bool curved,
                 std::span<const double> weights, bool frequencies, ResidualLimits limits);
    ~ResidualTest();

    std::size_t rows() const { return table_.rows(); }
    std::size_t columns() const { return numbers_.size(); }
    std::size_t stride() const { return stride_; }  // rows, and zeros up to a whole block
    double effective_rows() const { return effective_rows_; }
    double root_weight(std::size_t row) const { return root_weights_[row]; }
    // By row, up to the stride; 0 beyond the rows.
    const double* root_weights() const { return root_weights_.data(); }
    const double* inverse_root_weights() const { return inverse_root_weights_.data(); }
    bool weighted() const { return weighted_; }
    // Whether rows count in proportion to their weights where spreads are compared.
    bool surveyed() const { return weighted_ && !frequencies_; }
    double copies(std::size_t row) const { return frequencies_ ? root_weights_[row] * root_weights_[row] : 1.0; }
    double root_of_copy(std::size_t row) const { return frequencies_ ? 1.0 : root_weights_[row]; }
    bool number(std::size_t column) const { return numbers_[column] != 0; }
    // Needed before any question about a column: the values of a number, or that a category takes part.
    void set_values(std::size_t column, std::span<const double> values);
    void set_category(std::size_t column);
    std::size_t bytes() const { return bytes_; }

    Outcome test(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const;
    void screen(std::uint32_t target, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                std::size_t threads, CancellationToken& token, Answers out) const;
    // Of questions that are not about categories alone; those have NaN.
    void effects(std::uint32_t target, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                 CancellationToken& token, std::span<ResidualEffect> out) const;
    // Whether the joint cells of the categories among these are few enough to divide the rows. Several threads may ask.
    bool divides(std::span<const std::uint32_t> given) const;
    // A number for each row that looks random, follows from its scores and the frequencies of its levels alone, and
    // differs between equal rows.
    std::vector<std::uint64_t> row_keys() const;
    // Throws std::invalid_argument unless each takes part.
    void require(std::span<const std::uint32_t> asked) const;

    // Subtracts the mean of a column that is multiplied by √w.
    void centre(double* column) const;

    // A polynomial of a number's scores: the scores less `shift`, times the one before, less `back` times the one
    // before that, times `scale`. They are orthonormal over the rows.
    struct Polynomial {
        double shift = 0.0, back = 0.0, scale = 1.0;
        // The mean square of the Hermite polynomial of this degree, if what polynomials of lower degree leave of it
        // has 1.
        double before = 1.0;
    };

    // The block of a column: of a number its scores, centred and of length 1, column by column; of a category the
    // levels that have indicators.
    struct Scores {
        std::size_t width = 0;
        std::size_t values = 0;  // distinct
        bool testable = true;    // as x or y: enough rows differ from the most frequent value
        LineVector<double> columns;
        std::vector<std::uint32_t> levels;
        std::vector<std::uint16_t> codes;      // of a category, up to the stride
        std::vector<std::uint16_t> indicator;  // by level, the number of its indicator; their count if it has none
        std::vector<double> level_rows;        // by level, the weight of its rows
    };
    const Scores& scores(std::size_t column) const { return scores_[column]; }
    // By degree, from 1 up to the one asked for, or as far as there are any; made when they are first asked for.
    // Several threads may ask.
    std::span<const Polynomial> polynomials(std::size_t column, std::size_t degree) const;
    std::span<const std::uint16_t> codes(std::size_t column) const { return scores_[column].codes; }
    const PackedTable& table() const { return table_; }
    const ResidualLimits& limits() const { return limits_; }
    // Of all conditioning sets so far. Several threads may use them.
    FeatureProducts& feature_products() const { return *feature_products_; }
    // Of searches through conditioning sets so far. Several threads may use them.
    PreparedSets& prepared_sets() const { return *prepared_sets_; }
    KnownOutcomes& known_outcomes() const { return *known_outcomes_; }
    bool curved() const { return curved_; }
    const ContingencyTest& categorical() const { return categorical_; }
    bool all_categorical(std::uint32_t x, std::uint32_t y, std::span<const std::uint32_t> given) const;

  private:
    struct Polynomials {
        std::vector<Polynomial> made;
        std::size_t degree = 0;  // up to which they were asked for
    };

    std::vector<Polynomial> made_polynomials(const Scores& scores, std::size_t highest) const;

    const PackedTable& table_;
    std::vector<std::uint8_t> numbers_;
    std::size_t stride_;
    bool weighted_;
    bool frequencies_;
    double effective_rows_;
    LineVector<double> root_weights_, inverse_root_weights_;
    ContingencyTest categorical_;
    bool curved_;
    ResidualLimits limits_;
    std::vector<Scores> scores_;
    std::vector<std::uint8_t> takes_part_;
    std::vector<double> quantiles_;  // by half rank
    mutable std::mutex making_;
    mutable std::vector<Polynomials> polynomials_;
    std::unique_ptr<FeatureProducts> feature_products_;
    std::unique_ptr<PreparedSets> prepared_sets_;
    std::unique_ptr<KnownOutcomes> known_outcomes_;
    mutable std::map<std::vector<std::uint32_t>, bool> divides_;  // by categories
    std::size_t bytes_ = 0;
};

}  // namespace serape
