// Conditional independence in contingency tables: one question or many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "serape/candidate_counter.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/statistic.hpp"
#include "serape/tally.hpp"

namespace serape {

enum class DofRule { full, adjusted };
enum class Reliability { none, dof, cells };

struct Rules {
    StatisticKind statistic = StatisticKind::g2;
    DofRule dof = DofRule::full;
    Reliability reliability = Reliability::dof;
    double minimum = 5.0;  // rows for each degree of freedom, or for each cell
};

struct Outcome {
    double statistic;
    double dof;
    double log_p;
    bool reliable;
};

// Whether an association is weaker than another: by log p, then by statistic.
inline bool weaker(const Outcome& outcome, const Outcome& than) {
    if (outcome.dof == than.dof) {
        return outcome.statistic < than.statistic;
    }
    return outcome.log_p > than.log_p || (outcome.log_p == than.log_p && outcome.statistic < than.statistic);
}

// Where a batch of answers goes; all arrays as long as the batch. An unreliable test is not performed: its statistic
// is NaN.
struct Answers {
    double* statistic;
    double* dof;
    std::uint8_t* reliable;
};

// One answer of a search through conditioning sets.
struct SubsetAnswer {
    Outcome outcome{};                 // of the separating test, or else of the weakest association met
    std::vector<std::uint32_t> given;  // its conditioning set
    bool separated = false;
};

struct SubsetAnswers {
    std::vector<SubsetAnswer> answers;  // of the x that were asked about
    Tally tally;
};

// Conditioning sets are the fixed members and a subset of the pool without x: smaller subsets first, those of one size
// in the order of the pool.
struct SubsetQuestion {
    std::size_t target = 0;
    std::span<const std::uint32_t> pool;
    std::span<const std::uint32_t> fixed;
    std::size_t smallest = 0;  // sizes of the subsets
    std::size_t largest = 0;
    std::size_t most = std::numeric_limits<std::size_t>::max();  // sets of more members are skipped
    // By x (or one number for all): subsets of so many first members of the pool are known, and left out; −1 for none,
    // 0 for the empty one. No number: none.
    std::span<const std::int64_t> tried;
    std::optional<double> stop_above;  // an x is separated by the first reliable test with log p above this
    bool shrinking = false;            // an x that is separated leaves the pool for those after it
    bool until_survivor = false;       // stop after the first x that nothing separates
};

// Candidates and the conditioning set they are tested with.
struct Group {
    std::vector<std::uint32_t> candidates;
    std::vector<std::uint32_t> given;
};

// Groups that are asked about again and again. Many candidates are kept together in a table of their own, so that
// panels hold nobody else.
class Groups {
  public:
    static constexpr std::size_t many = 2048;  // candidates for which a table of their own pays

    Groups(const PackedTable& table, std::vector<Group> all);
    const std::vector<Group>& all() const { return all_; }
    std::size_t size() const { return places_.size(); }  // candidates
    const PackedTable& table() const { return table_; }

  private:
    friend class ContingencyTest;
    const PackedTable* own() const;  // their own table, made on first call; null if they are few

    const PackedTable& table_;
    std::vector<Group> all_;
    std::vector<std::uint32_t> places_;  // of the candidates, one group after another, in a table of their own
    mutable std::once_flag once_;
    mutable std::unique_ptr<const PackedTable> own_;
};

class ContingencyTest {
  public:
    ContingencyTest(const PackedTable& table, Rules rules);

    const PackedTable& table() const { return table_; }
    const Rules& rules() const { return rules_; }
    double full_dof(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const;

    // One test, performed whether reliable or not.
    Outcome test(std::size_t x, std::size_t y, std::span<const std::uint32_t> given) const;

    // One conditioning set, many candidates. `way` forces a way of counting (for tests); panels are used by themselves
    // where they are faster, unless a way is forced.
    void screen(std::size_t target, std::span<const std::uint32_t> candidates, std::span<const std::uint32_t> given,
                std::size_t threads, CancellationToken& token, Answers out, Way way = Way::automatic,
                bool force_panels = false) const;
    // As above, of some of the candidates of groups, all in the table's order, which is quicker if these have a table
    // of their own.
    void screen_among(std::size_t target, const Groups& groups, std::span<const std::uint32_t> candidates,
                      std::span<const std::uint32_t> given, std::size_t threads, CancellationToken& token,
                      Answers out) const;

    // The candidates of several groups, each given its group's set and `also`; groups with `also` in their set are left
    // out. Answers are written one after another; `xs` gets who they are of, and the tally how many there are.
    Tally screens(std::size_t target, const Groups& groups, std::uint32_t also, std::size_t threads,
                  CancellationToken& token, Answers out, std::vector<std::uint32_t>& xs) const;

    // Each target against all columns given nothing, row by row; a pair of targets is tested once. What is not tested
    // (a target against itself) is not reliable.
    void marginals(std::span<const std::uint32_t> targets, std::size_t threads, CancellationToken& token,
                   Answers out) const;

    // Tests the candidates in order until one is dependent (log p <= log_alpha); returns how many were asked.
    std::size_t first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, double log_alpha, CancellationToken& token,
                                Answers out) const;

    // One target, one or many x: the first separation, or else the weakest association, over subsets of a pool.
    SubsetAnswers search_subsets(std::span<const std::uint32_t> xs, const SubsetQuestion& question, std::size_t threads,
                                 CancellationToken& token) const;

    // Each x given the rest of the question's pool; who is separated leaves the pool for those after it.
    SubsetAnswers sweep(std::span<const std::uint32_t> xs, const SubsetQuestion& question,
                        CancellationToken& token) const;

  private:
    friend class SubsetSearch;
    class Screen;
    double strata_product(std::span<const std::uint32_t> given) const;
    bool enough_rows(double x_levels, double y_levels, double strata) const;
    Outcome outcome(std::size_t x, std::size_t y, double strata, const Sum& sum) const;

    const PackedTable& table_;
    Rules rules_;
    Statistic statistic_;
};

}  // namespace serape
