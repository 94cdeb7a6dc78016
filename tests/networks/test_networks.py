"""Networks: what they hold, what is refused, exact blankets."""

from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest

import serape
from plain import rain, random_network, true_blanket
from serape.networks import Network, load_network
from serape.networks.network import normalised

# --- what a network says -------------------------------------------------------------------------------------------


def test_a_network_holds_what_it_was_given() -> None:
    network = rain()
    assert network.variables == ("rain", "sprinkler", "grass")
    assert (network.nodes, network.arcs, network.parameters) == (3, 3, 1 + 2 + 8)
    assert network.levels("grass") == network.levels(2) == ("dry", "damp", "wet")
    assert network.parents("grass") == ("rain", "sprinkler")
    assert network.children("rain") == ("sprinkler", "grass")
    assert network.cpt("rain").shape == (1, 2)
    assert repr(network) == "Network of 3 variables, 3 arcs and 11 parameters"


def test_a_network_cannot_be_changed() -> None:
    probabilities = np.array([[0.5, 0.5]])
    network = Network({"a": ["x", "y"]}, {}, {"a": probabilities})
    probabilities[0, 0] = 7
    assert network.cpt("a").tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="read-only"):
        network.cpt("a")[0, 0] = 7
    with pytest.raises(nx.NetworkXError):
        network.graph.add_node("b")


def test_equality_is_of_every_part() -> None:
    one = {"a": ["x", "y"], "b": ["x", "y"]}
    cpts = {"a": [[0.5, 0.5]], "b": [[0.5, 0.5]]}
    network = Network(one, {}, cpts)
    assert network == Network(one, {}, cpts)
    assert network != Network({"b": ["x", "y"], "a": ["x", "y"]}, {}, cpts)
    assert network != Network({"a": ["x", "y"], "b": ["x", "z"]}, {}, cpts)
    assert network != Network(one, {}, cpts | {"a": [[0.4, 0.6]]})
    assert network != Network(one, {"b": ["a"]}, cpts | {"b": [[0.5, 0.5], [0.5, 0.5]]})
    assert network != "network"


def refused(levels: object, parents: object, cpts: object) -> str:
    with pytest.raises(serape.DataError) as caught:
        Network(levels, parents, cpts)  # type: ignore[arg-type]
    return str(caught.value)


def test_refusals_are_one_sentence() -> None:
    two, half = {"a": ["x", "y"], "b": ["x", "y"]}, [[0.5, 0.5]]
    both = {"a": half, "b": half}
    assert "no variables" in refused({}, {}, {})
    assert "parents are given for 'c', which" in refused(two, {"c": []}, both)
    assert "'b' has the parent 'aa', which is not a variable; declare it." in refused(two, {"b": ["aa"]}, both)
    assert "'b' is its own parent" in refused(two, {"b": ["b"]}, both)
    assert "'b' has the same parent twice" in refused(two, {"b": ["a", "a"]}, both)
    assert "parents of 'b' are the text 'a'" in refused(two, {"b": "a"}, both)
    assert "'b' has no probabilities" in refused(two, {}, {"a": half})
    assert "'b' are of shape (1, 2), but its parents have 2 configurations" in refused(two, {"b": ["a"]}, both)
    assert "'b' in row 0 add up to 0.9; they must add up to 1" in refused(two, {}, {"a": half, "b": [[0.5, 0.4]]})
    assert "'b' in row 0 include -0.5; none may be negative" in refused(two, {}, {"a": half, "b": [[1.5, -0.5]]})
    assert "add up to nan" in refused(two, {}, {"a": half, "b": [[np.nan, 0.5]]})
    assert "add up to inf" in refused(two, {}, {"a": half, "b": [[1e308, 1e308]]})
    assert "are not all numbers" in refused(two, {}, {"a": half, "b": [["often", 0.5]]})
    assert "'b' has no levels" in refused({"b": []}, {}, {})
    assert "'b' has the same level twice" in refused({"b": ["x", "x"]}, {}, {})
    assert "'b' has the level ''" in refused({"b": ["", "x"]}, {}, {})
    assert "'b' has the level 1;" in refused({"b": [1, 2]}, {}, {})
    assert "the levels of 'b' are the text 'xy'" in refused({"b": "xy"}, {}, {})
    assert "a variable is called 'two\\nlines'" in refused({"two\nlines": ["x"]}, {}, {})
    assert "'b' has 65,537 levels; at most 65,536" in refused({"b": [str(k) for k in range(65537)]}, {}, {})
    twice = [[0.5, 0.5], [0.5, 0.5]]
    cycle = refused(two, {"a": ["b"], "b": ["a"]}, {"a": twice, "b": twice})
    assert cycle.startswith("the arcs form a cycle, '")
    assert "' → '" in cycle


def test_rows_may_be_rounded_and_are_kept_as_they_are() -> None:
    network = Network({"a": ["x", "y", "z"]}, {}, {"a": [[0.33333, 0.33333, 0.33333]]})
    assert network.cpt("a").tolist() == [[0.33333, 0.33333, 0.33333]]
    assert normalised(network.cpt("a")).sum() == pytest.approx(1, abs=1e-15)


def test_an_unknown_variable_is_an_option_error() -> None:
    with pytest.raises(serape.OptionError, match="no variable 'gras'. Did you mean 'grass'?"):
        rain().markov_blanket("gras")
    for nonsense in (3, -1, None, 1.5):
        with pytest.raises(serape.OptionError, match="there is no variable"):
            rain().levels(nonsense)  # type: ignore[arg-type]


# --- exact blankets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["asia", "cancer", "survey", "sachs", "child", "insurance", "alarm"])
def test_a_blanket_is_what_no_other_variables_separate(name: str) -> None:
    network = load_network(name)
    oracle = serape.DSeparation(network.graph)
    everything = range(network.nodes)
    for target in everything:
        connected = [
            network.variables[x]
            for x in everything
            if x != target and oracle.test(x, target, [z for z in everything if z not in (x, target)]).log_p != 0
        ]
        assert network.markov_blanket(target) == tuple(connected)


@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "survey"])
def test_parents_and_children_are_what_nothing_separates(name: str) -> None:
    network = load_network(name)
    oracle = serape.DSeparation(network.graph)
    for target in range(network.nodes):
        near = []
        for x in range(network.nodes):
            others = [z for z in range(network.nodes) if z not in (x, target)]
            subsets = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
            if x != target and all(oracle.test(x, target, given).log_p != 0 for given in subsets):
                near.append(network.variables[x])
        assert network.parents_children(target) == tuple(near)


def test_blankets_of_random_networks() -> None:
    random = np.random.default_rng(11)
    for _ in range(20):
        network = random_network(random, 8)
        for name in network.variables:
            assert set(network.markov_blanket(name)) == true_blanket(network.graph, name)
            expected = {*network.graph.predecessors(name), *network.graph.successors(name)}
            assert set(network.parents_children(name)) == expected
