"""IAMB-nPC: the shrinking by PC."""

import networkx as nx

import serape


def test_conditions_on_small_sets() -> None:
    """IAMB shrinks given the whole blanket; nPC never needs sets that large to shrink."""
    graph = nx.DiGraph([(f"p{k}", "t") for k in range(5)])
    oracle = serape.DSeparation(graph)
    assert set(serape.markov_blanket(oracle, "t", algorithm="iamb-npc").blanket) == {f"p{k}" for k in range(5)}
