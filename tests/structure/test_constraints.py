"""What knowledge asks of a DAG: allowed and required parents, orders that obey, the nearest DAG that obeys."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import serape
from plain_graphs import random_parents
from plain_knowledge import obeys, random_bounds
from serape.knowledge import BoundKnowledge
from serape.structure.constraints import ArcConstraints, possible_parents
from serape.structure.graphs import PartlyDirected, cpdag, topological


@pytest.mark.parametrize("seed", range(40))
def test_parents_by_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 9))
    knowledge = random_bounds(random, n)
    constraints = ArcConstraints(n, knowledge)
    for y in range(n):
        assert constraints.allowed[y].dtype == np.uint32
        assert constraints.allowed[y].tolist() == [x for x in range(n) if x != y and knowledge.allows(x, y)]
        assert constraints.required[y] == {x for x in range(n) if knowledge.requires(x, y)}
    assert [xs.tolist() for xs in possible_parents(n, knowledge)] == [xs.tolist() for xs in constraints.allowed]


def test_without_knowledge_nothing_is_asked() -> None:
    constraints = ArcConstraints(4)
    assert [xs.tolist() for xs in constraints.allowed] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert constraints.required == [frozenset()] * 4
    assert constraints.order([2, 0, 3, 1]) == [2, 0, 3, 1]
    assert constraints.nearest(cpdag([set(), {0}, {0, 1}, set()]), 4) == [set(), {0}, {0, 1}, set()]


@pytest.mark.parametrize("seed", range(40))
def test_orders_obey(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    knowledge = random_bounds(random, n)
    wanted = [int(x) for x in random.permutation(n)]
    order = ArcConstraints(n, knowledge).order(wanted)
    place = {x: k for k, x in enumerate(order)}
    assert sorted(order) == list(range(n))
    assert all(place[x] < place[y] for x, y in knowledge.required)
    if all(knowledge.tier(x) for x in range(n)):
        assert [knowledge.tier(x) for x in order] == sorted(knowledge.tier(x) for x in range(n))
    assert ArcConstraints(n, knowledge).order(order) == order


def test_orders_stay_near_what_is_wanted() -> None:
    """Only what knowledge asks for is moved, and the tiers share their places."""
    required = ArcConstraints(5, BoundKnowledge(required=[(3, 1)]))
    assert required.order([0, 1, 2, 3, 4]) == [0, 2, 3, 1, 4]
    tiers = ArcConstraints(5, BoundKnowledge(tiers=[[4], [0, 2]]))
    assert tiers.order([0, 1, 2, 3, 4]) == [4, 1, 0, 3, 2]


def test_a_path_may_lead_back_to_an_earlier_tier() -> None:
    """Tiers forbid arcs: a variable without a tier can be between them."""
    knowledge = serape.Knowledge(required=[("c", "b"), ("b", "a")], tiers=[["a"], ["c"]]).bind("abc")
    constraints = ArcConstraints(3, knowledge)
    assert constraints.order([0, 1, 2]) == [2, 1, 0]
    assert constraints.nearest(PartlyDirected(3), 3) == [{1}, {2}, set()]
    assert constraints.allowed[0].tolist() == [1]


@pytest.mark.parametrize("seed", range(200))
def test_the_nearest_graph_obeys(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 8))
    knowledge = random_bounds(random, n)
    constraints = ArcConstraints(n, knowledge)
    most = max(int(random.integers(1, n + 1)), *map(len, constraints.required))
    graph = cpdag(random_parents(random, n, 0.5))
    found = constraints.nearest(graph, most)
    order = topological(found)
    assert sorted(order) == list(range(n))
    assert obeys(knowledge, found)
    assert all(len(above) <= most for above in found)
    added = {(x, y) for y, above in enumerate(found) for x in above if not graph.are_adjacent(x, y)}
    assert added <= knowledge.required


def test_nearest_to_what_obeys_is_the_same() -> None:
    """A DAG that obeys is its own nearest one, and one arc that does not is turned or left out."""
    seen: Counter[bool] = Counter()
    for seed in range(300):
        random = np.random.default_rng(seed)
        parents = random_parents(random, 5, 0.5)
        knowledge = random_bounds(random, 5)
        if obeys(knowledge, parents):
            seen[knowledge.is_empty] += 1
            assert ArcConstraints(5, knowledge).nearest(PartlyDirected.of_dag(parents), 5) == parents
    assert seen[False] > 20
    dag = PartlyDirected.of_dag([set(), {0}, {1}])
    assert ArcConstraints(3, BoundKnowledge(forbidden=[(0, 1)])).nearest(dag, 3) == [{1}, set(), {1}]
    assert ArcConstraints(3, BoundKnowledge(forbidden_pairs=[(0, 1)])).nearest(dag, 3) == [set(), set(), {1}]
    assert ArcConstraints(3, BoundKnowledge(required=[(2, 0)])).nearest(dag, 3) == [{2}, {0, 2}, set()]
