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

// The sums of products of scores, `known` of which are known with each other.
template <class Sum>
NumPy<double> sums_of_products(const Array<std::uint32_t>& numbers, std::size_t known, std::size_t threads,
                               const nb::object& poll, const Sum& sum) {
    const std::vector<ColumnScore> scores = scores_from(span(numbers));
    if (known > scores.size()) {
        throw nb::value_error("more scores are known than there are");
    }
    auto out = empty_numpy<double>(scores.size() * (scores.size() - known));
    CancellationToken token = cancellation_token(poll);
    run_interruptible(token, [&] {
        sum(std::span<const ColumnScore>(scores), known, std::clamp<std::size_t>(threads, 1, most_threads), token,
            out.data());
    });
    return out;
}

void bind_scored_part(nb::module_& m) {
    nb::class_<ScoredPart>(m, "ScoredPart", "Some rows of a table, with scores that were made in all its rows.")
        .def(nb::init<std::size_t>(), nb::arg("rows"))
        .def(
            "add_number",
            [](ScoredPart& part, const Array<double>& scores, const Array<double>& common,
               const Array<double>& polynomials) {
                if (scores.size() != part.rows() || (common.size() != 0 && common.size() != part.rows()) ||
                    polynomials.size() % 3 != 0) {
                    throw nb::value_error("scores of a number, one a row, and polynomials of three numbers each");
                }
                std::vector<ResidualTest::Polynomial> made;
                for (std::size_t k = 0; k < polynomials.size(); k += 3) {
                    const double* const one = polynomials.data() + k;
                    made.push_back({one[0], one[1], one[2], 1.0});
                }
                part.add_number(span(scores), span(common), std::move(made));
            },
            nb::arg("scores"), nb::arg("common"), nb::arg("polynomials"),
            "Add a number: its scores and the indicator of a common value, or an empty array, of mean square 1 in all "
            "rows; and the polynomials, as ResidualTest.polynomials.")
        .def(
            "add_category",
            [](ScoredPart& part, const Array<std::uint16_t>& codes, std::size_t all_levels,
               const std::vector<std::uint32_t>& levels, const std::vector<double>& shares) {
                const auto below = [&](auto code) { return code < all_levels; };
                if (codes.size() != part.rows() || shares.size() != levels.size() || all_levels > max_levels ||
                    !std::all_of(codes.data(), codes.data() + codes.size(), below) ||
                    !std::all_of(levels.begin(), levels.end(), below)) {
                    throw nb::value_error("codes of a category, one a row, levels with indicators, and their shares");
                }
                part.add_category(span(codes), all_levels, levels, shares);
            },
            nb::arg("codes"), nb::arg("all_levels"), nb::arg("levels"), nb::arg("shares"),
            "Add a category: the levels that have indicators, and their shares of all rows.")
        .def(
            "score_products",
            [](const ScoredPart& part, const Array<std::uint32_t>& scores, std::size_t known, std::size_t threads,
               const nb::object& poll) {
                return sums_of_products(scores, known, threads, poll,
                                        [&](auto&&... asked) { part.products(asked...); });
            },
            nb::arg("scores"), nb::arg("known") = 0, nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "As ResidualTest.score_products. Columns are numbered in the order in which they were added.");
}

}  // namespace

void bind_residuals(nb::module_& m) {
    m.attr("MAX_DEGREE") = ResidualLimits{}.max_degree;
    bind_scored_part(m);
    m.def(
        "indicated_levels",
        [](const Array<double>& rows) {
            const ResidualLimits limits;
            return to_numpy(indicated_levels(span(rows), limits.max_levels, limits.min_level_rows));
        },
        nb::arg("rows"), "The levels of a category that have indicators, by the rows of each level.");
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
                    for (const ColumnScore& one : scores_of(test, span(columns), degree,
                                                            std::clamp<std::size_t>(threads, 1, most_threads), token)) {
                        numbers.insert(numbers.end(), {static_cast<std::uint32_t>(one.kind), one.column, one.value});
                    }
                });
                return to_numpy(std::move(numbers));
            },
            nb::arg("columns"), nb::arg("degree"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "The scores of columns, powers up to a degree, three numbers each: kind (0 score, 1 indicator of a common "
            "value, 2 power, 3 level), column, and degree or level.")
        .def_prop_ro(
            "root_weights",
            [](const nb::handle self) {
                const auto& test = nb::cast<const ResidualTest&>(self);
                return view(std::span(test.root_weights(), test.rows()), self);
            },
            "By row, the root of its weight.")
        .def(
            "scores",
            [](const nb::handle self, std::uint32_t column) {
                const auto& test = nb::cast<const ResidualTest&>(self);
                check(test, column);
                const std::span<const double> all(test.scores(column).columns);
                const auto part = [&](std::size_t k) {
                    const std::size_t begin = std::min(k * test.stride(), all.size());
                    return view(all.subspan(begin, std::min(test.rows(), all.size() - begin)), self);
                };
                return std::make_tuple(part(0), part(1));
            },
            nb::arg("column"),
            "The scores of a number, and the indicator of a common value, empty if there is none; of length 1, times "
            "the root of weights.")
        .def(
            "polynomials",
            [](const ResidualTest& test, std::uint32_t column, std::size_t degree) {
                check(test, column);
                if (test.scores(column).columns.empty()) {
                    throw nb::value_error("a number whose values are set");
                }
                std::vector<double> numbers;
                for (const ResidualTest::Polynomial& one : test.polynomials(column, degree)) {
                    numbers.insert(numbers.end(), {one.shift, one.back, one.scale});
                }
                return to_numpy(std::move(numbers));
            },
            nb::arg("column"), nb::arg("degree"),
            "The polynomials of a number by degree, from 1, three numbers each: of the scores less the first, times "
            "the "
            "polynomial before, less the second times the one before that, all times the third.")
        .def(
            "indicators",
            [](const ResidualTest& test, std::uint32_t column) {
                check(test, column);
                ScoreSource source = score_source(test, column, 1);
                return std::make_tuple(to_numpy(std::vector<std::uint32_t>(source.levels.begin(), source.levels.end())),
                                       to_numpy(std::move(source.shares)));
            },
            nb::arg("column"), "The levels of a category that have indicators, and their shares of the rows.")
        .def(
            "score_products",
            [](const ResidualTest& test, const Array<std::uint32_t>& scores, std::size_t known, std::size_t threads,
               const nb::object& poll) {
                return sums_of_products(scores, known, threads, poll,
                                        [&](auto&&... asked) { score_products(test, asked...); });
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
