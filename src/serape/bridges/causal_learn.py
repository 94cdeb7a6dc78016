"""To and from causal-learn.

Examples
--------
>>> from serape.bridges import causal_learn
>>> exported = causal_learn.export_graph(clinic_graph())
>>> set(causal_learn.import_graph(exported).edges) == set(clinic_graph().edges)
True
>>> columns, background = causal_learn.hand_over(serape.region(patients, "HeartDisease", depth=1, alpha=0.01))
>>> columns[0], type(background).__name__
('HeartDisease', 'BackgroundKnowledge')
>>> _ = causal_learn.export_knowledge(serape.Knowledge(required=[("Age", "HeartDisease")]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from serape.bridges.common import forbidden_arcs, library, mixed_graph
from serape.bridges.prescreen import prescreened
from serape.errors import DataError
from serape.knowledge import Knowledge, NamePair
from serape.structure.mixed_edges import arcs_of, undirected_edges

if TYPE_CHECKING:
    import networkx as nx


def export_graph(graph: nx.Graph[str]) -> Any:
    """Return a `GeneralGraph`."""
    general = _module("graph.GeneralGraph").GeneralGraph
    edge, ends = _module("graph.Edge").Edge, _module("graph.Endpoint").Endpoint
    nodes = {name: _node(name) for name in graph}
    made = general(list(nodes.values()))
    for a, b in arcs_of(graph):
        made.add_edge(edge(nodes[a], nodes[b], ends.TAIL, ends.ARROW))
    for a, b in undirected_edges(graph):
        made.add_edge(edge(nodes[a], nodes[b], ends.TAIL, ends.TAIL))
    return made


def import_graph(graph: Any) -> nx.DiGraph[str]:
    """Return a `GeneralGraph`, or the graph of a `CausalGraph` (what `pc` returns), as a networkx graph."""
    own = graph.G if hasattr(graph, "G") else graph
    arcs: list[NamePair] = []
    edges: list[NamePair] = []
    for edge in own.get_graph_edges():
        a, b = edge.get_node1().get_name(), edge.get_node2().get_name()
        marks = edge.get_endpoint1().name, edge.get_endpoint2().name
        if marks == ("TAIL", "ARROW"):
            arcs.append((a, b))
        elif marks == ("ARROW", "TAIL"):
            arcs.append((b, a))
        elif marks == ("TAIL", "TAIL"):
            edges.append((a, b))
        else:
            raise DataError(f"the edge {edge} is neither an arc nor undirected; serape has only these")
    return mixed_graph((node.get_name() for node in own.get_nodes()), arcs, edges)


def export_knowledge(knowledge: Knowledge) -> Any:
    """Return `BackgroundKnowledge` for `pc` and others; pass them the names of the columns as `node_names`, too."""
    made = _module("utils.PCUtils.BackgroundKnowledge").BackgroundKnowledge()
    for a, b in knowledge.required:
        made.add_required_by_node(_node(a), _node(b))
    for a, b in forbidden_arcs(knowledge):
        made.add_forbidden_by_node(_node(a), _node(b))
    for k, tier in enumerate(knowledge.tiers):
        for name in tier:
            made.add_node_to_tier(_node(name), k)
    return made


def hand_over(region: nx.Graph[str], knowledge: Knowledge | None = None) -> tuple[list[str], Any]:
    """Return the columns of a region, and what is known about them as `BackgroundKnowledge`."""
    columns, known = prescreened(region, knowledge)
    return columns, export_knowledge(known)


def _node(name: str) -> Any:
    return _module("graph.GraphNode").GraphNode(name)


def _module(name: str) -> Any:
    return library(f"causallearn.{name}", "causal-learn")
