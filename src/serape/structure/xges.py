"""XGES, extremely greedy equivalence search.

Nazaret and Blei, *Extremely greedy equivalence search*, UAI 2024. GES inserts all it can before it deletes. In many
rows nearly all variables are associated, so its forward phase ends with many arcs too many, and its backward phase in a
local optimum that no single deletion leaves. XGES deletes if a deletion raises the score, otherwise reverses an arc,
and inserts only if neither raises it (XGES-0 of the paper). At the optimum, it applies each deletion although that
lowers the score, and searches on: at first without inserting that edge again, then with it. If the score ends higher,
the search goes on from there; it ends if no deletion helps. As the number of rows tends to infinity, it finds the class
of the true graph, as GES does: no insertion raises the score of the last graph, and no deletion does.

See docs/papers.md: Nazaret and Blei 2024.
"""

from __future__ import annotations

import copy

from serape.knowledge import BoundKnowledge
from serape.structure.ges import Operator, TurningSearch
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping


def xges(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the search ends. Of knowledge, it uses the forbidden pairs."""
    best = _Xges(score, knowledge or BoundKnowledge(), max_parents, threads)
    with keeping(lambda: best.found.settled()):
        best.climb(best.phases, watch)
        while (better := best.improved(watch)) is not None:
            best = better
    return best.graph


class _Xges(TurningSearch):
    def __init__(self, score: Score, knowledge: BoundKnowledge, max_parents: int | None, threads: int) -> None:
        super().__init__(score, knowledge, max_parents, threads)
        self.phases = [self.deletion_phase(), self.reversal_phase(), self.insertion_phase()]

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
