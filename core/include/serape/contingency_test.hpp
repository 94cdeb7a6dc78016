// Conditional independence in contingency tables: one question or many at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serape/candidate_counter.hpp"
#include "serape/packed_table.hpp"
#include "serape/parallel.hpp"
#include "serape/statistic.hpp"

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

// How many tests gave a verdict and how many were passed over as unreliable, by size of the conditioning set.
// Numbers stop at 2^63 rather than wrap.
struct Tally {
    std::vector<std::uint64_t> tests;
    std::vector<std::uint64_t> skipped;
    void add_test(std::size_t size, std::uint64_t count = 1) { add(tests, size, count); }
    void add_skip(std::size_t size, std::uint64_t count = 1) { add(skipped, size, count); }
    void merge(const Tally& other);

  private:
    static void add(std::vector<std::uint64_t>& to, std::size_t size, std::uint64_t count);
};

// Where a batch of answers goes; all arrays as long as the batch. An unreliable test is not performed: its statistic
// is NaN.
struct Answers {
    double* statistic;
    double* dof;
    std::uint8_t* reliable;
};

// One answer of a search through conditioning sets.
struct SubsetAnswer {
    Outcome outcome{};                 // of the weakest association met, or of the separating test
    std::vector<std::uint32_t> given;  // its conditioning set
    bool separated = false;
    Tally tally;
};

struct SubsetQuestion {
    std::size_t target = 0;
    std::span<const std::uint32_t> pool;  // conditioning sets are subsets of the pool without x, in its order
    std::size_t smallest = 0;             // sizes of the sets tried, smallest first
    std::size_t largest = 0;
    std::optional<std::uint32_t> must_include;  // a member of the pool that every set has
    std::optional<double> stop_above;           // stop at the first reliable test with log p above this
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
                std::size_t threads, Control& control, Answers out, Way way = Way::automatic,
                bool force_panels = false) const;

    // Tests the candidates in order until one is dependent (log p <= log_alpha); returns how many were asked.
    std::size_t first_dependent(std::size_t target, std::span<const std::uint32_t> candidates,
                                std::span<const std::uint32_t> given, double log_alpha, Control& control,
                                Answers out) const;

    // One target, one or many x: the weakest association, or the first separation, over subsets of a pool.
    std::vector<SubsetAnswer> search_subsets(std::span<const std::uint32_t> xs, const SubsetQuestion& question,
                                             std::size_t threads, Control& control) const;

  private:
    double strata_product(std::span<const std::uint32_t> given) const;
    bool enough_rows(double x_levels, double y_levels, double strata) const;
    Outcome outcome(std::size_t x, std::size_t y, double strata, const Sum& sum) const;
    SubsetAnswer search_subsets(std::uint32_t x, const SubsetQuestion& question, Control& control) const;

    const PackedTable& table_;
    Rules rules_;
    Statistic statistic_;
};

}  // namespace serape
