"""A search keeps a separating set of every pair that a test showed to be independent, whichever question was asked."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from plain_batches import mixed_table
from serape.arrays import Positions
from serape.independence import G2
from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import find_dependent_pairs
from serape.independence.outcomes import Outcome, as_positions
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult
from serape.search import (
    EarlierSteps,
    FalseDiscoveryRate,
    MinAssociation,
    Search,
    Steps,
    growing_pool,
    many_targets,
    memoised,
    preparable,
)
from serape.search.separations import NO_SEPARATIONS, NoSeparations, Separations

Told = list[tuple[int, int, tuple[int, ...]]]
"""The independent answers: candidate, target, conditioning set."""


class Telling(serape.DSeparation):
    """An oracle that notes which answers showed independence."""

    told: Told

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        found = super().test(x, y, given)
        if found.log_p == 0:
            self.told.append((x, y, tuple(given)))
        return found

    def screen(self, target: int, candidates: Any, given: Sequence[int] = (), **options: Any) -> ScreenResult:
        found = super().screen(target, candidates, given, **options)
        self.told += [(int(x), target, tuple(given)) for x in found.xs[found.log_p == 0]]
        return found


class Draw:
    """Random questions about one target."""

    def __init__(self, search: Search, random: np.random.Generator) -> None:
        order = [int(x) for x in random.permutation(search.variables)]
        count = int(random.integers(0, 4))
        self.target, self.given, self.others = order[0], order[1 : 1 + count], order[1 + count :]
        self.candidates = as_positions(self.others)

    @property
    def groups(self) -> CandidateGroups:
        """All but one of the others in two groups."""
        half = len(self.others) // 2
        return CandidateGroups([(self.others[1:half], ()), (self.others[half:], self.given)])


def members_of(search: Search, draw: Draw) -> None:
    members = draw.others[:4]
    for x in search.test_each_given_rest(draw.target, members, newest=members[-1]):
        members.remove(x)


@memoised
def asked_in_a_step(search: Search, target: int) -> int | None:
    order = search.by_strength(target, search.candidates(target))
    return search.first_dependent(target, order, search.candidates(target, *order)[:1].tolist())


@preparable
def asked_beforehand(search: Search, target: int) -> list[int]:
    return search.dependents(target, search.candidates(target))


ASKED: dict[str, Callable[[Search, Draw], object]] = {
    "ask": lambda s, d: [s.ask(x, d.target, d.given) for x in d.others],
    "independent": lambda s, d: [s.independent(x, d.target, d.given) for x in d.others],
    "clearly_dependent": lambda s, d: [s.clearly_dependent(x, d.target, d.given) for x in d.others],
    "dependent": lambda s, d: [s.dependent(x, d.target, d.given) for x in d.others],
    "screen": lambda s, d: s.screen(d.target, d.candidates, d.given),
    "strongest": lambda s, d: [
        s.strongest(d.target, d.candidates, d.given, r) for r in ("significance", "information")
    ],
    "by_strength": lambda s, d: s.by_strength(d.target, d.candidates, d.given),
    "partition": lambda s, d: s.partition(d.target, d.candidates, d.given),
    "ranked_split": lambda s, d: s.ranked_split(d.target, d.candidates, d.given),
    "dependents": lambda s, d: s.dependents(d.target, d.candidates, d.given),
    "first_dependent": lambda s, d: s.first_dependent(d.target, d.candidates, d.given),
    "dependents_given_groups": lambda s, d: s.dependents_given_groups(d.target, d.groups, d.others[0]),
    "weakest": lambda s, d: s.weakest(d.others[3:], d.target, d.others[:3]),
    "separate": lambda s, d: s.separate(d.others[3:], d.target, d.others[:3], until_survivor=len(d.given) > 1),
    "test_each_given_rest": members_of,
    "step": lambda s, d: s.step(("step", d.target, *d.given), d.target, lambda: s.dependents(d.target, d.candidates)),
    "prepare": lambda s, d: prepared(s, d),
    "prepared_or_computed": lambda s, d: asked_in_a_step(s, d.target),
}
"""Every public method of a search that can find independence."""
SILENT = {
    *("read_as_independence", "working_set", "up_to_max_conditioning", "use_marginals", "expect", "expect_marginals"),
    *(
        "count",
        "excludes",
        "candidates",
        "known_dependents",
        "admissible",
        "possible_neighbours",
        "may_be_tested",
        "outside",
    ),
    *("rows_per_cell", "separating_set", "weakest_association", "may_join", "members", "blanket", "members_so_far"),
    "weakest_of_sides",
    *("record_decision", "record_independence", "record_separation", "record_repeated"),
    *("reconcile_sides", "close_evidence", "release", "log", "one_of", "record_subsets", "asks_plainly"),
    "keeps_no_tests",
    *("repeat", "repeat_screen"),  # of tests that were performed before
    "only_steps_about",
    "parents_by_score",
}
"""Those that perform no test."""
FUNCTIONS: dict[str, Callable[[Search, Draw], object]] = {
    "separate_each": lambda s, d: list(many_targets.separate_each(s, *lists(s), 1)),
    "dependent_pairs": lambda s, d: pairs_of(s),
    "dependents_given_each": lambda s, d: list(
        many_targets.dependents_given_each(s, d.target, separated_groups(s, d), d.others[:3], as_written=False)
    ),
    "inter_iapc_runs": lambda s, d: list(
        many_targets.inter_iapc_runs(s, d.others, as_positions(range(0, len(s.variables), 2))) or ()
    ),
    "can_grow_pool": lambda s, d: growing_pool.can_grow_pool(s, d.target),
    "grow_pool": lambda s, d: (
        growing_pool.can_grow_pool(s, d.target)
        and growing_pool.grow_pool(s, d.target, d.given, d.candidates, n_exhausted=-1, examine=True)
    ),
    "grow_pools": lambda s, d: growing_pool.grow_pools(
        s, d.others, find_dependent_pairs(s.test, list(s.variables), s.log_alpha) or {}
    ),
    "MinAssociation": lambda s, d: weakest_over_members(s, d),
}
"""What asks many questions at once on behalf of a search."""


def lists(search: Search) -> tuple[TargetLists, TargetLists]:
    asked = {x: [y for y in search.variables if y > x][:9] for x in list(search.variables)[:-1]}
    return TargetLists.of(asked), TargetLists.of({x: [z for z in (0, 1, 2) if z != x] for x in asked})


def pairs_of(search: Search) -> None:
    if many_targets.dependent_pairs(search, list(search.variables)) is None:
        for x in search.variables:
            search.partition(x, search.candidates(x))


def separated_groups(search: Search, draw: Draw) -> CandidateGroups:
    """Candidates with a set that separates them, as the algorithms have them."""
    return CandidateGroups([(search.partition(draw.target, draw.candidates)[1], ())])


def weakest_over_members(search: Search, draw: Draw) -> None:
    found = MinAssociation(search, draw.target, search.partition(draw.target, draw.candidates)[0])
    members: list[int] = []
    while (x := found.take_strongest(members)) is not None:
        members.append(x)


def prepared(search: Search, draw: Draw) -> None:
    search.prepare(asked_in_a_step, draw.others)
    search.prepare(asked_beforehand, draw.others)
    for x in draw.others:
        asked_in_a_step(search, x)
        asked_beforehand(search, x)


def in_other_processes(work: Any, items: Sequence[int], done: Any) -> None:
    """Compute steps as `compute_each` does: what they return is pickled."""
    for item in items:
        done(item, pickle.loads(pickle.dumps(work(item, lambda progress: None))))


def searches(test: IndependenceTest) -> Iterator[Search]:
    """Return searches of all kinds."""
    rate, earlier = FalseDiscoveryRate(0.1), EarlierSteps()
    options: list[dict[str, Any]] = [
        {},
        {"evidence": False},
        {"fdr": rate},
        {"fdr": rate, "stepwise": True},
        {"max_conditioning": 2},
        {"random_state": 1},
        {"compute_each": in_other_processes, "subject": 0},
        {"steps": Steps(earlier), "subject": 0},
        {"steps": Steps(earlier), "subject": 1},
        {"steps": Steps(earlier), "subject": 2, "compute_each": in_other_processes},
        {"steps": Steps()},
    ]
    for some in options:
        yield Search(test, alpha=0.05, **some)


def public(*kinds: type) -> set[str]:
    """Return the names of all methods that users can call."""
    return {
        name
        for kind in kinds
        for name, value in inspect.getmembers(kind)
        if not name.startswith("_") and callable(value)
    }


def test_every_question_is_here() -> None:
    assert public(Search) == set(ASKED) | SILENT
    assert not set(ASKED) & SILENT
    asking = {
        name
        for module in (many_targets, growing_pool)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if not name.startswith("_") and next(iter(inspect.signature(function).parameters), "") == "search"
    }
    assert asking - set(FUNCTIONS) == set()


def assert_kept(search: Search, told: Told) -> None:
    """Check that each pair has a set, and that it separates the pair."""
    test = search.test
    for x, target, given in told:
        for a, b in ((x, target), (target, x)):
            kept = search.separating_set(a, b)
            assert kept is not None, (a, b, given)
            again = test.test(a, b, kept)
            assert again.reliable
            assert again.log_p > search.log_alpha, (a, b, kept)


@pytest.mark.parametrize("asked", [*ASKED, *FUNCTIONS])
def test_an_oracle_that_tells(asked: str) -> None:
    seen = 0
    for seed in range(3):
        random = np.random.default_rng(seed)
        oracle = Telling(random_dag(random, 9, 0.3))
        oracle.told = []
        for search in searches(oracle):
            oracle.told.clear()
            for _ in range(2):
                {**ASKED, **FUNCTIONS}[asked](search, Draw(search, random))
            told = list(oracle.told)
            seen += len(told)
            assert_kept(search, told)
    # Most of these count cells; the last needs many rows.
    assert seen or asked in ("can_grow_pool", "inter_iapc_runs", "grow_pool", "grow_pools", "clearly_dependent")


def telling_table(patch: pytest.MonkeyPatch, log_alpha: float) -> Told:
    """Note all answers of a test on a table that show independence, also those of its calls for many questions."""
    told: Told = []

    def note(answers: object, target: int, given: tuple[int, ...] | None = None, x: int = -1) -> None:
        if isinstance(answers, Outcome) and answers.reliable and answers.log_p > log_alpha:
            told.append((int(x), target, given or ()))
        elif isinstance(answers, ScreenResult) and given is not None:
            told.extend((int(x), target, given) for x in answers.xs[answers.partition(log_alpha)[1]])
        elif isinstance(answers, SubsetResult):
            told.extend((int(answers.xs[k]), target, answers.given_of(k)) for k in answers.above(log_alpha).tolist())

    def noted(name: str, read: Callable[..., object]) -> None:
        method = getattr(G2, name)

        @functools.wraps(method)
        def call(self: G2, *args: Any, **options: Any) -> Any:
            found = method(self, *args, **options)
            read(found, *args)
            return found

        patch.setattr(G2, name, call)

    def of_runs(found: Any, targets: Sequence[int], *_: Any) -> None:
        for target, run in zip(targets, found, strict=True):
            for given, _, _, independent, tested in run.rounds:
                told.extend((int(x), target, given) for x in independent)
                for answers, _ in tested:
                    note(answers, target)
            note(run.separated[0], target)

    def of_groups(found: Any, target: int, *asked: Any) -> None:
        for part in found[0].by_group(*asked):
            note(part, target, part.given)

    def of_each(found: Any, asked: TargetLists, *_: Any) -> None:
        for k, target in enumerate(asked.each_target().tolist()):
            if found[0].outcome(k).reliable and found[0].outcome(k).log_p > log_alpha:
                told.append((int(found[0].xs[k]), target, found[0].given_of(k)))

    def of_spouses(found: Any, target: int, *_: Any) -> None:
        for each in found:
            note(each[2], target)

    noted("test", lambda found, x, target, given=(): note(found, target, tuple(given), x))
    noted("screens", of_groups)
    noted("screen", lambda found, target, xs, given=(), *rest: note(found, target, tuple(given)))
    noted("first_dependent", lambda found, target, xs, given, *rest: note(found, target, tuple(given)))
    noted("search_subsets", lambda found, query, *rest: note(found[0], query.target))
    noted("test_each_given_rest", lambda found, xs, target, *rest: note(found[0], target))
    noted("grow_pool", lambda found, query, **rest: note(found[0], query.target))
    noted("inter_iapc", of_runs)
    noted("search_each", of_each)
    noted("find_spouses", of_spouses)
    return told


@pytest.mark.parametrize("asked", [*ASKED, *FUNCTIONS])
def test_calls_for_many_questions(asked: str) -> None:
    """On a table, the core answers many questions in one call."""
    test = G2(mixed_table(3, 400, 40))
    random = np.random.default_rng(0)
    seen = 0
    with pytest.MonkeyPatch.context() as patch:
        told = telling_table(patch, math.log(0.05))
        for search in searches(test):
            told.clear()
            {**ASKED, **FUNCTIONS}[asked](search, Draw(search, random))
            given = list(told)
            seen += len(given)
            assert_kept(search, given)
    assert seen or asked in ("can_grow_pool", "grow_pools", "clearly_dependent")  # these keep no pairs


@pytest.mark.parametrize("asked", ["screen", "strongest", "by_strength", "partition", "ranked_split", "dependents"])
@pytest.mark.parametrize("known_pairs", [True, False])
def test_tests_given_nothing_that_others_performed(asked: str, known_pairs: bool) -> None:
    table = mixed_table(4, 400, 70)
    test, random = G2(table), np.random.default_rng(1)
    for some in ({}, {"evidence": False}):
        search = Search(test, alpha=0.05, **some)  # type: ignore[arg-type]
        marginals = find_dependent_pairs(test, list(search.variables), search.log_alpha) if known_pairs else None
        search.use_marginals(marginals or test.marginals(list(search.variables)))
        draw = Draw(search, random)
        draw.given, draw.candidates = [], search.candidates(draw.target)
        ASKED[asked](search, draw)
        independent = [
            x
            for x in draw.candidates.tolist()
            if (outcome := test.test(x, draw.target)).reliable and outcome.log_p > search.log_alpha
        ]
        assert len(independent) > 10
        assert_kept(search, [(x, draw.target, ()) for x in independent])


def test_the_false_discovery_rate_step_by_step() -> None:
    """A candidate that the rate does not admit is separated, though its p is at most alpha."""
    test = G2(mixed_table(5, 400, 40))
    between = 0
    for asked in (Search.strongest, Search.partition, Search.ranked_split):
        search = Search(test, alpha=0.3, fdr=FalseDiscoveryRate(0.05), stepwise=True)
        asked(search, 0, search.candidates(0))
        level = search._level(0, test.screen(0, search.candidates(0)))
        for x in search.candidates(0).tolist():
            if level < test.test(x, 0).log_p <= search.log_alpha:
                between += 1
                assert search.separating_set(x, 0) == ()
    assert between > 3


def test_a_search_that_keeps_no_sets_refuses_to_tell() -> None:
    oracle = Telling(random_dag(np.random.default_rng(0), 7, 0.3))
    search = Search(oracle, keep_separations=False, compute_each=in_other_processes, subject=0)
    search.test.told = []  # type: ignore[attr-defined]
    for ask in ("dependents", "prepare"):
        ASKED[ask](search, Draw(search, np.random.default_rng(0)))
        with pytest.raises(LookupError):
            search.separating_set(0, 1)
    assert NO_SEPARATIONS.__dict__ == NoSeparations().__dict__  # nothing of one search is left in that of another


@pytest.mark.parametrize("first", [0, 5])
def test_screens_are_looked_through_in_their_order(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whenever screens are looked through, the first set of a pair counts."""
    random = np.random.default_rng(0)
    kinds = (SCREENS * 5)[first:]
    answers = [random_screen(random, 400, k, size, share) for k, (size, share) in enumerate(kinds)]
    steps: list[tuple[Positions, tuple[int, ...]]] = []  # what is separated, in turn, and by what
    for k, screen in enumerate(answers):
        steps.append((screen.xs[screen.reliable & (screen.log_p > LEVEL)], screen.given))
        if k % 5 == 4:
            steps += [(as_positions([x]), (7, k)) for x in range(k, 400, 9)]
            steps.append((as_positions(range(k % 3, 400, 3)), (8, k)))
    expected: dict[int, tuple[int, ...]] = {}
    for xs, given in steps:
        for x in xs.tolist():
            expected.setdefault(x, given)

    def stored(looked_through: Callable[[int], bool]) -> Separations:
        store = Separations()
        for k, screen in enumerate(answers):
            store.add_screen(screen, 500, LEVEL)
            if k % 5 == 4:
                for x in range(k, 400, 9):
                    store.add(x, 500, (7, k))
                store.add_batch(as_positions(range(k % 3, 400, 3)), 500, None, [(8, k)])
            if looked_through(k):
                store = pickle.loads(pickle.dumps(store))
        return store

    def merged(at: int) -> Separations:
        """The screens from some number on are found in a store of their own."""
        stores = Separations(), Separations()
        for k, screen in enumerate(answers):
            stores[k >= at].add_screen(screen, 500, LEVEL)
            if k % 5 == 4:
                for x in range(k, 400, 9):
                    stores[k >= at].add(x, 500, (7, k))
                stores[k >= at].add_batch(as_positions(range(k % 3, 400, 3)), 500, None, [(8, k)])
        stores[0].merge(stores[1])
        return stores[0]

    stores = [stored(lambda k: False), stored(lambda k: True), stored(lambda k: k % 3 == 0), *map(merged, range(12))]
    monkeypatch.setattr("serape.search.separations._MIN_PENDING", 0)
    stores.append(stored(lambda k: False))
    assert sum(len(screen.answers) for screens in stores[-1]._screens.values() for screen in screens) <= 8 * 400
    for store in stores:
        assert [store.get(500, x) for x in range(401)] == [expected.get(x) for x in range(401)]
        assert [store.get(x, 500) for x in range(401)] == [expected.get(x) for x in range(401)]


SCREENS = [(3, 0.5), (300, 0.02), (2, 1.0), (390, 0.5), (200, 0.5), (400, 0.99), (390, 0.02), (1, 1.0), (300, 0.99)]
"""Sizes of screens, and the share of candidates that they separate."""
LEVEL = math.log(0.5)


def random_screen(random: np.random.Generator, variables: int, number: int, size: int, share: float) -> ScreenResult:
    """Return a screen of some variables; about a tenth of its tests are not reliable."""
    independent = random.random(size) < share
    return ScreenResult(
        as_positions(np.sort(random.permutation(variables)[:size])),
        (900 + number,),
        np.zeros(size),
        np.ones(size),
        random.random(size) < (0.9 if share < 0.9 else 1.0),
        np.where(independent, -0.1, -5.0),
    )


@pytest.mark.parametrize("share", [0.1, 0.7, 0.995])
@pytest.mark.parametrize("looked_through", [True, False])
def test_memory_does_not_grow_with_the_number_of_screens(share: float, looked_through: bool) -> None:
    """Each variable is kept with the first set alone."""
    sizes = []
    for count in (2, 60):
        store = Separations()
        for k in range(count):
            store.add_screen(random_screen(np.random.default_rng(0), 20_000, k, 20_000, share), 30_000, LEVEL)
            if looked_through:
                store.look_through_screens()
        sizes.append(len(pickle.dumps(store)))
    assert sizes[1] < 1.2 * sizes[0] + 200


def test_required_neighbours_are_not_separated() -> None:
    oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c")]))
    search = Search(oracle, knowledge=serape.Knowledge(required=[("a", "c")]).bind(oracle.variables))
    search.ask(0, 2, [1])
    search.ask(2, 0, [1])
    assert search.separating_set(0, 2) is None
    assert search.separating_set(2, 0) is None


@pytest.mark.parametrize("asked", [Search.partition, Search.ranked_split])
def test_what_is_read_as_independence_is_separated(asked: Callable[..., object]) -> None:
    test = G2(mixed_table(3, 60, 40))
    search = Search(test, alpha=0.05)
    skipped = [x for x in search.candidates(0).tolist() if not test.test(x, 0, (1, 2, 3)).reliable and x > 3]
    assert len(skipped) > 5
    with search.read_as_independence("all"):
        asked(search, 0, search.candidates(0, 1, 2, 3), (1, 2, 3))
    assert all(search.separating_set(x, 0) == (1, 2, 3) for x in skipped)


def test_a_step_is_looked_through_before_others_ask() -> None:
    """Threads share a step, so that nothing of it may be left to do."""
    search = Search(G2(mixed_table(3, 400, 40)), steps=Steps())
    asked_in_a_step(search, 0)
    (step,) = search._used[0].values()
    assert not step.record.separations._screens
    assert search.separating_set(0, next(x for x in range(1, 40) if search.test.test(x, 0).log_p > -1)) is not None
