// What makes an answer of a contingency table's sum: the same for any source of counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "serape/counting/count_table.hpp"
#include "serape/log_table.hpp"
#include "serape/outcome.hpp"
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

// Whether a table of these levels has rows enough to be tested.
bool enough_rows(const Rules& rules, std::size_t rows, double x_levels, double y_levels, double strata);

// What a sum says; performed whether reliable or not. `strata` is the product of the levels of the conditioning set.
Outcome outcome_of(const Rules& rules, const Statistic& statistic, std::size_t rows, std::uint32_t x_levels,
                   std::uint32_t y_levels, double strata, const Sum& sum);

// Tests whose counts were made elsewhere. Gives the same bits as ContingencyTest.
class CountedTest {
  public:
    CountedTest(std::size_t rows, Rules rules);

    // Each candidate against the target. Tests that are not reliable are not performed.
    void screen(const CountTable& table, Answers out) const;
    // One candidate, performed whether reliable or not.
    Outcome test(const CountTable& table, std::size_t candidate) const;

  private:
    Sum sum(const CountTable& table, std::size_t candidate) const;

    std::size_t rows_;
    Rules rules_;
    LogTable log_;
    Statistic statistic_;
};

}  // namespace serape
