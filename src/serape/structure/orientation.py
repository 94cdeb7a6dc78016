"""The orientation of a skeleton: knowledge, v-structures, Meek's rules.

Spirtes, Glymour and Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000, steps C and D of the PC
algorithm. The skeleton and separating sets of a DAG give its completed graph. With knowledge that is true of the DAG,
the result has the arcs that all equivalent DAGs that agree with the knowledge have in common (Meek 1995).

A triple is ambiguous if its separating set is unknown, or if it should be a collider and is not made one. It is not
used as a non-collider (as in conservative PC: Ramsey, Spirtes and Zhang, UAI 2006).

On data, separating sets can contradict each other. Colliders are then oriented in the order of their certainty, and of
their names if they are equally certain, so that the order of the columns has no effect. A collider is dropped if it
contradicts an arc directed before, or would close a directed cycle.

See docs/papers.md: Aliferis 2008, LGL; Colombo and Maathuis 2014.
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
    """An arc or collider that was dropped, and why."""

    dropped: str
    because: str

    def __str__(self) -> str:
        return f"{self.dropped} is dropped: {self.because}"


@dataclass(frozen=True)
class Oriented:
    """A partly directed graph without directed cycles, and the conflicts."""

    graph: PartlyDirected
    conflicts: list[Conflict]


def orient(
    n: int,
    neighbours: Sequence[Collection[int]],
    separating_set: Callable[[int, int], tuple[int, ...] | None],
    certainty: Callable[[int, int, int], float | None],
    names: Sequence[str],
    knowledge: BoundKnowledge | None = None,
    shown: Sequence[tuple[float, Arc]] = (),
) -> Oriented:
    """Direct the edges of a skeleton as far as separating sets and knowledge determine their directions.

    `separating_set(x, y)` returns the set that separates two variables, None if it is unknown. If Z is not in it,
    `certainty(x, z, y)` returns how certain it is that Z is a collider, None if it is not one. Knowledge has priority
    over the skeleton: required arcs are added to it, forbidden pairs removed. `shown` are arcs that other tests show,
    each with its certainty.
    """
    work = _Orientation(n, names, knowledge or BoundKnowledge())
    work.add_skeleton(neighbours)
    work.apply_knowledge()
    work.apply_colliders(separating_set, certainty, shown)
    work.apply_meek()
    return Oriented(work.graph, work.conflicts)


class _Orientation:
    """The graph while it is being directed."""

    def __init__(self, n: int, names: Sequence[str], knowledge: BoundKnowledge) -> None:
        self.names = names
        self.knowledge = knowledge
        self.graph = PartlyDirected(n)
        self.conflicts: list[Conflict] = []
        self.order = TopologicalOrder(self.graph)
        self.directed: list[Arc] = []  # in the order in which they were directed
        self.ambiguous: set[tuple[int, frozenset[int]]] = set()  # middle and ends of triples that may be colliders

    def add_skeleton(self, neighbours: Sequence[Collection[int]]) -> None:
        """Add the edges of the skeleton and the required ones, without forbidden pairs."""
        for x, others in enumerate(neighbours):
            for y in others:
                if not self.knowledge.forbids_pair(x, y):
                    self.graph.add_edge(x, y)
        for x, y in self.knowledge.required:
            self.graph.add_edge(x, y)

    def apply_knowledge(self) -> None:
        """Direct required arcs, then edges for which knowledge allows one direction only."""
        if self.knowledge.is_empty:
            return
        for x, y in sorted(self.knowledge.required, key=self._by_name):
            self._direct(x, y)
        allowed = (self.knowledge.direction(x, y) for x, y in self.graph.edges())
        for x, y in sorted((arc for arc in allowed if arc is not None), key=self._by_name):
            if not self._direct(x, y):
                self._drop(self._arc(x, y), "it would close a directed cycle of arcs that knowledge directs")

    def apply_colliders(
        self,
        separating_set: Callable[[int, int], tuple[int, ...] | None],
        certainty: Callable[[int, int, int], float | None],
        shown: Sequence[tuple[float, Arc]] = (),
    ) -> None:
        """Direct X – Z – Y, where X and Y are not adjacent, as X → Z ← Y if Z is not in their separating set.

        An arc X → Z that is shown takes its turn as a collider with the single end X.
        """
        colliders = [(_rank(certain), self._by_name((z, x, x)), (x, z, x)) for certain, (x, z) in shown]
        for z in range(self.graph.n):
            for x, y in combinations(sorted(self.graph.adjacent(z), key=self.names.__getitem__), 2):
                if self.graph.are_adjacent(x, y):
                    continue
                given = separating_set(x, y)
                if given is None or z not in given:
                    self.ambiguous.add((z, frozenset((x, y))))
                if given is not None and z not in given:
                    certain = certainty(x, z, y)
                    if certain is not None:
                        colliders.append((_rank(certain), self._by_name((z, x, y)), (x, z, y)))
        for _, _, (x, z, y) in sorted(colliders):
            because = self._contradiction(x, z) or self._contradiction(y, z) or self._cycle(x, z) or self._cycle(y, z)
            if because:
                self._drop(self._arc(x, z) if x == y else f"{self._arc(x, z)} ← {self.names[y]}", because)
                continue
            for end in (x, y):
                if end in self.graph.neighbours[z]:
                    self._direct(end, z)

    def apply_meek(self) -> None:
        """Direct the arcs that follow by Meek's rules, in the order of names, which matters for contradictions."""
        by_name = sorted(range(self.graph.n), key=self.names.__getitem__)
        index = {x: k for k, x in enumerate(by_name)}
        graph = self.graph.renumbered(by_name)
        refused = meek(
            graph,
            ((index[x], index[y]) for x, y in self.directed),
            lambda x, y: self.knowledge.allows(by_name[x], by_name[y]),
            lambda x, z, y: (by_name[z], frozenset((by_name[x], by_name[y]))) in self.ambiguous,
        )
        self.graph = graph.renumbered([index[x] for x in range(graph.n)])
        for a, b in refused:
            x, y = by_name[a], by_name[b]
            allowed = self.knowledge.allows(x, y)
            because = "it would close a directed cycle" if allowed else "knowledge does not allow it"
            self._drop(self._arc(x, y), because)

    def _direct(self, x: int, y: int) -> bool:
        """Direct the edge between x and y as x → y, unless that closes a cycle; return whether it is directed."""
        if not self.order.admits(x, y):
            return False
        self.graph.orient(x, y)
        self.directed.append((x, y))
        return True

    def _contradiction(self, x: int, y: int) -> str:
        """Return what contradicts x → y, or an empty text."""
        if not self.knowledge.allows(x, y):
            return f"knowledge does not allow {self._arc(x, y)}"
        return f"a more certain collider has {self._arc(y, x)}" if x in self.graph.children[y] else ""

    def _cycle(self, x: int, y: int) -> str:
        """Return that x → y would close a cycle, or an empty text."""
        if x in self.graph.parents[y] or self.order.admits(x, y):
            return ""
        return f"{self._arc(x, y)} would close a directed cycle"

    def _arc(self, x: int, y: int) -> str:
        return f"{self.names[x]} → {self.names[y]}"

    def _drop(self, what: str, because: str) -> None:
        self.conflicts.append(Conflict(what, because))

    def _by_name(self, nodes: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.names[x] for x in nodes)


def _rank(certain: float) -> float:
    """Return what sorts the most certain first."""
    return math.inf if math.isnan(certain) else -certain
