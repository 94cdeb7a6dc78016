"""The oracle, against networkx."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import random_dag


@given(seed=st.integers(0, 10**6), nodes=st.integers(2, 12), density=st.sampled_from([0.1, 0.3, 0.6]))
@settings(max_examples=200, deadline=None)
def test_against_networkx(seed: int, nodes: int, density: float) -> None:
    random = np.random.default_rng(seed)
    graph = random_dag(random, nodes, density)
    oracle = serape.DSeparation(graph)
    order = random.permutation(nodes).tolist()
    x, y, z = order[0], order[1], order[2 : 2 + int(random.integers(nodes - 1))]
    name = oracle.variables
    separated = nx.is_d_separator(graph, {name[x]}, {name[y]}, {name[v] for v in z})
    outcome = oracle.test(x, y, z)
    assert (outcome.p == 1.0) == separated
    assert outcome.reliable
    rest = [v for v in range(nodes) if v != y and v not in z]
    screen = oracle.screen(y, rest, z)
    assert [o == 0.0 for o in screen.log_p] == [oracle.test(v, y, z).p == 1.0 for v in rest]


def test_batches_are_those_of_single_tests() -> None:
    oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c"), ("c", "e")]))
    a, b, c, d, _ = range(5)
    found = oracle.separate(a, c, [b, d], range(3))
    assert found.separated
    assert found.given == (b,)
    assert not oracle.separate(a, b, [c, d], range(3)).separated
    assert oracle.weakest(a, d, [b, c], 2).given == ()
    first = oracle.first_dependent(d, [a, b, c], (), math.log(0.05))
    assert first.xs.tolist() == [a, b, c]


def test_order_can_be_given() -> None:
    graph = nx.DiGraph([("a", "b")])
    assert serape.DSeparation(graph, ["b", "a"]).variables == ("b", "a")
    with pytest.raises(serape.DataError, match="exactly once"):
        serape.DSeparation(graph, ["b"])


def test_names_that_become_one() -> None:
    with pytest.raises(serape.DataError, match="the same name"):
        serape.DSeparation(nx.DiGraph([(1, "1")]))


def test_cycles_are_named() -> None:
    with pytest.raises(serape.DataError, match="cycle, a → b → a"):
        serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "a")]))


def test_undirected_graphs_are_refused() -> None:
    with pytest.raises(serape.InputTypeError, match=r"networkx.DiGraph, not a Graph"):
        serape.DSeparation(nx.Graph([("a", "b")]))  # type: ignore[arg-type]


def test_usable_as_data() -> None:
    oracle = serape.DSeparation(nx.DiGraph([("a", "t"), ("t", "c"), ("s", "c"), ("x", "a")]))
    found = serape.markov_blanket(oracle, "t")
    assert set(found.blanket) == {"a", "c", "s"}
    assert serape.ci_test(oracle, "x", "t", ["a"]).p == 1.0


def test_hidden_nodes_are_no_variables_but_their_paths_count() -> None:
    graph = nx.DiGraph([("u", "a"), ("u", "b"), ("a", "c")])
    oracle = serape.DSeparation(graph, ["c", "b", "a"], hidden=["u"])
    assert oracle.variables == ("c", "b", "a")
    assert serape.ci_test(oracle, "a", "b").p == 0.0
    assert serape.ci_test(oracle, "c", "b", ["a"]).p == 1.0
    assert oracle.screen(1, [0, 2], ()).xs.tolist() == [0, 2]
    assert serape.DSeparation(graph, hidden={"u", "c"}).variables == ("a", "b")
    for wrong in (["x"], "u"):
        with pytest.raises(serape.DataError, match="hidden must be a list of nodes of the graph"):
            serape.DSeparation(graph, hidden=wrong)
    with pytest.raises(serape.DataError, match="every observed node of the graph exactly once"):
        serape.DSeparation(graph, ["u", "a", "b", "c"], hidden=["u"])


@given(st.integers(0, 10_000), st.integers(3, 8))
@settings(max_examples=40, deadline=None)
def test_hidden_nodes_against_networkx(seed: int, nodes: int) -> None:
    random = np.random.default_rng(seed)
    graph = random_dag(random, nodes, 0.4)
    order = [str(node) for node in random.permutation(list(graph))]
    seen = order[1:]
    oracle = serape.DSeparation(graph, seen, hidden=order[:1])
    x, y = 0, 1
    within = [k for k in range(2, len(seen)) if random.random() < 0.5]
    separated = nx.is_d_separator(graph, {seen[x]}, {seen[y]}, {seen[k] for k in within})
    assert (oracle.test(x, y, within).p == 1.0) == separated
