"""From a skeleton to a partly directed graph: knowledge, v-structures, Meek's rules.

Spirtes, Glymour and Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000, steps C and D of the PC
algorithm. With the skeleton and separating sets of a DAG it gives the DAG's completed graph; with knowledge that is
true of the DAG, what is common to all equivalent DAGs that agree with it (Meek 1995).

A triple whose separating set is not known, or that should be a collider and is not made one, may be either: nothing is
derived from its being none (as in conservative PC: Ramsey, Spirtes and Zhang, UAI 2006).

On data, separating sets can contradict each other. Colliders are then taken surest first, and by name where they are
equally sure, so that the order of the columns does not matter; one that contradicts what is set by then is left out as
a whole, and so is one that would close a directed cycle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from serape.knowledge import BoundKnowledge
from serape.structure.graphs import Arc, PartlyDirected, TopologicalOrder, meek


@dataclass(frozen=True)
class Conflict:
    """Something that was not directed as it should have been, and why."""

    left_out: str
    because: str

    def __str__(self) -> str:
        return f"{self.left_out} is left out: {self.because}"


@dataclass(frozen=True)
class Oriented:
    """A partly directed graph, without directed cycles, and what did not go into it."""

    graph: PartlyDirected
    conflicts: list[Conflict]


def orient(
    n: int,
    neighbours: Sequence[Collection[int]],
    separating_set: Callable[[int, int], tuple[int, ...] | None],
    sureness: Callable[[int, int, int], float | None],
    names: Sequence[str],
    knowledge: BoundKnowledge | None = None,
) -> Oriented:
    """Direct the edges of a skeleton as far as separating sets and knowledge tell.

    `separating_set` gives the set that separated two variables, None if unknown; `sureness(x, z, y)` tells how sure it
    is, once Z is known not to be in it, that Z is a collider: the larger the surer, None if it is none. Knowledge goes
    before the skeleton: required arcs are added to it, pairs that are kept apart taken out.
    """
    work = _Orientation(n, names, knowledge or BoundKnowledge())
    work.join(neighbours)
    work.apply_knowledge()
    work.apply_colliders(separating_set, sureness)
    work.apply_meek()
    return Oriented(work.graph, work.conflicts)


class _Orientation:
    """The graph as it becomes directed."""

    def __init__(self, n: int, names: Sequence[str], knowledge: BoundKnowledge) -> None:
        self.names = names
        self.knowledge = knowledge
        self.graph = PartlyDirected(n)
        self.conflicts: list[Conflict] = []
        self.order = TopologicalOrder(self.graph)
        self.directed: list[Arc] = []  # in the order in which they were
        self.unclear: set[tuple[int, frozenset[int]]] = set()  # middle and ends of triples that may be colliders

    def join(self, neighbours: Sequence[Collection[int]]) -> None:
        """Take over the skeleton."""
        for x, others in enumerate(neighbours):
            for y in others:
                if not self.knowledge.forbids_pair(x, y):
                    self.graph.add_edge(x, y)
        for x, y in self.knowledge.required:
            self.graph.add_edge(x, y)

    def apply_knowledge(self) -> None:
        """Direct what is required, then what can be directed one way only."""
        if self.knowledge.is_empty:
            return
        for x, y in sorted(self.knowledge.required, key=self._by_name):
            self._direct(x, y)
        only = (self.knowledge.direction(x, y) for x, y in self.graph.edges())
        for x, y in sorted((arc for arc in only if arc is not None), key=self._by_name):
            if not self._direct(x, y):
                self._leave_out(self._arc(x, y), "it would close a directed cycle of arcs that knowledge directs")

    def apply_colliders(
        self,
        separating_set: Callable[[int, int], tuple[int, ...] | None],
        sureness: Callable[[int, int, int], float | None],
    ) -> None:
        """Make X – Z – Y, X and Y not joined, X → Z ← Y if Z is not in the set that separates X and Y, and sure."""
        colliders = []
        for z in range(self.graph.n):
            for x, y in combinations(sorted(self.graph.adjacent(z), key=self.names.__getitem__), 2):
                if self.graph.joined(x, y):
                    continue
                given = separating_set(x, y)
                if given is None or z not in given:
                    self.unclear.add((z, frozenset((x, y))))
                if given is not None and z not in given:
                    sure = sureness(x, z, y)
                    if sure is not None:
                        colliders.append((math.inf if math.isnan(sure) else -sure, self._by_name((z, x, y)), (x, z, y)))
        for _, _, (x, z, y) in sorted(colliders):
            against = self._contrary(x, z) or self._contrary(y, z) or self._closing(x, z) or self._closing(y, z)
            if against:
                self._leave_out(f"{self.names[x]} → {self.names[z]} ← {self.names[y]}", against)
                continue
            for end in (x, y):
                if end in self.graph.neighbours[z]:
                    self._direct(end, z)

    def apply_meek(self) -> None:
        """Direct what follows; nodes in the order of their names, in case that there are contradictions."""
        by_name = sorted(range(self.graph.n), key=self.names.__getitem__)
        index = {x: k for k, x in enumerate(by_name)}
        graph = self.graph.renumbered(by_name)
        refused = meek(
            graph,
            ((index[x], index[y]) for x, y in self.directed),
            lambda x, y: self.knowledge.allows(by_name[x], by_name[y]),
            lambda x, z, y: (by_name[z], frozenset((by_name[x], by_name[y]))) in self.unclear,
        )
        self.graph = graph.renumbered([index[x] for x in range(graph.n)])
        for a, b in refused:
            x, y = by_name[a], by_name[b]
            allowed = self.knowledge.allows(x, y)
            because = "it would close a directed cycle" if allowed else "knowledge does not allow it"
            self._leave_out(self._arc(x, y), because)

    def _direct(self, x: int, y: int) -> bool:
        """Make the edge between x and y an arc, unless that closes a cycle; return whether it is made."""
        if not self.order.admits(x, y):
            return False
        self.graph.orient(x, y)
        self.directed.append((x, y))
        return True

    def _contrary(self, x: int, y: int) -> str:
        """Return what rules x → y out, or nothing."""
        if not self.knowledge.allows(x, y):
            return f"knowledge does not allow {self._arc(x, y)}"
        return f"a surer collider has {self._arc(y, x)}" if x in self.graph.children[y] else ""

    def _closing(self, x: int, y: int) -> str:
        """Return that x → y would close a cycle, or nothing."""
        if x in self.graph.parents[y] or self.order.admits(x, y):
            return ""
        return f"{self._arc(x, y)} would close a directed cycle"

    def _arc(self, x: int, y: int) -> str:
        return f"{self.names[x]} → {self.names[y]}"

    def _leave_out(self, what: str, because: str) -> None:
        self.conflicts.append(Conflict(what, because))

    def _by_name(self, nodes: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.names[x] for x in nodes)
