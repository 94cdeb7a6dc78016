"""Orientation: exact with the oracle; contradictions are settled by strength, whatever the order of columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from plain import random_dag
from plain_graphs import Contradictory, is_acyclic, made, with_the_oracle
from serape.structure.graphs import (
    PartlyDirected,
    cpdag,
)
from serape.structure.orientation import Oriented, orient


@pytest.mark.parametrize("density", [0.15, 0.3, 0.6])
def test_orientation_is_exact_with_the_oracle(density: float) -> None:
    random = np.random.default_rng(int(100 * density))
    for _ in range(60):
        graph = random_dag(random, int(random.integers(3, 9)), density)
        names = [str(name) for name in random.permutation(list(graph))]
        truth = cpdag(PartlyDirected.of_networkx(graph, names).parents)
        assert with_the_oracle(random, graph, names) == Oriented(truth, [])


def test_contradictions_do_not_depend_on_the_order_of_columns() -> None:
    random = np.random.default_rng(9)
    conflicts = 0
    for seed in range(60):
        case = Contradictory(seed, [f"n{k}" for k in range(9)])
        first = case.orient(case.names)
        conflicts += len(first.conflicts)
        graph = first.graph.to_networkx(case.names)
        for _ in range(6):
            names = [str(name) for name in random.permutation(case.names)]
            again = case.orient(names)
            assert set(again.graph.to_networkx(names).edges) == set(graph.edges)
            assert again.conflicts == first.conflicts
    assert conflicts > 100


def test_contradictions_never_make_a_cycle() -> None:
    reasons = set()
    for seed in range(400):
        case = Contradictory(seed, [f"n{k}" for k in range(8 + seed % 5)], ties=bool(seed % 2))
        found = case.orient(case.names)
        assert is_acyclic(found.graph.n, found.graph.arcs())
        skeleton = {frozenset(case.names[v] for v in pair) for pair in found.graph.arcs() + found.graph.edges()}
        assert skeleton == case.joined
        reasons |= {"more certain" in conflict.because for conflict in found.conflicts}
    assert reasons == {True, False}


def path(strengths: dict[frozenset[int], float], names: Sequence[str] = "ABCD") -> Oriented:
    """A – B – C – D where B and C should both be colliders: one of them cannot be."""
    return orient(4, [{1}, {0, 2}, {1, 3}, {2}], lambda x, y: (), lambda x, z, y: strengths[frozenset((x, y))], names)


class TestConflicts:
    def test_the_more_certain_collider_wins(self) -> None:
        left, right = frozenset((0, 2)), frozenset((1, 3))
        found = path({left: -1.0, right: -2.0})
        assert found.graph == made(4, [(0, 1), (2, 1)], [(2, 3)])
        assert [str(conflict) for conflict in found.conflicts] == [
            "B → C ← D is dropped: a more certain collider has C → B"
        ]
        found = path({left: -2.0, right: -1.0})
        assert found.graph == made(4, [(1, 2), (3, 2)], [(0, 1)])
        assert [str(conflict) for conflict in found.conflicts] == [
            "A → B ← C is dropped: a more certain collider has B → C"
        ]

    def test_a_collider_that_would_close_a_cycle_is_left_out_whole(self) -> None:
        """C → B ← E and B → A ← F are more certain than A → C ← D, which would close A → C → B → A."""
        a, b, c, d, e, f = range(6)
        near = [{b, c, f}, {a, c, e}, {a, b, d}, {c}, {b}, {a}]
        sure = {frozenset((c, e)): -1.0, frozenset((b, f)): -2.0, frozenset((a, d)): -3.0}
        found = orient(
            6,
            near,
            lambda x, y: () if frozenset((x, y)) in sure else None,
            lambda x, z, y: sure[frozenset((x, y))],
            "ABCDEF",
        )
        assert found.graph == made(6, [(c, b), (e, b), (b, a), (f, a), (c, a)], [(c, d)])
        assert [str(conflict) for conflict in found.conflicts] == [
            "A → C ← D is dropped: A → C would close a directed cycle"
        ]

    @pytest.mark.parametrize("unsure", [-5.0, float("nan")])
    def test_ties_go_by_name(self, unsure: float) -> None:
        tie = {frozenset((0, 2)): unsure, frozenset((1, 3)): unsure}
        assert path(tie).graph.arcs() == [(0, 1), (2, 1)]
        assert path(tie, "DCBA").graph.arcs() == [(1, 2), (3, 2)]

    def test_a_strength_that_is_not_known_is_the_least(self) -> None:
        assert path({frozenset((0, 2)): float("nan"), frozenset((1, 3)): -5.0}).graph.arcs() == [(1, 2), (3, 2)]

    def test_an_unknown_separating_set_tells_nothing(self) -> None:
        neighbours = [{1}, {0, 2}, {1}]
        for known, arcs in ((None, []), ((1,), []), ((), [(0, 1), (2, 1)])):
            found = orient(3, neighbours, lambda x, y, known=known: known, lambda x, z, y: 0.0, "ABC")  # type: ignore[misc]
            assert found.graph.arcs() == arcs
            assert found.conflicts == []


class TestShownArcs:
    """Arcs that a test shows, without a second end."""

    NAMES = ("a", "b", "c")

    def test_an_arc_directs_others(self) -> None:
        found = orient(
            3, [{1}, {0, 2}, {1}], lambda x, y: (1,), lambda x, z, y: None, self.NAMES, None, [(2.0, (0, 1))]
        )
        assert found == Oriented(made(3, [(0, 1), (1, 2)]), [])

    def test_the_more_certain_one_wins(self) -> None:
        shown = [(2.0, (0, 1)), (3.0, (1, 0))]
        found = orient(2, [{1}, {0}], lambda x, y: None, lambda x, z, y: None, self.NAMES[:2], None, shown)
        assert found.graph == made(2, [(1, 0)])
        assert [str(conflict) for conflict in found.conflicts] == [
            "a → b is dropped: a more certain collider has b → a"
        ]
