"""XGES, extremely greedy equivalence search.

Nazaret and Blei, *Extremely greedy equivalence search*, UAI 2024. GES inserts all it can before it deletes. In many
rows nearly all variables are associated, so its forward phase ends with many arcs too many, and its backward phase in a
local optimum that no single deletion leaves. XGES deletes if a deletion raises the score, otherwise reverses an arc,
and inserts only if neither raises it (XGES-0 of the paper). At the optimum, it applies each deletion although that
lowers the score, and searches on: at first without inserting that edge again, then with it. If the score ends higher,
the search goes on from there; it ends if no deletion helps. As the number of rows tends to infinity, it finds the class
of the true graph, as GES does: no insertion raises the score of the last graph, and no deletion does.

Reverse(X, Y, T) turns an arc Y → X that all graphs of the class have, in one of them in which T and NA(Y, X) are
parents of Y and no neighbour of X is its parent (Hauser and Bühlmann, JMLR 2012, turn arcs of more general classes).

See docs/papers.md: Nazaret and Blei 2024.
"""

from __future__ import annotations

import copy

from serape.knowledge import BoundKnowledge
from serape.structure.ges import ClassSearch, Operator, Phase, Ranking, cliques
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.tabu import ScoreCallback, Stopped


def xges(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the search ends. Of knowledge, only forbidden pairs are used."""
    best = _Xges(score, knowledge or BoundKnowledge(), max_parents, threads)
    try:
        best.climb(best.phases, watch)
        while (better := best.improved(watch)) is not None:
            best = better
    except KeyboardInterrupt:
        raise Stopped(best.found.settled()) from None
    return best.graph


class _Xges(ClassSearch):
    def __init__(self, score: Score, knowledge: BoundKnowledge, max_parents: int | None, threads: int) -> None:
        super().__init__(score, knowledge, max_parents, threads)
        self._turned: set[object] = set()  # classes, each with a reversal that was applied to it
        self.phases = [self.deletion_phase(), self.reversal_phase(), self.insertion_phase()]

    def affected(self, pair: set[int], changed: set[int]) -> set[int]:
        """Return the targets whose operators may have changed; reversals depend on the parents of children, too."""
        found = super().affected(pair, changed)
        return found.union(*(self.graph.parents[node] for node in pair | changed))

    def reversal_phase(self, ranking: Ranking | None = None) -> Phase:
        """Return the phase of reversals."""
        ranking = ranking or Ranking(self.graph.n)
        return Phase(lambda targets: map(self._reversals, targets), self._reversal_path, self._reverse, ranking)

    def _reversals(self, y: int) -> list[Operator]:
        """Return the reversals of arcs y → x that raise the score, the best first."""
        graph, family = self.graph, self.score.family
        found = []
        above = graph.parents[y]
        bases = [
            clique for clique in cliques(graph, graph.neighbours[y]) if len(clique) + len(above) < self.max_parents
        ]
        for x in sorted(graph.children[y]):
            common = graph.neighbours[y] & graph.adjacent(x)
            of_x = family(x, graph.parents[x] - {y}) - family(x, graph.parents[x])
            for clique in bases:
                if common <= clique:
                    gain = of_x + family(y, above | clique | {x}) - family(y, above | clique)
                    if gain > self.score.rounding:
                        found.append(Operator(gain, x, y, clique, clique | graph.neighbours[x]))
        return sorted(found, key=lambda o: -o.gain)

    def _reversal_path(self, operator: Operator) -> list[int] | None:
        """Return what makes a reversal invalid, or None; it is applied to a class once, so that the search ends."""
        if (path := self.path(operator)) is not None:
            return path
        step = operator, frozenset(self.graph.arcs()), frozenset(self.graph.edges())
        if step in self._turned:
            return [operator.x, operator.y]
        self._turned.add(step)
        return None

    def _reverse(self, operator: Operator) -> set[int]:
        return self.found.reverse(operator.x, operator.y, operator.others)

    def improved(self, watch: ScoreCallback | None) -> _Xges | None:
        """Return the first search that begins with a deletion and ends with a higher score; None if none does."""
        every = [deletion for y in range(self.graph.n) for deletion in self.every_deletion(y)]
        for deletion in sorted(every, key=lambda o: -o.gain):
            other = self.after(deletion, watch)
            if self.score.gain(self.found.member.parents, other.found.member.parents) > self.score.rounding:
                return other
        return None

    def after(self, deletion: Operator, watch: ScoreCallback | None) -> _Xges:
        """Return the search that begins with a deletion: at first the edge may not be inserted again, then it may."""
        other = self._copy()
        other.barred = deletion.edge
        affected = other.apply(deletion, other.phases, other.delete)
        other.climb(other.phases, watch, affected)
        other.barred = frozenset()
        other.climb(other.phases, watch, deletion.edge)
        other.total = self.score.total(other.found.member.parents)
        return other

    def _copy(self) -> _Xges:
        made = copy.copy(self)
        made.found = self.found.copy()
        made._turned = set()
        deletions, reversals, insertions = (phase.ranking.copy() for phase in self.phases)
        made.phases = [
            made.deletion_phase(deletions),
            made.reversal_phase(reversals),
            made.insertion_phase(insertions),
        ]
        return made
