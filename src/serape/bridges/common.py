"""What the bridges share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from serape.errors import library_or
from serape.knowledge import Knowledge, NamePair

if TYPE_CHECKING:
    import networkx as nx


def library(module: str, package: str) -> Any:
    """Return a module of another package."""
    return library_or(module, f"this needs {package}; install it with: pip install {package}")


def mixed_graph(nodes: Iterable[str], arcs: Iterable[NamePair], edges: Iterable[NamePair]) -> nx.DiGraph[str]:
    """Return a graph that has an undirected edge in both directions."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(arcs)
    for a, b in edges:
        graph.add_edges_from([(a, b), (b, a)])
    graph.graph["directed"] = not any(graph.has_edge(b, a) for a, b in graph.edges)
    return graph


def forbidden_arcs(knowledge: Knowledge) -> list[NamePair]:
    """Return the forbidden arcs; a forbidden pair is two of them."""
    both = [arc for a, b in knowledge.forbidden_pairs for arc in ((a, b), (b, a))]
    return list(dict.fromkeys([*knowledge.forbidden, *both]))
