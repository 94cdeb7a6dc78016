"""GES, greedy equivalence search.

Chickering, *Optimal structure identification with greedy search*, JMLR 2002. The search goes through equivalence
classes of graphs, each as its completed graph. Forward: as long as the score rises, the best Insert(X, Y, T) is made,
which adds X → Y to a graph of the class in which T are parents of Y; then backward: the best Delete(X, Y, H). The score
must be the same for equivalent graphs (BDeu, BIC). As rows grow without end, the class of the true graph is found.

NA(Y, X) are the undirected neighbours of Y that are joined to X.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace

import numpy as np
from numpy.typing import NDArray

from serape.knowledge import BoundKnowledge
from serape.structure.graphs import PartlyDirected, cpdag, extension
from serape.structure.scores import Score
from serape.structure.tabu import LEAST, ScoreCallback, Stopped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Operator:
    """Insert(x, y, T) or Delete(x, y, H), T or H being `others`, and what it gains.

    `blocking` is what every semi-directed path from y to x has to go through if it is to be valid; None for a deletion.
    """

    gain: float
    x: int
    y: int
    others: frozenset[int]
    blocking: frozenset[int] | None = None


def ges(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph that the greedy search ends in; of knowledge, pairs that are kept apart are heeded."""
    search = _Ges(score, knowledge or BoundKnowledge(), max_parents, threads)
    try:
        search.go(search.insertions, search.insert, watch)
        search.go(search.deletions, search.delete, watch)
    except KeyboardInterrupt:
        raise Stopped(search.graph) from None
    return search.graph


class _Ges:
    def __init__(self, score: Score, knowledge: BoundKnowledge, max_parents: int | None, threads: int) -> None:
        self.score = score
        self.knowledge = knowledge
        n = len(score.variables)
        self.most = n if max_parents is None else max_parents
        self.threads = threads
        self.graph = PartlyDirected(n)
        self.nodes = np.arange(n, dtype=np.uint32)
        self.total = score.total(self.graph.parents)
        self._known: dict[tuple[int, frozenset[int]], Floats] = {}

    def go(
        self,
        operators: Callable[[int], list[Operator]],
        apply: Callable[[PartlyDirected, Operator], None],
        watch: ScoreCallback | None,
    ) -> None:
        """Make the best operator as long as one raises the score. What cannot have changed is not looked at again."""
        by_target = [operators(y) for y in range(self.graph.n)]
        while (best := self._best(by_target)) is not None:
            graph = self.graph.copy()
            apply(graph, best)
            parents = extension(graph)
            if parents is None:  # cannot be, by Chickering's theorems 15 and 17
                raise RuntimeError(f"{best} leads to no graph")
            before, self.graph = self.graph, cpdag(parents)
            self.total += best.gain
            if watch is not None:
                watch(sum(map(len, parents)), self.total)
            for y in self._concerned(before, best):
                by_target[y] = operators(y)

    def _best(self, by_target: list[list[Operator]]) -> Operator | None:
        """Return the valid operator that gains most, if there is one: all of these raise the score."""
        waiting = [(-operators[0].gain, y, 0) for y, operators in enumerate(by_target) if operators]
        heapify(waiting)
        while waiting:
            _, y, k = waiting[0]
            operator = by_target[y][k]
            if operator.blocking is None or self._blocked(operator, operator.blocking):
                return operator
            if k + 1 < len(by_target[y]):
                heapreplace(waiting, (-by_target[y][k + 1].gain, y, k + 1))
            else:
                heappop(waiting)
        return None

    def _concerned(self, before: PartlyDirected, made: Operator) -> Iterator[int]:
        """Yield the targets whose operators may have changed: by their own joins, or by those of their neighbours."""
        after = self.graph
        ends = {made.x, made.y}  # whose joins have changed
        for y in range(after.n):
            if (
                y in ends
                or after.neighbours[y] & ends
                or before.neighbours[y] != after.neighbours[y]
                or before.parents[y] != after.parents[y]
            ):
                yield y

    # --- forward -------------------------------------------------------------------------------------------------

    def insertions(self, y: int) -> list[Operator]:
        """Return the insertions of arcs into y that raise the score, the best first.

        T runs through the sets with which NA(Y, X) ∪ T is a clique; so for every clique C among the neighbours of y,
        all X are asked at once whose NA(Y, X) lies in C.
        """
        graph = self.graph
        near, parents = graph.neighbours[y], graph.parents[y]
        apart = graph.adjacent(y) | self.knowledge.forbidden_neighbours(y) | {y}
        touching: dict[int, set[int]] = {}  # NA(y, x), where there is one
        for z in near:
            for x in graph.adjacent(z):
                touching.setdefault(x, set()).add(z)
        found = []
        least = LEAST * abs(self.total)
        for clique in cliques(graph, near):
            if len(clique) + len(parents) >= self.most:
                continue
            gains = self._gains(y, clique | parents)
            for x in np.flatnonzero(gains > least).tolist():
                if x not in apart and touching.get(x, frozenset()) <= clique:
                    others = clique - touching.get(x, frozenset())
                    found.append(Operator(float(gains[x]), x, y, others, clique))
        return sorted(found, key=lambda o: -o.gain)

    def _gains(self, y: int, base: Collection[int]) -> Floats:
        """Return what each x adds to the score of y when it joins some parents."""
        key = (y, frozenset(base))
        if key not in self._known:
            xs = self.nodes[~np.isin(self.nodes, [y, *base])]
            gains = np.full(self.graph.n, -np.inf)
            gains[xs] = self.score.additions(y, xs, sorted(base), threads=self.threads)
            gains[xs] -= self.score.family(y, sorted(base))
            self._known[key] = gains
        return self._known[key]

    def _blocked(self, operator: Operator, blocking: frozenset[int]) -> bool:
        """Return whether every semi-directed path from y to x goes through the blocking set."""
        graph = self.graph
        seen, fresh = {operator.y, *blocking}, [operator.y]
        while fresh:
            node = fresh.pop()
            onward = (graph.children[node] | graph.neighbours[node]) - seen
            if operator.x in onward:
                return False
            seen |= onward
            fresh.extend(onward)
        return True

    @staticmethod
    def insert(graph: PartlyDirected, operator: Operator) -> None:
        """Add x → y, and direct the edges between T and y into y."""
        graph.add_arc(operator.x, operator.y)
        for t in operator.others:
            graph.orient(t, operator.y)

    # --- backward ------------------------------------------------------------------------------------------------

    def deletions(self, y: int) -> list[Operator]:
        """Return the deletions of arcs into y, and of edges at y, that raise the score, the best first."""
        graph = self.graph
        near, parents = graph.neighbours[y], graph.parents[y]
        found = []
        least = LEAST * abs(self.total)
        for x in near | parents:
            common = near & graph.adjacent(x)
            for clique in cliques(graph, common):  # what NA(Y, X) \ H is
                rest = (clique | parents) - {x}
                gain = self.score.family(y, sorted(rest)) - self.score.family(y, sorted(rest | {x}))
                if gain > least:
                    found.append(Operator(gain, x, y, frozenset(common - clique)))
        return sorted(found, key=lambda o: -o.gain)

    @staticmethod
    def delete(graph: PartlyDirected, operator: Operator) -> None:
        """Take away what joins x and y, and direct the edges between them and H towards H."""
        x, y = operator.x, operator.y
        graph.remove(x, y)
        for h in operator.others:
            graph.orient(y, h)
            if h in graph.neighbours[x]:
                graph.orient(x, h)


def cliques(graph: PartlyDirected, nodes: Collection[int]) -> Iterator[frozenset[int]]:
    """Yield all sets of nodes that are joined to each other, the empty one first."""
    last: list[tuple[frozenset[int], tuple[int, ...]]] = [(frozenset(), tuple(sorted(nodes)))]
    while last:
        larger = []
        for clique, rest in last:
            yield clique
            for k, z in enumerate(rest):
                larger.append((clique | {z}, tuple(w for w in rest[k + 1 :] if graph.joined(z, w))))
        last = larger
