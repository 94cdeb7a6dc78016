"""skeleton: separating sets, and the neighbourhoods it is made of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import networkx as nx
import numpy as np
import pytest

import serape
from oracles import shuffled, undirected_pairs
from plain import random_dag, random_table
from serape.questions.neighbourhoods import _Targets


def test_every_pair_at_distance_two_has_a_separating_set() -> None:
    random = np.random.default_rng(3)
    graph = random_dag(random, 12, 0.25)
    for algorithm in ("pc-stable", "hiton-pc"):
        found = serape.skeleton(shuffled(graph, random), algorithm)
        joined = undirected_pairs(graph)
        wanted = {
            frozenset((x, y))
            for z in graph
            for x in nx.all_neighbors(graph, z)
            for y in nx.all_neighbors(graph, z)
            if x != y and frozenset((x, y)) not in joined
        }
        assert wanted <= set(found.separating_sets)


def test_skeleton_is_made_of_the_neighbourhoods() -> None:
    table = serape.load_network("child").sample(400, 2)
    near = {
        name: set(serape.parents_children(table, name, "inter-iapc").parents_children or ()) for name in table.names
    }
    for rule in ("and", "or"):
        found = serape.skeleton(table, "inter-iapc", rule=rule)
        both = all if rule == "and" else any
        wanted = {frozenset((a, b)) for a in near for b in near if a < b and both((b in near[a], a in near[b]))}
        assert undirected_pairs(found.graph) == wanted


def test_pairs_that_cannot_be_tested_are_not_joined() -> None:
    table = random_table(np.random.default_rng(4), 9, [2, 3] * 5)
    found = serape.skeleton(table, "pc-stable")
    assert found.skipped > 0
    assert found.graph.number_of_edges() < 10


@pytest.mark.parametrize("algorithm", ["hiton-pc", "mmpc"])
@pytest.mark.parametrize("settings", [{}, {"symmetry": False}, {"knowledge": ("HR", "CVP")}])
def test_neighbours_follow_from_sets(monkeypatch: pytest.MonkeyPatch, algorithm: str, settings: dict[str, Any]) -> None:
    table = serape.load_network("alarm").sample(300, 2)
    if "knowledge" in settings:
        settings = {"knowledge": serape.Knowledge(required=[settings["knowledge"]])}
    found = []
    ways: list[Callable[..., Any]] = [_Targets.known_neighbours, lambda self, targets: {}]
    for known in ways:
        monkeypatch.setattr(_Targets, "known_neighbours", known)
        found.append(serape.skeleton(table, algorithm, alpha=0.05, fdr=None, n_jobs=2, **settings).to_dict())
    for one in found:
        del one["seconds"]
    assert found[0] == found[1]


@pytest.mark.parametrize("semi_interleaved", [False, True])
@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("rule", ["and", "or"])
def test_a_rate_is_the_same_at_once_and_target_by_target(
    tmp_path: Path, rule: Literal["and", "or"], symmetry: bool, semi_interleaved: bool
) -> None:
    """With a checkpoint, sets are searched target by target; without, in one call, which weighs edges itself."""
    table = serape.load_network("alarm").sample(700, seed=5)
    options: dict[str, Any] = {"fdr": 0.2, "rule": rule, "symmetry": symmetry, "semi_interleaved": semi_interleaved}
    at_once = serape.skeleton(table, "hiton-pc", **options)
    in_turn = serape.skeleton(table, "hiton-pc", **options, checkpoint=tmp_path / "c.jsonl")
    assert at_once.graph.number_of_edges() > 20
    assert at_once.threshold == in_turn.threshold
    assert at_once.tests_by_size == in_turn.tests_by_size
    assert at_once.separating_sets == in_turn.separating_sets
    assert nx.utils.graphs_equal(at_once.graph, in_turn.graph)
