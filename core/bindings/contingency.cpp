// G² and X² tests.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "batches.hpp"
#include "bindings.hpp"
#include "cancellation.hpp"
#include "conversions.hpp"
#include "counting_strategy.hpp"
#include "rules.hpp"
#include "serape/answers.hpp"
#include "serape/contingency_test.hpp"
#include "serape/inter_iapc.hpp"
#include "serape/spouse_search.hpp"

namespace nb = nanobind;

namespace serape {

void bind_contingency_test(nb::module_& m) {
    nb::class_<CandidateGroups>(m, "CandidateGroups", "Candidates and the conditioning sets they are tested with.")
        .def_ro_static("many", &CandidateGroups::many, "From so many candidates on they may get a table of their own.")
        .def(
            "__init__",
            [](CandidateGroups* self, const PackedTable& table,
               const std::vector<std::pair<Columns, std::vector<std::uint32_t>>>& groups) {
                std::vector<Group> made;
                for (const auto& [candidates, given] : groups) {
                    const auto all = candidates.all();
                    check(table, all);
                    check(table, given);
                    made.push_back({{all.begin(), all.end()}, given});
                }
                new (self) CandidateGroups(table, std::move(made));
            },
            nb::arg("table"), nb::arg("groups"), nb::keep_alive<1, 2>())
        .def_prop_ro("has_own_table", &CandidateGroups::has_own_table,
                     "Whether the candidates are kept in a table of their own.");
    nb::class_<ContingencyTest>(m, "ContingencyTest", "G² and X² tests on a packed table.")
        .def(
            "__init__",
            [](ContingencyTest* self, const PackedTable& table, const std::string& statistic, const std::string& dof,
               const std::string& reliability, double minimum) {
                new (self) ContingencyTest(table, parse_rules(statistic, dof, reliability, minimum));
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
               const std::string& strategy) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                ScreenAnswers answers(candidates.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    test.screen(target, candidates.all(), given, std::min(threads, most_threads), token, answers.out(),
                                parse_strategy(strategy));
                });
                return answers;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), nb::arg("strategy") = "automatic",
            "Statistic, dof and reliability of many candidates given one set.")
        .def(
            "strategies",
            [](const ContingencyTest& test, std::uint32_t target, const Columns& candidates,
               const std::vector<std::uint32_t>& given, const std::string& strategy) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                std::vector<std::string> names;
                for (const CountingStrategy chosen :
                     test.strategies(target, candidates.all(), given, parse_strategy(strategy))) {
                    names.emplace_back(name_of(chosen));
                }
                return names;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("strategy") = "automatic",
            "How each candidate of such a screen is counted.")
        .def(
            "marginals",
            [](const ContingencyTest& test, const Columns& targets, std::size_t threads) {
                check(test.table(), targets.all());
                check_distinct(targets.all());
                ScreenAnswers answers(targets.size() * test.table().columns());
                CancellationToken token = cancellation_token(nb::none());
                run_interruptible(token, [&] {
                    test.marginals(targets.all(), std::min(threads, most_threads), token, answers.out());
                });
                return answers.in_rows(test.table().columns());
            },
            nb::arg("targets"), nb::arg("threads") = 1, "Each target against all columns given nothing.")
        .def(
            "screens",
            [](const ContingencyTest& test, std::uint32_t target, const CandidateGroups& groups, std::uint32_t also,
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
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    groups.expect(1, std::min(threads, most_threads));
                    tally =
                        test.screens(target, groups, also, std::min(threads, most_threads), token, answers.out(), xs);
                });
                answers.keep_first(xs.size());
                return std::make_tuple(std::move(answers), to_numpy(std::move(xs)), by_size(tally.tests),
                                       by_size(tally.skipped));
            },
            nb::arg("target"), nb::arg("groups"), nb::arg("also"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "The candidates of groups, each given its group's set and one more, one after another; these candidates; "
            "tests "
            "and skips by size.")
        .def(
            "screen_among",
            [](const ContingencyTest& test, std::uint32_t target, const CandidateGroups& groups,
               const Columns& candidates, const std::vector<std::uint32_t>& given, std::size_t threads,
               const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                if (&groups.table() != &test.table()) {
                    throw nb::value_error("groups of another table");
                }
                ScreenAnswers answers(candidates.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    groups.expect(1, std::min(threads, most_threads));
                    test.screen_among(target, groups, candidates.all(), given, std::min(threads, most_threads), token,
                                      answers.out());
                });
                return answers;
            },
            nb::arg("target"), nb::arg("groups"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "As screen, of some of the candidates of groups, which may be quicker.")
        .def(
            "screen_in",
            [](const ContingencyTest& test, const PackedTable& source, std::uint32_t target, const Columns& candidates,
               const std::vector<std::uint32_t>& given, std::size_t threads, const nb::object& poll) {
                check(test.table(), target);
                check(source, candidates.all());
                check(test.table(), given);
                check_same_rows(test.table(), source);
                ScreenAnswers answers(candidates.size());
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    test.screen_in(source, target, candidates.all(), given, std::min(threads, most_threads), token,
                                   answers.out());
                });
                return answers;
            },
            nb::arg("source"), nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "As screen, of candidates in another table of the same rows.")
        .def(
            "find_spouses",
            [](const ContingencyTest& test, std::uint32_t target, const CandidateGroups& groups, Columns children,
               double log_alpha, bool as_written, std::optional<std::size_t> max_size, std::size_t threads,
               const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), children.all());
                if (&groups.table() != &test.table()) {
                    throw nb::value_error("groups of another table");
                }
                SpouseQuery query{target, std::move(children).vector(), log_alpha, as_written};
                query.max_size = max_size.value_or(query.max_size);
                std::vector<Spouses> all;
                CancellationToken token = cancellation_token(poll);
                run_interruptible(
                    token, [&] { all = find_spouses(test, groups, query, std::min(threads, most_threads), token); });
                using Found = std::tuple<std::vector<std::uint32_t>, FoundSubsets, decltype(by_size(Tally{}.tests)),
                                         decltype(by_size(Tally{}.skipped))>;
                std::vector<Found> found;
                for (Spouses& one : all) {
                    const auto tests = by_size(one.screened.tests), skipped = by_size(one.screened.skipped);
                    found.emplace_back(std::move(one.dependents), std::move(one.found), tests, skipped);
                }
                return found;
            },
            nb::arg("target"), nb::arg("groups"), nb::arg("children"), nb::arg("log_alpha"), nb::arg("as_written"),
            nb::arg("max_size"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "By child: the dependent candidates given it, what separates them given it and one other, and the number "
            "of tests of the first kind, and of those skipped.")
        .def(
            "inter_iapc",
            [](const ContingencyTest& test, const CandidateGroups& among, const Columns& targets, double log_alpha,
               const Columns& weigh, std::size_t threads, const nb::object& poll) {
                check(test.table(), targets.all());
                if (&among.table() != &test.table()) {
                    throw nb::value_error("groups of another table");
                }
                std::vector<InterIapc> all;
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] {
                    all = inter_iapc(test, among, targets.all(), log_alpha, weigh.all(),
                                     std::min(threads, most_threads), token);
                });
                using Round = std::tuple<std::vector<std::uint32_t>, std::size_t, std::size_t, NumPy<std::uint32_t>,
                                         std::vector<FoundSubsets>>;
                using Weakest = std::tuple<std::uint32_t, double, double, double, std::size_t>;
                std::vector<std::tuple<std::vector<Round>, bool, FoundSubsets, std::vector<Weakest>>> found;
                for (InterIapc& one : all) {
                    std::vector<Weakest> weakest;
                    for (const OutsideAssociation& its : one.weakest) {
                        weakest.emplace_back(its.x, its.outcome.statistic, its.outcome.dof, its.outcome.log_p,
                                             its.round);
                    }
                    std::vector<Round> rounds;
                    for (BlanketRound& round : one.rounds) {
                        rounds.emplace_back(std::move(round.given), round.performed, round.skipped,
                                            to_numpy(std::move(round.independent)), std::move(round.tested));
                    }
                    found.emplace_back(std::move(rounds), one.repeats, std::move(one.separated), std::move(weakest));
                }
                return found;
            },
            nb::arg("among"), nb::arg("targets"), nb::arg("log_alpha"), nb::arg("weigh"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(),
            "Inter-IAPC of each target: the rounds (members before, tests of the others performed and skipped, which "
            "of them are independent, tests of members given the rest); whether a set of members repeated; the search "
            "that separates members given the others; of the candidates to weigh, the weakest association that they "
            "had before they entered: x, statistic, dof, log p, and the round.")
        .def(
            "first_dependent",
            [](const ContingencyTest& test, std::uint32_t target, const Columns& candidates,
               const std::vector<std::uint32_t>& given, double log_alpha, const nb::object& poll) {
                check(test.table(), target);
                check(test.table(), candidates.all());
                check(test.table(), given);
                ScreenAnswers answers(candidates.size());
                CancellationToken token = cancellation_token(poll);
                std::size_t asked = 0;
                run_interruptible(token, [&] {
                    asked = test.first_dependent(target, candidates.all(), given, log_alpha, token, answers.out());
                });
                answers.keep_first(asked);
                return answers;
            },
            nb::arg("target"), nb::arg("candidates"), nb::arg("given"), nb::arg("log_alpha"),
            nb::arg("poll") = nb::none())
        .def(
            "search_subsets",
            [](const ContingencyTest& test, const SubsetQuery& query, std::size_t threads, const nb::object& poll) {
                return found_subsets(test, test.table(), query, threads, poll);
            },
            nb::arg("query"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "For each x the first separation, or else the weakest association, over subsets of the pool.")
        .def(
            "grow_pool",
            [](const ContingencyTest& test, const SubsetQuery& query, bool examine, std::uint64_t enough,
               const nb::object& poll) { return grown_pool(test, test.table(), query, examine, enough, poll); },
            nb::arg("query"), nb::arg("examine"), nb::arg("enough"), nb::arg("poll") = nb::none(),
            "Searches the xs in turn; one that no set separates joins the pool. With `examine`, each older member is "
            "then "
            "searched given the sets with the new one, and leaves the pool if it is separated. After `enough` tests "
            "the "
            "rest is left. Returns the answers, who joined (true) or left (false), and how many xs were searched.")
        .def(
            "grow_pools",
            [](const ContingencyTest& test, const Array<std::uint32_t>& targets, const Array<std::int64_t>& ends,
               const Array<std::uint32_t>& candidates, double log_alpha, std::optional<std::size_t> max_size,
               bool weigh, std::size_t threads, const nb::object& poll) {
                return grown_pools(test, test.table(), targets, ends, candidates, log_alpha, max_size, weigh, threads,
                                   poll);
            },
            nb::arg("targets"), nb::arg("ends"), nb::arg("candidates"), nb::arg("log_alpha"), nb::arg("max_size"),
            nb::arg("weigh"), nb::arg("threads") = 1, nb::arg("poll") = nb::none(),
            "Such pools, empty at first, of many targets, with `examine`; the candidates depend on their target given "
            "nothing. Returns ends and members of the pools; with `weigh`, by member, the weakest association given a "
            "set (NaN if there was none): statistics, dof, log p, ends and members of the sets; and numbers of tests "
            "and of skipped ones by size.")
        .def(
            "search_each",
            [](const ContingencyTest& test, const Array<std::uint32_t>& targets, const Array<std::int64_t>& x_ends,
               const Array<std::uint32_t>& xs, const Array<std::int64_t>& pool_ends, const Array<std::uint32_t>& pools,
               std::size_t size, std::optional<std::size_t> max_size, double stop_above, std::size_t threads,
               const nb::object& poll) {
                SubsetBatch batch;
                batch.size = size;
                batch.max_size = max_size.value_or(batch.max_size);
                batch.stop_above = stop_above;
                return found_each(test, test.table(), targets, x_ends, xs, pool_ends, pools, std::move(batch), threads,
                                  poll);
            },
            nb::arg("targets"), nb::arg("x_ends"), nb::arg("xs"), nb::arg("pool_ends"), nb::arg("pools"),
            nb::arg("size"), nb::arg("max_size"), nb::arg("stop_above"), nb::arg("threads") = 1,
            nb::arg("poll") = nb::none(), "Such searches through sets of one size, for many targets.")
        .def(
            "test_each_given_rest",
            [](const ContingencyTest& test, Columns xs, std::uint32_t target, Columns pool,
               std::optional<std::size_t> max_size, double stop_above, const nb::object& poll) {
                check_distinct(pool.all());
                SubsetQuery query{.xs = std::move(xs).vector(), .target = target, .pool = std::move(pool).vector()};
                query.max_size = max_size.value_or(query.max_size);
                query.stop_above = stop_above;
                check(test.table(), query);
                SubsetAnswers found;
                CancellationToken token = cancellation_token(poll);
                run_interruptible(token, [&] { found = test.test_each_given_rest(query, token); });
                return FoundSubsets(query.xs, std::move(found));
            },
            nb::arg("xs"), nb::arg("target"), nb::arg("pool"), nb::arg("max_size"), nb::arg("stop_above"),
            nb::arg("poll") = nb::none(),
            "Tests each x given the rest of the pool; a separated x leaves it for those after.");
}

}  // namespace serape
