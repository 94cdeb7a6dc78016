"""IAMB: its tests counted by hand, ties."""

from __future__ import annotations

import networkx as nx
import numpy as np

import serape


def test_ties_break_by_order_or_at_random() -> None:
    """Three copies of one column: by default the first enters; with seeds, each does."""
    random = np.random.default_rng(5)
    t = random.integers(2, size=300)
    x = np.where(random.random(300) < 0.1, 1 - t, t)
    data = {"a": x, "b": x, "c": x, "t": t}
    assert serape.markov_blanket(data, "t", algorithm="iamb").blanket == ("a",)
    answers = {serape.markov_blanket(data, "t", algorithm="iamb", random_state=seed).blanket for seed in range(30)}
    assert answers == {("a",), ("b",), ("c",)}
    assert len({serape.markov_blanket(data, "t", algorithm="iamb", random_state=7).blanket for _ in range(5)}) == 1


def test_counts_of_iamb_by_hand() -> None:
    """T – A, and two unrelated: a screen of 3, a screen of 2 given A, one shrink test."""
    graph = nx.DiGraph([("T", "A")])
    graph.add_nodes_from("BC")
    found = serape.markov_blanket(serape.DSeparation(graph), "T", algorithm="iamb")
    assert found.blanket == ("A",)
    assert found.tests_by_size == {0: 3 + 1, 1: 2}
    assert found.tests == 6
    assert found.skipped == 0
