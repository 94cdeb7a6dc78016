#include "distinct_search.hpp"

#include <algorithm>

#include "serape/distinct_rows.hpp"
#include "serape/kernels.hpp"

namespace serape {
namespace {

double cost_in(std::size_t rows, ExpectedTests expected, bool distinct) {
    expected.rows = rows;
    expected.distinct_rows = distinct;
    return expected_cost(expected, kernels().costs);
}

}  // namespace

bool DistinctSearch::may_pay(const PackedTable& table) {
    return table.rows() >= kernels().costs.min_rows_for_distinct;
}

bool DistinctSearch::pays(const ExpectedTests& expected, std::uint32_t target, std::span<const std::uint32_t> given,
                          std::span<const std::uint32_t> xs) {
    if (hopeless_ || !may_pay(whole_)) {
        return false;
    }
    const double here = cost_in(whole_.rows(), expected, !whole_.frequencies().empty());
    const auto known = [&](std::uint32_t variable) { return has(variable); };
    if (!known(target) || !std::all_of(given.begin(), given.end(), known) ||
        !std::all_of(xs.begin(), xs.end(), known)) {
        find(expected, here, target, given, xs);
    }
    return found_ && cost_in(found_->rows(), expected, true) < here;
}

// Finds the distinct rows of these variables if the tests, which cost so much as it is, seem worth that.
void DistinctSearch::find(const ExpectedTests& expected, double here, std::uint32_t target,
                          std::span<const std::uint32_t> given, std::span<const std::uint32_t> xs) {
    const Costs& costs = kernels().costs;
    found_.reset();
    variables_.assign(1, target);
    column_ = {{target, 0}};
    double combinations = whole_.levels(target);
    for (const std::span<const std::uint32_t> more : {given, xs}) {
        for (const std::uint32_t v : more) {
            if (column_.try_emplace(v, static_cast<std::uint32_t>(variables_.size())).second) {
                variables_.push_back(v);
                combinations *= whole_.levels(v);
            }
        }
    }
    const std::size_t bits = key_bits(whole_, variables_);
    const auto worth = [&](std::size_t rows) {
        const std::size_t some = rows / costs.expected_rows_per_distinct;
        const auto fewer = combinations < static_cast<double>(some) ? static_cast<std::size_t>(combinations) : some;
        return spent_ + here > distinct_cost(rows, bits, costs) + cost_in(fewer, expected, true);
    };
    spent_ += here;
    if (!worth(whole_.rows() / costs.expected_rows_per_distinct)) {
        return;
    }
    // The distinct rows of the whole table, if there are, are fewer to read.
    const PackedTable* const distinct = whole_.distinct(here);
    const PackedTable& source = distinct != nullptr ? *distinct : whole_;
    if (worth(source.rows())) {
        found_ = distinct_rows(source, variables_, source.rows() / costs.rows_per_distinct);
        hopeless_ = !found_;
        spent_ = 0.0;
    }
}

}  // namespace serape
