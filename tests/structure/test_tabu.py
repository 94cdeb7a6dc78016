"""Tabu search: hill climbing against a plain twin, and beyond its end."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain_searches import Trace, plain_tabu
from serape.structure.constraints import possible_parents
from serape.structure.scores import BDeu, Score, make_score
from serape.structure.sparse_candidate import sparse_candidate
from serape.structure.tabu import Dag, tabu_search


@given(seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_ancestors_stay_true(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 9))
    dag = Dag([set() for _ in range(n)])
    plain: nx.DiGraph[int] = nx.DiGraph()
    plain.add_nodes_from(range(n))
    for _ in range(60):
        x, y = (int(v) for v in random.choice(n, 2, replace=False))
        if plain.has_edge(x, y):
            plain.remove_edge(x, y)
            other_way = nx.has_path(plain, x, y)
            plain.add_edge(x, y)
            assert dag.can_reverse(x, y) == (not other_way)
            dag.remove(x, y)
            plain.remove_edge(x, y)
        else:
            assert dag.admits(x, y) == (not nx.has_path(plain, y, x))
            if dag.admits(x, y):
                dag.add(x, y)
                plain.add_edge(x, y)
        assert dag.arcs == plain.number_of_edges()
        for v in range(n):
            assert dag.ancestors[v] == sum(1 << a for a in nx.ancestors(plain, v))


def climb(score: Score, n: int) -> nx.DiGraph[int]:
    """Hill climbing, plainly: score every neighbour of the graph, take the best."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(n))

    def total(g: nx.DiGraph[int]) -> float:
        return sum(score.family(v, list(g.predecessors(v))) for v in g)

    while True:
        best, now = graph, total(graph)
        least = 1e-9 * abs(now)
        for x, y in permutations(range(n), 2):
            changed = []
            for kind in ("toggle", "turn"):
                other = graph.copy()
                if graph.has_edge(x, y):
                    other.remove_edge(x, y)
                    if kind == "turn":
                        other.add_edge(y, x)
                elif kind == "toggle":
                    other.add_edge(x, y)
                changed.append(other)
            for other in changed:
                if nx.is_directed_acyclic_graph(other) and total(other) > now + least:
                    best, now, least = other, total(other), 0.0
        if best is graph:
            return graph
        graph = best


class Uneven(Score):
    """A score with a little something for every family, so that nothing ties."""

    def __init__(self, score: Score) -> None:
        self.variables = score.variables
        self._score = score

    def local(self, child: int, parents: Sequence[int]) -> float:
        return self._score.family(child, parents) + 1e-3 * (hash((child, *sorted(parents))) % 1009) / 1009


def test_hill_climbing_is_that_of_the_plain_twin() -> None:
    for seed in range(8):
        score = Uneven(BDeu(serape.load_network("asia").sample(300, seed), 1.0))
        found = tabu_search(score, possible_parents(8), patience=0)
        assert score.total(found) == pytest.approx(
            score.total([set(climb(score, 8).predecessors(v)) for v in range(8)]), rel=1e-12
        )


def test_tabu_goes_on_where_hill_climbing_stops() -> None:
    better = 0
    for seed in range(6):
        table = serape.load_network("insurance").sample(500, seed)
        score = make_score(table, "bic")
        climbed, searched = (score.total(tabu_search(score, possible_parents(27), patience=p)) for p in (0, 15))
        assert searched >= climbed - 1e-9 * abs(climbed)
        better += searched > climbed + 1e-6
    assert better > 0


def test_no_single_change_improves_what_tabu_finds() -> None:
    table = serape.load_network("asia").sample(500, 1)
    score = BDeu(table, 10.0)
    found: nx.DiGraph[int] = nx.DiGraph()
    found.add_nodes_from(range(8))
    for y, above in enumerate(tabu_search(score, possible_parents(8))):
        found.add_edges_from((x, y) for x in above)
    assert nx.is_directed_acyclic_graph(found)
    now = score.total([set(found.predecessors(v)) for v in range(8)])
    for x, y in permutations(range(8), 2):
        other = found.copy()
        if found.has_edge(x, y):
            other.remove_edge(x, y)
        else:
            other.add_edge(x, y)
        if nx.is_directed_acyclic_graph(other):
            assert score.total([set(other.predecessors(v)) for v in range(8)]) <= now + 1e-9 * abs(now)


def test_sparse_candidate_takes_few_parents() -> None:
    score = BDeu(serape.load_network("insurance").sample(500, 1), 10.0)
    for k in (1, 2, 5):
        found = sparse_candidate(score, k=k)
        assert max(map(len, found)) <= k
    assert score.total(sparse_candidate(score, k=5)) > score.total(sparse_candidate(score, k=1))


class Rounded(Score):
    """A score of few values, so that much ties."""

    def __init__(self, score: Score) -> None:
        self.variables = score.variables
        self._score = score

    def local(self, child: int, parents: Sequence[int]) -> float:
        return float(round(self._score.family(child, parents)))


@pytest.mark.parametrize("seed", range(12))
def test_every_step_is_that_of_the_plain_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    name, n = (("asia", 8), ("sachs", 11))[seed % 2]
    score: Score = make_score(serape.load_network(name).sample(int(random.integers(20, 400)), seed), "bdeu", 5.0)
    if seed % 3 == 0:
        score = Rounded(score)
    candidates = possible_parents(n)
    if seed % 4 == 0:
        candidates = [xs[random.random(len(xs)) < 0.6] for xs in candidates]
    tabu, patience, most = (int(random.choice(values)) for values in ((1, 5, 100), (0, 8, 25), (1, 3, n)))
    expected = plain_tabu(score, candidates, tabu, patience, most)
    for threads in (1, 3):
        trace: Trace = []
        found = tabu_search(
            score, candidates, tabu=tabu, patience=patience, max_parents=most, threads=threads,
            watch=lambda arcs, total, trace=trace: trace.append((arcs, total)),  # type: ignore[misc]
        )  # fmt: skip
        assert (found, trace) == expected
