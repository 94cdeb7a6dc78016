"""Tiled networks: copies joined by a few arcs, each with the distribution of the original."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import serape
from plain import codes_of, joint_distribution, rain, random_network
from serape.networks import Network, load_network
from serape.networks.tiling import coupled


def new_arcs(network: Network, tiled: Network, copies: int) -> list[tuple[str, str]]:
    inside = {(f"{a}_{k}", f"{b}_{k}") for a, b in network.graph.edges for k in range(1, copies + 1)}
    assert inside <= set(tiled.graph.edges)
    return [arc for arc in tiled.graph.edges if arc not in inside]


@pytest.mark.parametrize("name", ["cancer", "asia", "alarm", "child", "hailfinder", "munin1", "pigs"])
def test_copies_are_joined_by_a_few_arcs_from_one_to_the_next(name: str) -> None:
    network, copies = load_network(name), 4
    tiled = network.tile(copies, seed=1)
    links = new_arcs(network, tiled, copies)
    assert tiled.nodes == copies * network.nodes
    assert tiled.arcs == copies * network.arcs + len(links)
    assert nx.is_directed_acyclic_graph(tiled.graph)
    assert nx.number_weakly_connected_components(tiled.graph) <= copies * nx.number_weakly_connected_components(
        network.graph
    ) - (copies - 1)
    by_copy: dict[int, int] = {}
    for source, target in links:
        (_, k), (root, after) = source.rsplit("_", 1), target.rsplit("_", 1)
        assert int(after) == int(k) + 1
        assert network.parents(root) == ()
        assert tiled.parents(target) == (source,)
        by_copy[int(after)] = by_copy.get(int(after), 0) + 1
    assert set(by_copy) == set(range(2, copies + 1))
    assert max(by_copy.values()) <= 3


def test_blankets_of_inner_variables_are_those_of_the_original() -> None:
    network = load_network("alarm")
    tiled = network.tile(5, seed=2)
    links = new_arcs(network, tiled, 5)
    for name in network.variables:
        for k in range(1, 6):
            called = f"{name}_{k}"
            across = {*(a for a, b in links if b == called), *(b for a, b in links if a == called)}
            assert (
                set(tiled.markov_blanket(called)) == {f"{other}_{k}" for other in network.markov_blanket(name)} | across
            )
            assert tiled.levels(called) == network.levels(name)
            if tiled.parents(called) == tuple(f"{parent}_{k}" for parent in network.parents(name)):
                assert tiled.cpt(called) is network.cpt(name)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("levels", "copies"), [(2, 3), (3, 2)])
def test_every_copy_has_exactly_the_original_joint_distribution(levels: int, copies: int, seed: int) -> None:
    network = random_network(np.random.default_rng(seed), 4, density=0.3, most_levels=levels)
    original = joint_distribution(network)
    tiled = joint_distribution(network.tile(copies, seed=seed))
    for copy in range(copies):
        others = tuple(axis for axis in range(4 * copies) if not 4 * copy <= axis < 4 * copy + 4)
        assert tiled.sum(axis=others) == pytest.approx(original, abs=1e-10)


def test_copies_keep_their_marginals_in_large_samples() -> None:
    network = load_network("alarm")
    tiled = network.tile(4, seed=3)
    table, plain = tiled.sample(40_000, seed=4), network.sample(40_000, seed=5)
    smallest = 1.0
    for name in network.variables:
        for k in range(1, 5):
            counts = np.array(
                [
                    np.bincount(codes_of(plain, network, name), minlength=len(network.levels(name))),
                    np.bincount(codes_of(table, tiled, f"{name}_{k}"), minlength=len(network.levels(name))),
                ]
            )
            counts = counts[:, counts.sum(axis=0) >= 10]
            if counts.shape[1] > 1:
                smallest = min(smallest, float(stats.chi2_contingency(counts).pvalue))
    assert smallest > 1e-3 / tiled.nodes


def test_links_are_real_dependences() -> None:
    network = load_network("child")
    tiled = network.tile(6, seed=0)
    table = tiled.sample(5000, seed=0)
    for source, target in new_arcs(network, tiled, 6):
        assert serape.ci_test(table, source, target).log_p < np.log(1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_coupling_keeps_both_margins(sources: int, targets: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    source, target = random.dirichlet(np.full(sources, 0.5)), random.dirichlet(np.full(targets, 0.5))
    conditional = coupled(source, target, random)
    assert conditional.min() >= 0
    assert conditional.sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert source @ conditional == pytest.approx(target, abs=1e-8)


def test_a_seed_decides_the_tiling() -> None:
    network = load_network("asia")
    assert network.tile(5, seed=1) == network.tile(5, seed=1)
    assert network.tile(5, seed=1) != network.tile(5, seed=2)


def test_one_copy_and_no_links() -> None:
    network = load_network("asia")
    assert network.tile(1).variables == tuple(f"{name}_1" for name in network.variables)
    assert network.tile(3, links=0).arcs == 3 * network.arcs
    assert len(new_arcs(network, network.tile(3, seed=0, links=1), 3)) == 2


def test_what_cannot_be_tiled_is_refused() -> None:
    for copies in (0, -1, 1.5, "two"):
        with pytest.raises(serape.OptionError, match="copies=.* is not a whole number, 1 or more"):
            rain().tile(copies)  # type: ignore[arg-type]
    with pytest.raises(serape.OptionError, match="links=-1 is not a whole number, 0 or more"):
        rain().tile(2, links=-1)
    still = Network({"a": ["x", "y"]}, {}, {"a": [1, 0]})
    with pytest.raises(serape.OptionError, match="the copies cannot be joined"):
        still.tile(2)
    assert still.tile(2, links=0).nodes == 2
    rare = Network({"a": ["x", "y"]}, {}, {"a": [0.999, 0.001]})
    assert rare.tile(2, seed=0).arcs == 1


def test_tiling_goes_far() -> None:
    network = load_network("alarm")
    tiled = network.tile(500, seed=0)
    table = tiled.sample(50, seed=0)
    assert len(table.names) == tiled.nodes == 500 * 37
    assert len({id(tiled.cpt(f"HR_{k}")) for k in range(1, 501)}) == 1
    assert len(tiled.markov_blanket("HR_250")) >= len(network.markov_blanket("HR"))
