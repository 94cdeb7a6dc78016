// All pairs of columns given nothing.
#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "serape/all_pairs.hpp"
#include "serape/contingency_test.hpp"
#include "serape/dependent_pairs.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

constexpr std::size_t most_partners = 1024;  // of a column, whatever the number of columns

auto to_arrays(AllPairs&& found) {
    return std::make_tuple(to_numpy(std::move(found.dependents)), to_numpy(std::move(found.partners)),
                           to_numpy(std::move(found.statistic)), to_numpy(std::move(found.dof)));
}

auto to_arrays(DependentPairs&& found) {
    return std::make_tuple(found.complete, to_numpy(std::move(found.start)), to_numpy(std::move(found.partner)),
                           to_numpy(std::move(found.statistic)), to_numpy(std::move(found.dof)));
}

void check_columns(const ContingencyTest& test, std::span<const std::uint32_t> columns) {
    check(test.table(), columns);
    if (test.table().rows() > most_rows_of_pairs) {
        throw nb::value_error("too many rows");
    }
    if (test.rules().statistic != StatisticKind::g2 || !kernels().ascending(columns.data(), columns.size()) ||
        !std::all_of(columns.begin(), columns.end(), [&](auto column) { return test.table().has_planes(column); })) {
        throw nb::value_error("the test must be G², and columns ascending and of few levels");
    }
}

void check_strongest(std::size_t strongest, std::size_t columns) {
    if (strongest > std::max(columns, most_partners)) {
        throw nb::value_error("so many strongest partners are more than there are columns");
    }
}

}  // namespace

void bind_pairs(nb::module_& m) {
    m.def(
        "all_pairs",
        [](const PackedTable& table, double log_alpha, std::size_t strongest, std::size_t least_rows,
           std::size_t threads, const nb::object& poll) {
            if (table.rows() > most_rows_of_pairs) {
                throw nb::value_error("too many rows");
            }
            check_strongest(strongest, table.columns());
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
            return to_arrays(std::move(found));
        },
        nb::arg("table"), nb::arg("log_alpha"), nb::arg("strongest"), nb::arg("least_rows"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(),
        "For every column how many others depend on it, which most (so many a column), and their statistics and dof.");
    m.def(
        "strongest_pairs",
        [](const ContingencyTest& test, const Columns& columns, double log_alpha, std::size_t strongest,
           std::size_t threads, const nb::object& poll) {
            check_columns(test, columns.all());
            check_strongest(strongest, columns.all().size());
            AllPairs found;
            CancellationToken token = cancellation_token(poll);
            run_interruptible(token, [&] {
                found = strongest_pairs(test.table(), test.rules(), columns.all(), log_alpha, strongest,
                                        std::min(threads, most_threads), token);
            });
            return to_arrays(std::move(found));
        },
        nb::arg("test"), nb::arg("columns"), nb::arg("log_alpha"), nb::arg("strongest"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(), "The same for columns of up to eight levels, by the rules of a test.");
    m.def(
        "tested_pairs",
        [](const ContingencyTest& test, const Columns& columns) {
            check_columns(test, columns.all());
            return tested_pairs(test.table(), test.rules(), columns.all());
        },
        nb::arg("test"), nb::arg("columns"), "The number of pairs of such columns whose test is reliable.");
    m.def(
        "dependent_pairs",
        [](const ContingencyTest& test, const Columns& columns, double log_alpha, std::size_t most, std::size_t threads,
           const nb::object& poll) {
            check_columns(test, columns.all());
            DependentPairs found;
            CancellationToken token = cancellation_token(poll);
            run_interruptible(token, [&] {
                found = dependent_pairs(test.table(), test.rules(), columns.all(), log_alpha, most,
                                        std::min(threads, most_threads), token);
            });
            return to_arrays(std::move(found));
        },
        nb::arg("test"), nb::arg("columns"), nb::arg("log_alpha"), nb::arg("most"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(),
        "Which pairs of columns of up to eight levels depend on each other: whether all are here (no more than "
        "`most`), "
        "by column the begin of its partners, the partners, their statistics and dof.");
    nb::class_<PairBlocks>(m, "PairBlocks", "Which columns of up to eight levels depend on some of them.")
        .def(
            "__init__",
            [](PairBlocks* self, const ContingencyTest& test, const Columns& columns, double log_alpha) {
                check_columns(test, columns.all());
                new (self) PairBlocks(test.table(), test.rules(), columns.all(), log_alpha);
            },
            nb::arg("test"), nb::arg("columns"), nb::arg("log_alpha"), nb::keep_alive<1, 2>())
        .def(
            "of",
            [](const PairBlocks& self, const Columns& targets, std::size_t most, std::size_t threads,
               const nb::object& poll) {
                DependentPairs found;
                CancellationToken token = cancellation_token(poll);
                run_interruptible(
                    token, [&] { found = self.of(targets.all(), most, std::min(threads, most_threads), token); });
                return to_arrays(std::move(found));
            },
            nb::arg("targets"), nb::arg("most"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Whether all are here (no more than `most`), by target the begin of its partners, the partners, their "
            "statistics and dof.");
}

}  // namespace serape
