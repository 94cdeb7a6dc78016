"""Partly directed graphs: equivalence classes of DAGs, their members, and Meek's rules.

DAGs with the same skeleton and the same v-structures (X → Z ← Y, where X and Y are not adjacent) are *equivalent*: they
have the same independences. Their *completed* graph (CPDAG) has an arc where all of them agree, and an undirected edge
where they do not. Nodes are positions, 0 to n − 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

from serape.errors import DataError, InputTypeError, OptionError, abbreviate

if TYPE_CHECKING:
    import networkx as nx

Arc = tuple[int, int]


class PartlyDirected:
    """A graph of arcs and undirected edges, with at most one of them between two nodes."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.parents: list[set[int]] = [set() for _ in range(n)]
        self.children: list[set[int]] = [set() for _ in range(n)]
        self.neighbours: list[set[int]] = [set() for _ in range(n)]

    @classmethod
    def of_dag(cls, parents: Sequence[Collection[int]]) -> Self:
        """Return the graph of a DAG, given the parents of every node."""
        graph = cls(len(parents))
        for y, before in enumerate(parents):
            graph.parents[y].update(before)
            for x in before:
                graph.children[x].add(y)
        return graph

    @classmethod
    def of_networkx(cls, graph: nx.DiGraph[Any], names: Sequence[str]) -> Self:
        """Return the graph of a networkx one, in which an undirected edge is present in both directions."""
        import networkx as nx

        if not isinstance(graph, nx.DiGraph):
            raise InputTypeError(f"a networkx.DiGraph is needed, not a {type(graph).__name__}")
        index = {name: k for k, name in enumerate(names)}
        nodes = {str(node) for node in graph}
        if differing := [name for name in nodes if name not in index] or [name for name in names if name not in nodes]:
            raise OptionError(
                f"graph and names must have the same nodes; only one of them has {abbreviate(sorted(differing))}"
            )
        made = cls(len(names))
        for a, b in graph.edges():
            x, y = index[str(a)], index[str(b)]
            if x == y:
                raise OptionError(f"the graph has an arc from {str(a)!r} to itself; remove it")
            if y in made.parents[x]:
                made.add_edge(x, y)
            elif not made.are_adjacent(x, y):
                made.add_arc(x, y)
        return made

    def to_networkx(self, names: Sequence[str]) -> nx.DiGraph[str]:
        """Return the graph as a networkx one; its attribute "directed" is True if no edge is undirected."""
        import networkx as nx

        edges = self.edges()
        graph: nx.DiGraph[str] = nx.DiGraph(directed=not edges)
        graph.add_nodes_from(names)
        both_ways = [*self.arcs(), *edges, *((y, x) for x, y in edges)]
        graph.add_edges_from((names[x], names[y]) for x, y in both_ways)
        return graph

    def adjacent(self, x: int) -> set[int]:
        """Return the nodes that are adjacent to x."""
        return self.parents[x] | self.children[x] | self.neighbours[x]

    def are_adjacent(self, x: int, y: int) -> bool:
        """Return whether there is an arc or an edge between x and y."""
        return y in self.parents[x] or y in self.children[x] or y in self.neighbours[x]

    def add_arc(self, x: int, y: int) -> None:
        """Add the arc x → y, in place of any other between them."""
        self.remove(x, y)
        self.children[x].add(y)
        self.parents[y].add(x)

    def add_edge(self, x: int, y: int) -> None:
        """Add an undirected edge between x and y, in place of any arc."""
        self.remove(x, y)
        self.neighbours[x].add(y)
        self.neighbours[y].add(x)

    def remove(self, x: int, y: int) -> None:
        """Remove the arc or edge between x and y, if there is one."""
        for a, b in ((x, y), (y, x)):
            self.parents[a].discard(b)
            self.children[a].discard(b)
            self.neighbours[a].discard(b)

    def orient(self, x: int, y: int) -> None:
        """Direct the undirected edge between x and y as x → y."""
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
        """Return an independent copy."""
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
        for old, new in (
            (self.parents, graph.parents),
            (self.children, graph.children),
            (self.neighbours, graph.neighbours),
        ):
            for k, x in enumerate(order):
                new[k].update(index[y] for y in old[x])
        return graph

    def reaches(self, x: int, y: int) -> bool:
        """Return whether there is a directed path from x to y; every node reaches itself."""
        visited, pending = {x}, [x]
        while pending:
            node = pending.pop()
            if node == y:
                return True
            pending.extend(self.children[node] - visited)
            visited |= self.children[node]
        return False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PartlyDirected):
            return NotImplemented
        return self.parents == other.parents and self.neighbours == other.neighbours

    __hash__ = None  # type: ignore[assignment]  # it is mutable

    def __repr__(self) -> str:
        lines = [f"{x} → {y}" for x, y in self.arcs()] + [f"{x} – {y}" for x, y in self.edges()]
        return f"PartlyDirected({self.n}: {', '.join(lines)})"


class TopologicalOrder:
    """An order of the nodes that every arc of a graph follows, updated when arcs are added.

    Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic graphs*, JEA 2006: an arc that follows
    the order takes no time, one against it a walk between its ends.
    """

    def __init__(self, graph: PartlyDirected) -> None:
        self._graph = graph
        self._index = [0] * graph.n
        for k, x in enumerate(_topological(graph.parents, graph.children)):
            self._index[x] = k
        self._refused: set[Arc] = set()  # arcs added later never make them possible

    def admits(self, x: int, y: int) -> bool:
        """Return whether the arc x → y would close no directed cycle; if so, the order allows for it."""
        index = self._index
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
        """Return the nodes that steps from the start lead to, within a part of the order."""
        visited, pending = {start}, [start]
        while pending:
            for node in step[pending.pop()]:
                if node not in visited and first <= self._index[node] <= last:
                    visited.add(node)
                    pending.append(node)
        return visited


def cpdag(dag_parents: Sequence[Collection[int]]) -> PartlyDirected:
    """Return the completed graph of a DAG: arcs where all equivalent DAGs agree, undirected edges elsewhere.

    Chickering, *A transformational characterization of equivalent Bayesian network structures*, UAI 1995, Label-Edges.
    The nodes Y are visited in topological order, and Y's last parent X decides about all arcs into Y. If a compelled
    arc into X comes from a node that is not a parent of Y, or if a parent of Y other than X is not a parent of X, all
    are compelled. Otherwise those from the nodes with a compelled arc into X are, and no others.
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
    find a sink whose undirected neighbours are adjacent to all nodes adjacent to it, direct its edges towards it,
    remove it, repeat. A removal can only make the nodes adjacent to it eligible, so only these are checked again.
    """
    rest = graph.copy()
    parents: list[set[int]] = [set() for _ in range(graph.n)]
    removed = [False] * graph.n
    pending = list(range(graph.n))
    while pending:
        x = pending.pop()
        if removed[x] or rest.children[x]:
            continue
        adjacent = rest.parents[x] | rest.neighbours[x]
        if any(not adjacent <= rest.adjacent(y) | {y} for y in rest.neighbours[x]):
            continue
        parents[x], removed[x] = adjacent, True
        for y in adjacent:
            rest.remove(x, y)
        pending.extend(sorted(adjacent))
    return parents if all(removed) else None


def some_dag(graph: PartlyDirected) -> list[set[int]]:
    """Return the parents in a DAG that agrees with a graph or, if there is none, in one with its skeleton and arcs.

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
    ambiguous: Callable[[int, int, int], bool] | None = None,
) -> list[Arc]:
    """Direct all edges whose direction follows from the arcs; return the arcs that follow but were not directed.

    Meek, *Causal inference and causal explanation with background knowledge*, UAI 1995, rules 1 to 4. The rules are
    applied to the arcs of `start` (by default all), then to the arcs that follow. An arc that would close a directed
    cycle, or that `allows` refuses, is not directed. There is a cycle only if arcs contradict each other; the result
    then depends on the order of the nodes and of `start`, and on nothing else. The rules treat an unshielded triple
    that is not a collider as a proven non-collider, unless `ambiguous(x, z, y)` is true.
    """
    order = TopologicalOrder(graph)
    refused: dict[Arc, None] = {}
    pending = deque(graph.arcs() if start is None else start)
    while pending:
        for x, y in _following(graph, *pending.popleft(), ambiguous or _never):
            if y not in graph.neighbours[x]:
                continue
            if (allows is None or allows(x, y)) and order.admits(x, y):
                graph.orient(x, y)
                pending.append((x, y))
            else:
                refused[x, y] = None
    return [(x, y) for x, y in refused if y in graph.neighbours[x]]


def _never(x: int, z: int, y: int) -> bool:
    del x, z, y
    return False


def _following(graph: PartlyDirected, x: int, y: int, ambiguous: Callable[[int, int, int], bool]) -> list[Arc]:
    """Return the arcs that Meek's rules derive from x → y and others."""
    parents, children, neighbours = graph.parents, graph.children, graph.neighbours
    if not neighbours[x] and not neighbours[y]:
        return []
    adjacent_x, adjacent_y = graph.adjacent(x), graph.adjacent(y)
    # 1: x → y – z, x and z not adjacent: y → z, or there would be another v-structure
    found = [(y, z) for z in sorted(neighbours[y] - adjacent_x) if not ambiguous(x, y, z)]
    # 2: x → y → z, or z → x → y, with an edge between the ends: directed likewise, or there would be a cycle
    found += [(x, z) for z in sorted(children[y] & neighbours[x])]
    found += [(z, y) for z in sorted(parents[x] & neighbours[y])]
    # 3: x → y ← z, x and z not adjacent, and w with an edge to all three: w → y
    for w in sorted(neighbours[x] & neighbours[y]):
        if any(not ambiguous(x, w, z) for z in neighbours[w] & parents[y] - adjacent_x - {x}):
            found.append((w, y))
    # 4: u → v → z, u and z not adjacent, w with edges to u and z and adjacent to v: w → z. Here x → y is u → v …
    for z in sorted(children[y] - adjacent_x):
        found += [(w, z) for w in sorted(neighbours[x] & neighbours[z] & adjacent_y) if not ambiguous(x, w, z)]
    for u in sorted(parents[x] - adjacent_y):  # … or v → z
        found += [(w, y) for w in sorted(neighbours[u] & neighbours[y] & adjacent_x) if not ambiguous(u, w, y)]
    return found


def structural_hamming_distance(a: PartlyDirected, b: PartlyDirected) -> int:
    """Return the number of pairs of nodes at which the graphs differ: missing, extra, or directed differently."""
    if a.n != b.n:
        raise OptionError(f"graphs of {a.n:,} and {b.n:,} nodes cannot be compared; they must have the same nodes")
    return sum(
        x < y
        for x in range(a.n)
        for y in (a.parents[x] ^ b.parents[x]) | (a.children[x] ^ b.children[x]) | (a.neighbours[x] ^ b.neighbours[x])
    )


def topological(dag_parents: Sequence[Collection[int]]) -> list[int]:
    """Return the nodes of a DAG, parents before children."""
    return _topological(dag_parents, PartlyDirected.of_dag(dag_parents).children)


def _topological(parents: Sequence[Collection[int]], children: Sequence[Iterable[int]]) -> list[int]:
    """Return the nodes, parents before children."""
    waiting = [len(before) for before in parents]
    order = [x for x, count in enumerate(waiting) if count == 0]
    for x in order:  # the list grows during the loop
        for y in children[x]:
            waiting[y] -= 1
            if waiting[y] == 0:
                order.append(y)
    if len(order) < len(waiting):
        at = abbreviate((str(x) for x, count in enumerate(waiting) if count), 3)
        raise DataError(f"the arcs form a directed cycle at or before the nodes {at}; a DAG has none")
    return order
