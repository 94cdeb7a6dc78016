"""The search for a graph on which an algorithm is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.errors import OptionError, is_integer
from serape.independence import DSeparation
from serape.local.registry import ALGORITHMS
from serape.names import match
from serape.questions.causes import causes
from serape.questions.hidden import check_hidden
from serape.questions.network import resolve_network
from serape.questions.query import Query
from serape.results.comparison import true_members
from serape.settings import RunSettings, Settings, question, refuse
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.perfect_score import PerfectScore
from serape.structure.registry import CAUSAL_ALGORITHMS, NETWORK_ALGORITHMS
from serape.types import Finds, LocalAlgorithm

if TYPE_CHECKING:
    import networkx as nx

_WORDS = {
    "blanket": "blanket of {} is",
    "parents-children": "parents and children of {} are",
    "causes": "edges of {} are",
}


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
    finds: Finds | Literal["causes"]
    graph: nx.DiGraph[str]
    order: tuple[str, ...]
    target: str
    found: tuple[str, ...]
    """The variables that the algorithm found; for causes and effects, edges of the target such as "A→B" and "B–C"."""
    truth: tuple[str, ...]

    def __str__(self) -> str:
        what = _WORDS[self.finds]
        arcs = ", ".join(f"{a}→{b}" for a, b in sorted(self.graph.edges)) or "no arcs"
        if unseen := [node for node in self.graph if node not in self.order]:
            arcs += f", {', '.join(unseen)} hidden,"
        lines = [
            f"{self.algorithm} is wrong on {arcs} with the columns in the order {', '.join(self.order)}:",
            f"  the {what.format(self.target)} {{{', '.join(self.truth)}}}, it returned {{{', '.join(self.found)}}}",
        ]
        if self.finds == "causes":
            return "\n".join(lines)
        oracle = oracle_of(self.graph, self.order)
        index = {name: k for k, name in enumerate(oracle.variables)}
        for x in sorted(set(self.found) - set(self.truth)):
            rest = [index[v] for v in self.order if v not in (x, self.target)]
            sets = (s for size in range(len(rest) + 1) for s in combinations(rest, size))
            separating = next(s for s in sets if oracle.test(index[x], index[self.target], s).p == 1.0)
            given = ", ".join(oracle.variables[z] for z in separating)
            lines.append(f"  {x} does not belong to it: {x} ⊥ {self.target}{' | ' + given if given else ''}")
        missing = sorted(set(self.truth) - set(self.found))
        lines += [f"  {x} is missing: {_role(self.graph, x, self.target)}" for x in missing if not unseen]
        return "\n".join(lines)


class NetworkCounterexample(Counterexample):
    """A graph for which a search by score returns another class; `found` and `truth` are edges, and there is no target.

    Examples
    --------
    >>> wrong = serape.check_algorithm("tabu", cases=20)
    >>> type(wrong).__name__
    'NetworkCounterexample'
    """

    def __str__(self) -> str:
        arcs = ", ".join(f"{a}→{b}" for a, b in sorted(self.graph.edges)) or "no arcs"
        found, truth = (", ".join(edges) or "without edges" for edges in (self.found, self.truth))
        return (
            f"{self.algorithm} is wrong on {arcs} with the columns in the order {', '.join(self.order)}:\n"
            f"  the network is {truth}, it returned {found}"
        )


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
    finds: Finds | Literal["causes"] = "blanket",
    *,
    cases: int = 2000,
    max_nodes: int = 9,
    seed: int = 0,
    hidden: bool = False,
    **settings: Unpack[Keywords],
) -> Counterexample | None:
    """Search for a DAG on which an algorithm is wrong even with perfect tests, or with a perfect score.

    The search covers all DAGs of up to four nodes with every target, then random DAGs of several densities, in shuffled
    orders. A counterexample is reduced: nodes and arcs are removed as long as the algorithm is still wrong.

    Parameters
    ----------
    algorithm
        A name, or any callable `algorithm(search, target, **options)`. Of the algorithms for networks, those that use
        a score alone ("ges", "xges", "boss", "tabu", "sca") are checked with BIC on endless rows of linear Gaussian
        networks.
    finds
        What a callable finds, or which question a name that answers both is asked. The names of algorithms for `causes`
        are asked for the edges of the target, which must be those of the completed graph.
    cases
        The number of random DAGs.
    max_nodes
        The largest number of their nodes; the smallest is 5.
    seed
        The seed of the random DAGs.
    hidden
        Whether some nodes of the random DAGs are hidden. A blanket must then be that of the ancestral graph. Causes and
        effects must have the right neighbours, and every mark that is decided must be true.

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
    if finds not in ("blanket", "parents-children", "causes"):
        raise OptionError(f"finds must be 'blanket', 'parents-children' or 'causes', not {finds!r}")
    name = match(algorithm, ALGORITHMS)
    if name is not None and finds != "causes":
        found = ALGORITHMS[name].finds
        finds = found if found in ("blanket", "parents-children") else finds
    hidden = check_hidden(hidden)
    network = match(algorithm, NETWORK_ALGORITHMS)
    by_score = network is not None and NETWORK_ALGORITHMS[network].uses_score_alone
    if finds == "causes" or match(algorithm, CAUSAL_ALGORITHMS):
        trial: _Trial = (_HiddenCausesTrial if hidden else _CausesTrial)(algorithm, settings)
    elif hidden and (finds != "blanket" or by_score):
        raise OptionError("with hidden nodes, blankets, and causes and effects, can be checked; leave hidden out")
    elif by_score:
        trial = _NetworkTrial(Settings.of(algorithm=algorithm, **settings), finds)
    else:
        trial = (_HiddenTrial if hidden else _Trial)(Settings.of(algorithm=algorithm, **settings), finds)
    random = np.random.default_rng(seed)
    for graph, columns in graphs_to_check(random, cases, max_nodes, renamed=by_score):
        order = columns[random.integers(1, len(columns) // 3 + 2) :] if hidden else columns
        for target in [""] if by_score else order:
            if trial.is_wrong(graph, order, target):
                return trial.reduced(graph, order, target)
    return None


class _Trial:
    finds: Finds | Literal["causes"]
    example: ClassVar[type[Counterexample]] = Counterexample

    def __init__(self, settings: Settings, finds: Finds) -> None:
        self.settings, self.finds, self.asked = settings, finds, finds

    @property
    def algorithm(self) -> object:
        return self.settings.search.algorithm

    def truth(self, graph: nx.DiGraph[str], target: str) -> set[str]:
        return true_members(graph, target, self.asked)

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        query, at = Query.about(DSeparation(graph, order), target, self.asked, self.settings)
        return query.run(at).members

    def is_wrong(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> bool:
        return len(order) > 1 and set(self.answer(graph, order, target)) != self.truth(graph, target)

    def reduced(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> Counterexample:
        smaller = True
        while smaller:
            smaller = False
            for less, rest in reductions(graph, order, target):
                if self.is_wrong(less, rest, target):
                    graph, order, smaller = less, rest, True
                    break
        algorithm = self.algorithm
        name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", "the algorithm")
        truth = tuple(sorted(self.truth(graph, target)))
        found = tuple(sorted(self.answer(graph, order, target)))
        return self.example(name, self.finds, graph, order, target, found, truth)


class _NetworkTrial(_Trial):
    """A search for a network by a perfect score: answers and truth are the edges of a class."""

    example = NetworkCounterexample

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        found = resolve_network(PerfectScore(graph, order), self.settings).ask(None, RunSettings())
        return () if found.dag is None else tuple(self.truth(found.dag, target))

    def truth(self, graph: nx.DiGraph[str], target: str) -> set[str]:
        del target
        return _edges_of_class(graph)


def _edges_of_class(dag: nx.DiGraph[str]) -> set[str]:
    """Return the edges of the class of a DAG."""
    names = tuple(dag)
    graph = cpdag(PartlyDirected.of_networkx(dag, names).parents).to_networkx(names)
    return {
        f"{a} – {b}" if graph.has_edge(b, a) else f"{a}→{b}"
        for a, b in graph.edges
        if a < b or not graph.has_edge(b, a)
    }


class _HiddenTrial(_Trial):
    """A trial with hidden nodes: those that are not in the order. A member depends on the target given all others."""

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        query, at = Query.about(oracle_of(graph, order), target, self.asked, self.settings)
        return query.run(at).members

    def is_wrong(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> bool:
        return len(order) > 1 and set(self.answer(graph, order, target)) != self.members(graph, order, target)

    def members(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> set[str]:
        oracle, at = oracle_of(graph, order), order.index(target)
        others = [k for k in range(len(order)) if k != at]
        return {order[x] for x in others if oracle.test(x, at, [z for z in others if z != x]).p < 1}

    def reduced(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> Counterexample:
        found = super().reduced(graph, order, target)
        return replace(found, truth=tuple(sorted(self.members(found.graph, found.order, target))))


class _CausesTrial(_Trial):
    """A trial of an algorithm for causes and effects: the answer is the edges of the target, as text."""

    def __init__(self, algorithm: object, settings: Mapping[str, Any]) -> None:
        self.finds, self._algorithm, self._settings = "causes", algorithm, settings

    @property
    def algorithm(self) -> object:
        return self._algorithm

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        found = causes(DSeparation(graph, order), target, self._algorithm, **self._settings)  # type: ignore[arg-type]
        return edges_at(found.graph, target)

    def truth(self, graph: nx.DiGraph[str], target: str) -> set[str]:
        names = list(graph)
        index = {name: k for k, name in enumerate(names)}
        parents = [{index[parent] for parent in graph.predecessors(name)} for name in names]
        return set(edges_at(cpdag(parents).to_networkx(names), target))


class _HiddenCausesTrial(_CausesTrial):
    """A trial with hidden nodes: the answer is the marks of the target's edges."""

    def answer(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> tuple[str, ...]:
        found = causes(oracle_of(graph, order), target, self._algorithm, hidden=True, **self._settings)  # type: ignore[arg-type]
        return tuple(f"{name} {mark} {target}" for name, mark in found.marks.items())

    def is_wrong(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> bool:
        answer = dict(line.split(" ")[:2] for line in self.answer(graph, order, target)) if len(order) > 1 else {}
        truth = ancestral_edges(graph, order, target) if len(order) > 1 else {}
        return answer.keys() != truth.keys() or any(not fits(mark, truth[name]) for name, mark in answer.items())

    def reduced(self, graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> Counterexample:
        found = super().reduced(graph, order, target)
        truth = ancestral_edges(found.graph, found.order, target)
        return replace(found, truth=tuple(f"{name} {mark} {target}" for name, mark in sorted(truth.items())))


def reductions(
    graph: nx.DiGraph[str], order: tuple[str, ...], target: str
) -> Iterator[tuple[nx.DiGraph[str], tuple[str, ...]]]:
    """Yield the graph without one node or one arc, for every node but the target and for every arc."""
    for node in (*order, *(node for node in graph if node not in order)):
        if node != target:
            less = graph.copy()
            less.remove_node(node)
            yield less, tuple(v for v in order if v != node)
    for arc in list(graph.edges):
        less = graph.copy()
        less.remove_edge(*arc)
        yield less, order


def graphs_to_check(
    random: np.random.Generator, cases: int, max_nodes: int, *, renamed: bool = False
) -> Iterator[tuple[nx.DiGraph[str], tuple[str, ...]]]:
    """Yield all DAGs of two to four nodes in all orders, then random ones of five or more nodes in a random order.

    If `renamed`, the names of small graphs change in place of the order: a search by score takes variables by name,
    whatever the order of the columns.
    """
    import networkx as nx

    seen: set[tuple[int, frozenset[tuple[str, str]]]] = set()
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
                if renamed:
                    graph = nx.relabel_nodes(graph, dict(zip(names, order, strict=True)))
                    known = nodes, frozenset(graph.edges)
                    if known in seen:
                        continue
                    seen.add(known)
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


# --- the true edges of a target --------------------------------------------------------------------------------------


def oracle_of(graph: nx.DiGraph[str], order: tuple[str, ...]) -> DSeparation:
    """Return the oracle of a graph in which the nodes that are not in the order are hidden."""
    return DSeparation(graph, order, hidden=[node for node in graph if node not in order])


def ancestral_edges(graph: nx.DiGraph[str], order: tuple[str, ...], target: str) -> dict[str, str]:
    """Return the edges of a target in the ancestral graph of the observed nodes, by neighbour, read from it.

    Two are adjacent if their observed ancestors do not separate them.
    """
    import networkx as nx

    oracle, at = oracle_of(graph, order), order.index(target)
    above = {node: nx.ancestors(graph, node) for node in order}
    edges = {}
    for x, name in enumerate(order):
        given = [z for z, node in enumerate(order) if node in above[name] | above[target] and z not in (x, at)]
        if name != target and oracle.test(x, at, given).p < 1:
            edges[name] = "→" if name in above[target] else "←" if target in above[name] else "↔"
    return edges


def fits(mark: str, true: str) -> bool:
    """Return whether the decided ends of an edge are those of the true one; a circle is not decided."""
    ends = {"→": "->", "←": ">-", "↔": ">>", "o→": "o>", "←o": ">o", "o–o": "oo", "–o": "-o", "o–": "o-", "–": "--"}
    return all(a in ("o", b) for a, b in zip(ends[mark], ends[true], strict=True))


def edges_at(graph: nx.DiGraph[str], target: str) -> tuple[str, ...]:
    """Return the edges of a node of a partly directed graph as text."""
    into, out = set(graph.predecessors(target)), set(graph.successors(target))
    return (
        *(f"{x}→{target}" for x in sorted(into - out)),
        *(f"{target}→{x}" for x in sorted(out - into)),
        *(f"{target}–{x}" for x in sorted(into & out)),
    )
