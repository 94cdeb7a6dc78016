// The dependent and the strongest variables of a batch of answers; lists of columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "serape/subset_query.hpp"

namespace serape {

struct Strongest {
    std::vector<std::size_t> ties;  // positions of the strongest reliable answers: one, unless several tie exactly
    double log_p;
};

// Strongest by log p, then by statistic. The tail probability is computed once per number of degrees of freedom only:
// among answers of the same dof the larger statistic is the stronger.
Strongest strongest(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable);

// The indices of answers that show dependence (log p <= log_alpha), and of those that show independence.
struct Partition {
    std::vector<std::int64_t> dependent;
    std::vector<std::int64_t> independent;
};
Partition partition(std::span<const double> statistic, std::span<const double> dof,
                    std::span<const std::uint8_t> reliable, double log_alpha);

// Those of the columns `xs` whose answers show dependence, the strongest first, ties by column; and, if they are
// wanted, those whose answers show independence, in their order.
struct RankedSplit {
    std::vector<std::uint32_t> dependent;
    std::vector<std::uint32_t> independent;
};
RankedSplit ranked_split(std::span<const std::uint32_t> xs, std::span<const double> statistic,
                         std::span<const double> dof, std::span<const std::uint8_t> reliable, double log_alpha,
                         bool with_independent);

// The weakest associations known of some x; of each, in which batch of answers it is, and where.
struct MinAssociations {
    double* statistic;
    double* dof;
    double* log_p;
    std::int64_t* batch;
    std::int64_t* index;
};

// The indices of some answers from the strongest to the weakest: by log p, then by statistic, then in their order.
std::vector<std::int64_t> ranked(std::span<const double> statistic, std::span<const double> dof,
                                 std::span<const std::int64_t> indices);

// Columns by the answers about them, from the strongest to the weakest; ties by column.
std::vector<std::uint32_t> ranked_columns(std::span<const std::uint32_t> xs, std::span<const double> statistic,
                                          std::span<const double> dof);

// The first of some columns, in ascending order, that is named twice.
std::optional<std::uint32_t> named_twice(std::span<const std::uint32_t> columns);

// The indices of the lowest log p; of several, those of the largest statistic.
std::vector<std::size_t> lowest(std::span<const double> log_p, std::span<const double> statistic);

// A bit for each column up to the last, set where it is named, the lowest first.
std::string bits_of(std::span<const std::uint32_t> columns);

// The columns up to the last that are not named; the named ones must be ascending.
std::vector<std::uint32_t> gaps(std::span<const std::uint32_t> columns);

// The columns that are not excluded, in their order; `ascending` says that they are in ascending order.
std::vector<std::uint32_t> without(std::span<const std::uint32_t> columns, std::vector<std::uint32_t> excluded,
                                   bool ascending);

}  // namespace serape
