"""Every algorithm: exact with the oracle, steady on data."""

from __future__ import annotations

from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from plain import random_dag, random_table, true_blanket
from serape.data.example import clinic, clinic_graph
from serape.local.registry import ALGORITHMS
from serape.types import Finds

FINDS: tuple[Finds, ...] = ("blanket", "parents-children")
BLANKET = [name for name, algorithm in ALGORITHMS.items() if algorithm.answers("blanket")]
SOUND = [
    (finds, name) for finds in FINDS for name, algorithm in ALGORITHMS.items()
    if algorithm.sound and algorithm.answers(finds) and name != "hpc-mb"  # which is hpc, asked for the blanket
]  # fmt: skip


def ask(finds: Finds, data: Any, target: str | int, algorithm: str, **options: Any) -> serape.Result:
    """Ask an algorithm a question."""
    question = serape.markov_blanket if finds == "blanket" else serape.parents_children
    return question(data, target, algorithm=algorithm, **options)


def truth(finds: Finds, graph: nx.DiGraph[str], target: str) -> set[str]:
    if finds == "blanket":
        return true_blanket(graph, target)
    return set(graph.predecessors(target)) | set(graph.successors(target))


@cache
def dags(density: float, most_nodes: int) -> list[tuple[nx.DiGraph[str], serape.DSeparation]]:
    """Random DAGs, 400 targets in all, names and column orders shuffled; oracles remember what they were asked."""
    random = np.random.default_rng(int(1000 * density))
    drawn: list[tuple[nx.DiGraph[str], serape.DSeparation]] = []
    while sum(len(graph) for graph, _ in drawn) < 400:
        graph = random_dag(random, int(random.integers(4, most_nodes + 1)), density)
        drawn.append((graph, serape.DSeparation(graph, [str(n) for n in random.permutation(list(graph))])))
    return drawn


@pytest.mark.parametrize(("density", "most_nodes"), [(0.1, 12), (0.25, 11), (0.5, 8)])
@pytest.mark.parametrize(("finds", "algorithm"), SOUND)
def test_exact_with_the_oracle(finds: Finds, algorithm: str, density: float, most_nodes: int) -> None:
    """Every node of many random DAGs: three densities; `make oracle` has 20,000 DAGs."""
    for seed, (graph, oracle) in enumerate(dags(density, most_nodes)):
        for target in graph:
            found = ask(finds, oracle, target, algorithm, random_state=seed)
            assert set(found.members) == truth(finds, graph, target), (target, list(graph.edges))


@pytest.mark.parametrize(("finds", "algorithm"), SOUND)
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 7), density=st.floats(0, 1))
@settings(max_examples=20, deadline=None)
def test_exact_on_any_dag(finds: Finds, algorithm: str, seed: int, nodes: int, density: float) -> None:
    random = np.random.default_rng(seed)
    graph = random_dag(random, nodes + 1, density)
    target = str(random.choice(list(graph)))
    found = ask(finds, serape.DSeparation(graph), target, algorithm)
    assert set(found.members) == truth(finds, graph, target)


@pytest.mark.parametrize("algorithm", BLANKET)
class TestOnData:
    def test_recovers_a_known_blanket(self, algorithm: str) -> None:
        found = serape.markov_blanket(clinic(20_000), "HeartDisease", algorithm=algorithm, alpha=0.01)
        assert set(found.blanket) == true_blanket(clinic_graph(), "HeartDisease")

    def test_column_order_does_not_matter(self, algorithm: str) -> None:
        data = clinic(3000, seed=1)
        random = np.random.default_rng(0)
        for target in ("HeartDisease", "Weight", "Ward"):
            answers = set()
            for _ in range(5):
                shuffled = {name: data[name] for name in random.permutation(list(data))}
                answers.add(frozenset(serape.markov_blanket(shuffled, target, algorithm=algorithm).blanket))
            assert len(answers) == 1

    def test_renamed_levels_do_not_matter(self, algorithm: str) -> None:
        data = clinic(3000, seed=2)
        renamed = {
            name: np.char.add(np.array(["z", "a", "m"])[np.char.str_len(column) % 3], column)
            for name, column in data.items()
        }
        one, other = (serape.markov_blanket(d, "HeartDisease", algorithm=algorithm) for d in (data, renamed))
        assert one.blanket == other.blanket
        assert one.tests == other.tests
        assert str(one.explain("Weight")) == str(other.explain("Weight"))

    def test_threads_do_not_matter(self, algorithm: str) -> None:
        table = random_table(np.random.default_rng(3), 1500, [2] * 900 + [3] * 100)
        answers = {serape.markov_blanket(table, 5, algorithm=algorithm, n_jobs=n).blanket for n in (1, 2, -1)}
        assert len(answers) == 1

    def test_constant_columns_never_enter(self, algorithm: str) -> None:
        data = {**clinic(500), "Same": np.full(500, "x")}
        found = serape.markov_blanket(data, "HeartDisease", algorithm=algorithm)
        assert "Same" not in found.blanket
        assert any("constant" in note and "'Same'" in note for note in found.notes)

    def test_few_rows_end_quickly_and_say_what_was_skipped(self, algorithm: str) -> None:
        table = random_table(np.random.default_rng(4), 9, [2, 3] * 25)
        found = serape.markov_blanket(table, 0, algorithm=algorithm)
        assert found.skipped > 0
        assert found.tests + found.skipped >= 49 - len(table.duplicates)  # by chance some are alike

    def test_two_columns(self, algorithm: str) -> None:
        x = np.arange(100) % 2
        assert serape.markov_blanket({"x": x, "t": x}, "t", algorithm=algorithm).blanket == ("x",)


@pytest.mark.parametrize(
    "algorithm", ["gs", "iamb", "inter-iamb", "iamb-npc", "inter-iamb-npc", "fast-iamb", "fbed", "inter-iapc"]
)
def test_few_rows_are_answered_at_once(algorithm: str) -> None:
    """20 rows and 50 columns: an answer at once, and a count of what could not be asked."""
    table = random_table(np.random.default_rng(6), 20, [2, 3] * 25, 0.8)
    question = serape.parents_children if algorithm == "inter-iapc" else serape.markov_blanket
    found = question(table, 1, algorithm=algorithm)
    assert found.skipped > 0
    assert "skipped as unreliable" in str(found)
