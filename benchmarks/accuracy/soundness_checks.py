"""What is checked for soundness: an algorithm with options, the question it is asked, and the true answer."""

from __future__ import annotations

import runpy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import serape
from benchmarks.common.equivalences import every_blanket, random_case
from benchmarks.common.internals import (
    ALGORITHMS,
    CAUSAL_ALGORITHMS,
    NETWORK_ALGORITHMS,
    SKELETON_ALGORITHMS,
    ancestral_edges,
    edges_at,
    edges_of_class,
    fits,
    graphs_to_check,
    network_by_perfect_score,
    oracle_of,
    true_members,
)
from benchmarks.common.linear_oracle import Arc, LinearOracle

if TYPE_CHECKING:
    import networkx as nx

    Graph = nx.DiGraph[str]
    Ordered = tuple[Graph, tuple[str, ...]]

RESTATED: dict[str, Any] = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "published.py"))


HARD = ("AB CB CE DA DE EA", "BA BF DF EA", "BE BG EC FC FG", "BE CB CG DE DG EG", "AB AT CB CT DA DB DC BT")
"""Graphs of five nodes, by their arcs, on which some algorithm has been wrong; random graphs rarely hold them."""


def hard_graphs(random: np.random.Generator, orders: int) -> Iterator[Ordered]:
    """Yield the hard graphs, each in random orders of the columns."""
    import networkx as nx

    for arcs in HARD:
        graph: Graph = nx.DiGraph([(arc[0], arc[1]) for arc in arcs.split()])
        for _ in range(orders):
            yield graph, tuple(str(node) for node in random.permutation(sorted(graph)))


class Case(NamedTuple):
    """A graph, the order of its observed nodes and a target; a question about the whole graph has the target ""."""

    graph: Graph
    order: tuple[str, ...]
    target: str = ""


class Answer(NamedTuple):
    """What an algorithm found, and by how many tests."""

    found: frozenset[str]
    tests: int


@dataclass(frozen=True)
class Check:
    """An algorithm with options, asked for the blanket or the parents and children of every node of a graph."""

    name: str
    algorithm: Any
    finds: str
    paper: str
    options: Mapping[str, Any] = field(default_factory=dict)

    unit = "targets"

    @property
    def by_name(self) -> bool:
        """Whether variables are taken by name: then the names of small graphs change in place of the order."""
        return False

    def __str__(self) -> str:
        name = self.name if callable(self.algorithm) else f"`{self.name}`"
        return ", ".join([name, *(f"`{key}={value}`" for key, value in self.options.items())])

    def graphs(self, random: np.random.Generator, cases: int, max_nodes: int) -> Iterator[Ordered]:
        """Yield the graphs to try, each with an order of the columns.

        Tests know columns by position. So of two graphs that differ in names alone, one is tried.
        """
        seen: set[frozenset[tuple[int, ...]]] = set()
        for graph, order in graphs_to_check(random, cases, max_nodes, renamed=self.by_name):
            positions = frozenset([(len(order),), *((order.index(a), order.index(b)) for a, b in graph.edges)])
            if self.by_name or positions not in seen:
                seen.add(positions)
                yield graph, order
        yield from hard_graphs(random, cases // 20)

    def cases(self, random: np.random.Generator, cases: int, max_nodes: int = 9) -> Iterator[Case]:
        """Yield what to ask about the graphs."""
        for graph, order in self.graphs(random, cases, max_nodes):
            yield from (Case(graph, order, target) for target in order)

    def answer(self, case: Case) -> Answer:
        """Ask with perfect tests."""
        return self.ask(serape.DSeparation(case.graph, case.order), case.target)

    def ask(self, oracle: serape.IndependenceTest, target: str, **settings: Any) -> Answer:
        """Ask with some test."""
        question = serape.parents_children if self.finds == "parents-children" else serape.markov_blanket
        found = question(oracle, target, algorithm=self.algorithm, **self.options, **settings)
        return Answer(frozenset(found.members), found.tests)

    def truth(self, case: Case) -> frozenset[str]:
        """Return the true answer."""
        return frozenset(
            true_members(case.graph, case.target, "parents-children" if self.finds == "parents-children" else "blanket")
        )

    def is_right(self, found: frozenset[str], case: Case) -> bool:
        """Return whether an answer is right."""
        return found == self.truth(case)

    def is_wrong(self, case: Case) -> bool:
        """Return whether the answer to a case is wrong."""
        return len(case.order) > 1 and not self.is_right(self.answer(case).found, case)

    def is_wrong_with(self, case: Case, weights: Mapping[Arc, float]) -> bool:
        """Return whether it is wrong where associations have the strengths of a linear-Gaussian model."""
        return len(case.order) > 1 and self.ask_with(case, weights) != self.truth(case)

    def ask_with(self, case: Case, weights: Mapping[Arc, float]) -> frozenset[str]:
        """Return what it finds there."""
        return self.ask(LinearOracle(case.graph, case.order, weights), case.target).found


@dataclass(frozen=True)
class HiddenBlanketCheck(Check):
    """A blanket where up to a third of the nodes are hidden: that of the ancestral graph."""

    def cases(self, random: np.random.Generator, cases: int, max_nodes: int = 9) -> Iterator[Case]:
        """Yield cases with hidden nodes."""
        for graph, columns in self.graphs(random, cases, max_nodes):
            order = columns[random.integers(1, len(columns) // 3 + 2) :]
            yield from (Case(graph, order, target) for target in order)

    def answer(self, case: Case) -> Answer:
        """Ask with perfect tests of the observed nodes."""
        return self.ask(oracle_of(case.graph, case.order), case.target, hidden=True)

    def truth(self, case: Case) -> frozenset[str]:
        """Return the observed nodes that depend on the target given all others."""
        oracle, at = oracle_of(case.graph, case.order), case.order.index(case.target)
        others = [k for k in range(len(case.order)) if k != at]
        return frozenset(case.order[x] for x in others if oracle.test(x, at, [z for z in others if z != x]).log_p < 0.0)


@dataclass(frozen=True)
class CausesCheck(Check):
    """The edges of a target, which must be those of the completed graph."""

    def answer(self, case: Case) -> Answer:
        """Ask for causes and effects."""
        oracle = serape.DSeparation(case.graph, case.order)
        found = serape.causes(oracle, case.target, self.algorithm, **self.options)
        return Answer(frozenset(edges_at(found.graph, case.target)), found.tests)

    def truth(self, case: Case) -> frozenset[str]:
        """Return the target's edges in the completed graph."""
        return frozenset(
            edge for edge in edges_of_class(case.graph, "–") if case.target in edge.replace("→", "–").split("–")
        )

    def is_right(self, found: frozenset[str], case: Case) -> bool:
        """Compare edges, of which an undirected one has no first node."""
        return {"–".join(sorted(edge.split("–"))) for edge in found} == self.truth(case)


@dataclass(frozen=True)
class HiddenCausesCheck(CausesCheck, HiddenBlanketCheck):
    """The marks of a target's edges where nodes are hidden: those that are decided must be true."""

    def answer(self, case: Case) -> Answer:
        """Ask for causes and effects where common causes may be hidden."""
        oracle = oracle_of(case.graph, case.order)
        found = serape.causes(oracle, case.target, self.algorithm, hidden=True, **self.options)
        return Answer(frozenset(f"{x} {mark} {case.target}" for x, mark in found.marks.items()), found.tests)

    def truth(self, case: Case) -> frozenset[str]:
        """Return the marks in the ancestral graph."""
        edges = ancestral_edges(case.graph, case.order, case.target)
        return frozenset(f"{x} {mark} {case.target}" for x, mark in edges.items())

    def is_right(self, found: frozenset[str], case: Case) -> bool:
        """Compare neighbours, and decided marks."""
        marks, true = ({line.split()[0]: line.split()[1] for line in lines} for lines in (found, self.truth(case)))
        return marks.keys() == true.keys() and all(fits(mark, true[x]) for x, mark in marks.items())


@dataclass(frozen=True)
class GraphCheck(Check):
    """A question about the whole graph."""

    unit = "graphs"

    def cases(self, random: np.random.Generator, cases: int, max_nodes: int = 9) -> Iterator[Case]:
        """Yield graphs."""
        return (Case(graph, order) for graph, order in self.graphs(random, cases, max_nodes))


@dataclass(frozen=True)
class SkeletonCheck(GraphCheck):
    """The skeleton."""

    def answer(self, case: Case) -> Answer:
        """Ask for the skeleton."""
        found = serape.skeleton(serape.DSeparation(case.graph, case.order), self.algorithm, **self.options)
        return Answer(frozenset("–".join(sorted(edge)) for edge in found.graph.edges), found.tests)

    def truth(self, case: Case) -> frozenset[str]:
        """Return the adjacent pairs."""
        return frozenset("–".join(sorted(arc)) for arc in case.graph.edges)


@dataclass(frozen=True)
class NetworkCheck(GraphCheck):
    """The class of the graph, by perfect tests, a perfect score or both."""

    @property
    def by_name(self) -> bool:
        """Whether a score decides, alone or after tests."""
        return self.name in NETWORK_ALGORITHMS and NETWORK_ALGORITHMS[self.name].search is not None

    def answer(self, case: Case) -> Answer:
        """Ask for the network."""
        if self.by_name:
            dag, tests = network_by_perfect_score(self.name, case.graph, case.order)
            return Answer(frozenset(edges_of_class(dag, "–")), tests)
        found = serape.network(serape.DSeparation(case.graph, case.order), self.algorithm, **self.options)
        edges = found.cpdag.edges
        return Answer(
            frozenset(f"{a}→{b}" if (b, a) not in edges else "–".join(sorted((a, b))) for a, b in edges), found.tests
        )

    def truth(self, case: Case) -> frozenset[str]:
        """Return the edges of the class."""
        return frozenset(edges_of_class(case.graph, "–"))


@dataclass(frozen=True)
class AllBlanketsCheck(Check):
    """All blankets of the targets of graphs with copies and functions, beside a search through all sets."""

    def cases(self, random: np.random.Generator, cases: int, max_nodes: int = 9) -> Iterator[Case]:
        """Yield graphs with variables that others determine; what is determined is an attribute of the graph."""
        del max_nodes
        for _ in range(cases):
            graph, functions, order = random_case(random)
            graph.graph["determined"] = functions
            yield from (Case(graph, tuple(order), target) for target in order)

    def answer(self, case: Case) -> Answer:
        """Ask for all blankets; each is written as its members."""
        found = serape.all_blankets(self.oracle(case), case.target, self.algorithm, **self.options)
        return Answer(frozenset(" ".join(sorted(blanket)) or "∅" for blanket in found.blankets), found.tests)

    def truth(self, case: Case) -> frozenset[str]:
        """Return all blankets."""
        return frozenset(" ".join(sorted(blanket)) or "∅" for blanket in every_blanket(self.oracle(case), case.target))

    def is_wrong(self, case: Case) -> bool:
        """Return whether the answer is wrong; a graph that lacks the arcs of a function is no case."""
        arcs = {frozenset(arc) for arc in case.graph.edges}
        return all({x, y} in arcs for x, by in determined(case.graph) for y in by) and super().is_wrong(case)

    @staticmethod
    def oracle(case: Case) -> serape.DSeparation:
        """Return the oracle, which knows what is determined."""
        return serape.DSeparation(case.graph, case.order, determined(case.graph))


def determined(graph: Graph) -> list[tuple[str, list[str]]]:
    """Return the nodes of a graph that are functions of other nodes of it, with these."""
    known = graph.graph.get("determined", ())
    return [(x, list(by)) for x, by in known if x in graph and set(by) <= set(graph)]


# --- the list --------------------------------------------------------------------------------------------------------

AS_PUBLISHED: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
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
    "STMB": ({"own_spouses": True}, {"laboratory": True}),
    "BAMB": ({"wide": True}, {"examined": True}, {"spouses_first": True}),
    "EEMB": ({"wide": True},),
    "MBOR": ({"without_target": True},),
}
SKELETONS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("mmpc", {"rule": "and"}),
    ("mmpc", {"rule": "or"}),
    ("mmpc", {"rule": "and", "symmetry": False}),
    ("mmpc", {"rule": "or", "symmetry": False}),
    ("pcd", {"rule": "and"}),
    ("pcd", {"rule": "or"}),
    ("hpc", {"rule": "and"}),
    ("hpc", {"rule": "or"}),
)
LDECC: tuple[Mapping[str, Any], ...] = (
    {"equal_separators": False},
    {"published": True},
    {"published": True, "equal_separators": True},
)
ALL_BLANKETS = ("iamb", "fbed", "hpc", "hiton-mb")


def checks() -> list[Check]:
    """Return the algorithms of serape, those with options of the papers, the restated ones, and larger questions."""
    house = [
        Check(name, name, finds, one.paper)
        for name, one in ALGORITHMS.items()
        for finds in ("blanket", "parents-children")
        if one.answers(finds)
    ]
    published = [Check(name, name, finds, ALGORITHMS[name].paper, options) for name, finds, options in AS_PUBLISHED]
    restated = [
        Check(name, function, "blanket", paper, options)
        for name, (function, paper) in RESTATED["PUBLISHED"].items()
        for options in ({}, *READINGS.get(name, ()))
    ]
    hidden = [
        HiddenBlanketCheck(name, name, "blanket, hidden causes", one.paper)
        for name, one in ALGORITHMS.items()
        if one.hidden is not None
    ]
    skeletons = [
        *(SkeletonCheck(name, name, "skeleton", one.paper) for name, one in SKELETON_ALGORITHMS.items()),
        *(SkeletonCheck(name, name, "skeleton", ALGORITHMS[name].paper, options) for name, options in SKELETONS),
    ]
    networks = [NetworkCheck(name, name, "network", one.paper) for name, one in NETWORK_ALGORITHMS.items()]
    causes = [
        (HiddenCausesCheck if one.hidden else CausesCheck)(
            name, name, f"causes{', hidden causes' * one.hidden}", one.paper, options
        )
        for name, one in CAUSAL_ALGORITHMS.items()
        for options in ({}, *LDECC * (name == "ldecc"))
    ]
    tie = [AllBlanketsCheck(name, name, "all blankets", "Statnikov and others 2013") for name in ALL_BLANKETS]
    return [*house, *published, *restated, *hidden, *skeletons, *networks, *causes, *tie]
