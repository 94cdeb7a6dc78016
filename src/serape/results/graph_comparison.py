"""The comparison of a graph with the true one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from serape.errors import InputTypeError, OptionError, abbreviate, first_few, suggestion
from serape.knowledge import Knowledge
from serape.markup import plain
from serape.networks.network import Network, describe_cycle, find_cycle, parents_first
from serape.results.compared import Compared
from serape.results.pictures import draw_graph, save_picture
from serape.results.saved import count, optional, share, texts
from serape.structure.equivalence import completed
from serape.structure.graphs import Arc, PartlyDirected, structural_hamming_distance

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.figure import Figure


_NAMED = 20  # edges in a text
_MARKS = ("→", "←", "–", "")
_DIFFERENCES = ("missing", "extra", "reversed", "directed in one graph only")


class ComparedEdge(NamedTuple):
    """Two variables that are adjacent in one of two graphs, or both.

    Examples
    --------
    >>> found = nx.DiGraph([("a", "c"), ("b", "c")])
    >>> first, _ = serape.compare_graphs(found, nx.DiGraph([("c", "a"), ("c", "b")])).edges
    >>> first, first.difference
    (ComparedEdge(a='a', b='c', found='→', true='–'), 'directed in one graph only')
    """

    a: str
    b: str
    found: str
    """The edge in the found graph, read from `a`: "→", "←", "–", or an empty text where there is none."""
    true: str
    """The same in the true graph."""

    @property
    def difference(self) -> str:
        """How the graphs differ, in words; an empty text if they do not."""
        if self.found == self.true:
            return ""
        if not (self.found and self.true):
            return "extra" if self.found else "missing"
        return _DIFFERENCES[3 if "–" in (self.found, self.true) else 2]

    def words(self, mark: str) -> str:
        """Return the edge with a mark, as text."""
        return f"{self.a} {mark} {self.b}"


def _read_edge(a: str, b: str, found: str, true: str) -> ComparedEdge:
    if found not in _MARKS or true not in _MARKS:
        raise ValueError(f"{found!r} or {true!r} is no mark of an edge")
    return ComparedEdge(a, b, found, true)


@dataclass(frozen=True)
class GraphComparison(Compared, file="serape-graph-comparison-1"):
    """What a graph has in common with the true one, and where they differ.

    Precision is 1 if the found graph has no edges, recall is 1 if the true graph has none. All measures but `shd_dag`
    compare completed graphs (CPDAGs), in which only those edges have a direction that data can reveal.

    Examples
    --------
    >>> comparison = serape.compare_graphs(nx.DiGraph([("a", "c"), ("b", "c")]), nx.DiGraph([("c", "a"), ("c", "b")]))
    >>> comparison.skeleton_precision, comparison.half_directed, comparison.shd
    (1.0, 2, 2)
    """

    skeleton_precision: float
    """The share of the found graph's adjacent pairs that are adjacent in the true one."""
    skeleton_recall: float
    """The share of the true graph's adjacent pairs that are adjacent in the found one."""
    missing: int
    """The number of pairs adjacent in the true graph only."""
    extra: int
    """The number of pairs adjacent in the found graph only."""
    reversed: int
    """The number of pairs that have an arc in both graphs, in opposite directions."""
    arrow_precision: float
    """The share of the found graph's arcs that are arcs, in the same direction, of the true one."""
    arrow_recall: float
    """The share of the true graph's arcs that are arcs, in the same direction, of the found one."""
    shd: int | None
    """The structural Hamming distance: the number of pairs that differ (missing, extra, reversed, or directed in one
    and undirected in the other). None if the found graph is a skeleton."""
    shd_dag: int | None
    """The same between the graphs as given, if both are fully directed; otherwise None."""

    variables: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The nodes of both graphs."""
    edges: tuple[ComparedEdge, ...] = field(default=(), repr=False, compare=False)
    """The pairs that are adjacent in one of the graphs, or both."""

    title = "Comparison with the true graph"
    _details = _newer = frozenset({"variables", "edges"})
    _readers: ClassVar = {
        "variables": texts,
        "edges": lambda values: tuple(_read_edge(*texts(one)) for one in values),
        **dict.fromkeys(("skeleton_precision", "skeleton_recall", "arrow_precision", "arrow_recall"), share),
        **dict.fromkeys(("missing", "extra", "reversed"), count),
        **dict.fromkeys(("shd", "shd_dag"), optional(count)),
    }

    @property
    def half_directed(self) -> int:
        """The number of pairs that are directed in one of the graphs and undirected in the other."""
        return 0 if self.shd is None else self.shd - self.missing - self.extra - self.reversed

    def explain(self, a: str, b: str) -> str:
        """Return whether two variables are adjacent in the graphs, and in which direction."""
        for name in (a, b):
            if name not in self.variables:
                raise OptionError(f"there is no variable {name!r}.{suggestion(str(name), self.variables)}")
        one = next((one for one in self.edges if {one.a, one.b} == {a, b}), None)
        if one is None:
            return plain(f"{a} and {b} are adjacent in neither graph.")
        if one.found == one.true:
            return plain(f"{one.words(one.found)} in both graphs.")
        found, true = (one.words(mark) if mark else "not adjacent" for mark in (one.found, one.true))
        return plain(f"{one.difference.capitalize()}: {found} in the found graph, {true} in the true one.")

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw both graphs in one picture, and write it to a file (.png, .svg, .pdf) if `path` is given."""
        found, true = self._graph(found=True), self._graph(found=False)
        figure = draw_graph(found.to_undirected() if self.shd is None else found, truth=true, title=self.title)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    def _graph(self, *, found: bool) -> nx.DiGraph[str]:
        """Return the found graph, or the true one, as it is compared."""
        import networkx as nx

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.variables)
        for one in self.edges:
            mark = one.found if found else one.true
            graph.add_edges_from([(one.a, one.b)] * (mark in ("→", "–")) + [(one.b, one.a)] * (mark in ("←", "–")))
        return graph

    def _how(self) -> Sequence[str]:
        told: dict[str, list[str]] = {}
        for one in self.edges:
            told.setdefault(one.difference, []).append(one.words(one.found or one.true))
        return [f"{what}: {first_few(told[what], max_items=_NAMED)}" for what in _DIFFERENCES if what in told]

    def __str__(self) -> str:
        distance = "" if self.shd is None else f"structural Hamming distance {self.shd}; "
        half = "" if self.shd is None else f", {self.half_directed} directed in one graph only"
        return (
            f"{distance}{self.missing} missing, {self.extra} extra, {self.reversed} reversed{half}; "
            f"edges: precision {self.skeleton_precision:.3f}, recall {self.skeleton_recall:.3f}; "
            f"arrows: precision {self.arrow_precision:.3f}, recall {self.arrow_recall:.3f}"
        )


def compare_graphs(
    found: nx.DiGraph[Any] | nx.Graph[Any], truth: nx.DiGraph[Any] | Network, knowledge: Knowledge | None = None
) -> GraphComparison:
    """Compare a graph that was found with the true one.

    A `networkx.DiGraph` in which an undirected edge is present in both directions is partly directed. A DAG, found or
    true, is replaced by its completed graph (CPDAG), with the arcs that follow from `knowledge`. A partly directed
    graph is compared as it is, and so is a found graph with a directed cycle. A `networkx.Graph` is a skeleton: it has
    no arcs.

    Parameters
    ----------
    found
        The graph that was found.
    truth
        The true graph, or the true network.
    knowledge
        The background knowledge of the search.

    Returns
    -------
    GraphComparison
        Precision and recall of edges and arrows, and the structural Hamming distance.

    Examples
    --------
    >>> found = serape.network(patients, "ges")
    >>> comparison = serape.compare_graphs(found.graph, clinic_graph())
    >>> comparison.shd, comparison.skeleton_precision
    (7, 0.9230769230769231)
    """
    both = _Compared(found, truth, knowledge)
    found_pairs, true_pairs = _pairs(both.found), _pairs(both.true)
    found_arcs, true_arcs = set(both.found.arcs()), set(both.true.arcs())
    fully_directed = both.directed and not both.found_given.edges() and not both.true_given.edges()
    return GraphComparison(
        skeleton_precision=_share(found_pairs, true_pairs),
        skeleton_recall=_share(true_pairs, found_pairs),
        missing=len(true_pairs - found_pairs),
        extra=len(found_pairs - true_pairs),
        reversed=len({(y, x) for x, y in found_arcs} & true_arcs),
        arrow_precision=_share(found_arcs, true_arcs),
        arrow_recall=_share(true_arcs, found_arcs),
        shd=structural_hamming_distance(both.found, both.true) if both.directed else None,
        shd_dag=structural_hamming_distance(both.found_given, both.true_given) if fully_directed else None,
        variables=tuple(both.names),
        edges=tuple(
            ComparedEdge(both.names[x], both.names[y], both.mark(both.found, x, y), both.mark(both.true, x, y))
            for x, y in sorted(found_pairs | true_pairs)
        ),
    )


def compared_classes(
    found: nx.DiGraph[Any], truth: nx.DiGraph[Any] | Network, knowledge: Knowledge | None = None
) -> tuple[nx.DiGraph[str], nx.DiGraph[str]]:
    """Return the completed graphs that `compare_graphs` compares."""
    both = _Compared(found, truth, knowledge)
    return both.found.to_networkx(both.names), both.true.to_networkx(both.names)


class _Compared:
    """Two graphs on the same nodes, as given and completed."""

    def __init__(self, found: Any, truth: Any, knowledge: Knowledge | None) -> None:
        import networkx as nx

        true_graph = _checked(truth.graph if isinstance(truth, Network) else truth, "true")
        if not true_graph.is_directed():
            raise InputTypeError("the true graph must be a networkx.DiGraph or a Network: a skeleton has no directions")
        found_graph = _checked(found, "found")
        if differing := found_graph.nodes ^ true_graph.nodes:
            only_found = sorted(differing & found_graph.nodes)
            which, names = ("found", only_found) if only_found else ("true", sorted(differing))
            raise OptionError(f"both graphs must have the same nodes, but only the {which} one has {abbreviate(names)}")
        self.directed = found_graph.is_directed()
        self.names = sorted(true_graph)
        self.true_given = PartlyDirected.of_networkx(nx.DiGraph(true_graph), self.names)
        self.found_given = PartlyDirected.of_networkx(nx.DiGraph(found_graph), self.names)
        if not self.true_given.edges():
            _refuse_cycle(self.true_given, self.names)
        bound = None if knowledge is None else knowledge.bind(self.names)
        self.found, self.true = completed(self.found_given, bound), completed(self.true_given, bound)

    def mark(self, graph: PartlyDirected, x: int, y: int) -> str:
        """Return the edge between two nodes of a graph, as far as it is compared: a skeleton has no directions."""
        if not graph.are_adjacent(x, y):
            return ""
        return "–" if y in graph.neighbours[x] or not self.directed else "→" if y in graph.children[x] else "←"


def _checked(graph: Any, which: str) -> nx.Graph[str]:
    """Return the graph with its nodes' names as text."""
    import networkx as nx

    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise InputTypeError(
            f"the {which} graph must be a networkx.DiGraph{'' if which == 'found' else ' or a Network'}, "
            f"not a {type(graph).__name__}"
        )
    repeated = [name for name, count in Counter(map(str, graph)).items() if count > 1]
    if repeated:
        raise OptionError(f"two nodes of the {which} graph are called {abbreviate(repeated)} as text; rename one")
    named: nx.Graph[str] = nx.DiGraph() if graph.is_directed() else nx.Graph()
    named.add_nodes_from(map(str, graph))
    named.add_edges_from((str(x), str(y)) for x, y in graph.edges())
    for x, y in named.edges():
        if x == y:
            raise OptionError(f"the {which} graph has an arc from {x!r} to itself; remove it")
    return named


def _refuse_cycle(graph: PartlyDirected, names: list[str]) -> None:
    parents = [sorted(above) for above in graph.parents]
    order = parents_first(parents)
    if len(order) < graph.n:
        cycle = [names[k] for k in find_cycle(parents, order)]
        raise OptionError(f"the true graph has a cycle, {describe_cycle(cycle)}; remove one of its arcs")


def _pairs(graph: PartlyDirected) -> set[Arc]:
    return {(min(x, y), max(x, y)) for x, y in (*graph.arcs(), *graph.edges())}


def _share(of: set[Arc], among: set[Arc]) -> float:
    return len(of & among) / len(of) if of else 1.0
