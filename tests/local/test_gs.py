"""GS: its tests counted by hand."""

from __future__ import annotations

import networkx as nx

import serape


def test_counts_of_gs_by_hand() -> None:
    """The order (3 tests), a sweep (A given nothing, B and C given A), another (B and C), one shrink test."""
    graph = nx.DiGraph([("T", "A")])
    graph.add_nodes_from("BC")
    found = serape.markov_blanket(serape.DSeparation(graph), "T", algorithm="gs")
    assert found.tests_by_size == {0: 3 + 1 + 1, 1: 2 + 2}
