// The order in which all pairs are gone through, and the sum of one pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "serape/all_pairs.hpp"
#include "serape/copies.hpp"
#include "serape/kernels.hpp"
#include "serape/log_table.hpp"

namespace serape::pairs {

// Columns of as many ones and as many copies.
struct Group {
    std::uint32_t ones;
    std::uint32_t copies;    // each stands for so many columns
    std::size_t begin, end;  // in the order
};

// The columns that vary, one for all its copies, in the order of their numbers of ones.
struct Sorted {
    Sorted(const PackedTable& table, CancellationToken& token) : packed(table.rows()) {
        find_columns(table, first_copies(table, token));
        packed.reserve_planes(columns.size());
        for (std::size_t k = 0; k < columns.size(); ++k) {
            packed.append_plane(table.plane(columns[k][0], 1));
            const std::uint32_t ones = packed.total(k, 1);
            const auto copies = static_cast<std::uint32_t>(columns[k].size());
            if (k == 0 || ones != groups.back().ones || copies != groups.back().copies) {
                groups.push_back({ones, copies, k, k});
            }
            groups.back().end = k + 1;
            group_of.push_back(static_cast<std::uint32_t>(groups.size() - 1));
        }
        for (std::size_t k = 0; k < columns.size(); ++k) {
            if (k % line_bits == 0) {
                parts.emplace_back();
                part_groups.emplace_back();
            }
            if (part_groups.back().empty() || part_groups.back().back() != group_of[k]) {
                part_groups.back().push_back(group_of[k]);
                parts.back().push_back(Part{});
            }
            parts.back().back().bits[k % line_bits / 64] |= std::uint64_t{1} << (k % 64);
        }
    }

    PackedTable packed;
    std::vector<std::vector<std::uint32_t>> columns;  // of the table: copies of each other, ascending
    std::vector<Group> groups;
    std::vector<std::uint32_t> group_of;                  // by place in the order
    std::vector<LineVector<Part>> parts;                  // by panel: its bits, group by group
    std::vector<std::vector<std::uint32_t>> part_groups;  // the groups

  private:
    // Copies divide the rows alike; here ones must be ones, too.
    void find_columns(const PackedTable& table, const std::vector<std::uint32_t>& first) {
        const auto in_first_row = [&](std::uint32_t column) { return table.plane(column, 1)[0] & 1; };
        std::vector<std::uint32_t> place(2 * table.columns(), AllPairs::none);
        for (std::uint32_t column = 0; column < table.columns(); ++column) {
            if (table.levels(column) != 2 || table.total(column, 1) == 0 || table.total(column, 1) == table.rows()) {
                continue;
            }
            std::uint32_t& at = place[2 * first[column] + in_first_row(column)];
            if (at == AllPairs::none) {
                at = static_cast<std::uint32_t>(columns.size());
                columns.emplace_back();
            }
            columns[at].push_back(column);
        }
        const auto key = [&](const std::vector<std::uint32_t>& copies) {
            return std::tuple(table.total(copies[0], 1), copies.size(), copies[0]);
        };
        std::sort(columns.begin(), columns.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    }
};

// G² of two binary columns as a sum of fixed-point terms: the same integers as in `Statistic`.
class PairSum {
  public:
    PairSum(const LogTable& log, std::uint32_t rows) : log_(log), rows_(rows) {}

    std::int64_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t both) const {
        return log_(both) + log_(a - both) + log_(b - both) + log_(rows_ - a - b + both) - log_(a) - log_(rows_ - a) -
               log_(b) - log_(rows_ - b) + log_(rows_);
    }
    std::uint32_t least(std::uint32_t a, std::uint32_t b) const { return a + b > rows_ ? a + b - rows_ : 0; }
    std::uint32_t expected(std::uint32_t a, std::uint32_t b) const {
        return static_cast<std::uint32_t>(std::uint64_t{a} * b / rows_);
    }

    // The smallest count from the expected one on whose sum is at least `sum`; one more than the largest if none is.
    std::uint32_t from(std::uint32_t a, std::uint32_t b, std::int64_t sum) const {
        std::uint32_t low = expected(a, b) + 1, high = std::min(a, b) + 1;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if ((*this)(a, b, middle) >= sum) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }
    // The largest count up to the expected one whose sum is at least `sum`, and 1; the smallest possible if none is.
    std::uint32_t below(std::uint32_t a, std::uint32_t b, std::int64_t sum) const {
        std::uint32_t low = least(a, b), high = expected(a, b) + 1;
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if ((*this)(a, b, middle) >= sum) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

  private:
    const LogTable& log_;
    std::uint32_t rows_;
};

}  // namespace serape::pairs
