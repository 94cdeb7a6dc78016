"""The comparison of a graph with the true one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import networkx as nx

from serape.errors import InputTypeError, OptionError, abbreviate
from serape.networks.network import Network, describe_cycle, find_cycle, parents_first
from serape.structure.graphs import Arc, PartlyDirected, cpdag, structural_hamming_distance


@dataclass(frozen=True)
class GraphComparison:
    """What a graph has in common with the true one, and where they differ.

    Precision is 1 if the found graph has no edges, recall is 1 if the true graph has none. All measures but `shd_dag`
    compare completed graphs (CPDAGs), in which only those edges have a direction that data can reveal.
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

    def __str__(self) -> str:
        distance = "" if self.shd is None else f"structural Hamming distance {self.shd}; "
        return (
            f"{distance}{self.missing} missing, {self.extra} extra, {self.reversed} reversed; "
            f"edges: precision {self.skeleton_precision:.3f}, recall {self.skeleton_recall:.3f}; "
            f"arrows: precision {self.arrow_precision:.3f}, recall {self.arrow_recall:.3f}"
        )


def compare_graphs(found: nx.DiGraph[Any] | nx.Graph[Any], truth: nx.DiGraph[Any] | Network) -> GraphComparison:
    """Compare a graph that was found with the true one.

    A `networkx.DiGraph` in which an undirected edge is present in both directions is partly directed. A DAG, found or
    true, is replaced by its completed graph (CPDAG). A partly directed graph is compared as it is, and so is a found
    graph with a directed cycle. A `networkx.Graph` is a skeleton: it has no arcs.
    """
    true_graph = _checked(truth.graph if isinstance(truth, Network) else truth, "true")
    if not true_graph.is_directed():
        raise InputTypeError("the true graph must be a networkx.DiGraph or a Network: a skeleton has no directions")
    found_graph = _checked(found, "found")
    if differing := found_graph.nodes ^ true_graph.nodes:
        only_found = sorted(differing & found_graph.nodes)
        which, names = ("found", only_found) if only_found else ("true", sorted(differing))
        raise OptionError(f"both graphs must have the same nodes, but only the {which} one has {abbreviate(names)}")
    names = sorted(true_graph)
    true_given = PartlyDirected.of_networkx(nx.DiGraph(true_graph), names)
    found_given = PartlyDirected.of_networkx(nx.DiGraph(found_graph), names)
    if not true_given.edges():
        _refuse_cycle(true_given, names)
    found_completed, true_completed = _completed(found_given), _completed(true_given)
    found_pairs, true_pairs = _pairs(found_completed), _pairs(true_completed)
    found_arcs, true_arcs = set(found_completed.arcs()), set(true_completed.arcs())
    directed = found_graph.is_directed()
    fully_directed = directed and not found_given.edges() and not true_given.edges()
    return GraphComparison(
        skeleton_precision=_share(found_pairs, true_pairs),
        skeleton_recall=_share(true_pairs, found_pairs),
        missing=len(true_pairs - found_pairs),
        extra=len(found_pairs - true_pairs),
        reversed=len({(y, x) for x, y in found_arcs} & true_arcs),
        arrow_precision=_share(found_arcs, true_arcs),
        arrow_recall=_share(true_arcs, found_arcs),
        shd=structural_hamming_distance(found_completed, true_completed) if directed else None,
        shd_dag=structural_hamming_distance(found_given, true_given) if fully_directed else None,
    )


def _checked(graph: Any, which: str) -> nx.Graph[str]:
    """Return the graph with its nodes' names as text."""
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


def _completed(graph: PartlyDirected) -> PartlyDirected:
    """Return the completed graph of a DAG, and any other graph unchanged."""
    parents = [sorted(above) for above in graph.parents]
    return graph if graph.edges() or len(parents_first(parents)) < graph.n else cpdag(parents)


def _pairs(graph: PartlyDirected) -> set[Arc]:
    return {(min(x, y), max(x, y)) for x, y in (*graph.arcs(), *graph.edges())}


def _share(of: set[Arc], among: set[Arc]) -> float:
    return len(of & among) / len(of) if of else 1.0
