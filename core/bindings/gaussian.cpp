// Partial correlations.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "batches.hpp"
#include "bindings.hpp"
#include "serape/gaussian_test.hpp"

namespace nb = nanobind;

namespace serape {

void bind_gaussian(nb::module_& m) {
    nb::class_<GaussianTest>(m, "GaussianTest", "Partial correlations of standardised columns.")
        .def(
            "__init__",
            [](GaussianTest* self, std::size_t rows, std::size_t columns, const std::string& kind,
               std::optional<double> effective) {
                const auto rule = parse<CorrelationKind>(
                    kind, {{"fisher-z", CorrelationKind::fisher_z}, {"student-t", CorrelationKind::student_t}});
                if (effective) {
                    new (self) GaussianTest(rows, columns, rule, *effective);
                } else {
                    new (self) GaussianTest(rows, columns, rule);
                }
            },
            nb::arg("rows"), nb::arg("columns"), nb::arg("kind"), nb::arg("effective") = nb::none(),
            "With `effective`, an effective number of rows, columns are weighted already and are not centred.")
        .def_prop_ro("nbytes", &GaussianTest::bytes, "Bytes held by the columns.")
        .def(
            "append",
            [](GaussianTest& test, const Array<double>& values) {
                if (values.size() != test.rows() || values.size() == 0) {
                    throw nb::value_error("a column must have a value for every row");
                }
                switch (test.append(span(values))) {
                    case GaussianTest::Column::constant: return "constant";
                    case GaussianTest::Column::missing: return "missing";
                    default: return "varying";
                }
            },
            nb::arg("values"), "Adds a column; says whether it is \"varying\", \"constant\" or has values \"missing\".")
        .def(
            "test",
            [](const GaussianTest& test, std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given) {
                check(test, x);
                check(test, y);
                check(test, given);
                Outcome out{};
                if (test.rows() * (given.size() + 1) < 50'000) {  // soon done
                    out = test.test(x, y, given);
                } else {
                    const nb::gil_scoped_release release;
                    out = test.test(x, y, given);
                }
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("x"), nb::arg("y"), nb::arg("given"))
        .def("screen", &screened<GaussianTest>, nb::arg("target"), nb::arg("candidates"), nb::arg("given"),
             nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
             "Statistic, dof and reliability of many candidates given one set.")
        .def(
            "correlations",
            [](const GaussianTest& test, std::uint32_t target, const Array<std::uint32_t>& candidates,
               const std::vector<std::uint32_t>& given) {
                check(test, target);
                check(test, span(candidates));
                check(test, given);
                auto out = empty_numpy<double>(candidates.size());
                CancellationToken token = cancellation_token(nb::none());
                run_interruptible(token,
                                  [&] { test.correlations(target, span(candidates), given, token, out.data()); });
                return out;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"),
            "Partial correlations of many candidates given one set, with their signs; NaN where there is none.")
        .def(
            "first_dependent",
            [](const GaussianTest& test, std::uint32_t target, const Array<std::uint32_t>& candidates,
               const std::vector<std::uint32_t>& given, double log_alpha, const nb::object& poll) {
                check(test, target);
                check(test, span(candidates));
                check(test, given);
                Batch batch(candidates.size());
                CancellationToken token = cancellation_token(poll);
                std::size_t asked = 0;
                run_interruptible(token, [&] {
                    asked = test.first_dependent(target, span(candidates), given, log_alpha, token, batch.answers());
                });
                return std::make_tuple(asked, batch.statistic, batch.dof, batch.reliable);
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("log_alpha"),
            nb::arg("poll") = nb::none())
        .def(
            "search_subsets",
            [](const GaussianTest& test, const SubsetQuery& query, std::size_t threads, const nb::object& poll) {
                return found_subsets(test, test, query, threads, poll);
            },
            nb::arg("query"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "As ContingencyTest.search_subsets.")
        .def(
            "grow_pool",
            [](const GaussianTest& test, const SubsetQuery& query, bool examine, std::uint64_t enough,
               const nb::object& poll) { return grown_pool(test, test, query, examine, enough, poll); },
            nb::arg("query"), nb::arg("examine"), nb::arg("enough"), nb::arg("poll") = nb::none(),
            "As ContingencyTest.grow_pool.")
        .def(
            "expect",
            [](const GaussianTest& test, const Columns& targets, std::size_t threads, const nb::object& poll) {
                check(test, targets.all());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] { test.expect(targets.all(), std::min(threads, most_threads), token); });
            },
            nb::arg("targets"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Announces searches about some targets: their correlations with all columns are made together.")
        .def(
            "log_p",
            [](const GaussianTest& test, const Array<double>& statistic, const Array<double>& dof) {
                check_one_length(statistic, dof);
                auto out = empty_numpy<double>(statistic.size());
                test.rule().log_p(span(statistic), span(dof), out.data());
                return out;
            },
            nb::arg("statistic"), nb::arg("dof"))
        .def(
            "dependent",
            [](const GaussianTest& test, const Array<double>& statistic, const Array<double>& dof,
               const Array<bool>& reliable, double log_alpha) {
                check_one_length(statistic, dof, reliable);
                auto out = empty_numpy<bool>(statistic.size());
                test.rule().dependent(span(statistic), span(dof), span(reliable), log_alpha, out.data());
                return out;
            },
            nb::arg("statistic"), nb::arg("dof"), nb::arg("reliable"), nb::arg("log_alpha"),
            "Which answers are reliable and have log p <= log_alpha.");
}

}  // namespace serape
