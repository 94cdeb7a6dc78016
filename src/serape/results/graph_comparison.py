"""How near a graph is to the true one."""

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

    Precision is 1 where nothing was found, recall is 1 where there was nothing to find. Everything but `shd_dag`
    compares completed graphs (CPDAGs), in which only those edges have a direction that data could tell.
    """

    skeleton_precision: float
    """The part of the pairs joined in the found graph that are joined in the true one."""
    skeleton_recall: float
    """The part of the pairs joined in the true graph that are joined in the found one."""
    missing: int
    """Pairs joined in the true graph only."""
    extra: int
    """Pairs joined in the found graph only."""
    reversed: int
    """Pairs joined by an arc in both, one way in the one and the other way in the other."""
    arrow_precision: float
    """The part of the found graph's arcs that are arcs, the same way, in the true one."""
    arrow_recall: float
    """The part of the true graph's arcs that are arcs, the same way, in the found one."""
    shd: int | None
    """The structural Hamming distance: pairs joined differently (missing, extra, reversed, or directed in one and
    undirected in the other). None if the found graph is a skeleton."""
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

    A `networkx.DiGraph` in which an undirected edge is present both ways is partly directed. A DAG, found or true, is
    turned into its completed graph (CPDAG); what is partly directed is taken for one and compared as it stands, and so
    is a found graph whose arcs form a cycle, which has none. A `networkx.Graph` is a skeleton: it has no arcs.
    """
    right = _checked(truth.graph if isinstance(truth, Network) else truth, "true")
    if not right.is_directed():
        raise InputTypeError("the true graph must be a networkx.DiGraph or a Network: a skeleton has no directions")
    given = _checked(found, "found")
    if astray := given.nodes ^ right.nodes:
        raise OptionError(
            f"both graphs must have the same nodes, but only the found one has {abbreviate(sorted(astray & given.nodes))}"
            if astray & given.nodes
            else f"both graphs must have the same nodes, but only the true one has {abbreviate(sorted(astray))}"
        )
    names = sorted(right)
    want_given = PartlyDirected.of_networkx(nx.DiGraph(right), names)
    have_given = PartlyDirected.of_networkx(nx.DiGraph(given), names)
    if not want_given.edges():
        _refuse_cycle(want_given, names)
    have, want = _completed(have_given), _completed(want_given)
    found_pairs, true_pairs = _pairs(have), _pairs(want)
    found_arcs, true_arcs = set(have.arcs()), set(want.arcs())
    directed = given.is_directed()
    fully = directed and not have_given.edges() and not want_given.edges()
    return GraphComparison(
        skeleton_precision=_part(found_pairs, true_pairs),
        skeleton_recall=_part(true_pairs, found_pairs),
        missing=len(true_pairs - found_pairs),
        extra=len(found_pairs - true_pairs),
        reversed=len({(y, x) for x, y in found_arcs} & true_arcs),
        arrow_precision=_part(found_arcs, true_arcs),
        arrow_recall=_part(true_arcs, found_arcs),
        shd=structural_hamming_distance(have, want) if directed else None,
        shd_dag=structural_hamming_distance(have_given, want_given) if fully else None,
    )


def _checked(graph: Any, which: str) -> nx.Graph[str]:
    """Return the graph with names of text for nodes."""
    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise InputTypeError(
            f"the {which} graph must be a networkx.DiGraph{'' if which == 'found' else ' or a Network'}, "
            f"not a {type(graph).__name__}"
        )
    twice = [name for name, count in Counter(map(str, graph)).items() if count > 1]
    if twice:
        raise OptionError(f"two nodes of the {which} graph are called {abbreviate(twice)} as text; rename one")
    named: nx.Graph[str] = nx.DiGraph() if graph.is_directed() else nx.Graph()
    named.add_nodes_from(map(str, graph))
    named.add_edges_from((str(x), str(y)) for x, y in graph.edges())
    for x, y in named.edges():
        if x == y:
            raise OptionError(f"the {which} graph has an arc from {x!r} to itself; leave it out")
    return named


def _refuse_cycle(graph: PartlyDirected, names: list[str]) -> None:
    parents = [sorted(above) for above in graph.parents]
    order = parents_first(parents)
    if len(order) < graph.n:
        cycle = [names[k] for k in find_cycle(parents, order)]
        raise OptionError(f"the true graph has a cycle, {describe_cycle(cycle)}; leave one of its arcs out")


def _completed(graph: PartlyDirected) -> PartlyDirected:
    """Return the completed graph of a DAG, and any other graph as it stands."""
    parents = [sorted(above) for above in graph.parents]
    return graph if graph.edges() or len(parents_first(parents)) < graph.n else cpdag(parents)


def _pairs(graph: PartlyDirected) -> set[Arc]:
    return {(min(x, y), max(x, y)) for x, y in (*graph.arcs(), *graph.edges())}


def _part(of: set[Arc], among: set[Arc]) -> float:
    return len(of & among) / len(of) if of else 1.0
