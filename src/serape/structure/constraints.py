"""What knowledge asks of the arcs of a DAG, as data that searches by score use without asking about pairs.

Each child has parents that it may have and parents that it must have. An order of the variables obeys if every child
comes after those that it must have; then the graph of the order can have all required arcs. Tiers put no other demand
on an order: they forbid arcs, not paths (a variable without a tier may be between two tiers). But an order with earlier
tiers first leaves each child more of the parents that it may have.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from serape.arrays import Positions
from serape.knowledge import BoundKnowledge
from serape.structure.graphs import PartlyDirected, TopologicalOrder, some_dag


class ArcConstraints:
    """What knowledge asks of the parents of each of n nodes; without knowledge, nothing."""

    def __init__(self, n: int, knowledge: BoundKnowledge | None = None) -> None:
        self.n = n
        self.knowledge = knowledge or BoundKnowledge()
        self.required: list[frozenset[int]] = [frozenset()] * n
        """By child: the parents that it must have."""
        for y, xs in _by_second(self.knowledge.required).items():
            self.required[y] = frozenset(xs)
        self._tiers = np.array([self.knowledge.tier(x) for x in range(n)], np.int64)
        self.allowed: list[Positions] = self._allowed()
        """By child: the parents that it may have, in ascending order."""

    def order(self, wanted: Sequence[int]) -> list[int]:
        """Return the nodes so that parents that are required come first, and earlier tiers, else in the wanted order.

        The nodes that have tiers share the places of all of them.
        """
        tiered = [x for x in wanted if self._tiers[x]]
        by_tier = iter(sorted(tiered, key=self._tiers.__getitem__))
        order = [next(by_tier) if self._tiers[x] else x for x in wanted]
        if not self.knowledge.required:
            return order
        place = {x: k for k, x in enumerate(order)}
        children = _by_second((y, x) for x, y in self.knowledge.required)
        waiting = [len(above) for above in self.required]
        ready = [place[x] for x in order if not waiting[x]]
        heapify(ready)
        found = []
        while ready:
            x = order[heappop(ready)]
            found.append(x)
            for y in children.get(x, ()):
                waiting[y] -= 1
                if not waiting[y]:
                    heappush(ready, place[y])
        return found

    def nearest(self, graph: PartlyDirected, most: int) -> list[set[int]]:
        """Return the parents in a DAG that obeys and is near a graph, with up to `most` parents of each node.

        It has the required arcs; then the pairs that are adjacent in the graph, as far as knowledge, this bound and
        what was directed before leave a direction for them: first those of which knowledge allows one direction only,
        then the arcs of the graph, then its edges, in the direction of a member of its class if that is possible.
        """
        found = PartlyDirected(self.n)
        order = TopologicalOrder(found)

        def add(x: int, y: int) -> bool:
            if not self.knowledge.allows(x, y) or len(found.parents[y]) >= most or not order.admits(x, y):
                return False
            found.add_arc(x, y)
            return True

        for y, above in enumerate(self.required):
            for x in sorted(above):
                add(x, y)
        arcs = [(x, y) for y, above in enumerate(some_dag(graph)) for x in sorted(above)]
        turns = {(x, y): self.knowledge.direction(x, y) is None for x, y in arcs}
        for x, y in sorted(arcs, key=lambda arc: (turns[arc], arc[0] in graph.neighbours[arc[1]], arc)):
            if not found.are_adjacent(x, y) and not add(x, y):
                add(y, x)
        return found.parents

    def _allowed(self) -> list[Positions]:
        nodes = np.arange(self.n, dtype=np.uint32)
        barred = _by_second(self.knowledge.forbidden_arcs)
        found = []
        for y in range(self.n):
            others: NDArray[np.bool_] = nodes != y
            if self._tiers[y]:
                others &= self._tiers <= self._tiers[y]
            effects = (x for x in self.knowledge.required_neighbours(y) if self.knowledge.requires(y, x))
            others[[*barred.get(y, ()), *self.knowledge.forbidden_neighbours(y), *effects]] = False
            found.append(nodes[others])
        return found


def possible_parents(n: int, knowledge: BoundKnowledge | None = None) -> list[Positions]:
    """Return, for each of n nodes, the others that knowledge allows as parents."""
    return ArcConstraints(n, knowledge).allowed


def _by_second(arcs: Iterable[tuple[int, int]]) -> Mapping[int, list[int]]:
    """Return, by the second node of arcs, the first ones."""
    found: dict[int, list[int]] = {}
    for x, y in arcs:
        found.setdefault(y, []).append(x)
    return found
