// The Python face of the core. Everything here converts, checks and forwards; nothing computes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "conversions.hpp"
#include "serape/all_pairs.hpp"
#include "serape/chi_square.hpp"
#include "serape/contingency_test.hpp"
#include "serape/copies.hpp"
#include "serape/family_score.hpp"
#include "serape/gaussian_test.hpp"
#include "serape/kernels.hpp"
#include "serape/mixed_test.hpp"
#include "serape/packed_table.hpp"
#include "serape/ranking.hpp"
#include "serape/student_t.hpp"

namespace nb = nanobind;
using namespace serape;

namespace {

using Positions = Array<std::uint32_t>;
using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;  // to be written to
using Places = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
constexpr std::size_t most_threads = 512;

// Asks Python, every so often, whether Ctrl-C was pressed, and calls `poll` if there is one.
Control control_for(const nb::object& poll) {
    return Control([poll_pointer = poll.ptr()] {
        const nb::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            return true;
        }
        if (poll_pointer != Py_None) {
            PyObject* answer = PyObject_CallNoArgs(poll_pointer);
            if (answer == nullptr) {
                return true;
            }
            Py_DECREF(answer);
        }
        return false;
    });
}

// Runs a computation. It gives the GIL away once it has taken more than a moment: handing it back and forth for short
// ones would make two threads slower than one. A stop raises what Python wants raised.
template <class Work>
void in_touch(Control& control, const Work& work) {
    PyThreadState* given_away = nullptr;
    const auto take_back = [&] {
        if (given_away != nullptr) {
            PyEval_RestoreThread(given_away);
        }
    };
    control.when_long([&] { given_away = PyEval_SaveThread(); });
    bool stopped = false;
    try {
        work();
    } catch (const Cancelled&) {
        stopped = true;
    } catch (...) {
        take_back();
        throw;
    }
    take_back();
    if (stopped) {
        if (PyErr_Occurred() == nullptr) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
        }
        throw nb::python_error();
    }
}

template <class Table>
void check(const Table& table, std::size_t column) {
    if (column >= table.columns()) {
        throw nb::index_error(
            ("column " + std::to_string(column) + " of a table of " + std::to_string(table.columns())).c_str());
    }
}

template <class Table>
void check(const Table& table, std::span<const std::uint32_t> columns) {
    if (!columns.empty()) {
        check(table, kernels().ascending(columns.data(), columns.size())
                         ? columns.back()
                         : *std::max_element(columns.begin(), columns.end()));
    }
}

void check_distinct(std::span<const std::uint32_t> columns) {
    std::vector<std::uint32_t> sorted(columns.begin(), columns.end());
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
        throw nb::value_error(("column " + std::to_string(*twice) + " is named twice").c_str());
    }
}

template <class First, class... Others>
void check_one_length(const First& first, const Others&... others) {
    if (((others.size() != first.size()) || ...)) {
        throw nb::value_error("arrays must be of one length");
    }
}

template <class Value>
Value parse(const std::string& word, std::initializer_list<std::pair<const char*, Value>> meanings) {
    for (const auto& [name, value] : meanings) {
        if (word == name) {
            return value;
        }
    }
    throw nb::value_error(("unknown option '" + word + "'").c_str());
}

Way parse_way(const std::string& way) {
    return parse<Way>(way, {{"automatic", Way::automatic},
                            {"panels", Way::automatic},
                            {"planes", Way::planes},
                            {"scatter", Way::scatter},
                            {"sparse", Way::sparse},
                            {"ones", Way::ones}});
}

void bind_table(nb::module_& m) {
    nb::class_<PackedTable>(m, "PackedTable", "Discrete columns, packed for counting.")
        .def(nb::init<std::size_t>(), nb::arg("rows"))
        .def_prop_ro("rows", &PackedTable::rows)
        .def_prop_ro("columns", &PackedTable::columns)
        .def_prop_ro("nbytes", &PackedTable::bytes, "Bytes held, derived layouts included.")
        .def("reserve_planes", &PackedTable::reserve_planes, nb::arg("planes"))
        .def(
            "append",
            [](PackedTable& table, const Array<std::uint8_t>& codes, std::uint32_t levels) {
                table.append(span(codes), levels);
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append",
            [](PackedTable& table, const Array<std::uint16_t>& codes, std::uint32_t levels) {
                table.append(span(codes), levels);
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append_block",
            [](PackedTable& table, const nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::device::cpu>& codes,
               const Positions& levels) {
                if (codes.shape(0) != table.rows() || codes.shape(1) != levels.size() ||
                    (codes.shape(1) > 1 && codes.stride(1) != 1)) {
                    throw nb::value_error("codes must be rows × columns, row by row");
                }
                const nb::gil_scoped_release release;
                table.append_block(codes.data(), static_cast<std::size_t>(codes.stride(0)), span(levels));
            },
            nb::arg("codes"), nb::arg("levels"))
        .def(
            "append_ones", [](PackedTable& table, const Array<std::int64_t>& ones) { table.append_ones(span(ones)); },
            nb::arg("ones"))
        .def(
            "levels",
            [](const PackedTable& table, std::size_t column) {
                check(table, column);
                return table.levels(column);
            },
            nb::arg("column"))
        .def(
            "first_copies",
            [](const PackedTable& table) {
                Control control = control_for(nb::none());
                std::vector<std::uint32_t> first;
                in_touch(control, [&] { first = first_copies(table, control); });
                return to_numpy(std::move(first));
            },
            "For every column, the first that divides the rows alike.")
        .def(
            "codes",
            [](const PackedTable& table, std::size_t column) {
                check(table, column);
                std::vector<std::uint16_t> codes(table.rows());
                table.unpack(column, codes);
                return to_numpy(std::move(codes));
            },
            nb::arg("column"));
}

// The arrays in which a batch of answers goes to Python.
struct Batch {
    explicit Batch(std::size_t size)
        : statistic(empty_numpy<double>(size)), dof(empty_numpy<double>(size)), reliable(empty_numpy<bool>(size)) {}
    Answers answers() const { return {statistic.data(), dof.data(), reinterpret_cast<std::uint8_t*>(reliable.data())}; }
    NumPy<double> statistic, dof;
    NumPy<bool> reliable;
};

SubsetQuestion asked_for(const Columns& xs, std::uint32_t target, const Columns& pool,
                         const std::vector<std::uint32_t>& fixed, std::size_t smallest, std::size_t largest,
                         std::optional<std::size_t> most, const std::vector<std::int64_t>& tried,
                         std::optional<double> stop_above, bool shrinking, bool until_survivor) {
    check_distinct(pool.all());
    if (tried.size() > 1 && tried.size() != xs.size()) {
        throw nb::value_error("tried must have one number, or one for every x");
    }
    SubsetQuestion question{.target = target, .pool = pool.all(), .fixed = fixed};
    question.smallest = smallest;
    question.largest = largest;
    question.most = most.value_or(question.most);
    question.tried = tried;
    question.stop_above = stop_above;
    question.shrinking = shrinking;
    question.until_survivor = until_survivor;
    return question;
}

using BySize = nb::typed<nb::dict, int, int>;

// Counts by size, but for those of 0.
BySize by_size(const std::vector<std::uint64_t>& counts) {
    nb::dict found;
    for (std::size_t size = 0; size < counts.size(); ++size) {
        if (counts[size] != 0) {
            found[nb::int_(size)] = counts[size];
        }
    }
    return BySize(std::move(found));
}

auto to_python(Divided&& divided) {
    return std::make_pair(to_numpy(std::move(divided.dependent)), to_numpy(std::move(divided.apart)));
}

Sorted sorted_out(const ScreenAnswers& answers, const Columns& xs, double log_alpha, bool apart_too) {
    check_one_length(xs, answers);
    return sort_out(xs.all(), answers.statistic(), answers.dof(), answers.reliable(), log_alpha, apart_too);
}

void bind_answers(nb::module_& m) {
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
        .def_prop_ro(
            "performed",
            [](const ScreenAnswers& answers) {
                const auto reliable = answers.reliable();
                return std::count(reliable.begin(), reliable.end(), 1);
            },
            "How many are reliable: the others were not performed.")
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
            "Places of the strongest reliable answers (several if they tie exactly) and their log p.")
        .def(
            "divide",
            [](const ScreenAnswers& answers, double log_alpha) {
                return to_python(divide(answers.statistic(), answers.dof(), answers.reliable(), log_alpha));
            },
            nb::arg("log_alpha"),
            "Places of the reliable answers with log p <= log_alpha, and of the other reliable ones.")
        .def(
            "ranked",
            [](const ScreenAnswers& answers, const Array<std::int64_t>& places) {
                for (const std::int64_t place : span(places)) {
                    if (place < 0 || static_cast<std::size_t>(place) >= answers.size()) {
                        throw nb::index_error("no such answer");
                    }
                }
                return to_numpy(ranked(answers.statistic(), answers.dof(), span(places)));
            },
            nb::arg("places"), "Places of reliable answers, from the strongest to the weakest.")
        .def(
            "dependents",
            [](const ScreenAnswers& answers, const Columns& xs, double log_alpha) {
                return sorted_out(answers, xs, log_alpha, false).dependent;
            },
            nb::arg("xs"), nb::arg("log_alpha"),
            "The columns whose answers are reliable, with log p <= log_alpha: the strongest first, ties by column.")
        .def(
            "sort_out",
            [](const ScreenAnswers& answers, const Columns& xs, double log_alpha) {
                Sorted found = sorted_out(answers, xs, log_alpha, true);
                return std::make_pair(std::move(found.dependent), to_numpy(std::move(found.apart)));
            },
            nb::arg("xs"), nb::arg("log_alpha"), "These, and the other columns whose answers are reliable.")
        .def(
            "each",
            [](const ScreenAnswers& answers, const Columns& xs) {
                check_one_length(xs, answers);
                std::vector<std::tuple<std::size_t, std::uint32_t, double, double>> performed;
                for (std::size_t k = 0; k < answers.size(); ++k) {
                    if (answers.reliable()[k] != 0) {
                        const double statistic = answers.statistic()[k];
                        performed.emplace_back(k, xs.all()[k], chi_square_log_sf(statistic, answers.dof()[k]),
                                               statistic);
                    }
                }
                return performed;
            },
            nb::arg("xs"), "Place, x, log p and statistic of the reliable answers.")
        .def(
            "at", [](const ScreenAnswers& answers, const Columns& places) { return answers.at(places.all()); },
            nb::arg("places"), "The answers at some places.")
        .def(
            "at",
            [](const ScreenAnswers& answers, const Array<std::int64_t>& places) { return answers.at(span(places)); },
            nb::arg("places"))
        .def(
            "outcome",
            [](const ScreenAnswers& answers, std::size_t place) {
                if (place >= answers.size()) {
                    throw nb::index_error("no such answer");
                }
                const double statistic = answers.statistic()[place];
                const double dof = answers.dof()[place];
                const bool reliable = answers.reliable()[place] != 0;
                const double log_p = reliable ? chi_square_log_sf(statistic, dof) : std::nan("");
                return std::make_tuple(statistic, dof, log_p, reliable);
            },
            nb::arg("place"), "Statistic, dof, log p and reliability of one answer.");
    nb::class_<FoundSubsets>(m, "FoundSubsets", "The answers of a search through conditioning sets.")
        .def("__len__", [](const FoundSubsets& found) { return found.answers().size(); })
        .def("arrays", &FoundSubsets::arrays,
             "Statistics, dof and log p (one after another); verdicts (0 unreliable, 1 dependent, 2 separated) and "
             "places in the list of conditioning sets; that list.")
        .def("xs", [](const FoundSubsets& found) { return to_numpy(std::vector(found.xs)); })
        .def_prop_ro(
            "tests", [](const FoundSubsets& found) { return by_size(found.found.tally.tests); }, "By size.")
        .def_prop_ro(
            "skipped", [](const FoundSubsets& found) { return by_size(found.found.tally.skipped); }, "By size.")
        .def(
            "those",
            [](const FoundSubsets& found, bool separated) {
                std::vector<std::uint32_t> those;
                for (std::size_t k = 0; k < found.answers().size(); ++k) {
                    if (found.answers()[k].separated == separated) {
                        those.push_back(found.xs[k]);
                    }
                }
                return those;
            },
            nb::arg("separated"), "The x that some set separates, or those that none does.")
        .def(
            "last_survives",
            [](const FoundSubsets& found) { return !found.answers().empty() && !found.answers().back().separated; },
            "Whether there is a last x and nothing separates it.")
        .def(
            "apart",
            [](const FoundSubsets& found, double log_alpha) {
                using Given = nb::typed<nb::tuple, std::uint32_t, nb::ellipsis>;
                std::vector<std::pair<std::uint32_t, Given>> apart;
                for (std::size_t k = 0; k < found.answers().size(); ++k) {
                    const SubsetAnswer& answer = found.answers()[k];
                    if (answer.outcome.reliable && answer.outcome.log_p > log_alpha) {
                        apart.emplace_back(found.xs[k], Given(nb::tuple(nb::cast(answer.given))));
                    }
                }
                return apart;
            },
            nb::arg("log_alpha"), "The x whose log p is above a value, each with its conditioning set.")
        .def(
            "each",
            [](const FoundSubsets& found) {
                std::vector<std::tuple<std::size_t, std::uint32_t, double, double>> performed;
                for (std::size_t k = 0; k < found.answers().size(); ++k) {
                    const Outcome& outcome = found.answers()[k].outcome;
                    if (outcome.reliable) {
                        performed.emplace_back(k, found.xs[k], outcome.log_p, outcome.statistic);
                    }
                }
                return performed;
            },
            "Place, x, log p and statistic of the reliable answers.")
        .def(
            "places_of",
            [](const FoundSubsets& found, std::uint32_t x) {
                std::vector<std::size_t> places;
                for (std::size_t k = 0; k < found.answers().size(); ++k) {
                    if (found.xs[k] == x && found.answers()[k].outcome.reliable) {
                        places.push_back(k);
                    }
                }
                return places;
            },
            nb::arg("x"), "Places of the reliable answers about one x.")
        .def(
            "outcome",
            [](const FoundSubsets& found, std::size_t place) {
                if (place >= found.answers().size()) {
                    throw nb::index_error("no such answer");
                }
                const Outcome& out = found.answers()[place].outcome;
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("place"), "Statistic, dof, log p and reliability of one answer.")
        .def(
            "given_of",
            [](const FoundSubsets& found, std::size_t place) {
                if (place >= found.answers().size()) {
                    throw nb::index_error("no such answer");
                }
                return nb::typed<nb::tuple, int, nb::ellipsis>(nb::tuple(nb::cast(found.answers()[place].given)));
            },
            nb::arg("place"), "The conditioning set of one answer.")
        .def(
            "weaken",
            [](const FoundSubsets& found, const Numbers& statistic, const Numbers& dof, const Numbers& log_p,
               const Places& batch, const Places& place, std::int64_t number) {
                const std::size_t n = found.answers().size();
                if (statistic.size() != n || dof.size() != n || log_p.size() != n || batch.size() != n ||
                    place.size() != n) {
                    throw nb::value_error("one number for every x");
                }
                const Associations known{statistic.data(), dof.data(), log_p.data(), batch.data(), place.data()};
                return to_numpy(weaken(known, found.answers(), number));
            },
            nb::arg("statistic"), nb::arg("dof"), nb::arg("log_p"), nb::arg("batch"), nb::arg("place"),
            nb::arg("number"),
            "Takes the place of known associations where an answer is weaker; returns the places of the x that are not "
            "separated.");
}

FoundSubsets found_for(const Columns& xs, SubsetAnswers&& found) {
    const auto asked = xs.all().first(found.answers.size());
    return {{asked.begin(), asked.end()}, std::move(found)};
}

void bind_test(nb::module_& m) {
    nb::class_<Groups>(m, "Groups", "Candidates and the conditioning sets they are tested with.")
        .def_ro_static("many", &Groups::many, "From so many candidates on they get a table of their own.")
        .def(
            "__init__",
            [](Groups* self, const PackedTable& table,
               const std::vector<std::pair<Columns, std::vector<std::uint32_t>>>& groups) {
                std::vector<Group> made;
                for (const auto& [candidates, given] : groups) {
                    const auto all = candidates.all();
                    check(table, all);
                    check(table, given);
                    made.push_back({{all.begin(), all.end()}, given});
                }
                new (self) Groups(table, std::move(made));
            },
            nb::arg("table"), nb::arg("groups"), nb::keep_alive<1, 2>());
    nb::class_<ContingencyTest>(m, "ContingencyTest", "G² and X² tests on a packed table.")
        .def(
            "__init__",
            [](ContingencyTest* self, const PackedTable& table, const std::string& statistic, const std::string& dof,
               const std::string& reliability, double minimum) {
                new (self) ContingencyTest(
                    table, {parse<StatisticKind>(statistic, {{"g2", StatisticKind::g2}, {"x2", StatisticKind::x2}}),
                            parse<DofRule>(dof, {{"full", DofRule::full}, {"adjusted", DofRule::adjusted}}),
                            parse<Reliability>(reliability, {{"none", Reliability::none},
                                                             {"dof", Reliability::dof},
                                                             {"cells", Reliability::cells}}),
                            minimum});
            },
            nb::arg("table"), nb::arg("statistic"), nb::arg("dof"), nb::arg("reliability"), nb::arg("minimum"),
            nb::keep_alive<1, 2>())
        .def(
            "test",
            [](const ContingencyTest& test, std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given) {
                check(test.table(), x);
                check(test.table(), y);
                check(test.table(), given);
                Outcome out{};
                if (test.table().rows() < 20'000) {  // soon done
                    out = test.test(x, y, given);
                } else {
                    const nb::gil_scoped_release release;
                    out = test.test(x, y, given);
                }
                return std::make_tuple(out.statistic, out.dof, out.log_p, out.reliable);
            },
            nb::arg("x"), nb::arg("y"), nb::arg("given"))
        .def(
            "screen",
            [](const ContingencyTest& test, std::uint32_t target, const Columns& candidates,
               const std::vector<std::uint32_t>& given, std::size_t threads, const nb::object& poll,
               const std::string& way) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                ScreenAnswers answers(candidates.size());
                Control control = control_for(poll);
                in_touch(control, [&] {
                    test.screen(target, candidates.all(), given, std::min(threads, most_threads), control,
                                answers.out(), parse_way(way), way == "panels");
                });
                return answers;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), nb::arg("way") = "automatic",
            "Statistic, dof and reliability of many candidates given one set.")
        .def(
            "marginals",
            [](const ContingencyTest& test, const Columns& targets, std::size_t threads) {
                check(test.table(), targets.all());
                check_distinct(targets.all());
                ScreenAnswers answers(targets.size() * test.table().columns());
                Control control = control_for(nb::none());
                in_touch(control, [&] {
                    test.marginals(targets.all(), std::min(threads, most_threads), control, answers.out());
                });
                return answers.in_rows(test.table().columns());
            },
            nb::arg("targets"), nb::arg("threads") = 1, "Each target against all columns given nothing.")
        .def(
            "screens",
            [](const ContingencyTest& test, std::uint32_t target, const Groups& groups, std::uint32_t also,
               std::size_t threads, const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), also);
                if (&groups.table() != &test.table()) {
                    throw nb::value_error("groups of another table");
                }
                ScreenAnswers answers(groups.size());
                std::vector<std::uint32_t> xs;
                xs.reserve(groups.size());
                Tally tally;
                Control control = control_for(poll);
                in_touch(control, [&] {
                    tally =
                        test.screens(target, groups, also, std::min(threads, most_threads), control, answers.out(), xs);
                });
                answers.keep_first(xs.size());
                return std::make_tuple(std::move(answers), to_numpy(std::move(xs)), by_size(tally.tests),
                                       by_size(tally.skipped));
            },
            nb::arg("target"), nb::arg("groups"), nb::arg("also"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "The candidates of groups, each given its group's set and one more, one after another; who they are; tests "
            "and skips by size.")
        .def(
            "screen_among",
            [](const ContingencyTest& test, std::uint32_t target, const Groups& groups, const Columns& candidates,
               const std::vector<std::uint32_t>& given, std::size_t threads, const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                if (&groups.table() != &test.table()) {
                    throw nb::value_error("groups of another table");
                }
                ScreenAnswers answers(candidates.size());
                Control control = control_for(poll);
                in_touch(control, [&] {
                    test.screen_among(target, groups, candidates.all(), given, std::min(threads, most_threads), control,
                                      answers.out());
                });
                return answers;
            },
            nb::arg("target"), nb::arg("groups"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "As screen, of some of the candidates of groups, which may be quicker.")
        .def(
            "first_dependent",
            [](const ContingencyTest& test, std::uint32_t target, const Columns& candidates,
               const std::vector<std::uint32_t>& given, double log_alpha, const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                ScreenAnswers answers(candidates.size());
                Control control = control_for(poll);
                std::size_t asked = 0;
                in_touch(control, [&] {
                    asked = test.first_dependent(target, candidates.all(), given, log_alpha, control, answers.out());
                });
                answers.keep_first(asked);
                return answers;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("log_alpha"),
            nb::arg("poll") = nb::none())
        .def(
            "search_subsets",
            [](const ContingencyTest& test, const Columns& xs, std::uint32_t target, const Columns& pool,
               const std::vector<std::uint32_t>& fixed, std::size_t smallest, std::size_t largest,
               std::optional<std::size_t> most, const std::vector<std::int64_t>& tried,
               std::optional<double> stop_above, bool shrinking, bool until_survivor, std::size_t threads,
               const nb::object& poll) {
                check(test.table(), xs.all());
                check(test.table(), target);
                check(test.table(), pool.all());
                check(test.table(), fixed);
                const SubsetQuestion question = asked_for(xs, target, pool, fixed, smallest, largest, most, tried,
                                                          stop_above, shrinking, until_survivor);
                SubsetAnswers found;
                Control control = control_for(poll);
                in_touch(control, [&] {
                    found = test.search_subsets(xs.all(), question, std::min(threads, most_threads), control);
                });
                return found_for(xs, std::move(found));
            },
            nb::arg("xs"), nb::arg("target"), nb::arg("pool"), nb::arg("fixed"), nb::arg("smallest"),
            nb::arg("largest"), nb::arg("most"), nb::arg("tried"), nb::arg("stop_above"), nb::arg("shrinking"),
            nb::arg("until_survivor"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "For each x the first separation, or else the weakest association, over subsets of the pool.")
        .def(
            "sweep",
            [](const ContingencyTest& test, const Columns& xs, std::uint32_t target, const Columns& pool,
               std::optional<std::size_t> most, double stop_above, const nb::object& poll) {
                check(test.table(), xs.all());
                check(test.table(), target);
                check(test.table(), pool.all());
                check_distinct(pool.all());
                SubsetQuestion question{.target = target, .pool = pool.all(), .fixed = {}};
                question.most = most.value_or(question.most);
                question.stop_above = stop_above;
                SubsetAnswers found;
                Control control = control_for(poll);
                in_touch(control, [&] { found = test.sweep(xs.all(), question, control); });
                return found_for(xs, std::move(found));
            },
            nb::arg("xs"), nb::arg("target"), nb::arg("pool"), nb::arg("most"), nb::arg("stop_above"),
            nb::arg("poll") = nb::none(),
            "Each x given the rest of the pool; who is separated leaves it for those after.");
}

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
            Control control = control_for(poll);
            in_touch(control, [&] {
                found = all_pairs(table, log_alpha, strongest, least_rows, std::min(threads, most_threads), control);
            });
            return std::make_tuple(to_numpy(std::move(found.dependents)), to_numpy(std::move(found.partners)),
                                   to_numpy(std::move(found.statistic)));
        },
        nb::arg("table"), nb::arg("log_alpha"), nb::arg("strongest"), nb::arg("least_rows"), nb::arg("threads") = 1,
        nb::arg("poll") = nb::none(),
        "For every column how many others depend on it, which most (so many a column), and their statistics.");
}

void bind_mixed(nb::module_& m) {
    nb::class_<MixedTest>(m, "MixedTest", "The conditional Gaussian likelihood-ratio test.")
        .def(
            "__init__",
            [](MixedTest* self, const PackedTable& table, const std::vector<std::uint32_t>& continuous, double minimum,
               std::size_t most_bytes) {
                check(table, continuous);
                std::vector<std::uint8_t> kinds(table.columns());
                for (const std::uint32_t column : continuous) {
                    kinds[column] = 1;
                }
                new (self) MixedTest(table, std::move(kinds), minimum, most_bytes);
            },
            nb::arg("table"), nb::arg("continuous"), nb::arg("minimum"), nb::arg("most_bytes"), nb::keep_alive<1, 2>())
        .def_prop_ro("nbytes", &MixedTest::bytes, "Bytes taken by what is remembered between questions.")
        .def(
            "set_values",
            [](MixedTest& test, std::uint32_t column, const Array<double>& values) {
                if (column >= test.columns() || !test.continuous(column) || values.size() != test.rows()) {
                    throw nb::value_error("values of a continuous column, one a row");
                }
                test.set_values(column, span(values));
            },
            nb::arg("column"), nb::arg("values"))
        .def(
            "test",
            [](MixedTest& test, std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& given,
               bool thorough, bool remember) {
                std::vector<std::uint32_t> all(given);
                all.insert(all.end(), {x, y});
                bool categorical = true;
                for (const std::uint32_t v : all) {
                    if (v >= test.columns()) {
                        throw nb::index_error("no such column");
                    }
                    if (test.continuous(v) && !test.has_values(v)) {
                        throw nb::value_error("a column without values");
                    }
                    categorical = categorical && !test.continuous(v);
                }
                std::sort(all.begin(), all.end());
                if (categorical || std::adjacent_find(all.begin(), all.end()) != all.end()) {
                    throw nb::value_error("columns must differ and not all be categorical");
                }
                const MixedOutcome out = test.test(x, y, given, thorough, remember);
                return std::make_tuple(out.statistic, out.dof, out.rows, out.reliable);
            },
            nb::arg("x"), nb::arg("y"), nb::arg("given"), nb::arg("thorough") = true, nb::arg("remember") = true,
            "Statistic, dof, rows that take part and reliability.");
}

void bind_gaussian(nb::module_& m) {
    nb::class_<GaussianTest>(m, "GaussianTest", "Partial correlations of standardised columns.")
        .def(
            "__init__",
            [](GaussianTest* self, std::size_t rows, std::size_t columns, const std::string& kind) {
                new (self) GaussianTest(rows, columns,
                                        parse<CorrelationKind>(kind, {{"fisher-z", CorrelationKind::fisher_z},
                                                                      {"student-t", CorrelationKind::student_t}}));
            },
            nb::arg("rows"), nb::arg("columns"), nb::arg("kind"))
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
            "screen",
            [](const GaussianTest& test, std::uint32_t target, const Positions& candidates,
               const std::vector<std::uint32_t>& given, std::size_t threads, const nb::object& poll) {
                check(test, target);
                check(test, span(candidates));
                check(test, given);
                Batch batch(candidates.size());
                Control control = control_for(poll);
                in_touch(control, [&] {
                    test.screen(target, span(candidates), given, std::min(threads, most_threads), control,
                                batch.answers());
                });
                return std::make_tuple(batch.statistic, batch.dof, batch.reliable);
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "Statistic, dof and reliability of many candidates given one set.")
        .def(
            "first_dependent",
            [](const GaussianTest& test, std::uint32_t target, const Positions& candidates,
               const std::vector<std::uint32_t>& given, double log_alpha, const nb::object& poll) {
                check(test, target);
                check(test, span(candidates));
                check(test, given);
                Batch batch(candidates.size());
                Control control = control_for(poll);
                std::size_t asked = 0;
                in_touch(control, [&] {
                    asked = test.first_dependent(target, span(candidates), given, log_alpha, control, batch.answers());
                });
                return std::make_tuple(asked, batch.statistic, batch.dof, batch.reliable);
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("log_alpha"),
            nb::arg("poll") = nb::none())
        .def(
            "search_subsets",
            [](const GaussianTest& test, const Columns& xs, std::uint32_t target, const Columns& pool,
               const std::vector<std::uint32_t>& fixed, std::size_t smallest, std::size_t largest,
               std::optional<std::size_t> most, const std::vector<std::int64_t>& tried,
               std::optional<double> stop_above, bool shrinking, bool until_survivor, std::size_t threads,
               const nb::object& poll) {
                check(test, xs.all());
                check(test, target);
                check(test, pool.all());
                check(test, fixed);
                SubsetAnswers found;
                const SubsetQuestion question = asked_for(xs, target, pool, fixed, smallest, largest, most, tried,
                                                          stop_above, shrinking, until_survivor);
                Control control = control_for(poll);
                in_touch(control, [&] {
                    found = test.search_subsets(xs.all(), question, std::min(threads, most_threads), control);
                });
                return found_for(xs, std::move(found));
            },
            nb::arg("xs"), nb::arg("target"), nb::arg("pool"), nb::arg("fixed"), nb::arg("smallest"),
            nb::arg("largest"), nb::arg("most"), nb::arg("tried"), nb::arg("stop_above"), nb::arg("shrinking"),
            nb::arg("until_survivor"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "As ContingencyTest.search_subsets.")
        .def(
            "log_p",
            [](const GaussianTest& test, const Array<double>& statistic, const Array<double>& dof) {
                check_one_length(statistic, dof);
                auto out = empty_numpy<double>(statistic.size());
                for (std::size_t k = 0; k < statistic.size(); ++k) {
                    out.data()[k] = test.rule().log_p(statistic.data()[k], dof.data()[k]);
                }
                return out;
            },
            nb::arg("statistic"), nb::arg("dof"))
        .def(
            "dependent",
            [](const GaussianTest& test, const Array<double>& statistic, const Array<double>& dof,
               const Array<bool>& reliable, double log_alpha) {
                check_one_length(statistic, dof, reliable);
                auto out = empty_numpy<bool>(statistic.size());
                for (std::size_t k = 0; k < statistic.size(); ++k) {
                    out.data()[k] =
                        reliable.data()[k] && !test.rule().log_p_above(statistic.data()[k], dof.data()[k], log_alpha);
                }
                return out;
            },
            nb::arg("statistic"), nb::arg("dof"), nb::arg("reliable"), nb::arg("log_alpha"),
            "Which answers are reliable and have log p <= log_alpha.");
}

// A family names its child and each of its parents once.
void check_family(const PackedTable& table, std::uint32_t child, const std::vector<std::uint32_t>& parents) {
    check(table, parents);
    check_distinct(parents);
    if (std::find(parents.begin(), parents.end(), child) != parents.end()) {
        throw nb::value_error(("column " + std::to_string(child) + " cannot be its own parent").c_str());
    }
}

void bind_score(nb::module_& m) {
    nb::class_<FamilyScore>(m, "FamilyScore", "Scores of Bayesian-network families on a packed table.")
        .def(
            "__init__",
            [](FamilyScore* self, const PackedTable& table, const std::string& kind, double ess) {
                const auto parsed = parse<ScoreKind>(kind, {{"loglik", ScoreKind::loglik},
                                                            {"bic", ScoreKind::bic},
                                                            {"aic", ScoreKind::aic},
                                                            {"bdeu", ScoreKind::bdeu},
                                                            {"k2", ScoreKind::k2}});
                if (!(ess > 0.0) || !std::isfinite(ess)) {
                    throw nb::value_error("ess must be positive and finite");
                }
                new (self) FamilyScore(table, parsed, ess);
            },
            nb::arg("table"), nb::arg("kind"), nb::arg("ess") = 1.0, nb::keep_alive<1, 2>())
        .def(
            "additions",
            [](const FamilyScore& score, std::uint32_t child, const Positions& candidates,
               const std::vector<std::uint32_t>& parents, std::size_t threads, const nb::object& poll,
               const std::string& way) {
                check(score.table(), child);
                check(score.table(), span(candidates));
                check_family(score.table(), child, parents);
                for (const std::uint32_t x : span(candidates)) {
                    if (x == child || std::find(parents.begin(), parents.end(), x) != parents.end()) {
                        throw nb::value_error(("candidate " + std::to_string(x) + " is in the family already").c_str());
                    }
                }
                const Way parsed = parse_way(way);
                auto out = empty_numpy<double>(candidates.size());
                Control control = control_for(poll);
                in_touch(control, [&] {
                    score.additions(child, span(candidates), parents, std::min(threads, most_threads), control,
                                    out.data(), parsed);
                });
                return out;
            },
            nb::arg("child"), nb::arg("candidates"), nb::arg("parents"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), nb::arg("way") = "automatic",
            "Scores of the child with the parents and each of many candidates.")
        .def(
            "families",
            [](const FamilyScore& score, std::uint32_t child, const std::vector<std::vector<std::uint32_t>>& sets,
               std::size_t threads, const nb::object& poll) {
                check(score.table(), child);
                for (const std::vector<std::uint32_t>& parents : sets) {
                    check_family(score.table(), child, parents);
                }
                auto out = empty_numpy<double>(sets.size());
                Control control = control_for(poll);
                in_touch(control,
                         [&] { score.families(child, sets, std::min(threads, most_threads), control, out.data()); });
                return out;
            },
            nb::arg("child"), nb::arg("parent_sets"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Scores of the child with each of several sets of parents.");
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The native core: packed columns, counting, statistics.";
    nb::set_leak_warnings(false);  // whoever still holds a table at exit has done nothing wrong
    m.attr("MAX_LEVELS") = max_levels;
    m.attr("MAX_ROWS") = max_rows;
    bind_table(m);
    bind_answers(m);
    bind_test(m);
    bind_gaussian(m);
    bind_mixed(m);
    bind_pairs(m);
    bind_score(m);
    m.def(
        "chi_square_log_sf", [](double statistic, double dof) { return chi_square_log_sf(statistic, dof); },
        nb::arg("statistic"), nb::arg("dof"), "Natural logarithm of the chi-square tail probability.");
    m.def(
        "chi_square_log_sf",
        [](const Array<double>& statistic, const Array<double>& dof) {
            check_one_length(statistic, dof);
            auto out = empty_numpy<double>(statistic.size());
            {
                const nb::gil_scoped_release release;
                for (std::size_t k = 0; k < statistic.size(); ++k) {
                    out.data()[k] = chi_square_log_sf(statistic.data()[k], dof.data()[k]);
                }
            }
            return out;
        },
        nb::arg("statistic"), nb::arg("dof"));
    m.def("student_t_log_p", &student_t_log_p, nb::arg("statistic"), nb::arg("dof"),
          "Natural logarithm of the two-sided tail probability of Student's t.");
    m.def(
        "lowest",
        [](const Array<double>& log_p, const Array<double>& statistic) {
            check_one_length(log_p, statistic);
            return lowest(span(log_p), span(statistic));
        },
        nb::arg("log_p"), nb::arg("statistic"),
        "Places of the lowest log p, and of several those of the largest statistic.");
    m.def(
        "bits_of",
        [](const Array<std::uint32_t>& columns) {
            const std::string bits = bits_of(span(columns));
            return nb::bytes(bits.data(), bits.size());
        },
        nb::arg("columns"), "A bit for each column up to the last, set where it is named, the lowest first.");
    m.def(
        "without",
        [](const Array<std::uint32_t>& columns, const std::vector<std::uint32_t>& excluded, bool ascending) {
            return to_numpy(without(span(columns), excluded, ascending));
        },
        nb::arg("columns"), nb::arg("excluded"), nb::arg("ascending") = false,
        "The columns that are not excluded, in their order; quicker if that is known to be ascending.");
    m.def(
        "instruction_sets",
        [] {
            std::vector<std::string> names;
            for (const Kernels* set : available_kernels()) {
                names.emplace_back(set->name);
            }
            return names;
        },
        "Sets of kernels this processor can run, the plainest first.");
    m.def("instruction_set", [] { return std::string(kernels().name); }, "The set of kernels in use.");
    m.def("use_instruction_set", [](const std::string& name) { return select_kernels(name); }, nb::arg("name"));
}
