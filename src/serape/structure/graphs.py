"""Partly directed graphs: equivalence classes of DAGs, their members, and Meek's rules.

DAGs of the same skeleton and the same v-structures (X → Z ← Y, X and Y not joined) are *equivalent*: no independence
tells them apart. Their *completed* graph (CPDAG) has an arc where all of them agree, an undirected edge where they do
not. Nodes are positions, 0 to n − 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Self

import networkx as nx

from serape.errors import DataError, InputTypeError, OptionError, abbreviate

Arc = tuple[int, int]


class PartlyDirected:
    """A graph of arcs and undirected edges; two nodes are joined by one of them at most."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.parents: list[set[int]] = [set() for _ in range(n)]
        self.children: list[set[int]] = [set() for _ in range(n)]
        self.neighbours: list[set[int]] = [set() for _ in range(n)]

    @classmethod
    def of_dag(cls, parents: Sequence[Collection[int]]) -> Self:
        """Make the graph of a DAG from every node's parents."""
        graph = cls(len(parents))
        for y, before in enumerate(parents):
            graph.parents[y].update(before)
            for x in before:
                graph.children[x].add(y)
        return graph

    @classmethod
    def of_networkx(cls, graph: nx.DiGraph[Any], names: Sequence[str]) -> Self:
        """Make the graph from a networkx one, in which an undirected edge is present both ways."""
        if not isinstance(graph, nx.DiGraph):
            raise InputTypeError(f"a networkx.DiGraph is needed, not a {type(graph).__name__}")
        index = {name: k for k, name in enumerate(names)}
        nodes = {str(node) for node in graph}
        if astray := [name for name in nodes if name not in index] or [name for name in names if name not in nodes]:
            raise OptionError(
                f"graph and names must have the same nodes; only one of them has {abbreviate(sorted(astray))}"
            )
        made = cls(len(names))
        for a, b in graph.edges():
            x, y = index[str(a)], index[str(b)]
            if x == y:
                raise OptionError(f"the graph has an arc from {str(a)!r} to itself; take it out")
            if y in made.parents[x]:
                made.add_edge(x, y)
            elif not made.joined(x, y):
                made.add_arc(x, y)
        return made

    def to_networkx(self, names: Sequence[str]) -> nx.DiGraph[str]:
        """Return the graph as a networkx one; its attribute "directed" says whether no edge is undirected."""
        edges = self.edges()
        graph: nx.DiGraph[str] = nx.DiGraph(directed=not edges)
        graph.add_nodes_from(names)
        both_ways = [*self.arcs(), *edges, *((y, x) for x, y in edges)]
        graph.add_edges_from((names[x], names[y]) for x, y in both_ways)
        return graph

    def adjacent(self, x: int) -> set[int]:
        """Return all that are joined to x."""
        return self.parents[x] | self.children[x] | self.neighbours[x]

    def joined(self, x: int, y: int) -> bool:
        """Return whether an arc or an edge joins x and y."""
        return y in self.parents[x] or y in self.children[x] or y in self.neighbours[x]

    def add_arc(self, x: int, y: int) -> None:
        """Join x and y by x → y, whatever joined them before."""
        self.remove(x, y)
        self.children[x].add(y)
        self.parents[y].add(x)

    def add_edge(self, x: int, y: int) -> None:
        """Join x and y by an undirected edge, whatever joined them before."""
        self.remove(x, y)
        self.neighbours[x].add(y)
        self.neighbours[y].add(x)

    def remove(self, x: int, y: int) -> None:
        """Remove what joins x and y, if anything does."""
        for a, b in ((x, y), (y, x)):
            self.parents[a].discard(b)
            self.children[a].discard(b)
            self.neighbours[a].discard(b)

    def orient(self, x: int, y: int) -> None:
        """Make the undirected edge between x and y the arc x → y."""
        self.neighbours[x].remove(y)
        self.neighbours[y].remove(x)
        self.children[x].add(y)
        self.parents[y].add(x)

    def arcs(self) -> list[Arc]:
        """Return the arcs x → y as (x, y), sorted."""
        return [(x, y) for x in range(self.n) for y in sorted(self.children[x])]

    def edges(self) -> list[Arc]:
        """Return the undirected edges as (x, y), x < y, sorted."""
        return [(x, y) for x in range(self.n) for y in sorted(self.neighbours[x]) if x < y]

    def copy(self) -> Self:
        """Return a graph that changes on its own."""
        graph = type(self)(0)
        graph.n = self.n
        graph.parents = [set(others) for others in self.parents]
        graph.children = [set(others) for others in self.children]
        graph.neighbours = [set(others) for others in self.neighbours]
        return graph

    def renumbered(self, order: Sequence[int]) -> Self:
        """Return the graph whose node k is this one's node order[k]."""
        index = {x: k for k, x in enumerate(order)}
        graph = type(self)(self.n)
        for mine, its in (
            (self.parents, graph.parents),
            (self.children, graph.children),
            (self.neighbours, graph.neighbours),
        ):
            for k, x in enumerate(order):
                its[k].update(index[y] for y in mine[x])
        return graph

    def reaches(self, x: int, y: int) -> bool:
        """Return whether a directed path leads from x to y; every node reaches itself."""
        seen, fresh = {x}, [x]
        while fresh:
            node = fresh.pop()
            if node == y:
                return True
            fresh.extend(self.children[node] - seen)
            seen |= self.children[node]
        return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartlyDirected):
            return NotImplemented
        return self.parents == other.parents and self.neighbours == other.neighbours

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        joins = [f"{x} → {y}" for x, y in self.arcs()] + [f"{x} – {y}" for x, y in self.edges()]
        return f"PartlyDirected({self.n}: {', '.join(joins)})"


class TopologicalOrder:
    """An order of the nodes that every arc of a graph follows, mended as arcs come.

    Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic graphs*, JEA 2006: an arc that follows
    the order costs nothing, one against it a walk between its ends.
    """

    def __init__(self, graph: PartlyDirected) -> None:
        self._graph = graph
        self._place = [0] * graph.n
        for k, x in enumerate(_topological(graph.parents, graph.children)):
            self._place[x] = k
        self._refused: set[Arc] = set()  # no arc that comes later makes them possible

    def admits(self, x: int, y: int) -> bool:
        """Return whether the arc x → y would close no directed cycle; if so, it may now be added."""
        index = self._place
        first, last = index[y], index[x]
        if last < first:
            return True
        if (x, y) in self._refused:
            return False
        after = self._walk(y, self._graph.children, first, last)
        if x in after:
            self._refused.add((x, y))
            return False
        before = self._walk(x, self._graph.parents, first, last)
        indices = sorted(index[node] for node in before | after)
        moved = sorted(before, key=index.__getitem__) + sorted(after, key=index.__getitem__)
        for node, k in zip(moved, indices, strict=True):
            index[node] = k
        return True

    def _walk(self, start: int, step: list[set[int]], first: int, last: int) -> set[int]:
        """Return what steps from the start lead to within some part of the order."""
        seen, fresh = {start}, [start]
        while fresh:
            for node in step[fresh.pop()]:
                if node not in seen and first <= self._place[node] <= last:
                    seen.add(node)
                    fresh.append(node)
        return seen


def cpdag(dag_parents: Sequence[Collection[int]]) -> PartlyDirected:
    """Return the completed graph of a DAG: the arcs that all equivalent DAGs share, the rest undirected.

    Chickering, *A transformational characterization of equivalent Bayesian network structures*, UAI 1995. His
    Label-Edges goes through the nodes Y in topological order; what it finds out about the arc from Y's last parent X
    settles all arcs into Y. If a compelled arc into X comes from a node that is no parent of Y, or a parent of Y other
    than X is none of X, all are compelled; else those from the ends of the compelled arcs into X are, and no others.
    """
    parents = [set(before) for before in dag_parents]
    children: list[set[int]] = [set() for _ in parents]
    for y, before in enumerate(parents):
        for x in before:
            children[x].add(y)
    order = _topological(parents, children)
    index = {x: k for k, x in enumerate(order)}
    graph = PartlyDirected(len(parents))
    compelled = graph.parents
    for y in order:
        if not parents[y]:
            continue
        x = max(parents[y], key=index.__getitem__)
        if compelled[x] <= parents[y] and parents[y] - {x} <= parents[x]:
            compelled[y].update(compelled[x])
        else:
            compelled[y].update(parents[y])
        for z in compelled[y]:
            graph.children[z].add(y)
        for z in parents[y] - compelled[y]:
            graph.neighbours[y].add(z)
            graph.neighbours[z].add(y)
    return graph


def extension(graph: PartlyDirected) -> list[set[int]] | None:
    """Return the parents in a DAG of the same skeleton and v-structures that keeps all arcs, or None if there is none.

    Dor and Tarsi, *A simple algorithm to construct a consistent extension of a partially oriented graph*, UCLA 1992:
    find a sink whose undirected neighbours are joined to all around it, direct its edges into it, take it out, go on.
    Taking it out concerns only those that were joined to it, so only they are looked at again.
    """
    rest = graph.copy()
    parents: list[set[int]] = [set() for _ in range(graph.n)]
    taken = [False] * graph.n
    to_try = list(range(graph.n))
    while to_try:
        x = to_try.pop()
        if taken[x] or rest.children[x]:
            continue
        around = rest.parents[x] | rest.neighbours[x]
        if any(not around <= rest.adjacent(y) | {y} for y in rest.neighbours[x]):
            continue
        parents[x], taken[x] = around, True
        for y in around:
            rest.remove(x, y)
        to_try.extend(sorted(around))
    return parents if all(taken) else None


def some_dag(graph: PartlyDirected) -> list[set[int]]:
    """Return the parents in a DAG that agrees with a graph; where none does, in one that keeps skeleton and arcs.

    Arcs that contradict each other can leave no extension; then edges are directed along an order that the arcs follow.
    """
    found = extension(graph)
    if found is not None:
        return found
    directed = graph.copy()
    index = {x: k for k, x in enumerate(_topological(graph.parents, graph.children))}
    for x, y in graph.edges():
        directed.orient(*sorted((x, y), key=index.__getitem__))
    return directed.parents


def meek(
    graph: PartlyDirected,
    start: Iterable[Arc] | None = None,
    allows: Callable[[int, int], bool] | None = None,
    unclear: Callable[[int, int, int], bool] | None = None,
) -> list[Arc]:
    """Direct all edges whose direction follows from the arcs; return the arcs that follow and were not made.

    Meek, *Causal inference and causal explanation with background knowledge*, UAI 1995, rules 1 to 4. `start` are the
    arcs to look at first, all if not given; then what they lead to is. An arc that would close a directed cycle, or
    that `allows` does not, is not made; the first can only be where the arcs contradict each other. What then comes of
    it depends on the order of the nodes and of `start`, and on nothing else. The rules take an unshielded triple that
    is no collider for a proven non-collider; of those that are `unclear(x, z, y)` they make no use.
    """
    order = TopologicalOrder(graph)
    refused: dict[Arc, None] = {}
    to_do = deque(graph.arcs() if start is None else start)
    while to_do:
        for x, y in _following(graph, *to_do.popleft(), unclear or _clear):
            if y not in graph.neighbours[x]:
                continue
            if (allows is None or allows(x, y)) and order.admits(x, y):
                graph.orient(x, y)
                to_do.append((x, y))
            else:
                refused[x, y] = None
    return [(x, y) for x, y in refused if y in graph.neighbours[x]]


def _clear(x: int, z: int, y: int) -> bool:
    del x, z, y
    return False


def _following(graph: PartlyDirected, x: int, y: int, unclear: Callable[[int, int, int], bool]) -> list[Arc]:
    """Return the arcs that Meek's rules derive from x → y and others."""
    parents, children, neighbours = graph.parents, graph.children, graph.neighbours
    if not neighbours[x] and not neighbours[y]:
        return []
    around_x, around_y = graph.adjacent(x), graph.adjacent(y)
    # 1: x → y – z, x and z not joined: y → z, or there would be another v-structure
    found = [(y, z) for z in sorted(neighbours[y] - around_x) if not unclear(x, y, z)]
    # 2: x → y → z, or z → x → y, the ends joined by an edge: or there would be a cycle
    found += [(x, z) for z in sorted(children[y] & neighbours[x])]
    found += [(z, y) for z in sorted(parents[x] & neighbours[y])]
    # 3: x → y ← z, not joined, and w with an edge to all three: w → y
    for w in sorted(neighbours[x] & neighbours[y]):
        if any(not unclear(x, w, z) for z in neighbours[w] & parents[y] - around_x - {x}):
            found.append((w, y))
    # 4: u → v → z, u and z not joined, and w with an edge to u and to z and joined to v: w → z; here x → y is u → v …
    for z in sorted(children[y] - around_x):
        found += [(w, z) for w in sorted(neighbours[x] & neighbours[z] & around_y) if not unclear(x, w, z)]
    for u in sorted(parents[x] - around_y):  # … or v → z
        found += [(w, y) for w in sorted(neighbours[u] & neighbours[y] & around_x) if not unclear(u, w, y)]
    return found


def structural_hamming_distance(a: PartlyDirected, b: PartlyDirected) -> int:
    """Return the number of pairs of nodes that the graphs join differently: missing, extra, or otherwise directed."""
    if a.n != b.n:
        raise OptionError(f"graphs of {a.n:,} and {b.n:,} nodes cannot be compared; they must have the same nodes")
    return sum(
        x < y
        for x in range(a.n)
        for y in (a.parents[x] ^ b.parents[x]) | (a.children[x] ^ b.children[x]) | (a.neighbours[x] ^ b.neighbours[x])
    )


def _topological(parents: Sequence[Collection[int]], children: Sequence[Iterable[int]]) -> list[int]:
    """Return the nodes, parents before children."""
    waiting = [len(before) for before in parents]
    order = [x for x, count in enumerate(waiting) if count == 0]
    for x in order:  # which grows
        for y in children[x]:
            waiting[y] -= 1
            if waiting[y] == 0:
                order.append(y)
    if len(order) < len(waiting):
        at = abbreviate((str(x) for x, count in enumerate(waiting) if count), 3)
        raise DataError(f"the arcs form a directed cycle, in or before the nodes at {at}; a DAG has none")
    return order
