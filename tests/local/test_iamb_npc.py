"""IAMB-nPC: the shrinking by PC, and additions that lead back."""

import networkx as nx

import serape


def test_conditions_on_small_sets() -> None:
    """IAMB shrinks given the whole blanket; nPC never needs sets that large to shrink."""
    graph = nx.DiGraph([(f"p{k}", "t") for k in range(5)])
    oracle = serape.DSeparation(graph)
    assert set(serape.markov_blanket(oracle, "t", algorithm="iamb-npc").blanket) == {f"p{k}" for k in range(5)}


def test_a_newcomer_that_is_removed_at_once_does_not_end_the_search() -> None:
    oracle = serape.DSeparation(nx.DiGraph([("B", "A"), ("B", "F"), ("D", "F"), ("E", "A")]), list("EFADB"))
    assert set(serape.markov_blanket(oracle, "E", "inter-iamb-npc", published=True).blanket) == {"A", "F"}
    assert set(serape.markov_blanket(oracle, "E", "inter-iamb-npc").blanket) == {"A", "B"}


def test_additions_that_lead_back_in_two_steps_do_not_end_the_search() -> None:
    """n7, n6, n5 enter and only n6 stays; n7 enters again: the same set as before."""
    arcs = [(2, 7), (3, 1), (3, 6), (4, 1), (4, 8), (5, 2), (5, 6), (6, 2)]
    graph = nx.DiGraph([(f"n{a}", f"n{b}") for a, b in arcs])
    oracle = serape.DSeparation(graph, [f"n{k}" for k in "78653214"])
    assert serape.markov_blanket(oracle, "n8", "inter-iamb-npc", published=True).blanket != ("n4",)
    assert serape.markov_blanket(oracle, "n8", "inter-iamb-npc").blanket == ("n4",)
