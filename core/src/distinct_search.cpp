#include "distinct_search.hpp"

#include "serape/distinct_rows.hpp"
#include "serape/kernels.hpp"

namespace serape {

bool DistinctSearch::may_pay(const PackedTable& table) {
    return table.rows() >= kernels().costs.min_rows_for_distinct;
}

bool DistinctSearch::pays(ExpectedTests expected, std::uint32_t target, std::span<const std::uint32_t> given,
                          std::span<const std::uint32_t> xs) {
    const Costs& costs = kernels().costs;
    if (hopeless_ || !may_pay(whole_)) {
        return false;
    }
    expected.rows = whole_.rows();
    expected.distinct_rows = !whole_.frequencies().empty();
    std::vector<std::uint32_t> variables{target};
    std::unordered_map<std::uint32_t, std::uint32_t> column{{target, 0}};
    for (const std::span<const std::uint32_t> more : {given, xs}) {
        for (const std::uint32_t v : more) {
            if (column.try_emplace(v, static_cast<std::uint32_t>(variables.size())).second) {
                variables.push_back(v);
            }
        }
    }
    const std::size_t bits = key_bits(whole_, variables);
    const double next = expected_cost(expected, costs);
    const double here = spent_ + next;
    spent_ += next;
    if (here < distinct_cost(whole_.rows() / costs.expected_rows_per_distinct, bits, costs)) {
        return false;
    }
    // The distinct rows of the whole table, if there are, are fewer to read.
    const PackedTable* const distinct = whole_.distinct(next);
    const PackedTable& source = distinct != nullptr ? *distinct : whole_;
    if (here < distinct_cost(source.rows(), bits, costs)) {
        return false;
    }
    found_ = distinct_rows(source, variables, source.rows() / costs.rows_per_distinct);
    hopeless_ = !found_;
    spent_ = 0.0;
    variables_ = std::move(variables);
    column_ = std::move(column);
    return found_.has_value();
}

}  // namespace serape
