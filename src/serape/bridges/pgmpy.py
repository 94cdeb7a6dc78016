"""To and from pgmpy.

Examples
--------
>>> from serape.bridges import pgmpy
>>> exported = pgmpy.export_graph(clinic_graph())
>>> set(pgmpy.import_graph(exported).edges) == set(clinic_graph().edges)
True
>>> model = pgmpy.export_network(serape.load_network("asia"))
>>> pgmpy.import_network(model).parents("dysp")
('bronc', 'either')
>>> columns, knowledge = pgmpy.hand_over(serape.region(patients, "HeartDisease", depth=1, alpha=0.01))
>>> _ = pgmpy.export_knowledge(serape.Knowledge(required=[("Age", "HeartDisease")]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from serape.bridges.common import forbidden_arcs, library, mixed_graph
from serape.bridges.prescreen import prescreened
from serape.errors import DataError
from serape.knowledge import Knowledge
from serape.networks import Network
from serape.structure.mixed_edges import arcs_of, undirected_edges

if TYPE_CHECKING:
    import networkx as nx


def export_graph(graph: nx.Graph[str]) -> Any:
    """Return a `pgmpy.base.PDAG`; its `to_dag()` is a member of the class."""
    made = library("pgmpy.base", "pgmpy").PDAG(arcs_of(graph), undirected_edges(graph))
    made.add_nodes_from(graph)
    return made


def import_graph(graph: Any) -> nx.DiGraph[str]:
    """Return a `DAG`, a `PDAG` or a model as a networkx graph."""
    undirected = getattr(graph, "undirected_edges", ())
    arcs = getattr(graph, "directed_edges", None)
    return mixed_graph(
        map(str, graph.nodes),
        ((str(a), str(b)) for a, b in (graph.edges if arcs is None else arcs)),
        ((str(a), str(b)) for a, b in undirected),
    )


def export_network(network: Network) -> Any:
    """Return a `DiscreteBayesianNetwork` with the same names, levels and probabilities."""
    model = library("pgmpy.models", "pgmpy").DiscreteBayesianNetwork()
    table = library("pgmpy.factors.discrete", "pgmpy").TabularCPD
    model.add_nodes_from(network.variables)
    model.add_edges_from(network.graph.edges)
    for name in network.variables:
        parents = network.parents(name)
        levels = {each: list(network.levels(each)) for each in (name, *parents)}
        cpt = network.cpt(name)
        model.add_cpds(
            table(
                name,
                len(levels[name]),
                (cpt / cpt.sum(axis=1, keepdims=True)).T,
                evidence=list(parents) or None,
                evidence_card=[len(levels[parent]) for parent in parents] or None,
                state_names=levels,
            )
        )
    return model


def import_network(model: Any) -> Network:
    """Return a model with its levels and probabilities as a network."""
    levels: dict[str, list[str]] = {}
    parents: dict[str, list[str]] = {}
    cpts: dict[str, Any] = {}
    for name in model.nodes:
        cpd = model.get_cpds(name)
        if cpd is None:
            raise DataError(f"the model has no probabilities of {str(name)!r}; fit it first")
        levels[str(name)] = [str(level) for level in cpd.state_names[name]]
        parents[str(name)] = [str(parent) for parent in cpd.variables[1:]]
        cpts[str(name)] = np.asarray(cpd.get_values(), dtype=float).T
    return Network(levels, parents, cpts)


def export_knowledge(knowledge: Knowledge) -> Any:
    """Return `ExpertKnowledge` for pgmpy's structure search."""
    return library("pgmpy.estimators", "pgmpy").ExpertKnowledge(
        forbidden_edges=forbidden_arcs(knowledge) or None,
        required_edges=list(knowledge.required) or None,
        temporal_order=[list(tier) for tier in knowledge.tiers] or None,
    )


def hand_over(region: nx.Graph[str], knowledge: Knowledge | None = None) -> tuple[list[str], Any]:
    """Return the columns of a region, and what is known about them as `ExpertKnowledge`."""
    columns, known = prescreened(region, knowledge)
    return columns, export_knowledge(known)
