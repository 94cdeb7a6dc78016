"""Which algorithms are wrong on some graph though every test is perfect."""

from __future__ import annotations

import argparse
import runpy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import serape
from benchmarks.common.internals import ALGORITHMS, Finds, graphs_to_check, reductions, true_members
from benchmarks.common.linear_oracle import Arc, LinearOracle, draw_weights
from benchmarks.common.output import markdown, report, save

if TYPE_CHECKING:
    import networkx as nx

    Case = tuple[nx.DiGraph[str], tuple[str, ...], str]

RESTATED: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "published.py"))
DRAWS = 100
"""How many times the weights of a counterexample are drawn."""
QUESTIONS: tuple[Finds, ...] = ("blanket", "parents-children")


class Check(NamedTuple):
    """An algorithm with options, asked one question."""

    name: str
    algorithm: Any
    finds: Finds
    paper: str
    options: Mapping[str, Any]

    def __str__(self) -> str:
        name = f"`{self.name}`" if isinstance(self.algorithm, str) else self.name
        return ", ".join([name, *(f"`{key}={value}`" for key, value in self.options.items())])

    def search(self, cases: int, max_nodes: int = 9) -> serape.Counterexample | None:
        """Search for a counterexample."""
        return serape.check_algorithm(
            self.algorithm, self.finds, cases=cases, max_nodes=max_nodes, seed=0, **self.options
        )

    def answer(self, case: Case, weights: Mapping[Arc, float]) -> set[str]:
        """Return what it finds where associations have the strengths of a linear-Gaussian model."""
        graph, order, target = case
        if len(order) < 2:
            return set()
        question = serape.markov_blanket if self.finds == "blanket" else serape.parents_children
        oracle = LinearOracle(graph, order, weights)
        return set(question(oracle, target, algorithm=self.algorithm, **self.options).members)

    def is_wrong(self, case: Case, weights: Mapping[Arc, float]) -> bool:
        """Return whether that is wrong."""
        return self.answer(case, weights) != true_members(case[0], case[2], self.finds)


AS_PUBLISHED: tuple[tuple[str, Finds, Mapping[str, Any]], ...] = (
    ("inter-iamb-npc", "blanket", {"published": True}),
    ("fbed", "blanket", {"k": 0}),
    ("mmpc", "parents-children", {"symmetry": False}),
    ("mmmb", "blanket", {"published": True}),
    ("mmmb", "blanket", {"published": True, "symmetry": True}),
    ("hiton-pc", "parents-children", {"symmetry": False}),
    ("hiton-mb", "blanket", {"symmetry": False}),
    ("pcmb", "blanket", {"symmetry": False}),
)
READINGS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "IPC-MB in one pass": ({"both_sides": True},),
    "STMB": ({"own_spouses": True},),
    "BAMB": ({"wide": True}, {"examined": True}),
    "EEMB": ({"wide": True},),
}


def checks() -> list[Check]:
    """Return all algorithms of serape, those with an option of the paper, and the restated ones."""
    house = [
        Check(name, name, finds, one.paper, {})
        for name, one in ALGORITHMS.items()
        for finds in QUESTIONS
        if one.answers(finds)
    ]
    published = [Check(name, name, finds, ALGORITHMS[name].paper, options) for name, finds, options in AS_PUBLISHED]
    restated = [
        Check(name, function, "blanket", paper, options)
        for name, (function, paper) in RESTATED["PUBLISHED"].items()
        for options in ({}, *READINGS[name])
    ]
    return [*house, *published, *restated]


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--cases", type=int, default=1000, help="how many random graphs")
    parser.add_argument("--only", nargs="+", help="only these algorithms")


def run(options: argparse.Namespace) -> None:
    """Search for counterexamples of every algorithm, also of published ones that serape restates.

    The graphs are all DAGs of up to 4 nodes in all orders of the columns, and random ones of 5 to 9 nodes. A
    counterexample of more than 4 nodes is searched for again among smaller graphs. What is found is tried with the
    strengths of linear-Gaussian models, because the order in which an algorithm takes its candidates depends on them.
    """
    cases = 20 if options.quick else options.cases
    only = options.only or (["fast-iamb", "pcd", "BAMB"] if options.quick else None)
    targets = sum(len(order) for _, order in graphs_to_check(np.random.default_rng(0), cases, 9))
    lines, strengths, texts, rows = [], [], [], []
    for check in checks():
        if only is not None and check.name not in only:
            continue
        report(f"{check} …")
        wrong = smallest(check, cases)
        verdict = f"no counterexample in {targets:,} targets" if wrong is None else "unsound"
        shown = "" if wrong is None else in_short(wrong.graph, wrong.target, wrong.found, wrong.truth)
        lines.append([str(check), check.finds, check.paper, verdict, shown or "–"])
        rows.append({"check": str(check), "finds": check.finds, "verdict": verdict, "counterexample": str(wrong)})
        if wrong is not None:
            strengths.append([str(check), with_strengths(check, wrong, cases)])
            texts.append(str(wrong))
    head = ("algorithm", "finds", "paper", "verdict", "smallest counterexample found")
    print(markdown(head, lines, range(len(head))))
    print("\n" + "\n".join(dict.fromkeys(texts)) + "\n")
    print(markdown(("algorithm", "with strengths"), strengths, range(2)))
    save("soundness", {"cases": cases, "targets": targets, "checks": rows, "strengths": strengths})


def smallest(check: Check, cases: int) -> serape.Counterexample | None:
    """Return a counterexample with as few nodes as such searches find, or None."""
    wrong = check.search(cases)
    if wrong is not None:
        for nodes in range(5, len(wrong.graph)):
            smaller = check.search(cases, nodes)
            if smaller is not None:
                return smaller
    return wrong


def with_strengths(check: Check, wrong: serape.Counterexample, cases: int) -> str:
    """Say whether the algorithm is wrong on this graph with strengths, or, if not, on which other one."""
    random = np.random.default_rng(0)
    case = wrong.graph, wrong.order, wrong.target
    count = sum(check.is_wrong(case, draw_weights(wrong.graph, random)) for _ in range(DRAWS))
    if count:
        return f"wrong on the same graph in {count} of {DRAWS} models"
    models = 0
    for graph, order in graphs_to_check(np.random.default_rng(1), cases, 7):
        if len(order) < 5:
            continue
        models += 1
        weights = draw_weights(graph, random)
        for target in order:
            if check.is_wrong((graph, order, target), weights):
                small = reduced(check, (graph, order, target), weights)
                truth = true_members(small[0], target, check.finds)
                return f"wrong on {in_short(small[0], target, check.answer(small, weights), truth)}"
    return f"not wrong on the same graph in {DRAWS} models, nor on {models:,} other graphs"


def reduced(check: Check, case: Case, weights: Mapping[Arc, float]) -> Case:
    """Remove nodes and arcs as long as the algorithm is wrong."""
    while True:
        graph, order, target = case
        smaller = ((*less, target) for less in reductions(graph, order, target))
        found = next((less for less in smaller if check.is_wrong(less, weights)), None)
        if found is None:
            return case
        case = found


def in_short(graph: nx.DiGraph[str], target: str, found: Iterable[str], truth: Iterable[str]) -> str:
    """Return a counterexample in a cell of a table."""
    arcs = ", ".join(f"{a}→{b}" for a, b in sorted(graph.edges))
    sets = (f"{{{', '.join(sorted(names))}}}" for names in (found, truth))
    return "{}, target {}: found {}, true {}".format(arcs, target, *sets)
