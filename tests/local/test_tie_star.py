"""TIE*: all blankets, with perfect tests, against every set that there is."""

from __future__ import annotations

from itertools import combinations, product

import networkx as nx
import numpy as np
import pytest

import serape
from benchmarks.common.equivalences import every_blanket, random_case
from plain import random_dag, true_blanket
from serape.local.registry import ALGORITHMS
from serape.local.tie_star import tie_star

RIGHT = [name for name, algorithm in ALGORITHMS.items() if algorithm.conditions_on_blanket and algorithm.sound]


def found_by(oracle: serape.DSeparation, target: str, algorithm: str = "auto") -> set[frozenset[str]]:
    found = serape.all_blankets(oracle, target, algorithm)
    assert found.complete
    assert len(set(found.blankets)) == len(found.blankets)
    return set(map(frozenset, found.blankets))


@pytest.mark.parametrize("algorithm", RIGHT)
def test_every_blanket_and_no_other(algorithm: str) -> None:
    random = np.random.default_rng(7)
    several = 0
    for _ in range(250):
        oracle = random_case(random).oracle()
        target = str(random.choice(oracle.variables))
        truth = every_blanket(oracle, target)
        assert found_by(oracle, target, algorithm) == truth
        several += len(truth) > 1
    assert several > 60


@pytest.mark.parametrize("algorithm", RIGHT)
def test_a_faithful_graph_has_one_blanket(algorithm: str) -> None:
    random = np.random.default_rng(8)
    for _ in range(50):
        graph = random_dag(random, 8, 0.3)
        oracle = serape.DSeparation(graph)
        for target in graph:
            assert found_by(oracle, target, algorithm) == {frozenset(true_blanket(graph, target))}


def test_who_is_indispensable_and_who_stands_for_whom() -> None:
    """By definition: in every blanket; and the sets R with which a blanket without x is one again."""
    random = np.random.default_rng(9)
    for _ in range(150):
        oracle = random_case(random).oracle()
        target = str(random.choice(oracle.variables))
        truth = every_blanket(oracle, target)
        found = serape.all_blankets(oracle, target)
        assert set(found.indispensable) == set(frozenset.intersection(*truth))
        assert not found.undecided
        assert set(found.replaceable) == set(frozenset.union(*truth)) - set(found.indispensable)
        for x, sets in found.replaceable.items():
            alone = {b - (a - {x}) for a in truth if x in a for b in truth if x not in b and a - {x} <= b}
            if alone:
                least = {one for one in alone if not any(other < one for other in alone)}
                assert set(map(frozenset, sets)) == least


def test_algorithms_that_assume_faithfulness_miss_blankets_and_say_so() -> None:
    """A copy separates the original from the target, and so does the original the copy: HITON's check drops both."""
    graph = nx.DiGraph([("A", "T"), ("A", "B")])
    oracle = serape.DSeparation(graph, determined=[("B", ["A"]), ("A", ["B"])])
    assert found_by(oracle, "T") == {frozenset("A"), frozenset("B")}
    wrong = serape.all_blankets(oracle, "T", "ipc-mb")
    assert set(map(frozenset, wrong.blankets)) != {frozenset("A"), frozenset("B")}
    assert any("assumes that no two sets of variables tell the same" in note for note in wrong.notes)


def test_without_composition_blankets_are_missed() -> None:
    """T = A xor B, and D has the value of T and a coin: {D} and {A, B} are blankets, but A and B are each independent.

    No search that adds one variable at a time finds {A, B}.
    """
    rows = np.array([(a, b, a ^ b, 2 * (a ^ b) + coin) for a, b, coin in product((0, 1), repeat=3)] * 50)
    data = dict(zip("ABTD", rows.T.astype(str), strict=True))
    assert serape.determined_by(data, "T", ["A", "B"])
    found = serape.all_blankets(data, "T")
    assert found.blankets == (("D",),)
    assert found.indispensable == ("D",)  # which is wrong


# --- the searches ----------------------------------------------------------------------------------------------------


def classes(sizes: list[int]) -> list[frozenset[int]]:
    """Return the blankets that have one variable of each class."""
    groups = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return [frozenset(map(int, one)) for one in product(*groups)]


@pytest.mark.parametrize("sizes", [[1], [5], [3, 3], [2, 1, 4], [2, 2, 2, 2, 2], [20]])
def test_no_search_is_repeated(sizes: list[int]) -> None:
    """As many searches as there are blankets, and one for each class of which no variable is left."""
    blankets = classes(sizes)
    asked: list[frozenset[int]] = []

    def find(removed: frozenset[int]) -> list[frozenset[int]]:
        asked.append(removed)
        return [next((one for one in blankets if not one & removed), frozenset())]

    found = list(tie_star(find, lambda members, removed: members in blankets))
    assert sorted(map(sorted, found)) == sorted(map(sorted, blankets))
    assert len(asked) == len(set(asked)) == len(blankets) + len(sizes)


def test_any_blankets_are_found() -> None:
    """Blankets of any shape, as long as none contains another."""
    random = np.random.default_rng(1)
    for _ in range(300):
        every = [frozenset(some) for size in range(1, 4) for some in combinations(range(6), size)]
        drawn = [every[k] for k in random.choice(len(every), int(random.integers(1, 9)), replace=False)]
        blankets = {one for one in drawn if not any(other < one for other in drawn)}

        def find(removed: frozenset[int], known: set[frozenset[int]] = blankets) -> list[frozenset[int]]:
            return [frozenset(), *(one for one in sorted(known, key=sorted) if not one & removed)][not removed :]

        def is_blanket(members: frozenset[int], removed: frozenset[int], known: set[frozenset[int]] = blankets) -> bool:
            return members in known and not members & removed

        assert set(tie_star(find, is_blanket)) == blankets


def test_what_is_kept_is_never_removed() -> None:
    blankets = classes([2, 2])
    removed: list[frozenset[int]] = []

    def find(without: frozenset[int]) -> list[frozenset[int]]:
        removed.append(without)
        return [next((one for one in blankets if not one & without), frozenset())]

    assert len(list(tie_star(find, lambda members, without: members in blankets, kept={0}))) == 2
    assert all(0 not in without for without in removed)
