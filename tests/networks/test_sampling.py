"""Samples: families and marginals as their tables have them, seeds."""

import numpy as np
import pytest
from scipy import stats

import serape
from plain import codes_of, rain
from serape.networks import Network, load_network
from serape.networks.marginals import marginal
from serape.networks.network import normalised


def family_chi_square(network: Network, table: serape.Table, name: str) -> tuple[float, int]:
    """Compare the counts of a family with what its table has them be, given those of the parents."""
    row = np.zeros(table.rows, np.int64)
    for parent in network.parents(name):
        row = row * len(network.levels(parent)) + codes_of(table, network, parent)
    levels = len(network.levels(name))
    counts = np.bincount(row * levels + codes_of(table, network, name), minlength=network.cpt(name).size)
    counts = counts.reshape(-1, levels)
    expected = normalised(network.cpt(name)) * counts.sum(axis=1, keepdims=True)
    assert (counts[network.cpt(name) == 0] == 0).all(), f"{name} has a value of probability zero"
    statistic, dof = 0.0, 0
    for seen, hoped in zip(counts, expected, strict=True):
        common = hoped >= 5
        groups = [*zip(seen[common], hoped[common], strict=True), (seen[~common].sum(), hoped[~common].sum())]
        groups = [(s, e) for s, e in groups if e >= 5]
        if len(groups) > 1 and sum(e for _, e in groups) > hoped.sum() - 1e-6:
            statistic += sum((s - e) ** 2 / e for s, e in groups)
            dof += len(groups) - 1
    return statistic, dof


@pytest.mark.parametrize(
    "name",
    ["asia", "sachs", "child", "insurance", "water", "alarm", "barley", "hailfinder", "hepar2", "win95pts", "pigs"],
)
def test_families_are_drawn_as_their_tables_say(name: str) -> None:
    network = load_network(name)
    table = network.sample(20_000, seed=5)
    found = [family_chi_square(network, table, variable) for variable in network.variables]
    smallest = min(float(stats.chi2.sf(statistic, dof)) for statistic, dof in found if dof)
    assert smallest > 1e-3 / network.nodes
    overall = float(stats.chi2.sf(sum(s for s, _ in found), sum(d for _, d in found)))
    assert 1e-3 < overall < 1 - 1e-3


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "hailfinder", "win95pts"])
def test_marginals_are_drawn_as_inference_has_them(name: str) -> None:
    network = load_network(name)
    table = network.sample(20_000, seed=6)
    smallest = 1.0
    for variable in network.variables:
        exact = marginal(network, variable)
        assert exact is not None
        counts = np.bincount(codes_of(table, network, variable), minlength=len(exact))
        common = exact * table.rows >= 5
        if common.sum() > 1 and exact[~common].sum() * table.rows < 1e-6:
            p = stats.chisquare(counts[common], exact[common] / exact[common].sum() * counts[common].sum()).pvalue
            smallest = min(smallest, float(p))
    assert smallest > 1e-3 / network.nodes


def test_a_sample_is_a_table_with_all_levels() -> None:
    network = Network(
        {"a": ["never", "x", "y", "never again"], "b": ["only"]},
        {"b": ["a"]},
        {"a": [0, 0.5, 0.5, 0], "b": [[1], [1], [1], [1]]},
    )
    table = network.sample(100, seed=0)
    assert isinstance(table, serape.Table)
    assert (table.rows, table.names) == (100, ("a", "b"))
    assert table.variables["a"].levels == ("never", "x", "y", "never again")
    assert set(table.column("a").tolist()) == {"x", "y"}
    assert set(table.column("b").tolist()) == {"only"}
    assert table.variables["a"].reason == "4 declared categories"
    assert table.is_constant(1)


def test_many_levels_and_many_configurations() -> None:
    random = np.random.default_rng(2)
    many = [str(k) for k in range(700)]
    network = Network(
        {"a": many, "b": ["x", "y", "z"], "c": many},
        {"b": ["a"], "c": ["a"]},
        {"a": np.full(700, 1 / 700), "b": random.dirichlet([1, 1, 1], 700), "c": np.eye(700)},
    )
    table = network.sample(20_000, seed=1)
    assert (table.column("a") == table.column("c")).all()
    statistic, dof = family_chi_square(network, table, "b")
    assert stats.chi2.sf(statistic, dof) > 1e-3
    assert stats.chisquare(np.bincount(codes_of(table, network, "a"), minlength=700)).pvalue > 1e-3


def test_a_seed_decides_the_sample() -> None:
    network = load_network("child")

    def drawn(seed: int | None) -> list[list[int]]:
        table = network.sample(200, seed)
        return [table.packed.codes(k).tolist() for k in range(network.nodes)]

    assert drawn(4) == drawn(4)
    assert drawn(4) != drawn(5)
    assert drawn(None) != drawn(None)


def test_a_sample_can_be_searched() -> None:
    network = load_network("asia")
    found = serape.markov_blanket(network.sample(50_000, 1), "either", algorithm="iamb", alpha=0.01)
    assert set(found.blanket) <= set(network.markov_blanket("either"))
    assert serape.markov_blanket(serape.DSeparation(network.graph), "lung").blanket == network.markov_blanket("lung")


@pytest.mark.parametrize("rows", [-1, 0, 1, 2.5, True, "many", 10**12])
def test_a_sample_of_nonsense_rows_is_refused(rows: int) -> None:
    with pytest.raises(serape.OptionError, match="a sample has from 2 to"):
        rain().sample(rows)


@pytest.mark.parametrize("seed", [-1, 0.5, "x", True])
def test_a_nonsense_seed_is_refused(seed: int) -> None:
    with pytest.raises(serape.OptionError, match="is not a whole number, 0 or more"):
        rain().sample(10, seed)
