"""The search for a graph on which an algorithm is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.errors import OptionError, is_integer
from serape.independence import DSeparation
from serape.local.registry import ALGORITHMS
from serape.names import match
from serape.questions.query import Query
from serape.results.comparison import true_members
from serape.settings import Settings, question, refuse
from serape.types import Finds, LocalAlgorithm

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class Counterexample:
    """A graph, an order of its variables and a target for which an algorithm is wrong; print it to see why.

    Examples
    --------
    >>> def everything(search, target):
    ...     return search.candidates(target)
    >>> wrong = serape.check_algorithm(everything, cases=10)
    >>> wrong.target, wrong.found, wrong.truth
    ('A', ('B',), ())
    """

    algorithm: str
    finds: Finds
    graph: nx.DiGraph[str]
    order: tuple[str, ...]
    target: str
    found: tuple[str, ...]
    truth: tuple[str, ...]

    def __str__(self) -> str:
        what = "blanket of {} is" if self.finds == "blanket" else "parents and children of {} are"
        arcs = ", ".join(f"{a}→{b}" for a, b in sorted(self.graph.edges)) or "no arcs"
        lines = [
            f"{self.algorithm} is wrong on {arcs} with the columns in the order {', '.join(self.order)}:",
            f"  the {what.format(self.target)} {{{', '.join(self.truth)}}}, it returned {{{', '.join(self.found)}}}",
        ]
        oracle = DSeparation(self.graph)
        index = {name: k for k, name in enumerate(oracle.variables)}
        for x in sorted(set(self.found) - set(self.truth)):
            rest = [index[v] for v in self.graph if v not in (x, self.target)]
            sets = (s for size in range(len(rest) + 1) for s in combinations(rest, size))
            separating = next(s for s in sets if oracle.test(index[x], index[self.target], s).p == 1.0)
            given = ", ".join(oracle.variables[z] for z in separating)
            lines.append(f"  {x} does not belong to it: {x} ⊥ {self.target}{' | ' + given if given else ''}")
        missing = sorted(set(self.truth) - set(self.found))
        lines += [f"  {x} is missing: {_role(self.graph, x, self.target)}" for x in missing]
        return "\n".join(lines)


@question(
    without=dict.fromkeys(
        (
            "test", "alpha", "fdr", "fdr_method", "min_effect", "dof", "reliability", "knowledge", "known_members",
            "forbidden_members", "kinds", "missing", "ignore", "header", "na_values", "delimiter", "decimal",
            "encoding", "quote", "comment", "index", "table", "sample_weight", "weight_kind", "groups",
            "n_jobs", "progress", "max_seconds", "max_tests", "engine",
        ),
        "the tests are perfect, on graphs in place of data",
    )
)  # fmt: skip
def check_algorithm(
    algorithm: str | LocalAlgorithm,
    finds: Finds = "blanket",
    *,
    cases: int = 2000,
    max_nodes: int = 9,
    seed: int = 0,
    **settings: Unpack[Keywords],
) -> Counterexample | None:
    """Search for a DAG on which an algorithm is wrong even with perfect tests.

    The search covers all DAGs of up to four nodes with every target, then random DAGs of several densities, in shuffled
    orders. A counterexample is reduced: nodes and arcs are removed as long as the algorithm is still wrong.

    Parameters
    ----------
    algorithm
        A name, or any callable `algorithm(search, target, **options)`.
    finds
        What a callable finds, or which question a name that answers both is asked.
    cases
        The number of random DAGs.
    max_nodes
        The largest number of their nodes; the smallest is 5.
    seed
        The seed of the random DAGs.

    Returns
    -------
    Counterexample or None
        None if the algorithm is right on all of them.

    Examples
    --------
    >>> def everything(search, target):
    ...     return search.candidates(target)
    >>> print(serape.check_algorithm(everything, cases=10))
    everything is wrong on no arcs with the columns in the order A, B:
      the blanket of A is {}, it returned {B}
      B does not belong to it: B ⊥ A
    """
    refuse(check_algorithm, settings)
    if not is_integer(cases) or not is_integer(max_nodes) or cases < 0 or max_nodes < 5:
        raise OptionError("cases must be a whole number, 0 or more, and max_nodes one of 5 or more")
    if finds not in ("blanket", "parents-children"):
        raise OptionError(f"finds must be 'blanket' or 'parents-children', not {finds!r}")
    name = match(algorithm, ALGORITHMS)
    if name is not None:
        found = ALGORITHMS[name].finds
        finds = found if found in ("blanket", "parents-children") else finds
    trial = _Trial(Settings.of(algorithm=algorithm, **settings), finds)
    for graph, order in graphs_to_check(seed, cases, max_nodes):
        for target in order:
            if trial.is_wrong(graph, order, target):
                return trial.reduced(graph, order, target)
    return None


class _Trial:
    def __init__(self, settings: Settings, finds: Finds) -> None:
        self.settings, self.finds = settings, finds

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        query, at = Query.about(DSeparation(graph, order), target, self.finds, self.settings)
        return query.run(at).members

    def is_wrong(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> bool:
        return len(order) > 1 and set(self.answer(graph, order, target)) != true_members(graph, target, self.finds)

    def reduced(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> Counterexample:
        smaller = True
        while smaller:
            smaller = False
            for less, rest in reductions(graph, order, target):
                if self.is_wrong(less, rest, target):
                    graph, order, smaller = less, rest, True
                    break
        algorithm = self.settings.search.algorithm
        name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", "the algorithm")
        truth = tuple(sorted(true_members(graph, target, self.finds)))
        found = tuple(sorted(self.answer(graph, order, target)))
        return Counterexample(name, self.finds, graph, order, target, found, truth)


def reductions(
    graph: nx.DiGraph[str], order: tuple[str, ...], target: str
) -> Iterator[tuple[nx.DiGraph[str], tuple[str, ...]]]:
    """Yield the graph without one node or one arc, for every node but the target and for every arc."""
    for node in order:
        if node != target:
            less = graph.copy()
            less.remove_node(node)
            yield less, tuple(v for v in order if v != node)
    for arc in list(graph.edges):
        less = graph.copy()
        less.remove_edge(*arc)
        yield less, order


def graphs_to_check(seed: int, cases: int, max_nodes: int) -> Iterator[tuple[nx.DiGraph[str], tuple[str, ...]]]:
    """Yield all DAGs of two to four nodes in all orders, then random ones of five or more nodes in a random order."""
    import networkx as nx

    random = np.random.default_rng(seed)
    for nodes in range(2, 5):
        names = tuple("ABCD"[:nodes])
        pairs = list(combinations(range(nodes), 2))
        for arcs in product((False, True), repeat=len(pairs)):
            for order in permutations(names):
                graph: nx.DiGraph[str] = nx.DiGraph()
                graph.add_nodes_from(names)
                graph.add_edges_from(
                    (names[a], names[b]) for (a, b), present in zip(pairs, arcs, strict=True) if present
                )
                yield graph, order
    for _ in range(cases):
        nodes = int(random.integers(5, max_nodes + 1))
        names = tuple(chr(ord("A") + k) for k in range(nodes))
        density = float(random.choice([0.15, 0.3, 0.5]))
        graph = nx.DiGraph()
        graph.add_nodes_from(names)
        rank = random.permutation(nodes)
        for a, b in combinations(range(nodes), 2):
            if random.random() < density:
                graph.add_edge(names[rank[a]], names[rank[b]])
        yield graph, tuple(names[k] for k in random.permutation(nodes))


def _role(graph: nx.DiGraph[str], x: str, target: str) -> str:
    if graph.has_edge(x, target):
        return f"it is a parent ({x}→{target})"
    if graph.has_edge(target, x):
        return f"it is a child ({target}→{x})"
    child = next(c for c in graph.successors(target) if graph.has_edge(x, c))
    return f"it is a spouse ({x}→{child}←{target})"
