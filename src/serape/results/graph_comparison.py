"""The comparison of a graph with the true one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from serape.errors import InputTypeError, OptionError, abbreviate
from serape.knowledge import Knowledge
from serape.networks.network import Network, describe_cycle, find_cycle, parents_first
from serape.results.compared import Compared
from serape.results.saved import count, optional, share
from serape.structure.equivalence import completed
from serape.structure.graphs import Arc, PartlyDirected, structural_hamming_distance

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True)
class GraphComparison(Compared, file="serape-graph-comparison-1"):
    """What a graph has in common with the true one, and where they differ.

    It is a few numbers: `Structure.plot` draws both graphs in one picture, and `Structure.explain` explains an edge.

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

    title = "Comparison with the true graph"
    _readers: ClassVar = {
        **dict.fromkeys(("skeleton_precision", "skeleton_recall", "arrow_precision", "arrow_recall"), share),
        **dict.fromkeys(("missing", "extra", "reversed"), count),
        **dict.fromkeys(("shd", "shd_dag"), optional(count)),
    }

    @property
    def half_directed(self) -> int:
        """The number of pairs that are directed in one of the graphs and undirected in the other."""
        return 0 if self.shd is None else self.shd - self.missing - self.extra - self.reversed

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
