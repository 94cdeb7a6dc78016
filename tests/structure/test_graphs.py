"""Partly directed graphs, topological orders, distances."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from plain_graphs import made, random_graph
from serape.structure.graphs import (
    PartlyDirected,
    TopologicalOrder,
    structural_hamming_distance,
)


class TestPartlyDirected:
    def test_what_joins_a_pair(self) -> None:
        graph = made(4, arcs=[(2, 0)], edges=[(3, 2)])
        assert (graph.parents[0], graph.children[2], graph.neighbours[2]) == ({2}, {0}, {3})
        assert graph.adjacent(2) == {0, 3}
        assert graph.are_adjacent(0, 2)
        assert graph.are_adjacent(2, 0)
        assert not graph.are_adjacent(0, 3)
        assert (graph.arcs(), graph.edges()) == ([(2, 0)], [(2, 3)])
        graph.orient(3, 2)
        assert (graph.arcs(), graph.edges()) == ([(2, 0), (3, 2)], [])
        graph.remove(0, 2)
        assert (graph.arcs(), graph.edges()) == ([(3, 2)], [])

    def test_a_pair_is_joined_once(self) -> None:
        graph = made(2, arcs=[(0, 1), (1, 0)])
        assert graph.arcs() == [(1, 0)]
        graph.add_edge(0, 1)
        assert (graph.arcs(), graph.edges()) == ([], [(0, 1)])
        graph.add_arc(0, 1)
        assert (graph.arcs(), graph.edges()) == ([(0, 1)], [])

    def test_only_an_edge_is_oriented(self) -> None:
        with pytest.raises(KeyError):
            made(2, arcs=[(0, 1)]).orient(1, 0)

    def test_equality(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        assert graph == made(3, arcs=[(0, 1)], edges=[(2, 1)])
        for other in (made(3, [(1, 0)], [(1, 2)]), made(3, [(0, 1), (1, 2)]), made(4, [(0, 1)], [(1, 2)]), "graph"):
            assert graph != other

    def test_a_copy_changes_on_its_own(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        copy = graph.copy()
        assert copy == graph
        copy.orient(1, 2)
        copy.add_arc(0, 2)
        assert graph == made(3, arcs=[(0, 1)], edges=[(1, 2)])

    def test_reaches_is_a_directed_path(self) -> None:
        random = np.random.default_rng(0)
        for _ in range(50):
            graph = random_graph(random, 7, (0.6, 0.1, 0.15, 0.15))
            arcs: nx.DiGraph[int] = nx.DiGraph(graph.arcs())
            arcs.add_nodes_from(range(7))
            for x, y in product(range(7), repeat=2):
                assert graph.reaches(x, y) == nx.has_path(arcs, x, y)

    def test_renumbered(self) -> None:
        graph = made(3, arcs=[(0, 1)], edges=[(1, 2)])
        assert graph.renumbered([2, 0, 1]) == made(3, arcs=[(1, 2)], edges=[(2, 0)])

    def test_of_dag(self) -> None:
        assert PartlyDirected.of_dag([[1, 2], (), {1}]) == made(3, arcs=[(1, 0), (2, 0), (1, 2)])

    def test_networkx_there_and_back(self) -> None:
        random = np.random.default_rng(1)
        for _ in range(30):
            graph = random_graph(random, 6, (0.4, 0.2, 0.2, 0.2))
            names = [str(name) for name in random.permutation(list("abcdef"))]
            there = graph.to_networkx(names)
            assert list(there) == names
            assert there.graph["directed"] == (not graph.edges())
            assert len(there.edges) == len(graph.arcs()) + 2 * len(graph.edges())
            assert PartlyDirected.of_networkx(there, names) == graph
            order = [int(x) for x in random.permutation(6)]
            assert PartlyDirected.of_networkx(there, [names[x] for x in order]) == graph.renumbered(order)

    def test_networkx_says_whether_it_is_directed(self) -> None:
        assert made(2, arcs=[(0, 1)]).to_networkx("ab").graph["directed"] is True
        assert made(2, edges=[(0, 1)]).to_networkx("ab").graph["directed"] is False

    @pytest.mark.parametrize(
        ("graph", "names", "message"),
        [
            (nx.DiGraph([("a", "b")]), ["a"], "same nodes.*'b'"),
            (nx.DiGraph([("a", "b")]), ["a", "b", "c"], "same nodes.*'c'"),
            (nx.DiGraph([("a", "a")]), ["a"], "from 'a' to itself"),
            (nx.Graph([("a", "b")]), ["a", "b"], "networkx.DiGraph is needed, not a Graph"),
        ],
    )
    def test_networkx_that_does_not_fit(self, graph: Any, names: list[str], message: str) -> None:
        with pytest.raises(serape.SerapeError, match=message):
            PartlyDirected.of_networkx(graph, names)


def test_the_order_admits_what_closes_no_cycle() -> None:
    random = np.random.default_rng(2)
    for _ in range(30):
        graph = PartlyDirected(12)
        order = TopologicalOrder(graph)
        for _ in range(60):
            x, y = (int(v) for v in random.choice(12, 2, replace=False))
            if graph.are_adjacent(x, y):
                continue
            assert order.admits(x, y) == (not graph.reaches(y, x))
            if not graph.reaches(y, x):
                graph.add_arc(x, y)


def test_distance_is_a_count_of_pairs() -> None:
    def join(graph: PartlyDirected, x: int, y: int) -> tuple[bool, bool, bool]:
        return y in graph.children[x], y in graph.parents[x], y in graph.neighbours[x]

    random = np.random.default_rng(3)
    for _ in range(100):
        a, b = (random_graph(random, 7, (0.4, 0.2, 0.2, 0.2)) for _ in range(2))
        counted = sum(join(a, x, y) != join(b, x, y) for x, y in combinations(range(7), 2))
        assert structural_hamming_distance(a, b) == structural_hamming_distance(b, a) == counted
        assert structural_hamming_distance(a, a.copy()) == 0


def test_distance_by_hand() -> None:
    truth = made(5, arcs=[(0, 1), (1, 2)], edges=[(2, 3)])
    missing_turned_extra_directed = made(5, arcs=[(1, 0), (2, 3)], edges=[(0, 4)])
    assert structural_hamming_distance(truth, missing_turned_extra_directed) == 4
    with pytest.raises(serape.OptionError, match="graphs of 5 and 2 nodes"):
        structural_hamming_distance(truth, PartlyDirected(2))
