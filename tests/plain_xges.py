"""A plain twin of XGES: classes are lists of all their graphs, and every operator is looked at in every step."""

from __future__ import annotations

from dataclasses import dataclass, field

from plain_searches import Trace, after, deletions, insertions, reversals
from serape.structure.ges import Operator
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score


@dataclass
class PlainXges:
    """The search and the trace of all its steps."""

    score: Score
    max_parents: int
    trace: Trace = field(default_factory=list)

    def climb(self, graph: PartlyDirected, total: float, barred: frozenset[int]) -> tuple[PartlyDirected, float]:
        """Delete, or else reverse, or else insert, as long as it raises the score."""
        while True:
            for moves in (self._deletions(graph), self._reversals(graph), self._insertions(graph, barred)):
                gain, best = max(moves, key=lambda move: move[0], default=(0.0, graph))
                if gain > self.score.rounding:
                    break
            else:
                return graph, total
            graph, total = best, total + gain
            self.trace.append((len(graph.arcs()) + len(graph.edges()), total))

    def run(self) -> PartlyDirected:
        """Climb, then delete each edge and climb on, as long as that leads to a higher score."""
        empty = PartlyDirected(len(self.score.variables))
        graph, total = self.climb(empty, self.score.total(empty.parents), frozenset())
        better = True
        while better:
            better = False
            every = [o for y in range(graph.n) for o in deletions(graph, self.score, y, self.max_parents)]
            for operator in sorted(every, key=lambda o: -o.gain):
                pair = frozenset((operator.x, operator.y))
                other = self.climb(after(graph, operator), total + operator.gain, pair)
                other = self.climb(*other, frozenset())
                if other[1] > total + self.score.rounding:
                    graph, total = other
                    better = True
                    break
        return graph

    def _deletions(self, graph: PartlyDirected) -> list[tuple[float, PartlyDirected]]:
        every = [o for y in range(graph.n) for o in deletions(graph, self.score, y, self.max_parents)]
        return [(o.gain, after(graph, o)) for o in every]

    def _reversals(self, graph: PartlyDirected) -> list[tuple[float, PartlyDirected]]:
        return [move for y in range(graph.n) for move in reversals(graph, self.score, y, self.max_parents)]

    def _insertions(self, graph: PartlyDirected, barred: frozenset[int]) -> list[tuple[float, PartlyDirected]]:
        every: list[Operator] = [o for y in range(graph.n) for o in insertions(graph, self.score, y, self.max_parents)]
        return [(o.gain, after(graph, o)) for o in every if {o.x, o.y} != barred]
