"""FBED: its tests counted by hand, a plain twin, the number of runs, ties, unreliable tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag, random_table, true_blanket
from serape.data.example import clinic
from serape.independence import G2
from serape.independence.base import IndependenceTest
from serape.independence.partial_correlation import PartialCorrelation
from serape.local.fbed import fbed

COLLIDER = nx.DiGraph([("t", "c"), ("s", "c")])


# --- a plain twin: one test at a time --------------------------------------------------------------------------------


def plain_fbed(test: IndependenceTest, target: int, k: float, alpha: float) -> tuple[set[int], int]:
    """Return the blanket and the number of reliable tests."""
    asked = 0

    def ask(x: int, given: Sequence[int]) -> tuple[float, float] | None:
        """Return log p and the statistic with a minus sign; None if the test is not reliable."""
        nonlocal asked
        outcome = test.test(x, target, given)
        asked += outcome.reliable
        return (outcome.log_p, -outcome.statistic) if outcome.reliable else None

    selected: list[int] = []
    runs = 0
    changed = True
    while runs <= k and changed:
        before = list(selected)
        remaining = [x for x in range(len(test.variables)) if x != target and x not in selected]
        while remaining:
            strength = {x: ask(x, selected) for x in remaining}
            kept = [x for x in remaining if (found := strength[x]) is not None and found[0] <= np.log(alpha)]
            if kept:
                best = min(kept, key=lambda x: strength[x] or (0.0, 0.0))  # the first of ties
                selected.append(best)
                kept.remove(best)
            remaining = kept
        runs, changed = runs + 1, selected != before
    removed = True
    while removed:
        removed = False
        for x in list(selected):
            answer = ask(x, [z for z in selected if z != x])
            if answer is not None and answer[0] > np.log(alpha):
                selected.remove(x)
                removed = True
    return set(selected), asked


def samples() -> list[tuple[IndependenceTest, dict[str, Any]]]:
    alarm = serape.load_network("alarm").sample(300, seed=2)
    sparse = random_table(np.random.default_rng(1), 120, [2, 3] * 15, 0.3)
    numbers = np.random.default_rng(2).normal(size=(80, 25))
    numbers[:, 1:] += numbers[:, :-1]
    numbers[:, 5] += numbers[:, 9] - numbers[:, 14]
    return [
        (G2(alarm), {}),
        (G2(sparse), {"alpha": 0.2}),
        (PartialCorrelation(serape.Table(numbers)), {"alpha": 0.1}),
    ]


@pytest.mark.parametrize(("test", "options"), samples(), ids=["alarm", "few rows", "numbers"])
def test_against_a_plain_twin(test: IndependenceTest, options: dict[str, Any]) -> None:
    """The same sets and the same number of tests, for every target."""
    differ = 0
    for target in range(len(test.variables)):
        sets = []
        for k in (0, 1, 2, None):
            found = serape.markov_blanket(test, target, "fbed", k=k, **{"alpha": 0.05, **options})
            members, asked = plain_fbed(test, target, np.inf if k is None else k, options.get("alpha", 0.05))
            sets.append({test.variables[x] for x in members})
            assert set(found.blanket) == sets[-1]
            assert found.tests == asked
        differ += sets[0] != sets[1]
    assert differ  # the number of runs matters in these data


# --- runs ------------------------------------------------------------------------------------------------------------


def test_counts_by_hand() -> None:
    """T → C ← S, and U: c enters, s and u are dropped; a second run adds s; a third is not needed for k = 1."""
    graph = COLLIDER.copy()
    graph.add_node("u")
    oracle = serape.DSeparation(graph, ["t", "c", "s", "u"])
    found = serape.markov_blanket(oracle, "t", "fbed")
    assert set(found.blanket) == {"c", "s"}
    # run 1: c, s, u given nothing; run 2: s, u given c; s enters and no candidate remains; then two shrink tests
    assert found.tests_by_size == {0: 3, 1: 2 + 2}
    assert serape.markov_blanket(oracle, "t", "fbed", k=0).tests_by_size == {0: 3 + 1}
    # run 3, given c and s: u
    for k in (2, None, "inf"):
        assert serape.markov_blanket(oracle, "t", "fbed", k=k).tests_by_size == {0: 3, 1: 2 + 2, 2: 1}


def test_one_run_finds_a_superset_of_the_neighbours_and_may_miss_a_spouse() -> None:
    random = np.random.default_rng(3)
    missed = 0
    for _ in range(150):
        graph = random_dag(random, int(random.integers(3, 10)), 0.3)
        oracle = serape.DSeparation(graph, [str(n) for n in random.permutation(list(graph))])
        for target in graph:
            found = set(serape.markov_blanket(oracle, target, "fbed", k=0).blanket)
            assert set(graph.predecessors(target)) | set(graph.successors(target)) <= found
            missed += found != true_blanket(graph, target)
    assert missed
    wrong = serape.check_algorithm("fbed", k=0)
    assert wrong is not None
    assert "is missing: it is a spouse" in str(wrong)


@pytest.mark.parametrize("k", [1, 2, None])
def test_exact_from_one_re_run_on(k: int | None) -> None:
    random = np.random.default_rng(4)
    for _ in range(100):
        graph = random_dag(random, int(random.integers(3, 12)), random.random())
        oracle = serape.DSeparation(graph, [str(n) for n in random.permutation(list(graph))])
        for target in graph:
            assert set(serape.markov_blanket(oracle, target, "fbed", k=k).blanket) == true_blanket(graph, target)


def test_more_runs_go_on_until_no_variable_enters() -> None:
    """A chain of colliders through hidden causes: each member opens the path to the next, one run at a time."""
    hidden = nx.DiGraph([arc for a in range(4) for arc in ((f"h{a}", f"x{a}"), (f"h{a}", f"x{a + 1}"))])
    order = [*(f"x{a}" for a in (4, 3, 2, 1, 0)), *(f"h{a}" for a in range(4))]
    oracle = serape.DSeparation(hidden, order)
    unseen = [f"h{a}" for a in range(4)]
    for k, last in ((0, 1), (1, 2), (2, 3), (3, 4), (None, 4)):
        found = serape.markov_blanket(oracle, "x0", "fbed", k=k, forbidden_members=unseen)
        assert set(found.blanket) == {f"x{a}" for a in range(1, last + 1)}


@pytest.mark.parametrize("k", [-1, 1.5, True, "two", float("inf")])
def test_k_is_checked(k: Any) -> None:
    with pytest.raises(serape.OptionError, match="k must be a whole number, 0 or more, or None"):
        serape.markov_blanket(clinic(100), "Age", "fbed", k=k)


# --- ties, unreliable tests, knowledge -------------------------------------------------------------------------------


def test_ties_break_by_order_or_at_random() -> None:
    """Three columns with the same statistic: by default the first enters; with seeds, each does."""
    random = np.random.default_rng(5)
    t = random.integers(2, size=300)
    x = np.where(random.random(300) < 0.1, 1 - t, t)
    data = {"a": x, "b": x, "c": x, "t": t}
    assert serape.markov_blanket(data, "t", "fbed").blanket == ("a",)
    answers = {serape.markov_blanket(data, "t", "fbed", random_state=seed).blanket for seed in range(30)}
    assert answers == {("a",), ("b",), ("c",)}
    assert len({serape.markov_blanket(data, "t", "fbed", random_state=7).blanket for _ in range(5)}) == 1


def test_unreliable_candidates_are_dropped_and_not_separated() -> None:
    """50 rows: given the first member, a test of a column of 12 levels is not reliable."""
    random = np.random.default_rng(8)
    t = random.integers(2, size=50)
    data = {
        "t": t,
        "strong": np.where(random.random(50) < 0.1, 1 - t, t),
        "many": (6 * t + random.integers(6, size=50)) % 11,
        "noise": random.integers(2, size=50),
    }
    test = G2(serape.Table(data, kinds="categorical"))
    search = serape.Search(test, subject=0)
    assert set(fbed(search, 0)) == {1}
    assert search.tally.skipped == 2  # once in each run
    assert search.separating_set(2, 0) is None
    assert search.separating_set(3, 0) == ()
    found = serape.markov_blanket(test, "t", "fbed")
    assert found.blanket == ("strong",)
    assert "Its last test, given strong, was skipped: there are too few rows" in str(found.explain("many"))


def test_known_members_start_the_first_run() -> None:
    """With the common child known, one run finds the spouse."""
    oracle = serape.DSeparation(COLLIDER)
    assert set(serape.markov_blanket(oracle, "t", "fbed", k=0).blanket) == {"c"}
    assert set(serape.markov_blanket(oracle, "t", "fbed", k=0, known_members=["c"]).blanket) == {"c", "s"}
