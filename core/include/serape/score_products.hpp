// Sums of products of the scores of columns: their Gram matrix, in one pass over blocks of rows.
//
// A number has the normal scores of its ranks, an indicator of a value that many rows share, and polynomials of its
// scores; a category has indicators of its levels, as in ResidualTest. Every score is centred and has mean square 1
// over all rows, and is multiplied by the root of the row's weight. Scores are made again for every block of rows,
// which stays in the cache, so memory grows with the columns and with the matrix, and not with scores times rows.
//
// The sum of a product is that of ranges of rows, one after another, each of which adds up blocks of rows one after
// another: it has the same bits for any number of threads, and whatever other products are asked for with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/parallel.hpp"
#include "serape/residual_test.hpp"

namespace serape {

// A score of a column.
struct ColumnScore {
    enum class Kind : std::uint32_t { score, common, power, level } kind;
    std::uint32_t column;
    std::uint32_t value;  // the degree of a power, from 2 on, or the level
};

// What the scores of a column are made of. Memory stays with its owner.
struct ScoreSource {
    // Of a number: by row, multiplied by the root of its weight, centred, all of one length.
    const double* scores = nullptr;
    const double* common = nullptr;  // the indicator of a value, if there is one
    std::span<const ResidualTest::Polynomial> polynomials;
    // Of a category: codes by row, the levels that have indicators, and of each its share of all rows.
    const std::uint16_t* codes = nullptr;
    std::span<const std::uint32_t> levels;
    std::span<const std::uint16_t> indicator;  // by level, the number of its indicator; their count if it has none
    std::vector<double> shares;
};

// The rows of a table, or of a part of it, up to a whole block; roots of weights are 0 beyond the rows.
struct ScoredRows {
    std::size_t stride;
    const double* root_weights;
    const double* inverse_root_weights;
    double scale;  // of a number's scores, to mean square 1
};

// The scores that a column of a test has, powers up to a degree; none if it is constant but for a few rows.
std::vector<ColumnScore> scores_of(const ResidualTest& test, std::uint32_t column, std::size_t degree);
// The same of several columns, one after another.
std::vector<ColumnScore> scores_of(const ResidualTest& test, std::span<const std::uint32_t> columns, std::size_t degree,
                                   std::size_t threads, CancellationToken& token);
ScoreSource score_source(const ResidualTest& test, std::uint32_t column, std::size_t degree);

// The sums of the products of all scores with those that are not among the first `known`, row by row, of so many
// columns: out[i · fresh + j] is that of score i and score known + j. Columns of scores are positions in `sources`;
// throws std::invalid_argument if these lack some.
void score_products(const ScoredRows& rows, std::span<const ScoreSource> sources, std::span<const ColumnScore> scores,
                    std::size_t known, std::size_t threads, CancellationToken& token, double* out);
// The same of the rows of a test.
void score_products(const ResidualTest& test, std::span<const ColumnScore> scores, std::size_t known,
                    std::size_t threads, CancellationToken& token, double* out);

// A part of the rows of a larger table, in whose other rows its scores were made as well: sums of parts can be added.
class ScoredPart {
  public:
    explicit ScoredPart(std::size_t rows);

    std::size_t rows() const { return rows_; }
    // Columns are numbered in the order in which they are added. Scores of a number have mean square 1 over all rows of
    // the table; without a common value, its indicator is empty.
    void add_number(std::span<const double> scores, std::span<const double> common,
                    std::vector<ResidualTest::Polynomial> polynomials);
    // `levels` have indicators, and these shares of all rows of the table.
    void add_category(std::span<const std::uint16_t> codes, std::size_t all_levels, std::vector<std::uint32_t> levels,
                      std::vector<double> shares);
    void products(std::span<const ColumnScore> scores, std::size_t known, std::size_t threads, CancellationToken& token,
                  double* out) const;

  private:
    struct Column {
        std::vector<double> scores, common;  // up to a whole block, as the codes
        std::vector<ResidualTest::Polynomial> polynomials;
        std::vector<std::uint16_t> codes;
        std::vector<std::uint32_t> levels;
        std::vector<std::uint16_t> indicator;
        std::vector<double> shares;
    };

    std::size_t rows_, stride_;
    LineVector<double> ones_;  // up to the rows
    std::vector<Column> columns_;
};

}  // namespace serape
