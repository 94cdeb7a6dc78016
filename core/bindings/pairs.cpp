// All pairs of binary columns.
#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/all_pairs.hpp"

namespace nb = nanobind;

namespace serape {

void bind_pairs(nb::module_& m) {
    m.def(
        "all_pairs",
        [](const PackedTable& table, double log_alpha, std::size_t strongest, std::size_t least_rows,
           std::size_t threads, const nb::object& poll) {
            if (table.rows() > most_rows_of_pairs) {
                throw nb::value_error("too many rows");
            }
            for (std::size_t column = 0; column < table.columns(); ++column) {
                if (table.levels(column) > 2) {
                    throw nb::value_error("columns must be binary");
                }
            }
            AllPairs found;
            CancellationToken token = cancellation_token(poll);
            run_interruptible(token, [&] {
                found = all_pairs(table, log_alpha, strongest, least_rows, std::min(threads, most_threads), token);
            });
            return std::make_tuple(to_numpy(std::move(found.dependents)), to_numpy(std::move(found.partners)),
                                   to_numpy(std::move(found.statistic)));
        },
        nb::arg("table"), nb::arg("log_alpha"), nb::arg("strongest"), nb::arg("least_rows"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(),
        "For every column how many others depend on it, which most (so many a column), and their statistics.");
}

}  // namespace serape
