"""Random knowledge that is true of a DAG, in every form in which it can be given."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np

Arcs = list[tuple[str, str]]
FORMS = ("pairs", "arcs", "both ways", "tiers", "part of the tiers", "required")
"""The forms of knowledge; a mixture has several of them."""


def random_knowledge(rng: np.random.Generator, graph: nx.DiGraph[str]) -> dict[str, Any]:
    """Return random knowledge that is true of a DAG: one form of it, or a mixture."""
    forms = rng.permutation(FORMS)[: int(rng.choice([1, 1, 2, 3, len(FORMS)]))]
    share = float(rng.choice([0.2, 0.5, 1.0]))
    known: dict[str, Any] = {}
    for form in forms.tolist():
        for field, more in _OF[form](rng, graph, share).items():
            if more and not (field == "tiers" and "tiers" in known):
                known[field] = known.get(field, []) + more
    if "tiers" in known and rng.random() < 0.5:  # tiers and one forbidden arc together may forbid a pair
        known["forbidden"] = known.get("forbidden", []) + _some(rng, _across(graph, known["tiers"]), share)
    return known


def random_known_members(rng: np.random.Generator, members: set[str]) -> list[str]:
    """Return some of the true members of an answer."""
    return [str(x) for x in rng.permutation(sorted(members))[: int(rng.integers(0, len(members) + 1))]]


def random_forbidden_members(rng: np.random.Generator, dependent: nx.Graph[str]) -> dict[str, list[str]]:
    """Return, for some variables, some that are in no blanket of theirs; `dependent` joins each to its blanket.

    Nothing is wrong if these are not tested. What their separating sets would direct may stay undirected.
    """
    if rng.random() < 0.7:
        return {}
    share = float(rng.choice([0.2, 0.5, 1.0]))
    found = {x: _some(rng, sorted(nx.non_neighbors(dependent, x)), share) for x in _some(rng, list(dependent), share)}
    return {x: some for x, some in found.items() if some}


def apart(graph: nx.DiGraph[str]) -> Arcs:
    """Return the pairs that are not adjacent."""
    return [(x, y) for x, y in combinations(graph, 2) if not (graph.has_edge(x, y) or graph.has_edge(y, x))]


def _pairs(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    return {"forbidden_pairs": [_turned(rng, pair) for pair in _some(rng, apart(graph), share)]}


def _arcs(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    absent = [(x, y) for x in graph for y in graph if x != y and not graph.has_edge(x, y)]
    return {"forbidden": _some(rng, absent, share)}


def _both_ways(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    return {"forbidden": [arc for x, y in _some(rng, apart(graph), share) for arc in ((x, y), (y, x))]}


def _tiers(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    """Cut a random order of causes before effects into pieces; an order that all arcs obey."""
    del share
    weight = dict(zip(graph, rng.random(len(graph)).tolist(), strict=True))
    order = list(nx.lexicographical_topological_sort(graph, key=weight.__getitem__))
    cuts = sorted({int(cut) for cut in rng.integers(1, len(order), int(rng.integers(1, 4)))}) if len(order) > 1 else []
    tiers = [order[a:b] for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]
    return {"tiers": [[str(x) for x in rng.permutation(tier)] for tier in tiers]}


def _part_of_tiers(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    tiers = [_some(rng, tier, max(share, 0.5)) for tier in _tiers(rng, graph, share)["tiers"]]
    return {"tiers": [tier for tier in tiers if tier]}


def _required(rng: np.random.Generator, graph: nx.DiGraph[str], share: float) -> dict[str, Any]:
    return {"required": _some(rng, list(graph.edges), share)}


_OF: dict[str, Callable[[np.random.Generator, nx.DiGraph[str], float], dict[str, Any]]] = {
    "pairs": _pairs,
    "arcs": _arcs,
    "both ways": _both_ways,
    "tiers": _tiers,
    "part of the tiers": _part_of_tiers,
    "required": _required,
}


def _across(graph: nx.DiGraph[str], tiers: list[list[str]]) -> Arcs:
    """Return arcs from a tier to a later one that are not in the graph: with the tiers they forbid the pair."""
    tier = {x: k for k, group in enumerate(tiers) for x in group}
    return [(x, y) for x in tier for y in tier if tier[x] < tier[y] and not graph.has_edge(x, y)]


def _turned(rng: np.random.Generator, pair: tuple[str, str]) -> tuple[str, str]:
    return pair if rng.random() < 0.5 else (pair[1], pair[0])


def _some(rng: np.random.Generator, items: list[Any], share: float) -> list[Any]:
    return [item for item in items if rng.random() < share]
