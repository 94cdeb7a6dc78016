// The test of residuals.
#include <nanobind/stl/string.h>

#include "batches.hpp"
#include "bindings.hpp"
#include "serape/f_distribution.hpp"
#include "serape/residual_test.hpp"

namespace nb = nanobind;

namespace serape {

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
            [](const ResidualTest& test, const SubsetQuery& query, std::size_t threads, const nb::object& poll,
               const ResidualTest* part, double clear) {
                if (part != nullptr) {
                    check(*part, query);
                }
                return found_subsets(ResidualRows{test, part, clear}, test, query, threads, poll);
            },
            nb::arg("query"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(), nb::arg("part") = nb::none(),
            nb::arg("clear") = 0.0,
            "As ContingencyTest.search_subsets; a part of the rows shows dependence up to a log p, if there is one.");
}

}  // namespace serape
