// Counts as integers, what is made of them, and how they are made.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "counting_strategy.hpp"
#include "rules.hpp"
#include "serape/answers.hpp"
#include "serape/distinct_rows.hpp"
#include "serape/family_score.hpp"
#include "serape/test_rules.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

using CellRows = nb::ndarray<const std::int64_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;

CountTable count_table(std::size_t rows, std::uint32_t target_levels, const std::vector<std::uint32_t>& given_levels,
                       const std::vector<std::uint32_t>& candidate_levels, const std::vector<std::size_t>& begin,
                       const CellRows& cells) {
    if (begin.size() != candidate_levels.size() + 1 || begin.front() != 0 || begin.back() != cells.shape(0) ||
        !std::is_sorted(begin.begin(), begin.end())) {
        throw nb::value_error("`begin` must ascend from 0 to the number of cells, one more than candidates");
    }
    const auto* first = reinterpret_cast<const CountedCell*>(cells.data());
    return {rows, target_levels, given_levels, candidate_levels, begin, {first, first + cells.shape(0)}, {}};
}

template <class T>
Matrix matrix(std::vector<T>&& values, std::size_t rows, std::size_t columns) {
    auto* owned = new std::vector<std::int64_t>(values.begin(), values.end());
    const nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return Matrix(owned->data(), {rows, columns}, owner);
}

// By candidate: the rows of the target's commonest level, how many of its own levels occur, and how many rows are
// guessed right by the commonest level of the target among the other rows of their level.
std::vector<std::array<std::int64_t, 3>> guesses(const CountTable& table) {
    std::vector<std::array<std::int64_t, 3>> found;
    for (std::size_t k = 0; k < table.candidate_levels.size(); ++k) {
        std::vector<std::int64_t> totals(table.target_levels), first(table.candidate_levels[k]), second = first;
        for (std::size_t at = table.begin[k]; at < table.begin[k + 1]; ++at) {
            const CountedCell& cell = table.cells[at];
            totals.at(static_cast<std::size_t>(cell.target)) += cell.count;
            std::int64_t& largest = first.at(static_cast<std::size_t>(cell.candidate));
            std::int64_t& next = second[static_cast<std::size_t>(cell.candidate)];
            next = std::max(next, std::min(largest, cell.count));
            largest = std::max(largest, cell.count);
        }
        std::int64_t levels = 0;
        std::int64_t right = 0;
        for (std::size_t level = 0; level < first.size(); ++level) {
            levels += first[level] > 0 ? 1 : 0;
            right += first[level] - 1 > second[level] ? first[level] : 0;
        }
        found.push_back({totals.empty() ? 0 : *std::max_element(totals.begin(), totals.end()), levels, right});
    }
    return found;
}

// The distinct rows of some columns and how often each occurs; nothing if there are more than `most`.
std::optional<std::pair<NumPy<std::uint16_t>, NumPy<std::int64_t>>> listed_rows(
    const PackedTable& table, const std::vector<std::uint32_t>& columns, std::size_t most) {
    check(table, columns);
    std::optional<PackedTable> found;
    std::vector<std::uint16_t> codes;
    {
        const nb::gil_scoped_release released;
        found = distinct_rows(table, columns, most);
        codes.resize(found ? found->rows() * columns.size() : 0);
        for (std::size_t k = 0; found && k < columns.size(); ++k) {
            found->unpack_codes(k, 0, std::span(codes).subspan(k * found->rows(), found->rows()));
        }
    }
    if (!found) {
        return {};
    }
    const std::span<const std::uint32_t> times = found->frequencies();
    return std::pair(to_numpy(std::move(codes)), to_numpy(std::vector<std::int64_t>(times.begin(), times.end())));
}

// The plan in words: the strategy by number of levels, and what else it says.
nb::dict explained(const Plan& plan, const Shape& shape) {
    nb::dict by_levels;
    for (std::uint32_t levels = 1; levels <= plane_levels; ++levels) {
        if ((shape.levels_present >> levels & 1) != 0) {
            by_levels[nb::int_(levels)] = name_of(plan.by_levels[levels].strategy);
        }
    }
    if (!shape.all_have_planes()) {
        by_levels[nb::int_(shape.max_levels)] = name_of(plan.of(shape.max_levels).strategy);
    }
    nb::dict made;
    made["panels"] = plan.panels;
    made["by_levels"] = by_levels;
    made["together"] = plan.together;
    made["by_rest"] = plan.by_rest;
    made["skips"] = plan.skips;
    made["ones_below"] = plan.ones_below;
    return made;
}

nb::typed<nb::dict, nb::str, nb::any> explain_plan(std::size_t rows, std::size_t cells, std::size_t varying,
                                                   const std::vector<std::uint32_t>& levels, std::size_t candidates,
                                                   const std::string& functional, bool has_masks, bool ones_are_few,
                                                   std::size_t span, std::size_t largest, std::size_t idle,
                                                   const std::string& strategy, const std::string& instruction_set) {
    Shape shape;
    shape.functional = parse<FunctionalKind>(functional, {{"g2", FunctionalKind::g2},
                                                          {"x2", FunctionalKind::x2},
                                                          {"likelihood", FunctionalKind::likelihood},
                                                          {"dirichlet", FunctionalKind::dirichlet},
                                                          {"record", FunctionalKind::record}});
    shape.rows = rows;
    shape.cells = cells;
    shape.varying = varying;
    shape.has_masks = has_masks;
    shape.has_cell_of_row = !has_masks;
    shape.candidates = candidates;
    shape.ones_are_few = ones_are_few;
    shape.largest = largest;
    shape.idle = idle;
    shape.ascending = span > 0;
    shape.span = span;
    for (const std::uint32_t one : levels) {
        if (one == 0 || one > max_levels) {
            throw nb::value_error("a column has 1 to 65536 levels");
        }
        shape.max_levels = std::max(shape.max_levels, one);
        shape.levels_present |= 1u << std::min(one, plane_levels + 1);
        shape.sample[one <= plane_levels ? one : 0] += one <= plane_levels && span > 0;
    }
    const KernelCosts kernel =
        parse<KernelCosts>(instruction_set, {{"plain", plain_costs}, {"avx2", avx2_costs}, {"avx512", avx512_costs}});
    return explained(choose(shape, costs_of(kernel), parse_strategy(strategy)), shape);
}

}  // namespace

void bind_counts(nb::module_& m) {
    nb::class_<CountTable>(m, "Counts",
                           "Counts of candidates with a target in the strata of a conditioning set. Of each candidate, "
                           "the cells that occur: stratum, level of the target, level of the candidate, rows.")
        .def(
            "__init__",
            [](CountTable* self, std::size_t rows, std::uint32_t target_levels,
               const std::vector<std::uint32_t>& given_levels, const std::vector<std::uint32_t>& candidate_levels,
               const std::vector<std::size_t>& begin, const CellRows& cells) {
                new (self) CountTable(count_table(rows, target_levels, given_levels, candidate_levels, begin, cells));
            },
            nb::arg("rows"), nb::arg("target_levels"), nb::arg("given_levels"), nb::arg("candidate_levels"),
            nb::arg("begin"), nb::arg("cells"))
        .def_ro("rows", &CountTable::rows)
        .def_ro("target_levels", &CountTable::target_levels)
        .def_ro("given_levels", &CountTable::given_levels)
        .def_ro("candidate_levels", &CountTable::candidate_levels)
        .def_ro("begin", &CountTable::begin, "By candidate, its first cell; one more than candidates.")
        .def_prop_ro(
            "cells",
            [](const CountTable& table) {
                const auto* numbers = reinterpret_cast<const std::int64_t*>(table.cells.data());
                return matrix(std::vector(numbers, numbers + 4 * table.cells.size()), table.cells.size(), 4);
            },
            nb::rv_policy::move, "Stratum, level of the target, level of the candidate and rows, by cell.")
        .def_prop_ro(
            "strata",
            [](const CountTable& table) {
                const std::size_t width = table.given_levels.size();
                return matrix(std::vector(table.strata), width == 0 ? 1 : table.strata.size() / width, width);
            },
            nb::rv_policy::move, "By stratum, the levels of the conditioning set, where the core made the counts.")
        .def("guesses", &guesses,
             "By candidate, given nothing: rows of the target's commonest level, levels of the candidate that occur, "
             "and rows guessed right by the commonest level of the target among the other rows of their level.");
    m.def(
        "counts",
        [](const PackedTable& table, std::uint32_t target, const Columns& candidates,
           const std::vector<std::uint32_t>& given, std::size_t threads, const nb::object& poll,
           const std::string& strategy, const PackedTable* source) {
            const PackedTable& other = source == nullptr ? table : *source;
            check(table, target);
            check(other, candidates.all());
            check(table, given);
            check_same_rows(table, other);
            CountTable made;
            CancellationToken token = cancellation_token(poll);
            run_interruptible(token, [&] {
                made = counts(table, target, other, candidates.all(), given, std::min(threads, most_threads), token,
                              parse_strategy(strategy));
            });
            return made;
        },
        nb::arg("table"), nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(), nb::arg("strategy") = "automatic", nb::arg("source") = nb::none(),
        "Counts of the candidates with the target; without candidates, of the target alone. Candidates are columns of "
        "`source`, a table of the same rows, if it is given.");
    m.def("distinct_rows", &listed_rows, nb::arg("table"), nb::arg("columns"), nb::arg("most"),
          "The codes of the rows that occur in some columns, column after column, and how often each row occurs; None "
          "if there are more than `most`, or seem to be, judged by the first rows.");
    m.def("explain_plan", &explain_plan, nb::arg("rows"), nb::arg("cells"), nb::arg("varying"), nb::arg("levels"),
          nb::arg("candidates"), nb::kw_only(), nb::arg("functional") = "g2", nb::arg("has_masks") = true,
          nb::arg("ones_are_few") = false, nb::arg("span") = 0, nb::arg("largest") = 0, nb::arg("idle") = 0,
          nb::arg("strategy") = "automatic", nb::arg("instruction_set") = "avx512",
          "How counts of such a shape are made: by number of levels, and by panels if `span` says how many columns "
          "lie from the first candidate to the last.");
    m.def(
        "pairs_pay",
        [](std::size_t rows, std::size_t cells, std::size_t xs, std::uint32_t most_levels, std::size_t pool) {
            return pairs_pay({rows, cells, true, xs, most_levels, pool, true}, default_costs);
        },
        nb::arg("rows"), nb::arg("cells"), nb::arg("xs"), nb::arg("most_levels"), nb::arg("pool"),
        "Whether a subset search counts each x with each member of the pool.");
    nb::class_<CountedTest>(m, "CountedTest", "G² and X² tests on counts.")
        .def(
            "__init__",
            [](CountedTest* self, std::size_t rows, const std::string& statistic, const std::string& dof,
               const std::string& reliability,
               double minimum) { new (self) CountedTest(rows, parse_rules(statistic, dof, reliability, minimum)); },
            nb::arg("rows"), nb::arg("statistic"), nb::arg("dof"), nb::arg("reliability"), nb::arg("minimum"))
        .def(
            "screen",
            [](const CountedTest& test, const CountTable& counts) {
                ScreenAnswers answers(counts.candidate_levels.size());
                test.screen(counts, answers.out());
                return answers;
            },
            nb::arg("counts"), "As ContingencyTest.screen.")
        .def(
            "test",
            [](const CountedTest& test, const CountTable& counts) {
                if (counts.candidate_levels.size() != 1) {
                    throw nb::value_error("a test is of one candidate");
                }
                const Outcome out = test.test(counts, 0);
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("counts"), "As ContingencyTest.test.");
    nb::class_<CountedScore>(m, "CountedScore", "Scores of families on counts.")
        .def(
            "__init__",
            [](CountedScore* self, std::size_t rows, const std::string& kind, double ess) {
                new (self) CountedScore(rows, parse_score(kind, ess), ess);
            },
            nb::arg("rows"), nb::arg("kind"), nb::arg("ess") = 1.0)
        .def(
            "scores",
            [](const CountedScore& score, const CountTable& counts) {
                auto out = empty_numpy<double>(counts.candidate_levels.size());
                score.scores(counts, out.data());
                return out;
            },
            nb::arg("counts"), "By candidate, the score of the target given the conditioning set and the candidate.");
}

}  // namespace serape
