// The distinct rows of the variables of one search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "serape/counting/plan.hpp"
#include "serape/packed_table.hpp"

namespace serape {

class DistinctSearch {
  public:
    explicit DistinctSearch(const PackedTable& table) : whole_(table) {}

    // Whether there are rows enough for it to be thought of.
    static bool may_pay(const PackedTable& table);
    // Whether the tests expected of these variables, and those asked about before, are worth finding their distinct
    // rows; if so, these have been found. What is expected need not say of how many rows.
    bool pays(const ExpectedTests& expected, std::uint32_t target, std::span<const std::uint32_t> given,
              std::span<const std::uint32_t> xs);

    // What was found.
    const PackedTable& table() const { return *found_; }
    bool has(std::uint32_t variable) const { return found_ && column_.contains(variable); }
    std::uint32_t column(std::uint32_t variable) const { return column_.at(variable); }
    std::uint32_t variable(std::uint32_t column) const { return variables_[column]; }

  private:
    void find(const ExpectedTests& expected, double here, std::uint32_t target, std::span<const std::uint32_t> given,
              std::span<const std::uint32_t> xs);

    const PackedTable& whole_;
    double spent_ = 0.0;     // nanoseconds of tests that were asked about
    bool hopeless_ = false;  // whether distinct rows were too many
    std::optional<PackedTable> found_;
    std::vector<std::uint32_t> variables_;  // by column
    std::unordered_map<std::uint32_t, std::uint32_t> column_;
};

}  // namespace serape
