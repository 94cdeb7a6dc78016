"""The page of soundness: every algorithm is on it, and what it says about each is so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

import networkx as nx
import numpy as np
import pytest

import pages
import serape
from benchmarks.accuracy import soundness
from benchmarks.accuracy.soundness_checks import Answer, Case, Check, checks, hard_graphs
from benchmarks.common.linear_oracle import LinearOracle, draw_weights
from plain import random_dag
from serape.local.registry import ALGORITHMS
from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS

PAGE = (pages.DOCS / "soundness.md").read_text(encoding="utf-8")
ROWS = {
    (cells[0], cells[1]): cells[2:]
    for line in PAGE.partition("| algorithm ")[2].partition("\n\n")[0].splitlines()[2:]
    for cells in [[cell.strip() for cell in line.strip("|").split(" | ")]]
}
STRENGTHS = {
    name.strip(): said.strip()
    for name, said in re.findall(r"^\| (.+?) \| ((?:not )?wrong on .+?) *\|$", PAGE, re.MULTILINE)
}
CHECKS: dict[tuple[str, str], Check] = {(str(check), check.finds): check for check in checks()}
UNSOUND = [key for key, cells in ROWS.items() if cells[1].startswith("unsound")]
LOCAL = [key for key in UNSOUND if type(CHECKS.get(key)) is Check]


def members(text: str) -> set[str]:
    return set(text.split(", ")) - {""}


def counterexample(cell: str) -> tuple[Case, set[str], set[str]]:
    """Read a cell: the case, with the nodes in alphabetical order, what was found, and the truth."""
    parts = re.fullmatch(
        r"(.*?)((?:, \w+ a function of [\w ]+)*)(?:, target (\w+))?: found \{(.*)\}, true \{(.*)\}", cell
    )
    assert parts is not None, cell
    graph: nx.DiGraph[str] = nx.DiGraph([tuple(arc.split("→")) for arc in parts[1].split(", ")])
    functions = re.findall(r", (\w+) a function of (\w+(?: and \w+)*)", parts[2])
    graph.graph["determined"] = [(name, others.split(" and ")) for name, others in functions]
    return Case(graph, tuple(sorted(graph)), parts[3] or ""), members(parts[4]), members(parts[5])


def in_all_orders(case: Case) -> Iterator[Case]:
    return (case._replace(order=order) for order in permutations(case.order))


def test_every_algorithm_is_on_the_page() -> None:
    assert list(ROWS) == list(CHECKS)
    for name, algorithm in ALGORITHMS.items():
        for finds in ("blanket", "parents-children"):
            assert ((f"`{name}`", finds) in ROWS) == algorithm.answers(finds)
    for name in NETWORK_ALGORITHMS:
        assert (f"`{name}`", "network") in ROWS
    for name in CAUSAL_ALGORITHMS:
        assert any(key[0] == f"`{name}`" and key[1].startswith("causes") for key in ROWS)
    for key, check in CHECKS.items():
        assert ROWS[key][0] == check.paper


def test_the_page_agrees_with_the_registry() -> None:
    """What is said to be sound has no counterexample; what has one is not said to be sound."""
    for name, finds in UNSOUND:
        plain = name.strip("`")
        asked = (ALGORITHMS.get(plain), NETWORK_ALGORITHMS.get(plain), CAUSAL_ALGORITHMS.get(plain))
        assert finds == "all blankets" or not any(one.sound for one in asked if one is not None), (name, finds)


@pytest.mark.parametrize("key", UNSOUND, ids=str)
def test_a_counterexample_is_one(key: tuple[str, str]) -> None:
    """In some order of the columns, the algorithm returns what the page says; and the truth is what it says."""
    check = CHECKS[key]
    case, found, truth = counterexample(ROWS[key][3])
    assert found != truth
    assert truth == check.truth(case)
    assert any(check.answer(other).found == found and check.is_wrong(other) for other in in_all_orders(case))


@pytest.mark.parametrize("key", LOCAL, ids=str)
def test_strengths_are_as_said(key: tuple[str, str]) -> None:
    """On the same graph some models make it wrong, or none does and another graph is named."""
    check, said = CHECKS[key], STRENGTHS[key[0]]
    case, _, _ = counterexample(ROWS[key][3])
    random = np.random.default_rng(7)

    def drawn(case: Case, count: int) -> Iterator[Case]:
        return (case._replace(order=tuple(map(str, random.permutation(case.order)))) for _ in range(count))

    same = any(check.is_wrong_with(one, draw_weights(one.graph, random)) for one in drawn(case, 20))
    assert same == ("the same graph in" in said and not said.startswith("not"))
    if not same and said.startswith("wrong"):
        other, _, truth = counterexample(said.removeprefix("wrong on "))
        assert truth == check.truth(other)
        assert any(check.is_wrong_with(one, draw_weights(one.graph, random)) for one in drawn(other, 400))


@pytest.mark.parametrize("key", [key for key in ROWS if key not in UNSOUND], ids=str)
def test_none_where_the_page_says_none(key: tuple[str, str]) -> None:
    """A short search; that of the page, and test_every_algorithm.py, are longer."""
    assert re.fullmatch(r"no counterexample in [\d,]+ (targets|graphs)", ROWS[key][1])
    check = CHECKS[key]
    cases = [case for case in check.cases(np.random.default_rng(5), 10, 7) if len(case.graph) > 4]
    found = soundness.hunt(check, cases)
    assert found.wrong == 0
    assert found.asked > 5


def test_the_number_of_targets() -> None:
    """All 3 + 25 + 543 labelled DAGs of two to four nodes, then random ones, and hard ones."""
    small = list(CHECKS["`gs`", "blanket"].graphs(np.random.default_rng(0), 0, 9))
    assert [sum(len(order) == nodes for _, order in small) for nodes in (2, 3, 4)] == [3, 25, 543]
    assert len(list(CHECKS["`ges`", "network"].graphs(np.random.default_rng(0), 0, 9))) == 571
    assert [len(graph) for graph, _ in hard_graphs(np.random.default_rng(0), 1)] == [5] * 5
    check = CHECKS["`gs`", "blanket"]
    targets = sum(1 for _ in check.cases(np.random.default_rng(0), int(re.findall(r"(\d+) random DAGs", PAGE)[0])))
    assert ROWS["`gs`", "blanket"][1] == f"no counterexample in {targets:,} targets"


@pytest.mark.parametrize("name", ["pcd", "tabu"])
def test_the_search_agrees_with_check_algorithm(name: str) -> None:
    check = next(check for check in checks() if check.name == name)
    wrong = serape.check_algorithm(name, check.finds if check.finds != "network" else "blanket", cases=4)  # type: ignore[arg-type]
    cases = (case for case in check.cases(np.random.default_rng(0), 4) if wrong is not None or len(case.graph) != 4)
    assert (soundness.hunt(check, cases).wrong > 0) == (wrong is not None)


def test_a_smaller_counterexample_is_searched_for() -> None:
    calls: list[int] = []

    class Large(Check):
        def cases(self, random: np.random.Generator, cases: int, max_nodes: int = 9) -> Iterator[Case]:
            del random, cases
            calls.append(max_nodes)
            graph: nx.DiGraph[str] = nx.path_graph("ABCDEFGH"[:max_nodes], nx.DiGraph)
            yield Case(graph, tuple(graph), "A")

        def is_wrong(self, case: Case) -> bool:
            return len(case.graph) in (6, 8) and case.graph.number_of_edges() == len(case.graph) - 1

    check = Large("large", "gs", "blanket", "")
    found = soundness.smallest(check, next(check.cases(np.random.default_rng(0), 1, 8)), 10)
    assert len(found.graph) == 6
    assert calls == [8, 5, 6]


def test_what_is_counted() -> None:
    class Counted(Check):
        def answer(self, case: Case) -> Answer:
            return Answer(frozenset("B" if case.target == "A" else ""), 3)

    graph: nx.DiGraph[str] = nx.DiGraph([("A", "B"), ("C", "B")])
    cases = [Case(graph, tuple("CBA"), target) for target in "ABC"]
    found = soundness.hunt(Counted("counted", "gs", "parents-children", ""), cases)
    assert found == soundness.Tried(3, 2, 9, cases[1])


def test_reduced_to_the_smallest_that_is_wrong() -> None:
    def everything(search: serape.Search, target: int) -> list[int]:
        return [int(x) for x in search.candidates(target)]

    check = Check("everything", everything, "blanket", "")
    graph: nx.DiGraph[str] = nx.DiGraph([("A", "B"), ("B", "C"), ("C", "D")])
    weights = draw_weights(graph, np.random.default_rng(0))
    case = Case(graph, tuple("ABCD"), "A")
    assert check.is_wrong_with(case, weights)
    for small in (
        soundness.reduced(case, check.is_wrong),
        soundness.reduced(case, lambda less: check.is_wrong_with(less, weights)),
    ):
        assert (len(small.order), small.graph.number_of_edges(), small.target) == (2, 0, "A")


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
