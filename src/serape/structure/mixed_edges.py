"""The arcs and the undirected edges of a networkx graph that has an undirected edge in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import networkx as nx


def arcs_of(graph: nx.Graph[str]) -> list[tuple[str, str]]:
    """Return the arcs of a graph that has an undirected edge in both directions."""
    return [(a, b) for a, b in graph.edges if graph.is_directed() and not graph.has_edge(b, a)]


def undirected_edges(graph: nx.Graph[str]) -> list[tuple[str, str]]:
    """Return the undirected edges of such a graph, once each, in the order of the nodes; all edges of a skeleton."""
    if not graph.is_directed():
        return list(graph.edges)
    index = {name: k for k, name in enumerate(graph)}
    return [(a, b) for a, b in graph.edges if graph.has_edge(b, a) and index[a] < index[b]]


def with_evidence(graph: nx.DiGraph[str], source: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """Return the graph, in the order of the source's nodes, with the attributes that its edges have there."""
    import networkx as nx

    made: nx.DiGraph[str] = nx.DiGraph()
    made.add_nodes_from(source)
    made.add_edges_from((a, b, source.get_edge_data(a, b) or source.get_edge_data(b, a)) for a, b in graph.edges)
    return made
