"""Plain twins for partly directed graphs: equivalence classes by trying every direction, and what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

import networkx as nx
import numpy as np

import serape
from serape.knowledge import BoundKnowledge, Knowledge
from serape.structure.graphs import (
    Arc,
    PartlyDirected,
)
from serape.structure.orientation import Oriented, orient

Parents = list[set[int]]


# --- plain twins -------------------------------------------------------------------------------------------------


def made(n: int, arcs: Iterable[Arc] = (), edges: Iterable[Arc] = ()) -> PartlyDirected:
    graph = PartlyDirected(n)
    for x, y in arcs:
        graph.add_arc(x, y)
    for x, y in edges:
        graph.add_edge(x, y)
    return graph


def is_acyclic(n: int, arcs: Iterable[Arc]) -> bool:
    graph: nx.DiGraph[int] = nx.DiGraph(arcs)
    graph.add_nodes_from(range(n))
    return nx.is_directed_acyclic_graph(graph)


def v_structures(graph: PartlyDirected) -> set[tuple[int, int, int]]:
    return {
        (x, z, y)
        for z in range(graph.n)
        for x, y in combinations(sorted(graph.parents[z]), 2)
        if not graph.are_adjacent(x, y)
    }


def members(graph: PartlyDirected) -> Iterator[PartlyDirected]:
    """All DAGs of the graph's skeleton and v-structures, whatever its other arcs; by trying every direction."""
    pairs = [(x, y) for x, y in combinations(range(graph.n), 2) if graph.are_adjacent(x, y)]
    wanted = v_structures(graph)
    for turned in product((False, True), repeat=len(pairs)):
        arcs = [(y, x) if turn else (x, y) for (x, y), turn in zip(pairs, turned, strict=True)]
        dag = made(graph.n, arcs)
        if is_acyclic(graph.n, arcs) and v_structures(dag) == wanted:
            yield dag


def in_common(dags: Sequence[PartlyDirected]) -> PartlyDirected:
    """The arcs that all DAGs of one skeleton share, its other edges undirected."""
    first = dags[0]
    graph = PartlyDirected(first.n)
    for x, y in first.arcs():
        if all(x in dag.parents[y] for dag in dags):
            graph.add_arc(x, y)
        else:
            graph.add_edge(x, y)
    return graph


def random_parents(random: np.random.Generator, n: int, density: float) -> Parents:
    """Parents in a random DAG whose order the positions do not tell."""
    node = [int(x) for x in random.permutation(n)]
    parents: Parents = [set() for _ in range(n)]
    for a, b in combinations(range(n), 2):
        if random.random() < density:
            parents[node[b]].add(node[a])
    return parents


def random_graph(random: np.random.Generator, n: int, weights: Sequence[float]) -> PartlyDirected:
    """Every pair not joined, an edge, or an arc one way or the other, with these probabilities."""
    graph = PartlyDirected(n)
    for x, y in combinations(range(n), 2):
        join = random.choice(4, p=weights)
        if join == 1:
            graph.add_edge(x, y)
        elif join > 1:
            graph.add_arc(*((x, y) if join == 2 else (y, x)))
    return graph


# --- orientation -------------------------------------------------------------------------------------------------


def separating_sets(
    random: np.random.Generator, graph: nx.DiGraph[str], names: Sequence[str]
) -> dict[frozenset[int], tuple[int, ...]]:
    """For every pair that is not joined, one of the sets that d-separate it, drawn at random."""
    oracle = serape.DSeparation(graph, names)
    found = {}
    for x, y in combinations(range(len(names)), 2):
        rest = [z for z in range(len(names)) if z not in (x, y)]
        subsets = [given for size in range(len(rest) + 1) for given in combinations(rest, size)]
        separate = [given for given in subsets if oracle.test(x, y, given).log_p == 0]
        if separate:
            found[frozenset((x, y))] = separate[int(random.integers(len(separate)))]
    return found


def with_the_oracle(
    random: np.random.Generator, graph: nx.DiGraph[str], names: Sequence[str], knowledge: BoundKnowledge | None = None
) -> Oriented:
    """Orient the skeleton that the oracle knows."""
    separating = separating_sets(random, graph, names)
    nodes = range(len(names))
    return orient(
        len(names),
        [{y for y in nodes if y != x and frozenset((x, y)) not in separating} for x in nodes],
        lambda x, y: separating[frozenset((x, y))],
        lambda x, z, y: 0.0,
        names,
        knowledge,
    )


class Contradictory:
    """A random skeleton with random separating sets of random strength, by name: nothing needs to fit."""

    def __init__(self, seed: int, names: Sequence[str], ties: bool = True) -> None:
        random = np.random.default_rng(seed)
        pairs = [frozenset(pair) for pair in combinations(names, 2)]
        self.names = names
        self.joined = {pair for pair in pairs if random.random() < 0.35}
        self.separating = {
            pair: None if random.random() < 0.1 else {name for name in names if random.random() < 0.5} - pair
            for pair in pairs
        }
        self.strength = {pair: -float(random.integers(3)) if ties else -float(random.random()) for pair in pairs}

    def orient(self, names: Sequence[str], knowledge: Knowledge | None = None) -> Oriented:
        """Orient, with the columns in the order of these names."""

        def separating_set(x: int, y: int) -> tuple[int, ...] | None:
            found = self.separating[frozenset((names[x], names[y]))]
            return None if found is None else tuple(names.index(name) for name in found)

        return orient(
            len(names),
            [{y for y, b in enumerate(names) if frozenset((a, b)) in self.joined} for a in names],
            separating_set,
            lambda x, z, y: self.strength[frozenset((names[x], names[y]))],
            names,
            None if knowledge is None else knowledge.bind(names),
        )
