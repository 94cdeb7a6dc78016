"""The oracle, against networkx."""

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from benchmarks.common.equivalences import Case, random_case
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


# --- variables that are functions of others --------------------------------------------------------------------------


def numbered(*columns: np.ndarray) -> np.ndarray:
    return np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1].ravel()


def distribution(case: Case, random: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Draw a distribution that has the graph and its functions: the values of all nodes in each state, and its p."""
    values: dict[str, np.ndarray] = {}
    p = np.ones(1)
    for node in nx.topological_sort(case.graph):
        parents = list(case.graph.predecessors(node))
        of_parents = numbered(*(values[x] for x in parents)) if parents else np.zeros(len(p), int)
        if node.startswith("d"):
            levels = int(of_parents.max()) + 1
            coarse = min(levels - 1, 4) if levels > 2 else levels  # of a function that cannot be undone
            undone = (parents[0], [node]) in case.determined
            values[node] = of_parents if undone else random.permutation(levels)[of_parents] % coarse
            continue
        table = random.dirichlet(np.ones(5), int(of_parents.max()) + 1)
        p = (p[:, None] * table[of_parents]).ravel()
        values = {name: np.repeat(column, 5) for name, column in values.items()}
        values[node] = np.tile(np.arange(5), len(of_parents))
    return values, p


def are_independent(x: np.ndarray, y: np.ndarray, z: np.ndarray, p: np.ndarray) -> bool:
    levels = x.max() + 1, y.max() + 1, z.max() + 1
    joint = np.zeros(levels)
    np.add.at(joint, (x, y, z), p)
    product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    return bool(np.allclose(joint * joint.sum(axis=(0, 1)), product, rtol=0, atol=1e-13))


def test_functions_against_distributions() -> None:
    """Independence that the oracle shows holds in every distribution with the graph; dependence holds in nearly all."""
    random = np.random.default_rng(3)
    independent = dependent = exceptions = 0
    for _ in range(60):
        case = random_case(random)
        oracle, names = case.oracle(), case.order
        values, p = distribution(case, random)
        for _ in range(40):
            order = random.permutation(len(names)).tolist()
            x, y, given = order[0], order[1], order[2 : 2 + int(random.integers(min(4, len(names) - 1)))]
            z = numbered(*(values[names[k]] for k in given)) if given else np.zeros(len(p), int)
            true = are_independent(values[names[x]], values[names[y]], z, p)
            if oracle.test(x, y, given).p == 1.0:
                assert true
                independent += 1
            else:
                dependent += 1
                exceptions += true
    assert min(independent, dependent) > 500
    assert exceptions < 0.02 * dependent


def test_a_function_of_what_is_not_there() -> None:
    with pytest.raises(serape.DataError, match="`determined` names 'c', but the graph has no such node"):
        serape.DSeparation(nx.DiGraph([("a", "b")]), determined=[("b", ["c"])])


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
