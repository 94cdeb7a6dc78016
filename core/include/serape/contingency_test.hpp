// Conditional independence in contingency tables: one question or many at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "serape/counting/candidate_counter.hpp"
#include "serape/outcome.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/statistic.hpp"
#include "serape/subset_query.hpp"
#include "serape/tally.hpp"
#include "serape/test_rules.hpp"

namespace serape {

// Candidates and the conditioning set they are tested with.
struct Group {
    std::vector<std::uint32_t> candidates;
    std::vector<std::uint32_t> given;
};

// Groups that are asked about again and again. Many candidates are kept together in a table of their own, so that
// panels hold no other columns.
class CandidateGroups {
  public:
    static constexpr std::size_t many = default_costs.min_candidates_for_own_table;

    CandidateGroups(const PackedTable& table, std::vector<Group> all);
    const std::vector<Group>& all() const { return all_; }
    std::size_t size() const { return places_.size(); }  // candidates
    const PackedTable& table() const { return table_; }
    bool has_own_table() const { return own() != nullptr; }
    // Tells that so many screens of these candidates follow, perhaps on several threads: once that pays, they get a
    // table of their own, in which panels hold no other column.
    void expect(std::size_t screens, std::size_t threads) const;

  private:
    friend class ContingencyTest;
    const PackedTable* own() const { return own_.load(std::memory_order_acquire); }  // their own table, or null

    const PackedTable& table_;
    std::vector<Group> all_;
    std::vector<std::uint32_t> places_;  // of the candidates, one group after another, in a table of their own
    mutable std::mutex mutex_;
    mutable double passed_over_ = 0.0;  // columns of the table that screens so far have passed over
    mutable std::unique_ptr<const PackedTable> made_;
    mutable std::atomic<const PackedTable*> own_{nullptr};
};

class ContingencyTest {
  public:
    ContingencyTest(const PackedTable& table, Rules rules);

    const PackedTable& table() const { return table_; }
    const Rules& rules() const { return rules_; }
    double full_dof(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const;

    // One test, performed whether reliable or not.
    Outcome test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const;

    // One conditioning set, many candidates. `strategy` forces how counts are made, for tests.
    void screen(std::size_t target, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                std::size_t threads, CancellationToken& token, Answers out,
                CountingStrategy strategy = CountingStrategy::automatic) const;
    // How the candidates of such a screen are counted.
    std::vector<CountingStrategy> strategies(std::size_t target, std::span<const std::uint32_t> candidates,
                                             std::span<const std::uint32_t> given,
                                             CountingStrategy strategy = CountingStrategy::automatic) const;
    // As above, of some of the candidates of groups, all in the table's order, which is quicker if these have a table
    // of their own.
    void screen_among(std::size_t target, const CandidateGroups& groups, std::span<const std::uint32_t> candidates,
                      std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                      Answers out) const;

    // As above, of candidates that are columns of another table of the same rows.
    void screen_in(const PackedTable& source, std::size_t target, std::span<const std::uint32_t> candidates,
                   std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                   Answers out) const;

    // The candidates of several groups, each given its group's set and `also`; groups with `also` in their set are left
    // out. Answers are written one after another; `xs` gets the candidates, the tally their number.
    Tally screens(std::size_t target, const CandidateGroups& groups, std::uint32_t also, std::size_t threads,
                  CancellationToken& token, Answers out, std::vector<std::uint32_t>& xs) const;

    // Each target against all columns given nothing, row by row; a pair of targets is tested once. What is not tested
    // (a target against itself) is not reliable.
    void marginals(std::span<const std::uint32_t> targets, std::size_t threads, CancellationToken& token,
                   Answers out) const;

    // Tests the candidates in order until one is dependent (log p <= log_alpha); returns how many were asked.
    std::size_t first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, double log_alpha, CancellationToken& token,
                                Answers out) const;

    SubsetAnswers search_subsets(const SubsetQuery& query, std::size_t threads, CancellationToken& token) const;
    GrownPool grow_pool(const SubsetQuery& query, bool examine, std::uint64_t enough, CancellationToken& token) const;

    // Tests each x given the rest of the query's pool; a separated x leaves the pool for those after it.
    SubsetAnswers test_each_given_rest(const SubsetQuery& query, CancellationToken& token) const;

  private:
    friend class CountEvaluator;
    class Screen;
    void screen_in_order(std::size_t target, std::span<const std::uint32_t> candidates,
                         std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                         Answers out) const;
    // The distinct rows of the table if these candidates are counted faster in them; else null.
    const PackedTable* distinct_for(std::size_t target, std::span<const std::uint32_t> candidates,
                                    std::span<const std::uint32_t> given) const;
    // As test_each_given_rest, in the distinct rows of the variables concerned; nothing if these do not pay.
    std::optional<SubsetAnswers> test_in_distinct(const SubsetQuery& query, CancellationToken& token) const;
    double strata_product(std::span<const std::uint32_t> given) const;
    bool enough_rows(double x_levels, double y_levels, double strata) const;
    Outcome outcome(std::size_t x, std::size_t y, double strata, const Sum& sum) const;

    const PackedTable& table_;
    Rules rules_;
    Statistic statistic_;
};

}  // namespace serape
