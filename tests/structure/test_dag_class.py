"""Classes of DAGs that change arc by arc: the same completed graphs as made anew."""

from __future__ import annotations

import numpy as np
import pytest

from plain_searches import after, deletions, insertions
from serape.structure.dag_class import DagClass
from serape.structure.ges import Operator
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import Score


class Nothing(Score):
    """Every network has the same score."""

    def __init__(self, n: int) -> None:
        self.variables = tuple(map(str, range(n)))

    def local(self, child: int, parents: object) -> float:
        del child, parents
        return 0.0


def possible(graph: PartlyDirected, y: int, insert: bool) -> list[Operator]:
    return list((insertions if insert else deletions)(graph, Nothing(graph.n), y, graph.n))


def applied(found: DagClass, operator: Operator) -> set[int]:
    x, y = operator.x, operator.y
    if operator.blocking is not None:
        return found.insert(x, y, operator.blocking)
    common = found.graph.neighbours[y] & found.graph.adjacent(x)
    return found.delete(x, y, common - operator.others)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("inserted", [0.5, 0.7, 0.9])
def test_operators_lead_to_the_graphs_made_anew(seed: int, inserted: float) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 11))
    found = DagClass(n)
    for _ in range(50):
        operators = possible(found.graph, int(random.integers(n)), bool(random.random() < inserted))
        if not operators:
            continue
        operator = operators[random.integers(len(operators))]
        before, expected = found.graph.copy(), after(found.graph, operator)
        changed = applied(found, operator)
        assert found.graph == expected == cpdag(found.member.parents)
        assert found.graph.children == expected.children
        assert found.settled() == expected
        assert found.settled().children == expected.children
        assert found.arcs == len(expected.arcs()) + len(expected.edges())
        assert changed == {
            z
            for z in range(n)
            if before.parents[z] != expected.parents[z] or before.neighbours[z] != expected.neighbours[z]
        }


class Interrupting(PartlyDirected):
    """A graph of which the k-th change is interrupted."""

    left = 0

    def remove(self, x: int, y: int) -> None:
        self.left -= 1
        if self.left == 0:
            super().remove(x, y)
            raise KeyboardInterrupt
        super().remove(x, y)


def test_an_interrupted_change_can_be_taken_back() -> None:
    random = np.random.default_rng(1)
    interrupted = 0
    for _ in range(300):
        found = DagClass(6)
        found.graph = Interrupting(6)
        for _ in range(12):
            operators = possible(found.graph, int(random.integers(6)), bool(random.random() < 0.7))
            if operators:
                before = cpdag(found.member.parents)
                found.graph.left = int(random.integers(0, 20))
                try:
                    applied(found, operators[random.integers(len(operators))])
                except KeyboardInterrupt:
                    assert found.settled() == before
                    assert found.settled().children == before.children
                    interrupted += 1
                    break
    assert interrupted > 50
