// A decomposable score of Bayesian networks: the sum of the scores of families, each a child with its parents.
//
// Searches ask for the families of one child that differ by one parent, and a score answers these together. A question
// has the same bits however many threads answer it and whatever is asked beside it.
//
// The variables are columns. Const methods may be called by several threads at once, unless `for_one_thread` says no.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serape/parallel.hpp"

namespace serape {

// Candidates for one more parent of a child, beside the parents it has.
struct AdditionQuery {
    std::uint32_t child;
    std::span<const std::uint32_t> candidates;
    std::span<const std::uint32_t> parents;
};

// A further parent, and the score with it.
struct Addition {
    std::uint32_t variable;
    double score;
};

// A set without one of its members.
std::vector<std::uint32_t> without(std::span<const std::uint32_t> set, std::uint32_t member);

class NetworkScore {
  public:
    NetworkScore() = default;
    NetworkScore(const NetworkScore&) = delete;
    NetworkScore& operator=(const NetworkScore&) = delete;
    virtual ~NetworkScore() = default;

    virtual std::size_t columns() const = 0;
    // To be called before columns that are read from a file are asked about.
    virtual void verify(std::span<const std::uint32_t> columns) const;
    // Whether calls have to follow one another, on one thread.
    virtual bool for_one_thread() const { return false; }

    // By candidate, the score of the child with the parents and that candidate; of many queries, one after another in
    // `out`. Threads share the queries, or the candidates of one.
    virtual void additions_of_many(std::span<const AdditionQuery> queries, std::size_t threads,
                                   CancellationToken& token, double* out) const = 0;

    // The scores of the child with each of several sets of parents.
    virtual void families(std::uint32_t child, std::span<const std::vector<std::uint32_t>> parent_sets,
                          std::size_t threads, CancellationToken& token, double* out) const = 0;

    // The score of the child with the parents: the bits of `families`.
    virtual double family(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token) const;

    // By parent, the score of the child without that one: the bits of `families`.
    virtual void removals(std::uint32_t child, std::span<const std::uint32_t> parents, CancellationToken& token,
                          double* out) const;

    // Appends the candidates that raise the score of the family by more than `least`, in their order, with the bits of
    // `additions_of_many`; returns the score of the family. A score may pass over candidates that cannot raise it.
    virtual double raising(const AdditionQuery& query, double least, std::size_t threads, CancellationToken& token,
                           std::vector<Addition>& out) const;
};

// Another score with its variables in another order: column k is column order[k] of the other.
class PermutedScore : public NetworkScore {
  public:
    // `order` names every column of the other once.
    PermutedScore(const NetworkScore& score, std::vector<std::uint32_t> order);

    std::size_t columns() const override { return order_.size(); }
    void verify(std::span<const std::uint32_t> columns) const override { score_.verify(permuted(columns)); }
    bool for_one_thread() const override { return score_.for_one_thread(); }
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
    std::vector<std::uint32_t> permuted(std::span<const std::uint32_t> columns) const;

    const NetworkScore& score_;
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> place_;  // by column of the other
};

}  // namespace serape
