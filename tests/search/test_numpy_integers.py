"""Search with variables as NumPy has them: every public method answers and remembers as with Python's integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import serape
from plain import random_dag, random_table, true_blanket
from plain_correlations import correlated, table_of
from serape.independence import G2, IndependenceTest
from serape.independence.dependent_pairs import find_dependent_pairs
from serape.independence.outcomes import Outcome, Tally
from serape.independence.partial_correlation import PartialCorrelation
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult
from serape.search import FalseDiscoveryRate, Members, preparable
from serape.search.evidence import Decision, EvidenceLog
from serape.skeletons.pc import pc_skeleton

VARIABLES = 9
Call = Callable[[serape.Search, Any], Any]
"""What is asked of a search; the second argument makes a variable, or a list of them, of a kind of integer."""


def one_test(name: str) -> IndependenceTest:
    random = np.random.default_rng(2)
    if name == "d-separation":
        return serape.DSeparation(random_dag(random, VARIABLES, 0.3))
    if name == "g2":
        return G2(random_table(random, 800, [2, 3] * 4 + [2], 0.6))
    return PartialCorrelation(table_of(correlated(2, 300, VARIABLES)))


def working_set(search: serape.Search, v: Any) -> Any:
    with search.working_set(search.candidates(v(0))):
        return [search.screen(v(0), v([2, 4, 5]), v([1])), search.strongest(v(3), v([2, 4, 5]))]


def use_marginals(search: serape.Search, v: Any) -> Any:
    search.use_marginals({0: search.test.screen(0, range(1, VARIABLES))})
    return search.dependents(v(0), v([5, 2, 7]))


@preparable
def dependents(search: serape.Search, target: int) -> Any:
    return search.dependents(target, [0, 1, 4, 5])


def prepare(search: serape.Search, v: Any) -> Any:
    def compute_each(work: Any, items: Sequence[int], done: Any) -> None:
        for x in items:
            done(x, work(x, print))

    search._work.compute_each = compute_each
    search.prepare(dependents, v([2, 3]))
    return [dependents(search, v(3)), dependents(search, v(2)), search.separating_set(v(3), v(1))]


def members(search: serape.Search, v: Any) -> Any:
    built = search.members(v(0))
    for x in v([4, 1, 7]):
        built.add(x)
    built.remove(v(1))
    return [list(built), built.without(v(4)), v(7) in built, search.members_so_far(v(0)), search.log(v(0)).events]


def record(search: serape.Search, v: Any) -> Any:
    search.record_decision(v(1), v(0), Outcome(1.0, 2.0, -3.0, reliable=True), v([2, 3]))
    search.independent(v(5), v(0))
    search.ask(v(5), v(0), v([2]))
    search.record_separation(v(5), v(0))
    search.ask(v(0), v(6))
    search.reconcile_sides(v([1, 6]))
    return [search.log(v(0)).latest(x) for x in range(1, VARIABLES)]


def known_dependents(search: serape.Search, v: Any) -> Any:
    test = search.test
    alone = serape.Search(test, evidence=False, keep_separations=False)
    alone.use_marginals(find_dependent_pairs(test, range(VARIABLES), alone.log_alpha) or {})
    return [search.known_dependents(v(0)), *(alone.known_dependents(v(t), v(8)) for t in range(VARIABLES - 1))]


def read_as_independence(search: serape.Search, v: Any) -> Any:
    with search.read_as_independence("all"):
        return [search.ask(v(3), v(0), v([1, 2])), search.separate(v([1, 5]), v(0), v([2, 3, 7]))]


def record_subsets(search: serape.Search, v: Any) -> Any:
    """Also where the target comes after the others."""
    for target in (0, 5):
        query = SubsetQuery([1, 2], target, [3, 4], range(2), stop_above=search.log_alpha)
        search.record_subsets(v(target), *search.test.search_subsets(query))
    return [search.separating_set(v(x), v(target)) for x in (1, 2) for target in (0, 5)]


def only_steps_about(search: serape.Search, v: Any) -> Any:
    found = []
    with search.only_steps_about(v(3)):
        found += [search.step(("step", v(3)), v(3), lambda: 7), search.step(("step", v(4)), v(4), lambda: 8)]
    return found


def parents_by_score(search: serape.Search, v: Any) -> Any:
    search._find_network = lambda target, candidates, tick: {target: frozenset(candidates.tolist())}
    return [search.parents_by_score(v(t)) for t in range(3)]


CALLS: dict[str, Call] = {
    "only_steps_about": only_steps_about,
    "read_as_independence": read_as_independence,
    "ask": lambda s, v: [s.ask(v(3), v(0)), s.ask(v(0), v(3), v([1, 2]))],
    "parents_by_score": parents_by_score,
    "clearly_dependent": lambda s, v: [s.clearly_dependent(v(x), v(0), v([8])) for x in range(1, 8)],
    "independent": lambda s, v: [s.independent(v(x), v(0), v([8])) for x in range(1, 8)],
    "dependent": lambda s, v: [s.dependent(v(x), v(0), v([8])) for x in range(1, 8)],
    "screen": lambda s, v: s.screen(v(2), v([7, 0, 5]), v([3, 1])),
    "expect": lambda s, v: s.expect(v([7, 0, 5])),
    "expect_marginals": lambda s, v: s.expect_marginals({7: v([0, 5]), 0: v([5])}),
    "working_set": working_set,
    "strongest": lambda s, v: [s.strongest(v(t), v([7, 0, 5]), v([3])) for t in (1, 2, 4, 6)],
    "by_strength": lambda s, v: s.by_strength(v(2), v([7, 0, 5, 1]), v([3])),
    "partition": lambda s, v: s.partition(v(2), v([7, 0, 5, 1, 4]), v([3])),
    "ranked_split": lambda s, v: s.ranked_split(v(2), v([7, 0, 5, 1, 4]), v([3])),
    "dependents": lambda s, v: s.dependents(v(2), v([7, 0, 5, 1, 4]), v([3])),
    "first_dependent": lambda s, v: [s.first_dependent(v(t), v([7, 0, 5]), v([3])) for t in (1, 2, 4, 6)],
    "dependents_given_groups": lambda s, v: s.dependents_given_groups(
        v(0),
        CandidateGroups([(np.array([2, 3], np.uint32), v([4])), (np.array([5, 6, 7], np.uint32), v([1, 8]))]),
        v(1),
    ),
    "weakest": lambda s, v: s.weakest(v([1, 5]), v(0), v([2, 3, 7])),
    "separate": lambda s, v: [
        s.separate(v([1, 5, 6]), v(0), v([2, 3, 7])),
        s.separate(v([1, 5]), v(4), v([2, 7]), range(1, 3), fixed=v([3]), n_exhausted=v([0, 1])),
        s.separate(v([6, 1, 5]), v(0), v([6, 1, 5]), shrinking=True),
    ],
    "test_each_given_rest": lambda s, v: s.test_each_given_rest(v(0), v([3, 6, 1, 5]), v(5)),
    "use_marginals": use_marginals,
    "known_dependents": known_dependents,
    "candidates": lambda s, v: [s.candidates(v(0)), s.candidates(v(2), v(5), v(3)), s.candidates(v(4))],
    "admissible": lambda s, v: s.admissible(v(2), v([4, 2, 8, 1])),
    "may_be_tested": lambda s, v: s.may_be_tested(np.array(v([3, 2])), np.array(v([1, 5]))).tolist(),
    "possible_neighbours": lambda s, v: [
        s.possible_neighbours(v(2), v([4, 8, 1])),
        s.possible_neighbours(v(4), v([2])),
    ],
    "outside": lambda s, v: s.outside(v([4, 2, 8, 1]), v([8, 2])),
    "rows_per_cell": lambda s, v: s.rows_per_cell(v(1), v(2), v(8)),
    "separating_set": lambda s, v: [
        s.dependents(v(0), v(range(1, VARIABLES))),
        s.separate(v([1, 2, 3]), v(4), v([5, 6])),
        [s.ask(v(8), v(x)) for x in range(8)],
        [s.separating_set(v(x), v(y)) for x, y in permutations(range(VARIABLES), 2)],
    ],
    "weakest_of_sides": lambda s, v: [
        s.dependents(v(0), v(range(1, VARIABLES))),
        [s.weakest_of_sides(v(x), v(y)) for x, y in permutations(range(VARIABLES), 2)],
    ],
    "weakest_association": lambda s, v: [
        s.dependents(v(0), v(range(1, VARIABLES))),
        s.separate(v([1, 2, 3]), v(4), v([5, 6])),
        [s.weakest_association(v(x), v(y)) for x, y in permutations(range(VARIABLES), 2)],
    ],
    "may_join": lambda s, v: [s.may_join(v(x), v(y)) for x, y in permutations(range(VARIABLES), 2)],
    "step": lambda s, v: [
        s.step("a step", v(3), lambda: s.dependents(v(3), v([0, 1, 2, 4, 5]))),
        s.step("a step", 3, lambda: None),
        [s.separating_set(v(3), v(x)) for x in (0, 1, 2, 4, 5)],
    ],
    "prepare": prepare,
    "prepared_or_computed": prepare,
    "members": members,
    "blanket": lambda s, v: [list(s.blanket(v(t))) for t in range(VARIABLES)],
    "members_so_far": members,
    "record_decision": record,
    "record_separation": record,
    "record_repeated": record,
    "reconcile_sides": record,
    "close_evidence": lambda s, v: [s.close_evidence(), s.screen(v(0), v([3, 2, 1]))],  # type: ignore[func-returns-value]
    "release": lambda s, v: [s.release(), s.screen(v(0), v([3, 2, 1]))],  # type: ignore[func-returns-value]
    "log": lambda s, v: [s.screen(v(0), v([3, 2, 1])), s.log(v(0))],
    "record_subsets": record_subsets,
    "count": lambda s, v: s.count(Tally({0: 3}, {1: 2})),
    "asks_plainly": lambda s, v: [s.asks_plainly(v(t)) for t in range(VARIABLES)],
    "keeps_no_tests": lambda s, v: [s.keeps_no_tests(v(t)) for t in range(VARIABLES)],
    "record_independence": lambda s, v: [
        s.record_independence(np.array([2, 3], np.uint32), v(1), v([5, 4])),  # type: ignore[func-returns-value]
        s.separating_set(v(3), v(1)),
    ],
    "excludes": lambda s, v: s.excludes(v([3, 2])),
    "up_to_max_conditioning": lambda s, v: (
        s.up_to_max_conditioning(CandidateGroups([(np.array([2, 3], np.uint32), v([4, 1]))]), v([1, 5])).all
    ),
    "repeat_screen": lambda s, v: s.repeat_screen(v(2), v([7, 0, 5])),
    "repeat": lambda s, v: s.repeat(v(3), v(0), v([1, 2])),
    "one_of": lambda s, v: s.one_of(v([5, 3])),
}


def test_every_public_method_is_called() -> None:
    public = {
        name for name in dir(serape.Search) if not name.startswith("_") and callable(getattr(serape.Search, name))
    }
    assert set(CALLS) == public


def unpacked(value: Any) -> Any:
    """Return plain values in place of the classes that a search returns."""
    if isinstance(value, ScreenResult):
        return [value.xs, value.given, value.statistic, value.dof, value.reliable, value.log_p]
    if isinstance(value, SubsetResult):
        return [(unpacked(value.outcome(k)), value.given_of(k), value[k].separated) for k in range(len(value))]
    if isinstance(value, Outcome):
        return [value.statistic, value.dof, value.log_p, value.reliable]
    if isinstance(value, Decision):
        return [unpacked(value.outcome), value.given]
    if isinstance(value, EvidenceLog):
        return [unpacked(value.latest(x)) for x in range(VARIABLES)]
    if isinstance(value, list | tuple | Members):
        return [unpacked(each) for each in value]
    return value


def remembered(search: serape.Search) -> Any:
    """Return what a search has counted and remembers."""
    pairs = list(permutations(range(VARIABLES), 2))
    return [
        search.tally.tests_by_size,
        search.tally.skipped_by_size,
        [search.separating_set(x, y) for x, y in pairs],
        unpacked(search.log(0)),
    ]


def made(kind: type | None) -> Callable[[Any], Any]:
    """Return what makes variables of a kind of integer; lists become tuples, arrays where the kind is unsigned."""

    def make(variables: int | Sequence[int]) -> Any:
        if isinstance(variables, int):
            return variables if kind is None else kind(variables)
        if kind is np.uint32:
            return np.array(variables, kind)
        return [x if kind is None else kind(x) for x in variables]

    return make


@pytest.mark.parametrize("name", ["g2", "partial-correlation", "d-separation"])
@pytest.mark.parametrize("method", CALLS)
def test_same_answers_as_with_integers(method: str, name: str) -> None:
    test = one_test(name)
    n = test.variables
    knowledge = serape.Knowledge(required=[(n[0], n[3])], forbidden_pairs=[(n[2], n[4])], forbidden=[(n[5], n[6])])
    informed = {
        "subject": 0,
        "knowledge": knowledge.bind(n).with_forbidden_members([(2, 8)]),
        "known": (6,),
        "max_conditioning": 2,
    }
    bounded = {"fdr": FalseDiscoveryRate(0.1)}
    for options in ({}, informed, bounded):
        answers = []
        for kind in (None, np.uint32, np.int64):
            search = serape.Search(test, **options)
            answers.append([unpacked(CALLS[method](search, made(kind))), remembered(search)])
        for answer in answers[1:]:
            np.testing.assert_equal(answer, answers[0])


def pc_with_spouses(search: serape.Search, target: int) -> list[Any]:
    """Neighbours by PC, and each of theirs that depends on the target given its separating set and the neighbour."""
    neighbours = pc_skeleton(search, search.variables).neighbours
    found = [x for x in search.candidates(target) if x in neighbours[target]]
    for y in found.copy():
        for x in search.candidates(target, *found):
            separating = search.separating_set(x, target)
            if x not in neighbours[y] or separating is None or y in separating:
                continue
            if search.dependent(x, target, (*separating, y)):
                found.append(x)
    return found


def test_a_spouse_rule_on_alarm() -> None:
    alarm = serape.load_network("alarm").graph
    oracle = serape.DSeparation(alarm)
    for target in alarm:
        found = serape.markov_blanket(oracle, target, pc_with_spouses)
        assert set(found.blanket) == true_blanket(alarm, target)
