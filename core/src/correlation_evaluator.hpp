// Evaluates conditioning sets by partial correlations, for SubsetDriver.
//
// From the correlations given a subset, those given one more member follow by a sweep (a rank-one Schur update), so
// that a subset costs a few operations for each x. Rows of the matrix are swept only when they are needed.
//
// Such correlations are known up to a bound that grows as the pivots shrink. Where a verdict or a comparison lies
// within the bound, and for every answer given, the correlation is computed by itself (Projection). Answers are
// therefore those, bit for bit, of testing every subset by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "serape/gaussian_test.hpp"
#include "serape/subset_driver.hpp"

namespace serape {

class CorrelationEvaluator {
  public:
    // What is remembered of one x.
    struct Walk : SubsetWalk {
        bool settled = false;  // whether best->outcome is computed
        double r = 0.0;        // of the best, within a bound
        double bound = 0.0;
        double dof = 0.0;
        // At present degrees of freedom: correlations below the first are weaker than the best for certain, those above
        // the second are not.
        double weaker_below = 0.0;
        double weaker_above = 0.0;
    };
    using Walks = std::vector<Walk*>;
    // Conditioning on one more member.
    struct Sweep {
        double certain;  // as in Level
        double inverse;  // of the pivot; 0 if the member adds nothing
        double target;   // covariance with the target, times the inverse
        double target_left;
    };
    struct Node {
        std::size_t depth;
        std::uint32_t member = 0;  // swept besides, if there is a sweep
        std::optional<Sweep> sweep = {};
    };
    static constexpr bool resumable = false;
    static constexpr std::size_t poll_every = 64;
    static constexpr std::uint64_t few_questions = 16384;

    CorrelationEvaluator(const GaussianTest& test, SubsetState& state);
    ~CorrelationEvaluator();

    void start(std::vector<Walk>& walks);
    void start_size(Walks& walks, std::size_t size);
    bool visit_singles(const Walks&) { return false; }
    Node root() const { return {0}; }
    Node child(const Node& node, std::uint32_t member, const Walks& walks);
    Node leaf(const Node& node, std::uint32_t member, const Walks&) const;
    bool may_test(const Walk& walk, const Node&, std::size_t) const { return testable_ && test_.varies(walk.x); }
    bool examine(Walk& walk, const Node& node);
    void finish(Walk& walk) { settle(walk); }
    void pool_changed();  // nothing is fixed

  private:
    struct Level;
    Level& level(std::size_t depth, std::size_t walks);
    double left_of_fixed(std::size_t variable, std::vector<double>& shares) const;
    const double* row(std::size_t depth, std::size_t member);
    double with_member(const Walk& walk, std::size_t member);
    Sweep sweep(const Level& from, std::size_t member) const;
    void decide(Walk& walk, double r, double bound, const Outcome* exact);
    Outcome exact(std::uint32_t x, std::span<const std::uint32_t> given);
    void keep(Walk& walk, double r, double bound, const Outcome* exact, bool separated);
    void settle(Walk& walk);
    void raise_bar(Walk& walk);
    CorrelationRule::Bracket critical(std::size_t size);

    const GaussianTest& test_;
    SubsetState& state_;
    std::vector<std::uint32_t> fixed_;                // those that add something
    std::vector<std::vector<double>> fixed_shares_;   // Cholesky factor of the fixed
    std::vector<std::vector<double>> member_shares_;  // by fixed: the part of each member that it explains
    std::vector<std::unique_ptr<Level>> levels_;      // by depth
    std::optional<Projection> projection_;            // the last one used
    std::vector<std::uint32_t> projected_;            // its conditioning set
    Projection::Scratch scratch_;
    bool testable_ = false;  // whether sets of the present size can be reliable
    double dof_ = 0.0;       // of sets of the present size
    CorrelationRule::Bracket critical_{};
    std::vector<std::optional<CorrelationRule::Bracket>> criticals_;  // by size
};

}  // namespace serape
