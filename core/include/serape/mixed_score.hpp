// Conditional Gaussian scores of families of categories and numbers.
//
// Andrews, Ramsey and Cooper, International Journal of Data Science and Analytics 2018. A set of variables has a score:
// the likelihood of its categories, whose joint values divide the rows into cells, plus that of its numbers, which are
// jointly normal in each cell, less ½ ln(N) for each parameter. The score of a family is that of the child and its
// parents less that of the parents. So equivalent graphs have the same score.
//
// The covariance matrix of n rows of a cell is (S + V) / (n + 1), where S are the sums of products of deviations and V
// the variances of all rows: as if there were one more row. In large cells this changes the score by O(1 / n); in small
// ones it keeps the likelihood finite.
//
// Scores are rounded as those of GaussianScore.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "serape/gaussian_test.hpp"
#include "serape/network_score.hpp"
#include "serape/parallel.hpp"

namespace serape {

class MixedScore : public NetworkScore {
  public:
    // Of numbers, `log_variance` by column; `cost` of each parent is in addition to BIC's own.
    MixedScore(const GaussianTest& numbers, std::vector<double> log_variance, double cost);

    // Adds a variable: a category, or the next of the numbers.
    void add_category(std::span<const std::uint16_t> codes, std::uint32_t levels);
    void add_number();

    std::size_t rows() const { return rows_; }
    std::size_t columns() const override { return variables_.size(); }
    double unit() const { return unit_; }  // of which all scores are multiples

    void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token,
                           double* out) const override;
    void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets, std::size_t threads,
                  CancellationToken& token, double* out) const override;

  private:
    struct Variable {
        std::uint32_t levels;  // 0 of a number
        std::uint32_t place;   // among the categories or the numbers
    };
    struct Scratch {
        std::vector<std::uint32_t> cell;   // by row
        std::vector<std::uint32_t> begin;  // by cell: its first place among the rows in order
        std::vector<std::uint32_t> order;  // the rows, cell by cell
        std::vector<std::uint32_t> code;   // by product of codes: the cell
        std::vector<double> products;
        std::vector<double> means;
    };
    using Set = std::vector<std::uint32_t>;
    struct Hash {
        std::size_t operator()(const Set& set) const;
    };

    double scored(std::uint32_t child, const Set& parents, Scratch& scratch) const;
    double set_score(const Set& set, Scratch& scratch) const;
    double computed(const Set& set, Scratch& scratch) const;
    void divide(std::span<const std::uint32_t> categories, Scratch& scratch) const;
    std::size_t refine(const std::vector<std::uint16_t>& codes, std::size_t cells, std::uint32_t levels,
                       Scratch& scratch) const;
    double normal(std::span<const std::uint32_t> numbers, Scratch& scratch) const;
    void load_products(std::span<const std::uint32_t> numbers, std::span<const std::uint32_t> rows,
                       Scratch& scratch) const;

    const GaussianTest& numbers_;
    std::size_t rows_;
    double per_parameter_;
    double cost_;
    double unit_;
    std::vector<double> log_variance_;
    std::vector<Variable> variables_;
    std::vector<std::vector<std::uint16_t>> codes_;
    std::uint32_t count_numbers_ = 0;

    struct Known {
        std::mutex mutex;
        std::unordered_map<Set, double, Hash> scores;
    };
    std::unique_ptr<Known> known_ = std::make_unique<Known>();
};

}  // namespace serape
