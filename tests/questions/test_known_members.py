"""What is known beforehand of blankets and neighbourhoods."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

import serape
from oracles import Spy
from plain import random_dag, true_blanket
from serape.data.example import clinic
from serape.local.registry import ALGORITHMS

BLANKET = [name for name, a in ALGORITHMS.items() if a.answers("blanket")]
NEIGHBOURS = [name for name, a in ALGORITHMS.items() if a.answers("parents-children")]
SOUND = [name for name in BLANKET if ALGORITHMS[name].sound]


@pytest.mark.parametrize("algorithm", BLANKET)
def test_forbidden_members_are_never_tested(algorithm: str) -> None:
    random = np.random.default_rng(4)
    for _ in range(10):
        graph = random_dag(random, 8, 0.3)
        order = [str(node) for node in random.permutation(list(graph))]
        target = order[0]
        outside = [name for name in graph if name != target and name not in true_blanket(graph, target)]
        spy = Spy(graph, order)
        found = serape.markov_blanket(spy, target, algorithm, forbidden_members=outside[:3])
        assert not spy.asked & {frozenset((target, name)) for name in outside[:3]}
        assert not set(found.blanket) & set(outside[:3])
        assert found.tests <= serape.markov_blanket(Spy(graph, order), target, algorithm).tests


@pytest.mark.parametrize("algorithm", BLANKET)
def test_known_members_are_in_whatever_tests_say(algorithm: str) -> None:
    found = serape.markov_blanket(clinic(2000), "HeartDisease", algorithm, known_members=["Ward"])
    assert "Ward" in found.blanket
    assert "Ward" not in serape.markov_blanket(clinic(2000), "HeartDisease", algorithm).blanket


@pytest.mark.parametrize("algorithm", NEIGHBOURS)
def test_required_neighbours_are_never_put_out(algorithm: str) -> None:
    known = {"required": [("Ward", "HeartDisease")]}
    found = serape.parents_children(clinic(2000), "HeartDisease", algorithm, knowledge=known)
    assert "Ward" in (found.parents_children or ())


@pytest.mark.parametrize("algorithm", SOUND)
def test_true_knowledge_changes_nothing_with_the_oracle(algorithm: str) -> None:
    """True members known, true tiers, true arcs: the same blanket, with no more tests for divide and conquer."""
    random = np.random.default_rng(6)
    for _ in range(25):
        graph = random_dag(random, 8, 0.3)
        order = [str(node) for node in random.permutation(list(graph))]
        target = order[0]
        truth = true_blanket(graph, target)
        first = list(nx.topological_sort(graph))
        arcs = [arc for arc in graph.edges if random.random() < 0.3]
        known = serape.Knowledge(required=arcs, tiers=[first[:4], first[4:]])
        oracle = serape.DSeparation(graph, order)
        members = [name for name in sorted(truth) if random.random() < 0.3]
        found = serape.markov_blanket(oracle, target, algorithm, knowledge=known, known_members=members)
        assert set(found.blanket) == truth, (list(graph.edges), arcs, members)


@pytest.mark.parametrize("algorithm", ["pc-stable", "hiton-pc", "inter-iapc"])
@pytest.mark.parametrize("question", [serape.skeleton, serape.network])
def test_known_neighbours_are_adjacent(algorithm: str, question: Any) -> None:
    known = {"HeartDisease": ["Ward"]}
    found = question(clinic(2000), algorithm, known_members=known)
    assert found.graph.has_edge("HeartDisease", "Ward") or found.graph.has_edge("Ward", "HeartDisease")
    assert frozenset(("Ward", "HeartDisease")) not in found.separating_sets
    without = question(clinic(2000), algorithm).graph
    assert not without.has_edge("HeartDisease", "Ward")
    assert not without.has_edge("Ward", "HeartDisease")


def test_tiers_spare_questions() -> None:
    """All neighbours come before the target, so none is a child, and nobody is asked about spouses."""
    graph = nx.DiGraph([(f"p{k}", "t") for k in range(3)] + [(f"g{k}", f"p{k}") for k in range(3)] + [("h", "p0")])
    tiers = [[name for name in graph if name != "t"], ["t"]]
    oracle = serape.DSeparation(graph)
    with_, without = (serape.markov_blanket(oracle, "t", "pcmb", knowledge=k) for k in ({"tiers": tiers}, None))
    assert with_.blanket == without.blanket
    assert with_.tests < without.tests


def test_many_targets() -> None:
    """A pair that is not adjacent may still be spouses, which iamb does not tell apart."""
    known = {"forbidden_pairs": [("HeartDisease", "Age")]}
    without, found = (serape.blankets(clinic(1000), algorithm="iamb", knowledge=k) for k in (None, known))
    assert {t: one.blanket for t, one in found.items()} == {t: one.blanket for t, one in without.items()}
    found = serape.blankets(clinic(1000), algorithm="hiton-mb", knowledge=known)
    assert "Age" not in (found["HeartDisease"].parents_children or ())
    assert "HeartDisease" not in (found["Age"].parents_children or ())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"known_members": ["Age"], "forbidden_members": ["Age"]}, "both known and forbidden"),
        ({"known_members": ["HeartDisease"]}, "no member of its own blanket"),
        ({"known_members": ["Agee"]}, "Did you mean 'Age'"),
        ({"known_members": "Age"}, "must be a list"),
        (
            {"known_members": ["Age"], "forbidden_members": {"Age": ["HeartDisease"]}},
            "'Age' is a known member, but it is forbidden with 'HeartDisease'",
        ),
        (
            {"forbidden_members": ["Age"], "knowledge": {"required": [("Age", "HeartDisease")]}},
            "requires an arc between it and",
        ),
        ({"knowledge": 7}, "knowledge must be"),
    ],
)
def test_contradictions_are_refused(options: dict[str, Any], match: str) -> None:
    with pytest.raises(serape.SerapeError, match=match):
        serape.markov_blanket(clinic(100), "HeartDisease", **options)
