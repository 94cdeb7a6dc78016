"""Networks: the bundled ones as published, samples true to their tables, blankets exact, tiles like the original."""

import json
import lzma
from importlib.resources import files
from itertools import chain, combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import joint_distribution, random_network, true_blanket
from serape.networks import Network, bundled_networks, load_network
from serape.networks.library import pack, unpack
from serape.networks.marginals import ancestry, marginal
from serape.networks.network import normalised
from serape.networks.tiling import coupled

# Nodes, arcs and parameters in the Bayesian Network Repository, https://www.bnlearn.com/bnrepository/.
PUBLISHED = {
    "asia": (8, 8, 18),
    "cancer": (5, 4, 10),
    "earthquake": (5, 4, 10),
    "survey": (6, 6, 21),
    "sachs": (11, 17, 178),
    "child": (20, 25, 230),
    "insurance": (27, 52, 1008),
    "water": (32, 66, 10083),
    "mildew": (35, 46, 540150),
    "alarm": (37, 46, 509),
    "barley": (48, 84, 114005),
    "hailfinder": (56, 66, 2656),
    "hepar2": (70, 123, 1453),
    "win95pts": (76, 112, 574),
    "pathfinder": (109, 195, 72079),
    "munin1": (186, 273, 15622),
    "andes": (223, 338, 1157),
    "diabetes": (413, 602, 429409),
    "pigs": (441, 592, 5618),
    "link": (724, 1125, 14211),
    "munin": (1041, 1397, 80592),
    "munin2": (1003, 1244, 69431),
    "munin3": (1041, 1306, 71059),
    "munin4": (1038, 1388, 80352),
}


def rain() -> Network:
    return Network(
        {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "damp", "wet"]},
        {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
        {
            "rain": [0.8, 0.2],
            "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
            "grass": np.array([[1, 0, 0], [0.1, 0.4, 0.5], [0.2, 0.3, 0.5], [0, 0.1, 0.9]]),
        },
    )


def codes_of(table: serape.Table, network: Network, name: str) -> NDArray[np.int64]:
    return table.packed.codes(network.variables.index(name)).astype(np.int64)


# --- the bundled ones ----------------------------------------------------------------------------------------------


def test_bundled_networks_have_the_published_counts() -> None:
    index = {row["name"]: (row["nodes"], row["arcs"], row["parameters"]) for row in bundled_networks()}
    assert index == PUBLISHED


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_bundled_network_is_as_published(name: str) -> None:
    network = load_network(name)
    assert (network.nodes, network.arcs, network.parameters) == PUBLISHED[name]
    assert (network.graph.number_of_nodes(), network.graph.number_of_edges()) == PUBLISHED[name][:2]
    assert tuple(network.graph) == network.variables
    assert nx.is_directed_acyclic_graph(network.graph)
    for variable in network.variables:
        assert network.cpt(variable).sum(axis=1) == pytest.approx(1, abs=4e-7)


def test_known_numbers_of_asia_and_alarm() -> None:
    asia = load_network("asia")
    assert asia.levels("dysp") == ("yes", "no")
    assert asia.parents("dysp") == ("bronc", "either")
    assert asia.cpt("dysp").tolist() == [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]]
    alarm = load_network("ALARM")
    assert alarm.levels("HR") == ("LOW", "NORMAL", "HIGH")
    assert alarm.cpt("HYPOVOLEMIA").tolist() == [[0.2, 0.8]]


def test_an_unknown_name_is_answered_by_a_suggestion() -> None:
    with pytest.raises(serape.OptionError, match="no network 'alarms' comes with serape. Did you mean 'alarm'?"):
        load_network("alarms")
    with pytest.raises(serape.OptionError, match="for a file use read_bif"):
        load_network("../bundled/alarm")
    with pytest.raises(serape.OptionError, match="no network 3 "):
        load_network(3)  # type: ignore[arg-type]


def test_packing_is_exact_and_the_bundle_says_where_it_comes_from() -> None:
    network = random_network(np.random.default_rng(3), 6)
    assert unpack(pack(network)) == network
    folder = files("serape.networks") / "bundled"
    assert "pgmpy 0.1.26" in (folder / "README.md").read_text(encoding="utf-8")
    assert "Copyright (c) 2013-2024 pgmpy" in (folder / "README.md").read_text(encoding="utf-8")
    assert json.loads(lzma.decompress((folder / "asia.json.xz").read_bytes()))["format"] == "serape-network-1"


# --- what a network says -------------------------------------------------------------------------------------------


def test_a_network_tells_what_it_was_given() -> None:
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


def test_what_is_wrong_is_said_in_one_sentence() -> None:
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


# --- samples -------------------------------------------------------------------------------------------------------


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


# --- marginals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_marginals_are_those_of_the_joint_distribution(seed: int) -> None:
    network = random_network(np.random.default_rng(seed), 6)
    joint = joint_distribution(network)
    for k, name in enumerate(network.variables):
        others = tuple(axis for axis in range(network.nodes) if axis != k)
        assert marginal(network, name) == pytest.approx(joint.sum(axis=others), abs=1e-12)


def test_marginals_that_would_take_long_are_not_computed() -> None:
    link = load_network("link")
    deep = [name for name in link.variables if len(ancestry(link, name) or ()) > 100]
    assert deep
    assert all(marginal(link, name) is None for name in deep)
    wide = Network(
        {f"v{k}": ["x", "y"] for k in range(17)},
        {"v16": [f"v{k}" for k in range(16)]},
        {f"v{k}": [0.5, 0.5] for k in range(16)} | {"v16": np.full((1 << 16, 2), 0.5)},
    )
    assert marginal(wide, "v16") is None
    assert marginal(wide, "v3") == pytest.approx([0.5, 0.5])


# --- tiles ---------------------------------------------------------------------------------------------------------


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
