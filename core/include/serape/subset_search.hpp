// Searches the subsets of a pool for one that separates an x from the target.
//
// Subsets form a tree: a subset's parent is the subset without its last member. The cells of a subset are those of its
// parent, divided by one more variable. Several x are searched side by side, subset by subset, so that its cells are
// made once; where the x have to come one after another, the cells are kept for the next as long as memory allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "serape/contingency_test.hpp"
#include "serape/critical_values.hpp"
#include "serape/pair_counter.hpp"

namespace serape {

class SubsetSearch {  // one per thread
  public:
    // `xs` are those that may be asked about; what the question points to must outlive the search.
    SubsetSearch(const ContingencyTest& test, const SubsetQuestion& question, std::span<const std::uint32_t> xs);
    ~SubsetSearch();

    // Which members of the pool an x is tried with: all, those before it, or those after it (going on from an answer).
    enum class With { all, earlier, later };

    // Searches for several x side by side. Subsets of the first `tried` members of the pool are known and left out; −1
    // for none; one number for each x.
    void operator()(std::span<const std::uint32_t> xs, std::span<const std::int64_t> tried, CancellationToken& token,
                    SubsetAnswer* answers, With with = With::all);
    // Takes a variable out of the pool.
    void drop(std::uint32_t z);
    const Tally& tally() const { return tally_; }

  private:
    struct Node;
    struct Walk;
    using Walks = std::vector<Walk*>;
    std::size_t live_place(std::uint32_t z);  // in live_, or its size
    Node& child(Node& parent, std::size_t member, bool keep, std::unique_ptr<Node>& temporary);
    void visit(Walks& walks, Node& node, std::size_t from, std::size_t wanted, double strata, std::uint32_t last);
    double least(const Walk& walk, std::size_t wanted) const;
    void poll_cancel();  // now and then: is the work to stop?
    bool tried_with(const Walk& walk, std::uint32_t last) const;
    bool one_by_one() const { return question_.shrinking || question_.until_survivor; }
    void visit_pairs(Walks& walks, double strata);
    void pair_up(Walk& walk, double strata);
    std::int64_t irrelevant_for_any_dof(Walk& walk, std::size_t most_dof);
    void rank(Walk& walk);
    bool may_pair(const Walk& walk, double strata) const;
    double full_dof(const Walk& walk, double strata) const;
    bool examine(Walk& walk, Node& node, double strata);
    bool judge(Walk& walk, const Sum& sum, double strata);
    void skip(const Walk& walk, std::size_t from, std::size_t wanted, bool fresh);

    const ContingencyTest& test_;
    const SubsetQuestion& question_;
    CandidateKinds kinds_;
    CriticalValues critical_;
    std::unordered_map<std::uint32_t, std::uint32_t> place_;  // of a variable in the pool, once somebody asks
    std::size_t found_ = 0;                                   // place in live_ of the last one that was looked for
    std::vector<std::uint32_t> live_;  // places in the pool of those that have not left it, ascending
    std::vector<double> levels_;       // of the members of the pool, ascending
    std::vector<double> least_;        // by k, the least product of levels of k members of the pool
    std::unique_ptr<Node> root_;
    std::size_t bytes_ = 0;  // of nodes kept
    std::optional<CandidateCounter> counter_;
    bool by_pairs_ = false;  // whether sets of one member are gone through by pairs_
    std::optional<PairCounter> pairs_;
    std::vector<std::uint32_t> chosen_;  // places in the pool of the subset at hand
    CancellationToken* token_ = nullptr;
    With with_ = With::all;
    std::size_t looked_ = 0;
    Tally tally_;
};

}  // namespace serape
