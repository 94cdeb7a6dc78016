"""A region as a first screen for other tools."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import pytest

import serape
import serape.bridges
from serape.bridges import causal_learn, pgmpy, prescreened, pyagrum
from serape.bridges.common import library


@pytest.fixture(scope="module")
def region() -> nx.Graph[str]:
    return serape.region(serape.DSeparation(serape.load_network("asia").graph), "smoke", depth=2)


def test_pairs_found_apart_are_forbidden(region: nx.Graph[str]) -> None:
    columns, known = prescreened(region)
    distance = nx.get_node_attributes(region, "distance")
    assert columns[0] == "smoke"
    assert [distance[name] for name in columns] == sorted(distance.values())
    forbidden = {frozenset(pair) for pair in known.forbidden_pairs}
    truth = serape.load_network("asia").graph
    for a, b in combinations(columns, 2):
        decided = min(distance[a], distance[b]) < 2
        assert (frozenset((a, b)) in forbidden) == (decided and not region.has_edge(a, b))
        assert frozenset((a, b)) not in forbidden or not (truth.has_edge(a, b) or truth.has_edge(b, a))
    assert forbidden


def test_knowledge_about_these_columns_is_kept(region: nx.Graph[str]) -> None:
    columns, plain = prescreened(region)
    a, b = plain.forbidden_pairs[0]
    far = next(name for name in serape.load_network("asia").variables if name not in columns)
    own = serape.Knowledge(
        required=[(a, b), (a, far)], forbidden=[(columns[1], columns[0]), (far, a)], tiers=[[a], [b], [far]]
    )
    _, known = prescreened(region, own)
    assert known.required == ((a, b),)
    assert known.forbidden == ((columns[1], columns[0]),)
    assert known.tiers == ((a,), (b,))
    assert set(known.forbidden_pairs) == set(plain.forbidden_pairs) - {(a, b)}


def test_an_incomplete_region_forbids_nothing(region: nx.Graph[str]) -> None:
    stopped = region.copy()
    stopped.graph["complete"] = False
    assert not prescreened(stopped)[1].forbidden_pairs
    with pytest.raises(serape.InputTypeError, match=r"pass what serape\.region returns"):
        prescreened(nx.Graph([("a", "b")]))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, region: nx.Graph[str]) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("serape.errors.import_module", missing)
    for bridge, name in ((causal_learn, "causal-learn"), (pgmpy, "pgmpy"), (pyagrum, "pyAgrum")):
        with pytest.raises(serape.MissingLibraryError, match=f"pip install {name}"):
            bridge.export_graph(region)
    with pytest.raises(serape.MissingLibraryError, match="pip install x"):
        library("x", "x")
