// Searches the subsets of a pool for one whose partial correlation separates an x from the target.
//
// Subsets form a tree: a subset's parent is the subset without its last member. From the correlations given the parent,
// those given one more member follow by a sweep (a rank-one Schur update), so that a subset costs a few operations for
// each x. Rows of the matrix are swept only when somebody asks for them.
//
// Such correlations are known up to a bound that grows as the pivots shrink. Where a verdict or a comparison lies
// within the bound, and for every answer given, the correlation is computed from the columns (Projection). Answers are
// therefore those, bit for bit, of testing every subset by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "serape/gaussian_test.hpp"

namespace serape {

class GaussianSubsets {  // one per thread
  public:
    // What the question points to must outlive the search.
    GaussianSubsets(const GaussianTest& test, const SubsetQuestion& question);
    ~GaussianSubsets();

    // Searches for several x side by side. Subsets of the first `tried` members of the pool are known and left out; −1
    // for none; one number for each x.
    void operator()(std::span<const std::uint32_t> xs, std::span<const std::int64_t> tried, CancellationToken& token,
                    SubsetAnswer* answers);
    // Takes a variable out of the pool.
    void drop(std::uint32_t z);
    const Tally& tally() const { return tally_; }

  private:
    struct Level;
    struct Walk;
    struct Sweep;
    using Walks = std::vector<Walk*>;
    Level& level(std::size_t depth, std::size_t walks);
    void start(std::vector<Walk>& walks);
    double left_of_fixed(std::size_t variable, std::vector<double>& shares) const;
    const double* row(std::size_t depth, std::size_t member);
    Sweep sweep(const Level& from, std::size_t member) const;
    void descend(std::size_t depth, std::size_t member, const Sweep& by, const Walks& walks);
    void visit(Walks& walks, std::size_t depth, std::size_t from, std::size_t wanted);
    void examine(Walk& walk, const Level& at, const Sweep* by, std::size_t member);
    void decide(Walk& walk, double r, double bound, const Outcome* exact);
    Outcome exact(std::uint32_t x, std::span<const std::uint32_t> given);
    void keep(Walk& walk, double r, double bound, const Outcome* exact, bool separated);
    void settle(Walk& walk);
    void raise_bar(Walk& walk, double dof);
    void skip(const Walk& walk, std::size_t size);
    std::size_t live_place(std::uint32_t variable) const;
    std::vector<std::uint32_t> given() const;
    void poll_cancel();

    const GaussianTest& test_;
    const SubsetQuestion& question_;
    std::vector<std::uint32_t> members_;                        // of the pool, without the target and the fixed
    std::vector<std::int64_t> place_;                           // of members in the pool
    std::unordered_map<std::uint32_t, std::size_t> member_of_;  // by variable
    std::vector<std::size_t> live_;                             // members that have not left the pool, ascending
    std::vector<std::uint32_t> fixed_;                          // those that add something
    std::vector<std::vector<double>> fixed_shares_;             // Cholesky factor of the fixed
    std::vector<std::vector<double>> member_shares_;            // by fixed: what of each member it explains
    std::vector<std::unique_ptr<Level>> levels_;                // by depth
    std::optional<Projection> projection_;                      // the last one used
    std::vector<std::uint32_t> projected_;                      // its conditioning set
    Projection::Scratch scratch_;
    double dof_ = 0.0;  // of the sets at hand
    CorrelationRule::Bracket critical_{};
    std::vector<std::size_t> chosen_;  // members of the subset at hand
    CancellationToken* token_ = nullptr;
    std::size_t looked_ = 0;
    Tally tally_;
};

}  // namespace serape
