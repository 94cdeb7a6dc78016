// Scores of linear Gaussian families, from the correlations of columns.
//
// A family needs two numbers: which share of the child's variance its parents leave, and the determinant of the
// parents' correlations. Both come from a Cholesky factor of these correlations. With one more parent they follow from
// the shares of that parent in the basis of the others, so that all candidates for it are scored together.
//
// - BIC: −N/2 ln(2πe · the variance that is left) − ½ ln(N) (parents + 2) − what each parent costs besides.
// - BGe, the marginal likelihood of Geiger and Heckerman (Annals of Statistics 2002), as corrected by Kuipers, Moffa
//   and Heckerman (Annals of Statistics 2014). The prior has the sample means with weight 1, variables + 2 degrees of
//   freedom, and ½ on the diagonal of its matrix.
//
// A parent of which the others leave less than 1e-10 of its variance adds nothing, and no family leaves less than that
// of its child. By BIC, parents explain nothing if there are more parameters than rows.
//
// Scores are rounded to multiples of a power of two, about 1e-10 · N, so that sums and differences of them are exact
// and what is equal by theory is equal but in rare cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/gaussian_test.hpp"
#include "serape/network_score.hpp"
#include "serape/parallel.hpp"

namespace serape {

enum class GaussianScoreKind { bic, bge };

class GaussianScore : public NetworkScore {
  public:
    // `log_variance` by column. `cost` of each parent is in addition to BIC's own.
    GaussianScore(const GaussianTest& columns, GaussianScoreKind kind, std::vector<double> log_variance, double cost);

    std::size_t columns() const override { return columns_.columns(); }
    double unit() const { return unit_; }  // of which all scores are multiples

    void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token,
                           double* out) const override;
    void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets, std::size_t threads,
                  CancellationToken& token, double* out) const override;
    double family(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token) const override;
    void removals(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token,
                  double* out) const override;
    double raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                   std::vector<Addition>& out) const override;

  private:
    // Members of a set and a child, each as its shares in a basis of those before.
    struct Basis {
        std::vector<std::uint32_t> members;  // that the others do not determine
        std::vector<double> factor;          // lower half, row by row; the last row belongs to the child
        std::size_t parents;                 // all of them
        double left;                         // of the child
        double log_determinant;              // of the parents' sums of products
    };
    struct PickScratch {  // one per thread
        std::vector<const double*> rows;
        std::vector<double> factor;
        std::vector<double> inverse;
        LineVector<double> values;
        std::vector<double> excess;
        std::vector<std::uint32_t> picked;
    };
    // A score is `constant` − `of_left` · ln(left) − `of_determinant` · ln(determinant), by the number of parents.
    struct Terms {
        double constant;
        double of_left;
        double of_determinant;
    };

    Basis basis(std::size_t child, std::span<const std::uint32_t> parents) const;
    double of_basis(const Basis& basis, std::size_t child) const;
    void make_rows(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token) const;
    template <class Each>
    void with_each(const Basis& basis, std::size_t child, std::span<const std::uint32_t> candidates,
                   Projection::Scratch& scratch, const Each& each) const;
    template <class Each>
    static void invert(const Basis& basis, const Each& each);
    bool pick(const Basis& basis, const AdditionQuery& query, double most_left, PickScratch& scratch) const;
    double with_one_more(const Basis& basis, const Terms& terms, std::size_t child, std::uint32_t candidate,
                         double of_child, double of_candidate) const;
    void add_each(const Basis& basis, std::size_t child, std::span<const std::uint32_t> candidates,
                  Projection::Scratch& scratch, double* out) const;
    double correlation(std::size_t a, std::size_t b) const {
        return shrink_.empty() ? columns_.correlation(a, b) : shrink_[a] * shrink_[b] * columns_.correlation(a, b);
    }
    double log_scale(std::size_t column) const;
    Terms terms(std::size_t parents) const;
    double unrounded(std::size_t child, const Terms& terms, double left, double log_determinant) const;
    double score(std::size_t child, const Terms& terms, double left, double log_determinant) const;
    double rounded(double value) const;

    const GaussianTest& columns_;
    GaussianScoreKind kind_;
    double rows_;  // that the data are worth
    double cost_;
    double unit_;
    std::vector<double> of_column_;  // of BIC, the score with no parents; of BGe, ln(sum of squares and prior)
    std::vector<double> shrink_;     // of BGe, by column: what the prior leaves of a correlation, for each of the two
};

}  // namespace serape
