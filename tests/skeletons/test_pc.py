"""The skeleton of PC: exact with the oracle, the same for any order of columns."""

import itertools

import numpy as np
import pytest

import serape
from plain import random_dag, random_table
from serape.independence import G2
from serape.skeletons.pc import pc_skeleton


@pytest.mark.parametrize("density", [0.2, 0.5])
def test_skeleton_is_exact_on_all_variables(density: float) -> None:
    random = np.random.default_rng(1)
    for _ in range(60):
        graph = random_dag(random, 7, density)
        search = serape.Search(serape.DSeparation(graph))
        skeleton = pc_skeleton(search, range(7))
        names = search.test.variables
        found = {frozenset((names[x], names[y])) for x, near in skeleton.neighbours.items() for y in near}
        assert found == {frozenset(arc) for arc in graph.edges}
        for x, middle, y in itertools.permutations(range(7), 3):
            if skeleton.is_collider(x, middle, y):
                assert graph.has_edge(names[x], names[middle])
                assert graph.has_edge(names[y], names[middle])


def test_order_of_columns_does_not_matter() -> None:
    table = random_table(np.random.default_rng(2), 400, [2, 3, 2, 2, 3, 2])
    skeletons = set()
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4], [2, 0, 5, 4, 3, 1]):
        shuffled = serape.Table({table.names[k]: table.column(k) for k in order})
        skeleton = pc_skeleton(serape.Search(G2(shuffled)), range(6))
        joined = {
            frozenset((shuffled.names[x], shuffled.names[y])) for x, near in skeleton.neighbours.items() for y in near
        }
        skeletons.add(frozenset(joined))
    assert len(skeletons) == 1
