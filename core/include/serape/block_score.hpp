// The score of families whose columns are blocks of scores, from the Gram matrix of these.
//
// A set of columns is worth the Gaussian likelihood of all its scores, −N/2 ln det of their Gram matrix, less a cost
// for each pair of its columns: what one product of scores costs, times the products of the two, and what a parent
// costs. A family is worth the set of child and parents, less the set of the parents, and less what the child is worth
// alone. So Markov-equivalent graphs have the same score, and the graph without arcs has 0.
//
// A small number is added to the diagonal: copies and sums of columns then have a determinant. A family of more scores
// than a fifth of the rows is worth its costs alone, as if its parents explained nothing.
//
// Scores are rounded to multiples of a power of two, as those of GaussianScore are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/aligned.hpp"
#include "serape/network_score.hpp"
#include "serape/parallel.hpp"

namespace serape {

class BlockScore : public NetworkScore {
  public:
    // `gram`: row by row, the means of the products of scores, which is not copied. `begins`: the first score of each
    // column, and their number.
    BlockScore(std::span<const double> gram, std::vector<std::uint32_t> begins, double rows, double cost_of_product,
               double cost_of_parent);

    std::size_t columns() const override { return begins_.size() - 1; }
    double unit() const { return unit_; }  // of which all scores are multiples

    void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token,
                           double* out) const override;
    void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets, std::size_t threads,
                  CancellationToken& token, double* out) const override;
    double raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                   std::vector<Addition>& out) const override;

  private:
    // The Cholesky factor of the scores of some columns, the last ones those of the child.
    struct Basis {
        std::vector<std::uint32_t> scores;  // of the parents
        std::vector<double> factor;         // lower half, row by row
        double log_left;                    // determinant of what the parents leave of the child, in logarithms
        double cost;
    };
    struct Scratch;

    std::size_t width(std::size_t column) const { return begins_[column + 1] - begins_[column]; }
    double at(std::size_t a, std::size_t b) const { return gram_[a * size_ + b] + (a == b ? ridge : 0.0); }
    double cost(std::uint32_t child, std::uint32_t parent) const;
    Basis basis(std::uint32_t child, std::span<const std::uint32_t> parents) const;
    template <class Part>
    void each_together(std::span<const std::uint32_t> candidates, const Part& part) const;
    template <class Each>
    void add_each(const Basis& basis, std::uint32_t child, std::span<const std::uint32_t> candidates, double floor,
                  Scratch& scratch, const Each& each) const;
    double rounded(double value) const;
    double score(std::uint32_t child, double log_left, double cost, std::size_t scores) const;

    static constexpr double ridge = 1.0 / (1 << 20);

    std::span<const double> gram_;
    std::vector<std::uint32_t> begins_;
    std::size_t size_;  // of the matrix
    double rows_;
    double cost_of_product_, cost_of_parent_;
    double unit_;
    std::vector<double> log_alone_;  // determinant by column, in logarithms
};

}  // namespace serape
