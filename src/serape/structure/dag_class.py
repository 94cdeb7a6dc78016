"""A class of equivalent DAGs that changes arc by arc: its completed graph and one member, updated where they change.

The undirected edges of a completed graph form chordal components, and each may be directed along any order in which a
clique comes first and then always a node with the most neighbours before it (maximum cardinality search: Tarjan and
Yannakakis, SIAM Journal on Computing 1984), whatever the others do. So a member with the parents that an operator of
GES asks for is found within one component. The labels of arcs are those of Chickering's Label-Edges (see
`graphs.cpdag`): the label of an arc into Y depends on the parents of Y and on the labels of arcs into the last of them,
the one that has all others as parents; so only nodes below a change are labelled anew, as long as labels change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from heapq import heappop, heappush

from serape.structure.graphs import PartlyDirected, cpdag


class DagClass:
    """A class of DAGs: `graph` is its completed graph, `member` one of the DAGs."""

    def __init__(self, n: int, parents: Sequence[Collection[int]] = ()) -> None:
        """Begin with the class of a DAG, given the parents of every node; without them, with no arcs."""
        self.graph = cpdag(parents) if parents else PartlyDirected(n)
        self.member = PartlyDirected.of_dag(parents) if parents else PartlyDirected(n)
        self.arcs = sum(map(len, parents))
        self._before: dict[int, tuple[set[int], set[int]]] = {}  # parents and neighbours of nodes that a change reached

    def insert(self, x: int, y: int, clique: Collection[int]) -> set[int]:
        """Add x → y to a member in which, of the neighbours of y, those of a clique are parents of y.

        Returns the nodes whose parents or neighbours have changed.
        """
        self._direct(y, clique, [*sorted(clique), y])
        self.member.add_arc(x, y)
        self.arcs += 1
        return self._label_from(y)

    def delete(self, x: int, y: int, clique: Collection[int]) -> set[int]:
        """Remove x → y from a member in which, of the other neighbours of y, those of a clique are parents of y.

        Returns the nodes whose parents or neighbours have changed.
        """
        if x in self.graph.neighbours[y]:
            self._direct(y, {*clique, x}, [*sorted(clique), x, y])
        else:
            self._direct(y, clique, [*sorted(clique), y])
        self._remember(x, y)
        self.member.remove(x, y)
        self.graph.remove(x, y)
        self.arcs -= 1
        return self._label_from(y)

    def reverse(self, x: int, y: int, clique: Collection[int]) -> set[int]:
        """Turn y → x into x → y, in a member in which those of a clique are parents of y and no neighbours are of x.

        Returns the nodes whose parents or neighbours have changed.
        """
        self._direct(y, clique, [*sorted(clique), y])
        self._direct(x, (), [x])
        self._remember(x, y)
        self.member.remove(x, y)
        self.graph.remove(x, y)
        self.member.add_arc(x, y)
        return self._label_from(x, y)

    def copy(self) -> DagClass:
        """Return a class that changes on its own."""
        made = DagClass(0)
        made.graph, made.member, made.arcs = self.graph.copy(), self.member.copy(), self.arcs
        return made

    def settled(self) -> PartlyDirected:
        """Return the completed graph before a change that was interrupted, or as it is."""
        graph = PartlyDirected(self.graph.n)
        for y in range(graph.n):
            parents, neighbours = self._before.get(y, (self.graph.parents[y], self.graph.neighbours[y]))
            graph.parents[y].update(parents)
            graph.neighbours[y].update(neighbours)
            for x in parents:
                graph.children[x].add(y)
        return graph

    # --- the member ----------------------------------------------------------------------------------------------

    def _direct(self, y: int, wanted: Collection[int], first: list[int]) -> None:
        """Choose a member in which only the wanted neighbours of y are its parents: they come first."""
        graph, member = self.graph, self.member
        if member.parents[y] & graph.neighbours[y] == set(wanted):
            return
        place = {node: k for k, node in enumerate(_by_cardinality(graph, first))}
        for node in place:
            before = {z for z in graph.neighbours[node] if place[z] < place[node]}
            member.parents[node] = graph.parents[node] | before
            member.children[node] = graph.children[node] | (graph.neighbours[node] - before)

    # --- the completed graph -------------------------------------------------------------------------------------

    def _label_from(self, *starts: int) -> set[int]:
        """Label the arcs into nodes whose parents have changed, and all that follows; return the changed nodes."""
        pending = deque(dict.fromkeys(z for start in starts for z in (start, *self.member.children[start])))
        waiting = set(pending)
        while pending:
            y = pending.popleft()
            waiting.remove(y)
            if self._label(y, self._compelled(y)):
                new = self.member.children[y] - waiting
                pending.extend(new)
                waiting |= new
        graph = self.graph
        changed = {
            node
            for node, (parents, neighbours) in self._before.items()
            if parents != graph.parents[node] or neighbours != graph.neighbours[node]
        }
        self._before = {}
        return changed

    def _compelled(self, y: int) -> set[int]:
        """Return the parents of y from which the arc is in every DAG of the class, given the labels above."""
        above, compelled = self.member.parents, self.graph.parents
        last = next((x for x in above[y] if above[y] - {x} <= above[x]), None)
        return above[y] if last is None or not compelled[last] <= above[y] else compelled[last]

    def _label(self, y: int, compelled: Collection[int]) -> bool:
        """Make an arc of the completed graph, or an edge, of each arc into y; return whether anything has changed."""
        graph = self.graph
        arcs = [x for x in compelled if x not in graph.parents[y]]
        edges = [x for x in self.member.parents[y] if x not in compelled and x not in graph.neighbours[y]]
        if arcs or edges:
            self._remember(y, *arcs, *edges)
        for x in arcs:
            graph.add_arc(x, y)
        for x in edges:
            graph.add_edge(x, y)
        return bool(arcs or edges)

    def _remember(self, *nodes: int) -> None:
        """Keep what nodes were like before the change."""
        for node in nodes:
            if node not in self._before:
                self._before[node] = set(self.graph.parents[node]), set(self.graph.neighbours[node])


def _by_cardinality(graph: PartlyDirected, first: Iterable[int]) -> list[int]:
    """Return the component of undirected edges that holds a clique: the clique, then nodes with most neighbours before.

    Of several nodes, the one with the smallest number comes first.
    """
    first = list(first)
    count: dict[int, int] = {}  # neighbours that come before
    order: dict[int, None] = {}
    queue: list[tuple[int, int]] = []
    while first or queue:
        node = first.pop(0) if first else heappop(queue)[1]
        if node in order:
            continue
        order[node] = None
        for z in graph.neighbours[node]:
            if z not in order:
                count[z] = count.get(z, 0) + 1
                heappush(queue, (-count[z], z))
    return list(order)
