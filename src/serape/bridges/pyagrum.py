"""To and from pyAgrum.

Examples
--------
>>> from serape.bridges import pyagrum
>>> exported = pyagrum.export_graph(clinic_graph())
>>> set(pyagrum.import_graph(exported).edges) == set(clinic_graph().edges)
True
>>> model = pyagrum.export_network(serape.load_network("asia"))
>>> pyagrum.import_network(model).parents("dysp")
('bronc', 'either')
>>> columns, give = pyagrum.hand_over(serape.region(patients, "HeartDisease", depth=1, alpha=0.01))
>>> give = pyagrum.export_knowledge(serape.Knowledge(required=[("Age", "HeartDisease")]))  # give(learner)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.bridges.common import forbidden_arcs, library, mixed_graph
from serape.bridges.prescreen import prescreened
from serape.knowledge import Knowledge
from serape.networks import Network
from serape.structure.mixed_edges import arcs_of, undirected_edges

if TYPE_CHECKING:
    import networkx as nx


def export_graph(graph: nx.Graph[str]) -> Any:
    """Return a `pyagrum.PDAG` whose nodes are the positions of the graph's nodes and have their names."""
    made = _gum().PDAG()
    index = {name: k for k, name in enumerate(graph)}
    for name, k in index.items():
        made.addNodeWithId(k)
        made.setName(k, name)
    for a, b in arcs_of(graph):
        made.addArc(index[a], index[b])
    for a, b in undirected_edges(graph):
        made.addEdge(index[a], index[b])
    return made


def import_graph(graph: Any) -> nx.DiGraph[str]:
    """Return a `BayesNet`, or a graph of pyAgrum, as a networkx graph; nodes without a name are called by number."""

    def name(node: int) -> str:
        if hasattr(graph, "variable"):
            return str(graph.variable(node).name())
        return str(graph.nameFromId(node)) if hasattr(graph, "hasName") and graph.hasName(node) else str(node)

    edges = graph.edges() if hasattr(graph, "edges") else ()
    return mixed_graph(
        map(name, sorted(graph.nodes())),
        ((name(a), name(b)) for a, b in graph.arcs()),
        ((name(a), name(b)) for a, b in edges),
    )


def export_network(network: Network) -> Any:
    """Return a `BayesNet` with the same names, levels and probabilities."""
    gum = _gum()
    made = gum.BayesNet()
    for name in network.variables:
        made.add(gum.LabelizedVariable(name, name, list(network.levels(name))))
    for name in network.variables:
        for parent in network.parents(name):
            made.addArc(parent, name)
    for name in network.variables:
        sizes = [len(network.levels(parent)) for parent in network.parents(name)]
        cpt = network.cpt(name) / network.cpt(name).sum(axis=1, keepdims=True)
        made.cpt(name).fillWith(_other_order(cpt.reshape(*sizes, -1)).ravel().tolist())
    return made


def import_network(model: Any) -> Network:
    """Return a `BayesNet` with its levels and probabilities as a network."""
    levels, parents, cpts = {}, {}, {}
    for node in sorted(model.nodes()):
        variable = model.variable(node)
        name = str(variable.name())
        table = model.cpt(node)
        levels[name] = [str(label) for label in variable.labels()]
        parents[name] = [str(other) for other in table.names[1:]]
        cpts[name] = _other_order(np.asarray(table.toarray())).reshape(-1, len(levels[name]))
    return Network(levels, parents, cpts)


def _other_order(cpt: Any) -> Any:
    """Return a table with its parents in reverse order: pyAgrum's first parent varies fastest, serape's last."""
    return cpt.transpose(*range(cpt.ndim - 2, -1, -1), cpt.ndim - 1)


def export_knowledge(knowledge: Knowledge) -> Callable[[Any], Any]:
    """Return a function that gives the knowledge to a `BNLearner`, and returns the learner."""

    def tell(learner: Any) -> Any:
        for a, b in forbidden_arcs(knowledge):
            learner.addForbiddenArc(a, b)
        for a, b in knowledge.required:
            learner.addMandatoryArc(a, b)
        if knowledge.tiers:
            learner.setSliceOrder([list(tier) for tier in knowledge.tiers])
        return learner

    return tell


def hand_over(region: nx.Graph[str], knowledge: Knowledge | None = None) -> tuple[list[str], Callable[[Any], Any]]:
    """Return the columns of a region, and a function that gives what is known about them to a `BNLearner`."""
    columns, known = prescreened(region, knowledge)
    return columns, export_knowledge(known)


def _gum() -> Any:
    return library("pyagrum", "pyAgrum")
