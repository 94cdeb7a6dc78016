"""The page of soundness: every algorithm is on it, and what it says about each is so."""

from __future__ import annotations

import re
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest

import pages
import serape
from benchmarks.accuracy import soundness
from benchmarks.accuracy.soundness import Check
from benchmarks.common.linear_oracle import LinearOracle, draw_weights
from plain import random_dag
from serape.local.registry import ALGORITHMS
from serape.questions.counterexamples import graphs_to_check, reductions
from serape.results.comparison import true_members

PAGE = (pages.DOCS / "soundness.md").read_text(encoding="utf-8")
ROWS = {
    (cells[0], cells[1]): cells[2:]
    for line in PAGE.partition("| algorithm | finds |")[2].partition("\n\n")[0].splitlines()[2:]
    for cells in [[cell.strip() for cell in line.strip("|").split(" | ")]]
}
STRENGTHS = dict(re.findall(r"^\| (.+?) \| ((?:not )?wrong on .+?) \|$", PAGE, re.MULTILINE))
CHECKS: dict[tuple[str, str], Check] = {(str(check), check.finds): check for check in soundness.checks()}
UNSOUND = [key for key, cells in ROWS.items() if cells[1] == "unsound"]


def members(text: str) -> set[str]:
    return set(text.split(", ")) - {""}


def counterexample(cell: str) -> tuple[nx.DiGraph[str], str, set[str], set[str]]:
    """Read a cell: the graph, the target, what was found, and the truth."""
    parts = re.fullmatch(r"(.*), target (\w): found \{(.*)\}, true \{(.*)\}", cell)
    assert parts is not None, cell
    graph: nx.DiGraph[str] = nx.DiGraph([tuple(arc.split("→")) for arc in parts[1].split(", ")])
    return graph, parts[2], members(parts[3]), members(parts[4])


def answer(check: Check, oracle: Any, target: str) -> set[str]:
    question = serape.markov_blanket if check.finds == "blanket" else serape.parents_children
    return set(question(oracle, target, algorithm=check.algorithm, **check.options).members)


def test_every_algorithm_is_on_the_page() -> None:
    assert list(ROWS) == list(CHECKS)
    for name, algorithm in ALGORITHMS.items():
        for finds in soundness.QUESTIONS:
            assert ((f"`{name}`", finds) in ROWS) == algorithm.answers(finds)
    for key, check in CHECKS.items():
        assert ROWS[key][0] == check.paper


def test_the_page_agrees_with_the_registry() -> None:
    """What is said to be sound has no counterexample; what has one is not said to be sound."""
    for name, finds in UNSOUND:
        assert name.strip("`") not in ALGORITHMS or not ALGORITHMS[name.strip("`")].sound, (name, finds)


@pytest.mark.parametrize("key", UNSOUND, ids=str)
def test_a_counterexample_is_one(key: tuple[str, str]) -> None:
    """In some order of the columns, the algorithm returns what the page says; and the truth is what it says."""
    check = CHECKS[key]
    graph, target, found, truth = counterexample(ROWS[key][2])
    assert found != truth
    assert truth == true_members(graph, target, check.finds)
    orders = permutations(sorted(graph))
    assert any(answer(check, serape.DSeparation(graph, order), target) == found for order in orders)


@pytest.mark.parametrize("key", UNSOUND, ids=str)
def test_strengths_are_as_said(key: tuple[str, str]) -> None:
    """On the same graph some models make it wrong, or none does and another graph is named."""
    check, said = CHECKS[key], STRENGTHS[key[0]]
    graph, target, _, _ = counterexample(ROWS[key][2])
    random = np.random.default_rng(7)
    orders = [tuple(map(str, random.permutation(sorted(graph)))) for _ in range(20)]
    same = any(check.is_wrong((graph, order, target), draw_weights(graph, random)) for order in orders)
    assert same == ("the same graph in" in said and not said.startswith("not"))
    if not same and said.startswith("wrong"):
        other, target, _, truth = counterexample(said.removeprefix("wrong on "))
        assert truth == true_members(other, target, check.finds)
        tries = ((other, tuple(map(str, random.permutation(sorted(other)))), target) for _ in range(400))
        assert any(check.is_wrong(case, draw_weights(other, random)) for case in tries)


@pytest.mark.parametrize("key", [key for key in ROWS if key not in UNSOUND], ids=str)
def test_none_where_the_page_says_none(key: tuple[str, str]) -> None:
    """A short search; that of the page, and test_every_algorithm.py, are longer."""
    assert re.fullmatch(r"no counterexample in [\d,]+ targets", ROWS[key][1])
    check = CHECKS[key]
    for graph, order in graphs_to_check(np.random.default_rng(5), 12, 7):
        for target in order if len(order) > 4 else ():
            assert answer(check, serape.DSeparation(graph, order), target) == true_members(graph, target, check.finds)


def test_the_number_of_targets() -> None:
    """All DAGs of up to four nodes in all orders: 8 + 144 + 6,144 targets; then random ones."""
    assert sum(len(order) for _, order in graphs_to_check(np.random.default_rng(0), 0, 9)) == 6296
    targets = sum(len(order) for _, order in graphs_to_check(np.random.default_rng(0), 1000, 9))
    assert all(cells[1] in ("unsound", f"no counterexample in {targets:,} targets") for cells in ROWS.values())


def test_a_smaller_counterexample_is_searched_for() -> None:
    calls: list[int] = []

    class Large(Check):
        def search(self, cases: int, max_nodes: int = 9) -> serape.Counterexample | None:
            del cases
            calls.append(max_nodes)
            if max_nodes == 5:
                return None
            graph: nx.DiGraph[str] = nx.path_graph("ABCDEFGH"[:max_nodes], nx.DiGraph)
            return serape.Counterexample("large", "blanket", graph, tuple(graph), "A", (), ("B",))

    found = soundness.smallest(Large("large", "gs", "blanket", "", {}), 10)
    assert found is not None
    assert len(found.graph) == 6
    assert calls == [9, 5, 6]


def test_reduced_to_the_smallest_that_is_wrong() -> None:
    def everything(search: serape.Search, target: int) -> list[int]:
        return [int(x) for x in search.candidates(target)]

    check = Check("everything", everything, "blanket", "", {})
    graph: nx.DiGraph[str] = nx.DiGraph([("A", "B"), ("B", "C"), ("C", "D")])
    weights = draw_weights(graph, np.random.default_rng(0))
    assert check.is_wrong((graph, tuple("ABCD"), "A"), weights)
    small, order, target = soundness.reduced(check, (graph, tuple("ABCD"), "A"), weights)
    assert (len(order), small.number_of_edges(), target) == (2, 0, "A")
    assert len(list(reductions(graph, tuple("ABCD"), "A"))) == 3 + 3


class TestLinearOracle:
    def test_decides_like_the_oracle(self) -> None:
        random = np.random.default_rng(3)
        for _ in range(20):
            graph = random_dag(random, 6, 0.4)
            names = tuple(graph)
            one, other = LinearOracle(graph, names, draw_weights(graph, random)), serape.DSeparation(graph, names)
            for _ in range(40):
                x, y, *given = (int(k) for k in random.permutation(6)[: random.integers(2, 7)])
                assert (one.test(x, y, given).log_p == 0.0) == (other.test(x, y, given).log_p == 0.0)

    def test_strengths_are_partial_correlations_of_the_model(self) -> None:
        graph: nx.DiGraph[str] = nx.DiGraph([("A", "B"), ("B", "C")])
        oracle = LinearOracle(graph, ("C", "A", "B"), {("A", "B"): 2.0, ("B", "C"): -1.0})
        # A = e, B = 2 A + e, C = −B + e: variances 1, 5, 6; covariances AB 2, BC −5, AC −2
        assert oracle.covariance == pytest.approx(np.array([[6, -2, -5], [-2, 1, 2], [-5, 2, 5]]))
        assert oracle.test(0, 1).statistic == pytest.approx(-np.log(1 - 4 / 6))
        assert oracle.test(0, 2, (1,)).statistic == pytest.approx(-np.log(1 - 1 / 2))  # given A, B is noise of 1
        assert oracle.test(2, 0).log_p < oracle.test(1, 0).log_p < oracle.test(0, 1, ()).log_p + 1e-12
