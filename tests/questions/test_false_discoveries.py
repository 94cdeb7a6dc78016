"""What counts for a member or an edge when the false discovery rate is bounded: each term, by hand."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import serape
from serape.independence.partial_correlation import PartialCorrelation
from serape.local.answer import Answer
from serape.questions.deciding import Discoveries
from serape.questions.discoveries import bound, bound_edges
from serape.search import FalseDiscoveryRate, Search

T, A, B, S, R, U = range(6)
"""Positions: the target, two children, a spouse, and two more candidates."""
Asked = tuple[int, int, tuple[int, ...]]


class Scripted(serape.IndependenceTest):
    """Answers by a list: the p, or its logarithm, of a candidate and a target given a set.

    It is 1 if it is not in the list; None stands for a test that is not reliable, whatever its p.
    """

    name = "scripted"
    variables = ("t", "a", "b", "s", "r", "u")

    def __init__(self, p: Mapping[Asked, float | None]) -> None:
        self.p = p

    def test(self, x: int, target: int, given: Sequence[int] = ()) -> serape.Outcome:
        p = self.p.get((x, target, tuple(sorted(given))), 1.0)
        log_p = -99.0 if p is None else p if p < 0 else math.log(p)
        return serape.Outcome(1.0, 1.0, log_p, p is not None)


def searched(p: Mapping[Asked, float | None], rate: FalseDiscoveryRate | None, **settings: Any) -> Search:
    """Return a search that has asked every question of the list."""
    search = Search(Scripted(p), subject=T, fdr=rate, **settings)
    for x, target, given in p:
        search.ask(x, target, given)
    return search


def bounded(
    search: Search, answer: Answer, kept: Collection[int] = (), *, either: bool = False
) -> tuple[Answer, Discoveries]:
    """Return the answer about the target and what the rate makes of it; every candidate is a hypothesis."""
    return bound(search, T, answer, kept, len(search.candidates(T)), either=either)


BH = FalseDiscoveryRate(0.1, "bh", math.log(0.05))

# The target has children a and b; s is a spouse through either, separated from the target by nothing.
DIAMOND: dict[Asked, float | None] = {
    (A, T, ()): 1e-8, (T, A, ()): 1e-7, (B, T, ()): 1e-6, (T, B, ()): 1e-5,
    (S, A, ()): 1e-9, (A, S, ()): 1e-9, (S, B, ()): 1e-9, (B, S, ()): 1e-9,
    (S, T, ()): 0.7, (S, T, (A,)): 1e-9, (S, T, (B,)): 1e-9,
}  # fmt: skip


def p_of(found: Discoveries, x: int, members: int) -> float:
    """Return the p that counts for one member, from an adjusted p that no other member lowers.

    Of the weakest of m members among 5 candidates, the adjusted p is p · 5 / m.
    """
    return found.adjusted[x] * members / 5


def of_spouse(
    changes: Mapping[Asked, float | None], children: Sequence[int] = (A, B), *, either: bool = False
) -> float:
    """Return the p that counts for the spouse, the only member of the answer."""
    search = searched({**DIAMOND, **changes}, BH)
    _, found = bounded(search, Answer(blanket=[S], spouses={S: children}), either=either)
    assert list(found.adjusted) == [S]
    return p_of(found, S, 1)


# --- two sides of an edge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_target", "of_other", "both", "one"),
    [
        (0.001, 0.02, 0.02, 0.002), (0.02, 0.001, 0.02, 0.002),  # the better of two tries counts twice
        (0.001, None, 0.001, 0.001), (None, 0.001, 0.001, 0.001),  # there was but one try
        (0.001, 0.001, 0.001, 0.002), (None, None, 0.2, 0.2),  # no test showed anything: p is 1
    ],
)  # fmt: skip
def test_both_sides_must_show_an_edge_or_one_of_two(
    of_target: float | None, of_other: float | None, both: float, one: float
) -> None:
    asked: dict[Asked, float | None] = {(A, T, ()): of_target, (T, A, ()): of_other}
    asked = {question: p for question, p in asked.items() if p is not None}
    for either, expected in ((False, both), (True, one)):
        _, found = bounded(searched(asked, BH), Answer(parents_children=[A]), either=either)
        assert found.adjusted == {A: pytest.approx(5 * expected)}


@pytest.mark.parametrize(("either", "p"), [(False, 1e-5), (True, 2e-6)])
def test_a_neighbour_counts_by_both_sides(either: bool, p: float) -> None:
    answer = Answer(parents_children=[B])
    _, found = bounded(searched(DIAMOND, BH), answer, either=either)
    assert found.adjusted == {B: pytest.approx(5 * p)}


def test_the_weakest_test_of_a_side_counts() -> None:
    asked: dict[Asked, float | None] = {(A, T, ()): 1e-8, (A, T, (B,)): 0.01, (A, T, (R,)): 1e-4}
    _, found = bounded(searched(asked, BH), Answer(parents_children=[A]))
    assert found.adjusted == {A: pytest.approx(0.05)}


# --- spouses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weak",
    [
        {(A, T, ()): 1e-3},  # the target and the child, from either side
        {(T, A, ()): 1e-3},
        {(S, A, ()): 1e-3},  # the spouse and the child
        {(A, S, ()): 1e-3},
        {(S, T, (A,)): 1e-3},  # spouse and target given the child
    ],
)
def test_the_weakest_of_the_path_counts_for_a_spouse(weak: dict[Asked, float | None]) -> None:
    assert of_spouse(weak, [A]) == pytest.approx(1e-3)


def test_the_best_of_several_children_counts_times_their_number() -> None:
    """Through a, the weakest has 1e-7; through b, 1e-5."""
    assert of_spouse({}, [A]) == pytest.approx(1e-7)
    assert of_spouse({}, [B]) == pytest.approx(1e-5)
    assert of_spouse({}, [A, B]) == of_spouse({}, [B, A]) == pytest.approx(2e-7)
    assert of_spouse({(S, T, (A,)): 1e-4}, [A, B]) == pytest.approx(2e-5)
    weak: dict[Asked, float | None] = {(S, T, (A,)): 0.6, (S, T, (B,)): 0.6}
    assert of_spouse(weak) == pytest.approx(1 / 5 * 1)  # a p, and an adjusted p, is at most 1


def test_either_side_of_the_edges_of_a_path() -> None:
    assert of_spouse({}, [A], either=True) == pytest.approx(2e-8)
    assert of_spouse({(S, A, ()): 1e-3, (A, S, ()): 1e-4}, [A], either=True) == pytest.approx(2e-4)


def test_a_spouse_is_tested_given_what_separates_it_and_the_child() -> None:
    """Here r separates the two, and the dependence given r and the child is weak."""
    changes: dict[Asked, float | None] = {(S, T, ()): 1e-4, (S, T, (R,)): 0.7, (S, T, (A, R)): 1e-3}
    assert of_spouse(changes, [A]) == pytest.approx(1e-3)


def test_a_spouse_that_nothing_is_known_to_separate_is_tested_given_the_child() -> None:
    search = searched({asked: p for asked, p in DIAMOND.items() if asked != (S, T, ())}, BH)
    assert search.separating_set(S, T) is None
    _, found = bounded(search, Answer(blanket=[S], spouses={S: [A]}))
    assert p_of(found, S, 1) == pytest.approx(1e-7)


def test_a_dependence_that_cannot_be_tested_shows_nothing() -> None:
    assert of_spouse({(S, T, (A,)): None}, [A]) == pytest.approx(1 / 5)
    assert of_spouse({(S, T, (A,)): None}, [A, B]) == pytest.approx(2e-5)  # through the other child


def test_a_spouse_without_children_counts_like_a_neighbour() -> None:
    assert of_spouse({(S, T, (R,)): 1e-4, (T, S, ()): 1e-3, (S, T, ()): 1e-9}, []) == pytest.approx(1e-3)


# --- what is kept ----------------------------------------------------------------------------------------------------


def star(*p: float) -> tuple[Search, Answer]:
    """Return a search and an answer in which all are neighbours, with these p."""
    asked: dict[Asked, float | None] = {(k + 1, T, ()): value for k, value in enumerate(p)}
    return searched(asked, BH), Answer(parents_children=[k + 1 for k in range(len(p))])


def test_members_above_the_threshold_are_left_out() -> None:
    """Of five candidates at a rate of 0.1, the k-th smallest p is compared with k / 50."""
    search, answer = star(0.001, 0.039, 0.045, 0.03)
    kept, found = bounded(search, answer)
    assert kept.parents_children == [A, B, S, R]  # 0.045 is below 4 / 50, but no p may be above alpha
    assert found.threshold == pytest.approx(0.05)
    assert found.dropped == ()
    search, answer = star(0.001, 0.041, 0.045)
    kept, found = bounded(search, answer)
    assert kept.parents_children == [A, B, S]  # 0.045 is below 3 / 50
    search, answer = star(0.001, 0.041)
    kept, found = bounded(search, answer)
    assert kept.parents_children == [A]  # 0.041 is above 2 / 50
    assert found.threshold == pytest.approx(0.02)
    assert found.dropped == (B,)
    assert found.adjusted == {A: pytest.approx(0.005), B: pytest.approx(0.1025)}


def test_a_member_at_the_threshold_stays() -> None:
    edge = frozenset((0, 1))
    level = BH.log_threshold([], 5)  # the p that a single one needs
    for above, kept in ((0.0, [A]), (1e-9, [])):
        search = searched({(A, T, ()): level + above}, BH)
        found, _ = bounded(search, Answer(parents_children=[A]))
        assert found.parents_children == kept
        assert bound_edges(BH, {edge: level + above}, 5)[2] == ([] if kept else [edge])


def test_only_candidates_are_hypotheses() -> None:
    search = searched({(A, T, ()): 0.01}, BH, excluded=[R, U])
    _, found = bounded(search, Answer(parents_children=[A]))
    assert found.adjusted == {A: pytest.approx(0.03)}


def test_known_members_are_no_discoveries() -> None:
    """Without b, a alone is judged; with it, b would lower the adjusted p of a."""
    search, answer = star(0.018, 0.01, 0.045)
    kept, found = bounded(search, answer, {B, S})
    assert found.adjusted == {A: pytest.approx(0.09)}
    assert kept.parents_children == [A, B, S]
    assert found.threshold == pytest.approx(0.02)
    _, together = bounded(search, answer)
    assert together.adjusted[A] == pytest.approx(0.045)


def test_a_member_that_no_test_shows_has_no_deciding_test() -> None:
    _, found = bounded(searched({(A, T, ()): 0.001}, BH), Answer(parents_children=[A, B]))
    assert (set(found.tests), found.adjusted[B]) == ({A}, 1.0)


def test_what_is_left_out_leaves_every_part_of_the_answer() -> None:
    weak: dict[Asked, float | None] = {**DIAMOND, (A, T, ()): 0.049, (S, T, (A,)): 0.049}
    answer = Answer(blanket=[A, B, S, R], parents_children=[A, B], spouses={S: [A], R: [A, B]})
    strong: dict[Asked, float | None] = {
        (R, T, ()): 0.9, (R, B, ()): 1e-9, (B, R, ()): 1e-9, (R, T, (B,)): 1e-9, (R, T, (A,)): 1.0,
    }  # fmt: skip
    kept, found = bounded(searched({**weak, **strong}, FalseDiscoveryRate(0.05, "bh")), answer)
    assert sorted(found.dropped) == [A, S]
    assert (kept.blanket, kept.parents_children, kept.spouses) == ([B, R], [B], {R: [B]})
    only = Answer(parents_children=[A, B])
    kept, _ = bounded(searched(weak, FalseDiscoveryRate(0.05, "bh")), only)
    assert (kept.blanket, kept.parents_children, kept.spouses) == (None, [B], None)


def test_a_spouse_may_be_left_without_its_child() -> None:
    """What counts for it is the better child; the other can fall."""
    weak: dict[Asked, float | None] = {**DIAMOND, (A, T, ()): 0.049}
    answer = Answer(blanket=[A, S], parents_children=[A], spouses={S: [A, B]})
    kept, found = bounded(searched(weak, FalseDiscoveryRate(0.05, "bh")), answer)
    assert found.dropped == (A,)
    assert kept.spouses == {S: [B]}


def test_without_a_rate_everything_is_kept() -> None:
    search = searched({(A, T, ()): 0.04}, None)
    answer = Answer(parents_children=[A])
    assert bounded(search, answer) == (answer, Discoveries())


def test_step_by_step_members_are_judged_given_the_others() -> None:
    """The search itself has kept the rate, so nothing is left out here."""
    p: dict[Asked, float | None] = {
        (A, T, (B, S)): 0.003, (B, T, (A, S)): 0.9, (S, T, (A, B)): None, (A, T, ()): 1e-9,
    }  # fmt: skip
    search = Search(Scripted(p), subject=T, fdr=FalseDiscoveryRate(0.1, "bh"), stepwise=True)
    for answer in (Answer(blanket=[A, B, S]), Answer(parents_children=[A, B, S])):
        kept, found = bounded(search, answer)
        assert kept == answer
        assert found.dropped == ()
        assert found.adjusted == {A: pytest.approx(0.015), B: 1}
    _, found = bounded(search, Answer(blanket=[A, B, S], parents_children=[A]), {B})
    assert found.adjusted == {A: pytest.approx(0.015)}
    assert search.tally.performed == 0  # they were asked before, and do not count again


def test_edges_by_hand() -> None:
    """Of ten pairs at a rate of 0.1, the k-th smallest p is compared with k / 100."""
    a, b, c = frozenset((0, 1)), frozenset((1, 2)), frozenset((0, 3))
    log_p = {a: math.log(0.002), b: math.log(0.025), c: math.log(0.018)}
    threshold, adjusted, dropped = bound_edges(FalseDiscoveryRate(0.1), log_p, 10)
    assert threshold == pytest.approx(0.03)
    assert [adjusted[a], adjusted[b], adjusted[c]] == pytest.approx([0.02, 0.25 / 3, 0.25 / 3])
    assert dropped == []
    log_p[b] = math.log(0.031)
    threshold, adjusted, dropped = bound_edges(FalseDiscoveryRate(0.1), log_p, 10)
    assert threshold == pytest.approx(0.02)
    assert dropped == [b]
    assert adjusted[b] == pytest.approx(0.31 / 3)


# --- in questions ----------------------------------------------------------------------------------------------------


def test_a_question_bounds_what_the_users_algorithm_asked() -> None:
    """By hand, as above: with "by" the number of candidates is 5 · (1 + 1/2 + 1/3 + 1/4 + 1/5)."""

    def algorithm(search: Search, target: int) -> serape.Answer:
        assert target == T
        for x, y, given in DIAMOND:
            search.ask(x, y, given)
        return serape.Answer(blanket=[A, B, S], parents_children=[A, B], spouses={S: [A, B]})

    test = Scripted(DIAMOND)
    found = serape.markov_blanket(test, "t", algorithm, alpha=0.05, fdr=0.1, fdr_method="bh")
    assert found.adjusted_p == {"a": pytest.approx(5e-7), "s": pytest.approx(1e-6 / 2), "b": pytest.approx(5e-5 / 3)}
    careful = serape.markov_blanket(test, "t", algorithm, alpha=0.05, fdr=0.1, fdr_method="by")
    harmonic = 1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5
    assert careful.adjusted_p == {name: pytest.approx(harmonic * p) for name, p in found.adjusted_p.items()}


class Sides(serape.FunctionTest):
    """Partial correlation, one test at a time, that remembers the log p by candidate and target."""

    def __init__(self, frame: pd.DataFrame) -> None:
        super().__init__(frame, lambda x, y, z: math.nan)
        self.plain = PartialCorrelation(self.table)
        self.largest: dict[tuple[int, int], float] = {}

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> serape.Outcome:
        outcome = self.plain.test(x, y, given)
        if outcome.log_p <= math.log(0.05):
            self.largest[x, y] = max(outcome.log_p, self.largest.get((x, y), -math.inf))
        return outcome


def test_hpc_takes_the_better_side_twice() -> None:
    """A neighbour that was dependent from both sides counts by the better of the two, times two."""
    both = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        columns = random.normal(size=(9, 60))
        for k in range(1, 9):
            columns[k] += 0.5 * columns[random.integers(k)] + 0.4 * columns[random.integers(k)]
        test = Sides(pd.DataFrame(columns.T, columns=[f"v{k}" for k in range(9)]))
        found = serape.parents_children(test, "v3", "hpc", alpha=0.05, fdr=0.3, fdr_method="bh")
        at = {name: test.variables.index(name) for name in found.adjusted_p}
        sides = [[test.largest.get(pair) for pair in ((x, 3), (3, x))] for x in at.values()]
        both += sum(None not in pair for pair in sides)
        known = [[log_p for log_p in pair if log_p is not None] for pair in sides]
        counted = [min(log_p) + math.log(len(log_p)) for log_p in known]
        expected = FalseDiscoveryRate(0.3).adjusted(counted, 8)
        for name, log_p, adjusted in zip(at, counted, expected.tolist(), strict=True):
            if log_p <= math.log(0.05):  # above alpha it is no member, whatever the rate
                assert found.adjusted_p[name] == pytest.approx(adjusted)
    assert both >= 3
