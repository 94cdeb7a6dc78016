"""Samples of networks whose laws differ between contexts, and what is true of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape

CONTEXT = "context"


@dataclass(frozen=True)
class Drawn:
    """Rows of several contexts, and what is true of them."""

    frame: Any
    graphs: list[nx.DiGraph[str]]
    """The network of each context."""
    changed: set[str]
    """The variables whose law differs."""

    def blankets(self, target: str) -> list[set[str]]:
        """Return the true blanket in each context."""
        return [blanket_in(graph, target) for graph in self.graphs]


def blanket_in(graph: nx.DiGraph[str], target: str) -> set[str]:
    """Return the parents, children and children's other parents."""
    children = set(graph.successors(target))
    spouses = {parent for child in children for parent in graph.predecessors(child)}
    return (set(graph.predecessors(target)) | children | spouses) - {target}


def without_parent(network: serape.Network, variable: str, parent: str) -> NDArray[np.float64]:
    """Return a probability table in which a parent has no influence: the mean over its levels."""
    parents, cpt = network.parents(variable), network.cpt(variable)
    table = cpt.reshape([len(network.levels(p)) for p in parents] + [-1])
    mean = table.mean(axis=parents.index(parent), keepdims=True)
    return np.broadcast_to(mean, table.shape).reshape(cpt.shape)


def draw(network: serape.Network, contexts: int, rows: int, seed: int, changed: float, how: str = "mixed") -> Drawn:
    """Draw rows of several contexts; the first has the network as it is.

    A variable is changed with the probability `changed`: in some of the other contexts, it has another law (a Dirichlet
    draw), or one of its parents has no influence. With `how="interventions"`, each context sets one variable: its
    levels are equally probable, whatever its parents.
    """
    random = np.random.default_rng(seed)
    names = list(network.variables)
    tables = [{name: network.cpt(name) for name in names} for _ in range(contexts)]
    graphs: list[nx.DiGraph[str]] = [nx.DiGraph(network.graph) for _ in range(contexts)]
    found: set[str] = set()
    if how == "interventions":
        for k, name in enumerate(random.choice(names, contexts - 1, replace=False).tolist(), 1):
            tables[k][name] = np.full_like(network.cpt(name), 1 / network.cpt(name).shape[1])
            graphs[k].remove_edges_from([(parent, name) for parent in network.parents(name)])
            found.add(name)
    for name in names if how == "mixed" else ():
        if random.random() >= changed:
            continue
        found.add(name)
        parents = network.parents(name)
        gone = str(random.choice(parents)) if parents and random.random() < 0.5 else None
        some = [k for k in range(1, contexts) if random.random() < 0.5]
        for k in some or [int(random.integers(1, contexts))]:
            if gone is None:
                shape = network.cpt(name).shape
                tables[k][name] = random.dirichlet(np.ones(shape[1]), shape[0])
            else:
                tables[k][name] = without_parent(network, name, gone)
                graphs[k].remove_edge(gone, name)
    levels = {name: network.levels(name) for name in names}
    parents_of = {name: network.parents(name) for name in names}
    parts = [
        serape.Network(levels, parents_of, own).sample(rows // contexts, int(random.integers(2**31))).to_pandas()
        for own in tables
    ]
    pandas = import_module("pandas")
    labels = [f"c{k}" for k, part in enumerate(parts) for _ in range(len(part))]
    return Drawn(pandas.concat(parts, ignore_index=True).assign(**{CONTEXT: labels}), graphs, found)
