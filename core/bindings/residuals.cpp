// The test of residuals.
#include <nanobind/stl/string.h>

#include "batches.hpp"
#include "bindings.hpp"
#include "serape/f_distribution.hpp"
#include "serape/residual_test.hpp"
#include "serape/score_products.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

// Scores as rows of three numbers: kind, column and value.
std::vector<ColumnScore> scores_from(std::span<const std::uint32_t> numbers) {
    if (numbers.size() % 3 != 0) {
        throw nb::value_error("a score is three numbers");
    }
    std::vector<ColumnScore> scores;
    for (std::size_t k = 0; k < numbers.size(); k += 3) {
        scores.push_back({static_cast<ColumnScore::Kind>(numbers[k]), numbers[k + 1], numbers[k + 2]});
    }
    return scores;
}

}  // namespace

void bind_residuals(nb::module_& m) {
    m.def("f_log_sf", &f_log_sf, nb::arg("explained"), nb::arg("unexplained"), nb::arg("more"), nb::arg("rest"),
          "Log p of the F test from sums of squares and their degrees of freedom.");
    m.def("normal_quantile", &normal_quantile, nb::arg("p"));
    nb::class_<ResidualTest>(m, "ResidualTest", "The test of residuals of scores.")
        .def(
            "__init__",
            [](ResidualTest* self, const PackedTable& table, const std::vector<std::uint32_t>& numbers, bool curved,
               const Array<double>& weights, bool frequencies) {
                check(table, numbers);
                if (weights.size() != 0 && weights.size() != table.rows()) {
                    throw nb::value_error("weights must be one a row, or none");
                }
                std::vector<std::uint8_t> kinds(table.columns());
                for (const std::uint32_t column : numbers) {
                    kinds[column] = 1;
                }
                const Rules rules{StatisticKind::g2, DofRule::adjusted, Reliability::dof, 5.0};
                new (self)
                    ResidualTest(table, std::move(kinds), rules, curved, span(weights), frequencies, ResidualLimits{});
            },
            nb::arg("table"), nb::arg("numbers"), nb::arg("curved"), nb::arg("weights"), nb::arg("frequencies"),
            nb::keep_alive<1, 2>())
        .def_prop_ro("nbytes", &ResidualTest::bytes, "Bytes held by the scores.")
        .def_prop_ro("effective_rows", &ResidualTest::effective_rows, "Rows; with weights, what they add up to.")
        .def(
            "set_values",
            [](ResidualTest& test, std::uint32_t column, const Array<double>& values) {
                if (column >= test.columns() || !test.number(column) || values.size() != test.rows()) {
                    throw nb::value_error("values of a number, one a row");
                }
                check_numbers(span(values));
                test.set_values(column, span(values));
            },
            nb::arg("column"), nb::arg("values"))
        .def(
            "set_category",
            [](ResidualTest& test, std::uint32_t column) {
                check(test, column);
                if (test.number(column)) {
                    throw nb::value_error("a number is no category");
                }
                test.set_category(column);
            },
            nb::arg("column"))
        .def(
            "divides",
            [](const ResidualTest& test, const std::vector<std::uint32_t>& given) {
                for (const std::uint32_t z : given) {
                    check(test, z);
                }
                const nb::gil_scoped_release release;
                return test.divides(given);
            },
            nb::arg("given"), "Whether the joint cells of the categories among these divide the rows.")
        .def(
            "row_keys", [](const ResidualTest& test) { return to_numpy(test.row_keys()); },
            "A number for each row that looks random, in whatever order rows, columns and levels are.")
        .def(
            "test",
            [](const ResidualTest& test, std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given) {
                check(test, x);
                check(test, y);
                check(test, given);
                Outcome out{};
                {
                    const nb::gil_scoped_release release;
                    out = test.test(x, y, given);
                }
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("x"), nb::arg("y"), nb::arg("given"))
        .def("screen", &screened<ResidualTest>, nb::arg("target"), nb::arg("candidates"), nb::arg("given"),
             nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
             "Statistic, dof and reliability of many candidates given one set.")
        .def(
            "scores_of",
            [](const ResidualTest& test, const Array<std::uint32_t>& columns, std::size_t degree, std::size_t threads,
               const nb::object& poll) {
                check(test, span(columns));
                std::vector<std::uint32_t> numbers;
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    for (const ColumnScore& one :
                         scores_of(test, span(columns), degree, std::clamp<std::size_t>(threads, 1, most_threads), token)) {
                        numbers.insert(numbers.end(), {static_cast<std::uint32_t>(one.kind), one.column, one.value});
                    }
                });
                return to_numpy(std::move(numbers));
            },
            nb::arg("columns"), nb::arg("degree"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "The scores of columns, powers up to a degree, three numbers each: kind (0 score, 1 indicator of a common "
            "value, 2 power, 3 level), column, and degree or level.")
        .def(
            "score_products",
            [](const ResidualTest& test, const Array<std::uint32_t>& scores, std::size_t known, std::size_t threads,
               const nb::object& poll) {
                const std::vector<ColumnScore> asked = scores_from(span(scores));
                if (known > asked.size()) {
                    throw nb::value_error("more scores are known than there are");
                }
                check_scores(test, asked);
                auto out = empty_numpy<double>(asked.size() * (asked.size() - known));
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    score_products(test, asked, known, std::clamp<std::size_t>(threads, 1, most_threads), token,
                                   out.data());
                });
                return out;
            },
            nb::arg("scores"), nb::arg("known") = 0, nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "The sums over the rows of the products of all scores with those after the first `known`, row by row.")
        .def(
            "effects",
            [](const ResidualTest& test, std::uint32_t target, const Array<std::uint32_t>& candidates,
               const std::vector<std::uint32_t>& given) {
                check(test, target);
                check(test, span(candidates));
                check(test, given);
                std::vector<ResidualEffect> found(candidates.size());
                CancellationToken token = cancellation_token(nb::none());
                run_interruptible(token, [&] { test.effects(target, span(candidates), given, token, found); });
                auto log_lambda = empty_numpy<double>(found.size());
                auto correlation = empty_numpy<double>(found.size());
                auto products = empty_numpy<double>(found.size());
                for (std::size_t k = 0; k < found.size(); ++k) {
                    log_lambda.data()[k] = found[k].log_lambda;
                    correlation.data()[k] = found[k].correlation;
                    products.data()[k] = found[k].products;
                }
                return std::make_tuple(log_lambda, correlation, products);
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"),
            "The logarithm of Wilks' Λ, the correlation of the scores of two numbers, and the number of products, of "
            "many "
            "candidates given one set; NaN where there is none, and for categories alone.")
        .def(
            "search_subsets",
            [](const ResidualTest& test, const SubsetQuery& query, std::size_t threads, const nb::object& poll) {
                return found_subsets(test, test, query, threads, poll);
            },
            nb::arg("query"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "As ContingencyTest.search_subsets.");
}

}  // namespace serape
