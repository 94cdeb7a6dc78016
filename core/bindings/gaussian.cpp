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
        .def(
            "outcomes",
            [](const GaussianTest& test, const Array<std::uint32_t>& xs, const Array<std::uint32_t>& ys,
               const Array<std::uint32_t>& sets, std::size_t size, std::size_t threads, const nb::object& poll) {
                check(test, span(xs));
                check(test, span(ys));
                check(test, span(sets));
                if (ys.size() != xs.size() || sets.size() != xs.size() * size) {
                    throw nb::value_error("there must be a y and a set for every x");
                }
                auto statistic = empty_numpy<double>(xs.size()), dof = empty_numpy<double>(xs.size()),
                     log_p = empty_numpy<double>(xs.size());
                auto reliable = empty_numpy<bool>(xs.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    constexpr std::size_t grain = 256;
                    parallel_for(xs.size(), grain, std::clamp<std::size_t>(threads, 1, most_threads), token,
                                 [&](std::size_t first, std::size_t last, std::size_t) {
                                     for (std::size_t k = first; k < last; ++k) {
                                         const Outcome one =
                                             test.test(xs.data()[k], ys.data()[k], span(sets).subspan(k * size, size));
                                         statistic.data()[k] = one.statistic;
                                         dof.data()[k] = one.dof;
                                         log_p.data()[k] = one.log_p;
                                         reliable.data()[k] = one.reliable;
                                     }
                                 });
                });
                return std::make_tuple(statistic, dof, log_p, reliable);
            },
            nb::arg("xs"), nb::arg("ys"), nb::arg("sets"), nb::arg("size"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(),
            "Many single tests: of each x with its y given its set; all sets have one size and lie one after another.")
        .def(
            "critical_correlation",
            [](const GaussianTest& test, double log_alpha, std::size_t given) {
                const double dof = test.rule().dof(test.effective_rows(), given);
                const auto [below, above] = test.rule().critical(log_alpha, dof);
                return std::make_tuple(dof, test.rule().correlation(below, dof), test.rule().correlation(above, dof));
            },
            nb::arg("log_alpha"), nb::arg("given"),
            "Degrees of freedom given so many; correlations up to which log p is above a level, and from which on it "
            "is not.")
        .def(
            "standardised",
            [](const GaussianTest& test) {
                auto out = empty_numpy<double>(test.columns() * test.rows());
                for (std::size_t k = 0; k < test.columns(); ++k) {
                    std::copy_n(test.column(k), test.rows(), out.data() + k * test.rows());
                }
                return out;
            },
            "All columns, centred and of length 1, one after another; those that do not vary are zeros.")
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
