"""GES, greedy equivalence search.

Chickering, *Optimal structure identification with greedy search*, JMLR 2002. The search visits equivalence classes of
graphs, each represented by its completed graph. Forward phase: as long as the score rises, apply the best Insert(X, Y,
T), which adds X → Y to a graph of the class in which T are parents of Y. Backward phase: likewise, the best Delete(X,
Y, H). The score must be the same for equivalent graphs (BDeu, BIC). As the number of rows tends to infinity, the search
finds the class of the true graph.

NA(Y, X) are the undirected neighbours of Y that are adjacent to X.

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Section 5.
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
from serape.structure.tabu import MIN_GAIN, ScoreCallback, Stopped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Operator:
    """Insert(x, y, T) or Delete(x, y, H), where `others` is T or H, and its gain in score.

    An insertion is valid if every semi-directed path from y to x passes through `blocking`, which is None for a
    deletion.
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
    """Return the completed graph at which the greedy search ends. Of knowledge, only forbidden pairs are used."""
    search = _Ges(score, knowledge or BoundKnowledge(), max_parents, threads)
    try:
        search.climb(search.insertions, search.insert, watch)
        search.climb(search.deletions, search.delete, watch)
    except KeyboardInterrupt:
        raise Stopped(search.graph) from None
    return search.graph


class _Ges:
    def __init__(self, score: Score, knowledge: BoundKnowledge, max_parents: int | None, threads: int) -> None:
        self.score = score
        self.knowledge = knowledge
        n = len(score.variables)
        self.max_parents = n if max_parents is None else max_parents
        self.threads = threads
        self.graph = PartlyDirected(n)
        self.nodes = np.arange(n, dtype=np.uint32)
        self.total = score.total(self.graph.parents)
        self._known: dict[tuple[int, frozenset[int]], Floats] = {}

    def climb(
        self,
        operators: Callable[[int], list[Operator]],
        apply: Callable[[PartlyDirected, Operator], None],
        watch: ScoreCallback | None,
    ) -> None:
        """Apply the best operator as long as one raises the score; only operators that may have changed are updated."""
        by_target = [operators(y) for y in range(self.graph.n)]
        while (best := self._best(by_target)) is not None:
            graph = self.graph.copy()
            apply(graph, best)
            parents = extension(graph)
            if parents is None:  # impossible, by Chickering's theorems 15 and 17
                raise RuntimeError(f"{best} leads to a graph without an extension")
            before, self.graph = self.graph, cpdag(parents)
            self.total += best.gain
            if watch is not None:
                watch(sum(map(len, parents)), self.total)
            for y in self._affected(before, best):
                by_target[y] = operators(y)

    def _best(self, by_target: list[list[Operator]]) -> Operator | None:
        """Return the valid operator with the largest gain, or None; all operators raise the score."""
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

    def _affected(self, before: PartlyDirected, applied: Operator) -> Iterator[int]:
        """Yield the targets whose operators may have changed, as their own or their neighbours' adjacencies have."""
        after = self.graph
        ends = {applied.x, applied.y}  # whose adjacencies have changed
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

        T are the sets for which NA(Y, X) ∪ T is a clique. So for every clique C among the neighbours of y, all X whose
        NA(Y, X) is a subset of C are scored together.
        """
        graph = self.graph
        neighbours, parents = graph.neighbours[y], graph.parents[y]
        excluded = graph.adjacent(y) | self.knowledge.forbidden_neighbours(y) | {y}
        common: dict[int, set[int]] = {}  # NA(y, x), if not empty
        for z in neighbours:
            for x in graph.adjacent(z):
                common.setdefault(x, set()).add(z)
        found = []
        min_gain = MIN_GAIN * abs(self.total)
        for clique in cliques(graph, neighbours):
            if len(clique) + len(parents) >= self.max_parents:
                continue
            gains = self._gains(y, clique | parents)
            for x in np.flatnonzero(gains > min_gain).tolist():
                if x not in excluded and common.get(x, frozenset()) <= clique:
                    others = clique - common.get(x, frozenset())
                    found.append(Operator(float(gains[x]), x, y, others, clique))
        return sorted(found, key=lambda o: -o.gain)

    def _gains(self, y: int, base: Collection[int]) -> Floats:
        """Return what each x adds to the score of y as a further parent beside those of `base`."""
        key = (y, frozenset(base))
        if key not in self._known:
            xs = self.nodes[~np.isin(self.nodes, [y, *base])]
            gains = np.full(self.graph.n, -np.inf)
            gains[xs] = self.score.additions(y, xs, sorted(base), threads=self.threads)
            gains[xs] -= self.score.family(y, sorted(base))
            self._known[key] = gains
        return self._known[key]

    def _blocked(self, operator: Operator, blocking: frozenset[int]) -> bool:
        """Return whether every semi-directed path from y to x passes through the blocking set."""
        graph = self.graph
        visited, pending = {operator.y, *blocking}, [operator.y]
        while pending:
            node = pending.pop()
            following = (graph.children[node] | graph.neighbours[node]) - visited
            if operator.x in following:
                return False
            visited |= following
            pending.extend(following)
        return True

    @staticmethod
    def insert(graph: PartlyDirected, operator: Operator) -> None:
        """Add x → y, and direct the edges between T and y towards y."""
        graph.add_arc(operator.x, operator.y)
        for t in operator.others:
            graph.orient(t, operator.y)

    # --- backward ------------------------------------------------------------------------------------------------

    def deletions(self, y: int) -> list[Operator]:
        """Return the deletions of arcs into y, and of edges at y, that raise the score, the best first."""
        graph = self.graph
        neighbours, parents = graph.neighbours[y], graph.parents[y]
        found = []
        min_gain = MIN_GAIN * abs(self.total)
        for x in neighbours | parents:
            common = neighbours & graph.adjacent(x)
            for clique in cliques(graph, common):  # NA(Y, X) \ H
                rest = (clique | parents) - {x}
                gain = self.score.family(y, sorted(rest)) - self.score.family(y, sorted(rest | {x}))
                if gain > min_gain:
                    found.append(Operator(gain, x, y, frozenset(common - clique)))
        return sorted(found, key=lambda o: -o.gain)

    @staticmethod
    def delete(graph: PartlyDirected, operator: Operator) -> None:
        """Remove the edge between x and y, and direct the edges between them and H towards H."""
        x, y = operator.x, operator.y
        graph.remove(x, y)
        for h in operator.others:
            graph.orient(y, h)
            if h in graph.neighbours[x]:
                graph.orient(x, h)


def cliques(graph: PartlyDirected, nodes: Collection[int]) -> Iterator[frozenset[int]]:
    """Yield all sets of nodes that are adjacent to each other, by size, the empty set first."""
    level: list[tuple[frozenset[int], tuple[int, ...]]] = [(frozenset(), tuple(sorted(nodes)))]
    while level:
        larger = []
        for clique, candidates in level:
            yield clique
            for k, z in enumerate(candidates):
                larger.append((clique | {z}, tuple(w for w in candidates[k + 1 :] if graph.are_adjacent(z, w))))
        level = larger
