"""The bundled networks: as published."""

import json
import lzma
from importlib.resources import files

import networkx as nx
import numpy as np
import pytest

import serape
from plain import random_network
from serape.networks import bundled_networks, load_network
from serape.networks.library import pack, unpack

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
    with pytest.raises(serape.OptionError, match="for a file use serape.read_bif"):
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
