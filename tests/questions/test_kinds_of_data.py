"""Every algorithm with every kind of data: continuous, mixed, with gaps, discretised."""

from __future__ import annotations

from functools import cache

import networkx as nx
import numpy as np
import pytest

import serape
from benchmarks.accuracy import recovery
from benchmarks.accuracy.recovery import draw_gaussian, draw_mixed
from benchmarks.common.internals import Finds
from plain import random_dag, true_blanket
from serape.independence import TESTS
from serape.local.registry import ALGORITHMS

BLANKET = [name for name, a in ALGORITHMS.items() if a.answers("blanket") and a.sound]
NEIGHBOURS = [name for name, a in ALGORITHMS.items() if a.answers("parents-children") and a.sound]


@cache
def samples(kind: str, rows: int) -> list[tuple[nx.DiGraph[str], serape.Table]]:
    random = np.random.default_rng(5)
    draw = draw_gaussian if kind == "gaussian" else draw_mixed
    drawn = []
    for _ in range(10):
        graph = random_dag(random, 8, 0.25)
        drawn.append((graph, serape.Table(draw(graph, rows, random))))
    return drawn


def accuracy(kind: str, rows: int, algorithm: str, finds: Finds, test: str = "auto") -> tuple[float, float]:
    return recovery.accuracy(samples(kind, rows), algorithm, finds, test)


@pytest.mark.parametrize("algorithm", BLANKET)
def test_gaussian_blankets_are_recovered(algorithm: str) -> None:
    few, many = (accuracy("gaussian", rows, algorithm, "blanket", "partial-correlation") for rows in (100, 10_000))
    assert min(many) > 0.97
    assert sum(many) >= sum(few)


@pytest.mark.parametrize("algorithm", NEIGHBOURS)
def test_gaussian_neighbours_are_recovered(algorithm: str) -> None:
    assert min(accuracy("gaussian", 10_000, algorithm, "parents-children", "partial-correlation")) > 0.97


@pytest.mark.parametrize("kind", ["gaussian", "mixed"])
def test_blankets_are_recovered_by_default(kind: str) -> None:
    few, many = (accuracy(kind, rows, "iamb", "blanket") for rows in (100, 4000))
    assert min(many) > 0.94
    assert sum(many) >= sum(few)


@pytest.mark.parametrize("algorithm", BLANKET)
def test_mixed_blankets_are_recovered(algorithm: str) -> None:
    """More rows than this are for `python -m benchmarks accuracy recovery`."""
    assert min(accuracy("mixed", 8000, algorithm, "blanket", "mixed")) > 0.95


@pytest.mark.parametrize("algorithm", NEIGHBOURS)
def test_mixed_neighbours_are_recovered(algorithm: str) -> None:
    assert min(accuracy("mixed", 8000, algorithm, "parents-children", "mixed")) > 0.95


def test_what_auto_picks_is_told() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    for data, name in (
        ({"a": x, "b": x + random.normal(size=300)}, "residuals"),
        ({"a": x, "b": np.where(x > 0, "yes", "no")}, "residuals"),
        ({"a": np.where(x > 0.5, "yes", "no"), "b": np.where(x > 0, "yes", "no")}, "g2"),
    ):
        found = serape.markov_blanket(data, "a")
        assert found.test == name
        assert found.blanket == ("b",)
        assert any("was chosen because" in note for note in found.notes) == (name != "g2")


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb"])
def test_every_test_finds_a_plain_blanket(test: str, algorithm: str) -> None:
    """A chain a → t → b with a bystander: of whatever kind the test wants its columns."""
    random = np.random.default_rng(3)
    a = random.normal(size=800)
    t = a + 0.7 * random.normal(size=800)
    data = {"c": random.normal(size=800), "a": a, "t": t, "b": t + 0.7 * random.normal(size=800)}
    if test in ("x2", "trend") or test.startswith(("g2", "x2-")):
        table = serape.discretise(data, bins=3).table
    elif test in ("mixed", "regression"):
        table = serape.discretise(data, bins=3, columns=["a"]).table
    else:
        table = serape.Table(data)
    assert set(serape.markov_blanket(table, "t", algorithm, test=test, alpha=0.01).blanket) == {"a", "b"}


@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "pcmb", "hpc"])
def test_gaps(algorithm: str) -> None:
    random = np.random.default_rng(4)
    graph = random_dag(random, 6, 0.4)
    data = draw_gaussian(graph, 4000, random)
    target = "n3"
    whole = serape.markov_blanket(serape.Table(data), target, algorithm, alpha=0.01)
    for name in data:
        data[name][random.random(4000) < 0.05] = np.nan
    found = serape.markov_blanket(serape.Table(data, missing="pairwise"), target, algorithm, alpha=0.01)
    assert set(found.blanket) == set(whole.blanket) == true_blanket(graph, target)
    assert any("missing" in note for note in found.notes)
    for row in found.evidence:
        if row["given"] is not None:
            used = [row["variable"], target, *(row["given"].split(", ") if row["given"] else ())]
            complete = np.logical_and.reduce([~np.isnan(data[name]) for name in used])
            assert row["rows"] == complete.sum() < 4000
    skeleton = serape.skeleton(serape.Table(data, missing="pairwise"), "hiton-pc", alpha=0.001)
    assert {frozenset(e) for e in skeleton.graph.edges} == {frozenset(e) for e in graph.edges}


def test_pc_stable_on_continuous_data() -> None:
    random = np.random.default_rng(9)
    exact = 0
    for _ in range(5):
        graph = random_dag(random, 10, 0.2)
        found = serape.network(draw_gaussian(graph, 20_000, random), "pc-stable", alpha=0.001)
        exact += found.compare(graph).shd == 0
    assert exact >= 4
