// The answers of screens.
#include <nanobind/stl/pair.h>

#include "bindings.hpp"
#include "conversions.hpp"
#include "serape/answers.hpp"

namespace nb = nanobind;

namespace serape {

void bind_screen_answers(nb::module_& m) {
    nb::class_<ScreenAnswers>(m, "ScreenAnswers", "The answers of a screen of contingency tables.")
        .def(
            "__init__",
            [](ScreenAnswers* self, const Array<double>& statistic, const Array<double>& dof,
               const Array<bool>& reliable) {
                check_one_length(statistic, dof, reliable);
                new (self) ScreenAnswers(statistic.size());
                std::copy_n(statistic.data(), statistic.size(), self->statistic().data());
                std::copy_n(dof.data(), dof.size(), self->dof().data());
                std::copy_n(reliable.data(), reliable.size(), self->reliable().data());
            },
            nb::arg("statistic"), nb::arg("dof"), nb::arg("reliable"))
        .def("__len__", &ScreenAnswers::size)
        .def_prop_ro("performed", &ScreenAnswers::performed, "How many are reliable: the others were not performed.")
        .def(
            "arrays",
            [](const nb::handle self) {
                const auto& answers = nb::cast<const ScreenAnswers&>(self);
                return std::make_tuple(
                    NumPy<double>(answers.statistic().data(), {answers.size()}, self),
                    NumPy<double>(answers.dof().data(), {answers.size()}, self),
                    NumPy<bool>(reinterpret_cast<bool*>(answers.reliable().data()), {answers.size()}, self));
            },
            "Statistics, degrees of freedom, and which are reliable.")
        .def(
            "strongest",
            [](const ScreenAnswers& answers) {
                Strongest found = strongest(answers.statistic(), answers.dof(), answers.reliable());
                return std::make_pair(std::move(found.ties), found.log_p);
            },
            "Indices of the strongest reliable answers (several if they tie exactly) and their log p.")
        .def(
            "partition",
            [](const ScreenAnswers& answers, double log_alpha) {
                Partition found = partition(answers.statistic(), answers.dof(), answers.reliable(), log_alpha);
                return std::make_pair(to_numpy(std::move(found.dependent)), to_numpy(std::move(found.independent)));
            },
            nb::arg("log_alpha"),
            "Indices of the reliable answers with log p <= log_alpha, and of the other reliable ones.")
        .def(
            "ranked",
            [](const ScreenAnswers& answers, const Array<std::int64_t>& indices) {
                return to_numpy(answers.ranked(span(indices)));
            },
            nb::arg("indices"), "Indices of reliable answers, from the strongest to the weakest.")
        .def(
            "dependents",
            [](const ScreenAnswers& answers, const Columns& xs, double log_alpha) {
                return answers.ranked_split(xs.all(), log_alpha, false).dependent;
            },
            nb::arg("xs"), nb::arg("log_alpha"),
            "The columns whose answers are reliable, with log p <= log_alpha: the strongest first, ties by column.")
        .def(
            "ranked_split",
            [](const ScreenAnswers& answers, const Columns& xs, double log_alpha) {
                RankedSplit found = answers.ranked_split(xs.all(), log_alpha, true);
                return std::make_pair(std::move(found.dependent), to_numpy(std::move(found.independent)));
            },
            nb::arg("xs"), nb::arg("log_alpha"), "These, and the other columns whose answers are reliable.")
        .def(
            "each", [](const ScreenAnswers& answers, const Columns& xs) { return answers.each(xs.all()); },
            nb::arg("xs"), "Index, x, log p and statistic of the reliable answers.")
        .def(
            "shown",
            [](const ScreenAnswers& answers, const Columns& xs, std::uint32_t x, double log_alpha) {
                const auto columns = xs.all();
                check_one_length(columns, answers.reliable());
                std::vector<std::pair<double, std::size_t>> found;
                for (std::size_t k = 0; k < columns.size(); ++k) {
                    if (columns[k] == x && answers.reliable()[k]) {
                        if (const double log_p = answers.outcome(k).log_p; log_p <= log_alpha) {
                            found.emplace_back(log_p, k);
                        }
                    }
                }
                return found;
            },
            nb::arg("xs"), nb::arg("x"), nb::arg("log_alpha"),
            "Log p and index of the answers that show one column to be dependent.")
        .def(
            "at", [](const ScreenAnswers& answers, const Columns& indices) { return answers.at(indices.all()); },
            nb::arg("indices"), "The answers at some indices.")
        .def(
            "at",
            [](const ScreenAnswers& answers, const Array<std::int64_t>& indices) { return answers.at(span(indices)); },
            nb::arg("indices"))
        .def(
            "outcome",
            [](const ScreenAnswers& answers, std::size_t index) {
                const Outcome out = answers.outcome(index);
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("index"), "Statistic, dof, log p and reliability of one answer.");
}

}  // namespace serape
