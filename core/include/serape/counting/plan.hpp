// How the counts of a question are made, chosen from its shape alone.
//
//   panels   512 plane columns at a time, row by row: many candidates;
//   planes   AND and popcount of the candidate's bitsets with the cells': few levels, few cells;
//   scatter  one increment a row in a dense table: many cells;
//   sparse   cell by cell, keeping only the levels met: tables too large to be dense;
//   ones     only the rows in which a rare binary candidate is one.
//
// All make the same integers. `choose` is a pure function: it sees numbers, not tables, so its choices can be listed,
// tested and explained. Counters carry out the plan. It is made once a question; what depends on a candidate depends on
// its number of levels (and, for `ones`, on its number of ones).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "serape/aligned.hpp"
#include "serape/counting/costs.hpp"

namespace serape {

// `automatic` takes the cheapest. Any other is used for every candidate it can serve; the remaining candidates are
// counted as by `automatic`. Planes need at most `plane_levels` levels and `max_masks` cells, scatter a dense table,
// ones a binary candidate and a functional other than X².
enum class CountingStrategy : std::uint8_t { automatic, panels, planes, scatter, sparse, ones };

// What is made of the counts.
enum class FunctionalKind : std::uint8_t { g2, x2, likelihood, dirichlet, record };

// Whether strata of one cell add nothing.
constexpr bool skips_single_cells(FunctionalKind kind) {
    return kind != FunctionalKind::dirichlet && kind != FunctionalKind::record;
}

// A question in numbers.
struct Shape {
    FunctionalKind functional = FunctionalKind::g2;
    // The rows, divided into cells (levels of the target) within strata (of the conditioning set); what occurs counts.
    std::size_t rows = 0;
    std::size_t cells = 0;
    std::size_t varying = 0;  // cells in strata in which the target varies
    bool complete = true;     // whether every row is in a cell
    bool has_masks = false;   // what has been made of the cells already: bitsets, the cell of each row, rows by cell
    bool has_cell_of_row = false;
    bool has_rows = false;
    bool distinct_rows = false;  // whether rows stand for several: only row by row can they be counted
    // The candidates.
    std::size_t candidates = 0;
    std::uint32_t max_levels = 2;
    std::uint32_t levels_present = 0;  // a bit for each number of levels up to plane_levels, one beyond for more
    bool ones_are_few = false;         // whether lists of the table's ones take little room
    // For panels; without a sample they are not considered.
    bool ascending = false;                                // whether the candidates are in the table's order, each once
    std::size_t span = 0;                                  // columns from the first to the last
    std::array<std::uint32_t, plane_levels + 1> sample{};  // by number of levels, some candidates that have planes
    std::size_t largest = 0;                               // rows of the largest cell
    std::size_t idle = 0;                                  // rows of strata in which the target does not vary

    bool all_have_planes() const { return levels_present >> (plane_levels + 1) == 0; }
};

struct Plan {
    struct Choice {
        CountingStrategy strategy = CountingStrategy::sparse;
        double nanoseconds = std::numeric_limits<double>::infinity();  // a candidate, estimated
    };

    bool panels = false;  // whether panels count the candidates that have planes
    // What one candidate at a time needs.
    bool masks = false;  // bitsets of the cells
    bool cell_of_row = false;
    bool rows_by_cell = false;
    bool ones = false;      // lists of the table's ones
    bool skips = false;     // planes: strata of one cell are not counted
    bool by_rest = false;   // planes: the largest cell is what the others leave
    bool together = false;  // planes: several candidates side by side
    double ones_below = 0;  // a binary candidate of fewer ones is counted by them
    double one_by_one = 0;  // estimated nanoseconds of all candidates, from the sample
    double by_panels = 0;

    // For one number of levels.
    Choice of(std::uint32_t levels) const {
        if (levels <= plane_levels) {
            return by_levels[levels];
        }
        return levels <= scatter_levels ? Choice{CountingStrategy::scatter, scatter_start + scatter_level * levels}
                                        : Choice{CountingStrategy::sparse, sparse};
    }
    std::array<Choice, plane_levels + 1> by_levels{};
    std::uint32_t scatter_levels = 0;  // row by row, candidates of more levels are counted by `sparse`
    double scatter_start = 0.0;        // nanoseconds
    double scatter_level = 0.0;
    double sparse = 0.0;
};

// Tests in numbers, before anything is known of what occurs in the rows.
struct ExpectedTests {
    std::size_t rows = 0;
    bool distinct_rows = false;
    double tests = 0;
    double levels = 0;      // of a candidate, on average
    double cells = 0;       // the product of the levels of target and conditioning set
    double divisions = 0;   // of the rows into cells
    double divided_by = 0;  // variables in each of them
};
// Estimated nanoseconds.
double expected_cost(const ExpectedTests& expected, const Costs& costs);
// Of finding the distinct rows of columns whose codes have so many bits together.
double distinct_cost(std::size_t rows, std::size_t bits, const Costs& costs);

Plan choose(const Shape& shape, const Costs& costs, CountingStrategy wanted = CountingStrategy::automatic);

// Candidates of so many nanoseconds each that are handed to a thread at a time.
std::size_t candidates_per_piece(double nanoseconds, const Costs& costs);

// Whether the counts of each x with each member of a pool are made by PairCounter: only rows in which x is above level
// 0 are read, for 512 bits of the pool at once.
struct PairShape {
    std::size_t rows = 0;
    std::size_t cells = 0;
    bool complete = true;
    std::size_t xs = 0;
    std::uint32_t max_levels = 2;  // of the x
    std::size_t pool = 0;
    bool planes = true;  // whether all x and members have planes, and no member is constant
};
bool pairs_pay(const PairShape& shape, const Costs& costs);

// Whether a test of x is made by JointCounter, rather than by dividing cells and counting x in them.
struct JointShape {
    std::size_t rows = 0;
    double cells = 0;             // of the target and the conditioning set, all combinations
    std::uint32_t levels = 2;     // of x
    double sharing = 1;           // x that are tested in the same cells
    bool one_by_one = false;      // whether members are eliminated one by one
    bool all_have_planes = true;  // all x of the search; otherwise cells are made for rows too
};
bool joint_pays(const JointShape& shape, const Costs& costs);

}  // namespace serape
