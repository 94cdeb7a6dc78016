// Searches through conditioning sets: queries and answers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "conversions.hpp"
#include "serape/answers.hpp"

namespace nb = nanobind;

namespace serape {
namespace {

using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // to be written to
using Indices = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::tuple tuple_of(std::span<const std::uint32_t> given) {
    nb::list members;
    for (const std::uint32_t member : given) {
        members.append(member);
    }
    return nb::tuple(members);
}

}  // namespace

void bind_subsets(nb::module_& m) {
    nb::class_<SubsetQuery>(m, "SubsetQuery", "What a search through conditioning sets is asked.")
        .def(
            "__init__",
            [](SubsetQuery* self, Columns xs, std::uint32_t target, Columns pool, std::vector<std::uint32_t> fixed,
               std::size_t start, std::int64_t stop, std::optional<std::size_t> max_size,
               std::vector<std::int64_t> n_exhausted, std::optional<double> stop_above, bool shrinking,
               bool until_survivor, std::optional<std::uint64_t> max_tests) {
                check_distinct(pool.all());
                if (n_exhausted.size() > 1 && n_exhausted.size() != xs.size()) {
                    throw nb::value_error("n_exhausted must have one number, or one for every x");
                }
                const bool empty = stop <= static_cast<std::int64_t>(start);  // a range of sizes
                new (self) SubsetQuery{std::move(xs).vector(),
                                       target,
                                       std::move(pool).vector(),
                                       std::move(fixed),
                                       empty ? 1 : start,
                                       empty ? 0 : static_cast<std::size_t>(stop) - 1,
                                       max_size.value_or(std::numeric_limits<std::size_t>::max()),
                                       std::move(n_exhausted),
                                       stop_above,
                                       shrinking,
                                       until_survivor,
                                       max_tests.value_or(std::numeric_limits<std::uint64_t>::max())};
            },
            nb::arg("xs"), nb::arg("target"), nb::arg("pool"), nb::arg("fixed"), nb::arg("start"), nb::arg("stop"),
            nb::arg("max_size"), nb::arg("n_exhausted"), nb::arg("stop_above"), nb::arg("shrinking"),
            nb::arg("until_survivor"), nb::arg("max_tests") = nb::none());
    nb::class_<FoundSubsets>(m, "FoundSubsets", "The answers of a search through conditioning sets.")
        .def("__len__", &FoundSubsets::size)
        .def(
            "arrays",
            [](nb::handle_t<FoundSubsets> self) {
                const auto& found = nb::cast<const FoundSubsets&>(self);
                return std::make_tuple(view(std::span(found.numbers()), self), view(std::span(found.indices()), self),
                                       view(std::span(found.sets().ends), self),
                                       view(std::span(found.sets().members), self));
            },
            "Statistics, dof and log p (one after another); verdicts (0 unreliable, 1 dependent, 2 separated) and "
            "indices of conditioning sets; these sets one after another: ends, members.")
        .def(
            "tests",
            [](const FoundSubsets& found) {
                const auto numbers = found.numbers().begin();
                const auto n = static_cast<std::ptrdiff_t>(found.size());
                return std::make_tuple(to_numpy(std::vector(found.indices().begin(), found.indices().begin() + n)),
                                       to_numpy(std::vector(numbers + 2 * n, numbers + 3 * n)),
                                       to_numpy(std::vector(numbers, numbers + n)));
            },
            "Verdicts, log p and statistics.")
        .def(
            "tests_at",
            [](const FoundSubsets& found, const Array<std::int64_t>& indices) {
                std::vector<double> statistic, dof, log_p;
                std::vector<std::int64_t> ends;
                std::vector<std::uint32_t> members;
                for (const std::int64_t at : span(indices)) {
                    const Outcome outcome = found.outcome(static_cast<std::size_t>(at));
                    statistic.push_back(outcome.statistic);
                    dof.push_back(outcome.dof);
                    log_p.push_back(outcome.log_p);
                    const std::span<const std::uint32_t> given = found.given(static_cast<std::size_t>(at));
                    members.insert(members.end(), given.begin(), given.end());
                    ends.push_back(static_cast<std::int64_t>(members.size()));
                }
                return std::make_tuple(to_numpy(std::move(statistic)), to_numpy(std::move(dof)),
                                       to_numpy(std::move(log_p)), to_numpy(std::move(ends)),
                                       to_numpy(std::move(members)));
            },
            nb::arg("indices"),
            "Statistic, dof and log p of some answers, and their conditioning sets one after another: ends, members.")
        .def_prop_ro("cut", &FoundSubsets::cut, "Whether max_tests cut the search short.")
        .def(
            "separated",
            [](const FoundSubsets& found) {
                NumPy<bool> separated = empty_numpy<bool>(found.size());
                for (std::size_t k = 0; k < found.size(); ++k) {
                    separated.data()[k] = found.is_separated(k);
                }
                return separated;
            },
            "By answer, whether a set separates the x.")
        .def("xs",
             [](nb::handle_t<FoundSubsets> self) {
                 return view(std::span(nb::cast<const FoundSubsets&>(self).xs()), self);
             })
        .def(
            "tally",
            [](const FoundSubsets& found) {
                return std::make_pair(by_size(found.tally().tests), by_size(found.tally().skipped));
            },
            "Numbers of tests, and of tests that were skipped, by size of the conditioning set.")
        .def("those", &FoundSubsets::those, nb::arg("separated"),
             "The x that some set separates, or those that none does.")
        .def("last_survives", &FoundSubsets::last_survives, "Whether there is a last x and nothing separates it.")
        .def(
            "separations",
            [](const FoundSubsets& found, double log_alpha) {
                using Given = nb::typed<nb::tuple, std::uint32_t, nb::ellipsis>;
                std::vector<std::pair<std::uint32_t, Given>> separations;
                for (const std::size_t index : found.above(log_alpha)) {
                    separations.emplace_back(found.xs()[index], Given(tuple_of(found.given(index))));
                }
                return separations;
            },
            nb::arg("log_alpha"), "The x whose log p is above a value, each with its conditioning set.")
        .def("each", &FoundSubsets::each, "Index, x, log p and statistic of the reliable answers.")
        .def(
            "columns",
            [](const FoundSubsets& found) {
                std::vector<std::int64_t> indices;
                std::vector<std::uint32_t> xs;
                std::vector<double> log_p, statistic;
                for (const auto& [index, x, p, value] : found.each()) {
                    indices.push_back(static_cast<std::int64_t>(index));
                    xs.push_back(x);
                    log_p.push_back(p);
                    statistic.push_back(value);
                }
                return std::make_tuple(to_numpy(std::move(indices)), to_numpy(std::move(xs)),
                                       to_numpy(std::move(log_p)), to_numpy(std::move(statistic)));
            },
            "Index, x, log p and statistic of the reliable answers, in arrays.")
        .def("indices_of", &FoundSubsets::indices_of, nb::arg("x"), "Indices of the reliable answers about one x.")
        .def("shown", &FoundSubsets::shown, nb::arg("x"), nb::arg("log_alpha"),
             "Log p and index of the answers that show x to be dependent, then 0 and that of the last that separates "
             "it.")
        .def(
            "outcome",
            [](const FoundSubsets& found, std::size_t index) {
                const Outcome out = found.outcome(index);
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("index"), "Statistic, dof, log p and reliability of one answer.")
        .def(
            "given_of",
            [](const FoundSubsets& found, std::size_t index) {
                return nb::typed<nb::tuple, int, nb::ellipsis>(tuple_of(found.given(index)));
            },
            nb::arg("index"), "The conditioning set of one answer.")
        .def(
            "weaken",
            [](const FoundSubsets& found, const Numbers& statistic, const Numbers& dof, const Numbers& log_p,
               const Indices& batch, const Indices& index, std::int64_t number) {
                check_one_length(found.xs(), statistic, dof, log_p, batch, index);
                const MinAssociations known{statistic.data(), dof.data(), log_p.data(), batch.data(), index.data()};
                return to_numpy(found.weaken(known, number));
            },
            nb::arg("statistic"), nb::arg("dof"), nb::arg("log_p"), nb::arg("batch"), nb::arg("index"),
            nb::arg("number"),
            "Takes the index of known associations where an answer is weaker; returns the indices of the x that are "
            "not "
            "separated.");
}

}  // namespace serape
