"""GES: exact with a perfect score, and the cliques it asks for."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_dag
from plain_correlations import correlated, table_of
from plain_number_scores import Population
from plain_searches import Trace, plain_ges
from serape.structure.gaussian_score import GaussianBIC
from serape.structure.ges import cliques, ges
from serape.structure.graphs import PartlyDirected, cpdag, extension
from serape.structure.scores import BDeu, make_score
from serape.structure.stopping import Stopped


@pytest.mark.parametrize(("density", "most"), [(0.15, 11), (0.3, 9), (0.5, 7)])
def test_ges_is_exact_with_a_perfect_score(density: float, most: int) -> None:
    random = np.random.default_rng(int(100 * density))
    for _ in range(40):
        graph = random_dag(random, int(random.integers(2, most + 1)), density)
        order = [str(node) for node in random.permutation(list(graph))]
        found = serape.network(Population(graph, order, random), "ges")
        truth = cpdag(PartlyDirected.of_networkx(graph, order).parents).to_networkx(order)
        assert set(found.graph.edges) == set(truth.edges), list(graph.edges)


def test_ges_finds_small_networks_in_large_samples() -> None:
    for name in ("cancer", "earthquake", "survey"):
        network = serape.load_network(name)
        found = serape.network(network.sample(1_000_000, 1), "ges", score="bic")
        assert found.compare(network).shd == 0, name


def test_ges_keeps_count_of_its_score() -> None:
    """What the operators are said to gain is what the score of the graphs rises by."""
    table = serape.load_network("insurance").sample(500, 1)
    for score in (make_score(table, "bic"), BDeu(table, 5.0)):
        totals: list[float] = []
        graph = ges(score, watch=lambda arcs, total, totals=totals: totals.append(total))  # type: ignore[misc]
        parents = extension(graph)
        assert parents is not None
        assert totals == sorted(totals)
        assert totals[-1] == pytest.approx(score.total(parents), rel=1e-12)
        assert cpdag(parents) == graph


def test_cliques() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        graph = cpdag(PartlyDirected.of_networkx(random_dag(random, 8, 0.5), [f"n{k}" for k in range(8)]).parents)
        near = graph.adjacent(0)
        plain: nx.Graph[int] = nx.Graph([(x, y) for x in near for y in near if x < y and graph.are_adjacent(x, y)])
        plain.add_nodes_from(near)
        wanted = {frozenset[int](), *map(frozenset, nx.enumerate_all_cliques(plain))}
        found = list(cliques(graph, near))
        assert len(found) == len(set(found))
        assert set(found) == wanted


@pytest.mark.parametrize("seed", range(9))
def test_every_step_is_that_of_the_plain_twin(seed: int) -> None:
    random = np.random.default_rng(seed)
    table = serape.load_network(("asia", "sachs", "child")[seed % 3]).sample(int(random.integers(100, 600)), seed)
    score = make_score(table, ("bic", "bdeu")[seed % 2], 5.0)
    most = int(random.choice([2, 3, len(table.names)]))
    expected = plain_ges(score, most)
    for threads in (1, 3):
        trace: Trace = []
        watch = lambda arcs, total, trace=trace: trace.append((arcs, total))  # noqa: E731
        found = ges(score, max_parents=most, threads=threads, watch=watch)
        assert trace[: len(expected[1])] == expected[1]
        assert found == expected[0] or trace[-1][1] > expected[1][-1][1] + score.rounding  # arcs are turned at last


def test_arcs_are_turned_and_the_search_begins_again_as_the_plain_twin_does() -> None:
    turned = 0
    for seed, columns in ((0, 6), (1, 6), (4, 8), (28, 9)):
        score = GaussianBIC(table_of(correlated(seed, 400, columns)))
        trace: Trace = []
        found = ges(score, watch=lambda arcs, total, trace=trace: trace.append((arcs, total)))  # type: ignore[misc]
        expected, steps = plain_ges(score, columns, turning=True)
        assert found == expected
        assert [arcs for arcs, _ in trace] == [arcs for arcs, _ in steps]
        assert [total for _, total in trace] == pytest.approx([total for _, total in steps], abs=1e-6)
        turned += len(steps) > len(plain_ges(score, columns)[1])
    assert turned == 3


def test_an_interrupted_search_returns_the_graph_before() -> None:
    score = BDeu(serape.load_network("insurance").sample(300, 1), 5.0)
    seen = 0

    def watch(arcs: int, total: float) -> None:
        nonlocal seen
        del arcs, total
        seen += 1
        if seen == 7:
            raise KeyboardInterrupt

    with pytest.raises(Stopped) as stopped:
        ges(score, watch=watch)
    graph = stopped.value.graph
    assert len(graph.arcs()) + len(graph.edges()) == 7
    parents = extension(graph)
    assert parents is not None
    assert cpdag(parents) == graph
