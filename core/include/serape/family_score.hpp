// Scores of Bayesian-network families: a child and its parents.
//
// With N_jk the rows in which the parents have their j-th combination of levels and the child its k-th level, N_j their
// sum over k, N all rows, r the child's levels and q the product of the parents' levels,
//   loglik  Σ N_jk ln(N_jk / N_j);
//   bic     loglik − ½ ln(N) (r−1) q;
//   aic     loglik − (r−1) q;
//   bdeu    Σ_j [lnΓ(a_j) − lnΓ(N_j + a_j)] + Σ_jk [lnΓ(N_jk + a_jk) − lnΓ(a_jk)], a_jk = ess / (r q), a_j = ess / q;
//   k2      the same with a_jk = 1, a_j = r.
//
// Combinations that do not occur add nothing, so memory is bounded by the rows. Terms are rounded once to fixed point
// and added up as integers: a score has the same bits whatever the way of counting, the number of threads and the order
// of the parents. Of a Dirichlet term, ln a is taken out (lnΓ(n+a) − lnΓ(a) = ln a + lnΓ(n+a) − lnΓ(1+a) for n >= 1)
// and kept as a logarithm, so that a may be smaller than any double: what is left has a limit at a = 0. Where q is
// larger than any double, the penalties of bic and aic are infinite (unless r = 1 or, for bic, N = 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "serape/counting/count_table.hpp"
#include "serape/counting/plan.hpp"
#include "serape/gamma_table.hpp"
#include "serape/network_score.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/score_functional.hpp"

namespace serape {

enum class ScoreKind { loglik, bic, aic, bdeu, k2 };

// What makes a score of a family's sum: the same for any source of counts.
class ScoreRule {
  public:
    // `ess`, the equivalent sample size, is used by bdeu alone; positive and finite. `log` serves these rows.
    ScoreRule(ScoreKind kind, double ess, std::size_t rows, const LogTable& log);

    // What a score makes of numbers of levels alone.
    struct Constants {
        std::shared_ptr<const GammaTable> cell;  // of Dirichlet scores
        std::shared_ptr<const GammaTable> stratum;
        double log_a = 0.0;       // ln a_jk
        double log_levels = 0.0;  // ln a_j − ln a_jk
        double penalty = 0.0;
    };
    // No cell has more rows than `most_cell`, no stratum more than `most_stratum`.
    Constants constants(std::uint32_t child_levels, std::vector<std::uint32_t> parent_levels, std::size_t most_cell,
                        std::size_t most_stratum) const;
    double score(const Constants& constants, const FamilySum& sum) const;

    FunctionalKind kind() const { return dirichlet() ? FunctionalKind::dirichlet : FunctionalKind::likelihood; }
    template <class Functional>
    Functional functional(const Constants& constants) const {
        if constexpr (std::is_same_v<Functional, DirichletFunctional>) {
            return Functional(DirichletTerms{constants.cell->view(), constants.stratum->view()});
        } else {
            return Functional(LogTerms<LogTable>{&log_});
        }
    }
    // Calls `with` with the functional that adds up the family's terms.
    template <class With>
    FamilySum add_up(const Constants& constants, const With& with) const {
        return dirichlet() ? with(functional<DirichletFunctional>(constants))
                           : with(functional<LikelihoodFunctional>(constants));
    }

  private:
    bool dirichlet() const { return kind_ == ScoreKind::bdeu || kind_ == ScoreKind::k2; }
    std::shared_ptr<const GammaTable> gamma_table(double a, std::size_t most) const;

    ScoreKind kind_;
    double ess_;
    std::size_t rows_;
    const LogTable& log_;  // of likelihoods
    int shift_ = 0;        // of Dirichlet scores
    double unit_ = 0.0;    // what one of a sum is worth

    struct Known {
        std::mutex mutex;
        std::map<double, std::shared_ptr<const GammaTable>> tables;
        std::size_t bytes = 0;
    };
    std::unique_ptr<Known> known_;
};

class FamilyScore : public NetworkScore {
  public:
    FamilyScore(const PackedTable& table, ScoreKind kind, double ess);

    const PackedTable& table() const { return table_; }
    std::size_t columns() const override { return table_.columns(); }
    void verify(std::span<const std::uint32_t> columns) const override { table_.verify(columns); }

    // By candidate, the score of the child with the parents and that candidate. Cells are made once and counted against
    // every candidate. `strategy` forces how counts are made, for tests; panels serve no scores.
    void additions(std::size_t child, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> parents,
                   std::size_t threads, CancellationToken& token, double* out,
                   CountingStrategy strategy = CountingStrategy::automatic) const;

    void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads, CancellationToken& token,
                           double* out) const override;
    void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets, std::size_t threads,
                  CancellationToken& token, double* out) const override;
    double raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                   std::vector<Addition>& out) const override;

  private:
    void count_additions(Cells& cells, std::size_t child, std::span<const std::uint32_t> candidates,
                         std::span<const std::uint32_t> parents, std::size_t threads, CancellationToken& token,
                         double* out, CountingStrategy strategy) const;
    double score_of(const Cells& cells, std::size_t child, std::span<const std::uint32_t> parents) const;

    const PackedTable& table_;
    ScoreRule rule_;
};

// Scores of families whose counts were made elsewhere: the target is the child, the conditioning set its parents, and
// each candidate one more parent (of one level if there is none). Gives the same bits as FamilyScore.
class CountedScore {
  public:
    CountedScore(std::size_t rows, ScoreKind kind, double ess);
    // A score for each candidate.
    void scores(const CountTable& table, double* out) const;

  private:
    std::size_t rows_;
    LogTable log_;
    ScoreRule rule_;
};

}  // namespace serape
