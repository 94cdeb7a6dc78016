"""Graphs in which several sets tell the same, and all their blankets, by trying every set."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import NamedTuple

import networkx as nx
import numpy as np

import serape

MAX_NODES = 8


class Case(NamedTuple):
    """A graph with nodes that are functions of others."""

    graph: nx.DiGraph[str]
    determined: list[tuple[str, list[str]]]
    order: list[str]

    def oracle(self) -> serape.DSeparation:
        """Return the oracle."""
        return serape.DSeparation(self.graph, self.order, self.determined)


def random_case(random: np.random.Generator) -> Case:
    """Return a random DAG to which copies, functions and pairs in one column are added, in a random order."""
    graph = _random_dag(random, int(random.integers(2, 6)), float(random.choice([0.2, 0.4, 0.6])))
    determined: list[tuple[str, list[str]]] = []
    while len(graph) < MAX_NODES and random.random() < 0.75:
        kind = random.choice(["copy", "function", "pair"])
        new, nodes = f"d{len(graph)}", list(graph)
        parents = [str(x) for x in random.choice(nodes, 1 if kind == "copy" else 2, replace=False)]
        if kind == "function" and random.random() < 0.5:
            parents = parents[:1]
        graph.add_edges_from((x, new) for x in parents)
        determined.append((new, parents))
        if kind != "function":  # it can be undone
            determined += [(x, [new]) for x in parents]
            continue
        functions = {node for node, _ in determined}
        for x in nodes:  # a function may have effects of its own
            if random.random() < 0.3 and x not in functions and x not in nx.ancestors(graph, new):
                graph.add_edge(new, x)
    return Case(graph, determined, [str(x) for x in random.permutation(list(graph))])


def _random_dag(random: np.random.Generator, nodes: int, density: float) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"n{k}" for k in range(nodes))
    order = random.permutation(nodes)
    graph.add_edges_from((f"n{a}", f"n{b}") for a, b in combinations(order.tolist(), 2) if random.random() < density)
    return graph


def every_blanket(oracle: serape.DSeparation, target: str, kept: Collection[str] = ()) -> set[frozenset[str]]:
    """Return the smallest sets that make the target independent of all others, of those that have what is kept."""
    names = oracle.variables
    at = names.index(target)
    others = [x for x in range(len(names)) if x != at]
    first = {names.index(x) for x in kept}
    found: list[frozenset[int]] = []
    for size in range(len(names)):
        for some in map(frozenset, combinations(others, size)):
            if not first <= some:
                continue
            rest = [x for x in others if x not in some]
            if not any(known <= some for known in found) and all(
                oracle.test(x, at, sorted(some)).log_p == 0 for x in rest
            ):
                found.append(some)
    return {frozenset(names[x] for x in some) for some in found}
