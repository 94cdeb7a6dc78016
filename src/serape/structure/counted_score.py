"""Scores of families whose counts come from an engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from serape import _core
from serape.engines import Engine
from serape.independence.outcomes import Candidates, Floats, Poll, as_positions
from serape.structure.scores import SCORES, Score


class CountedScore(Score):
    """A score on the counts of any engine: the same numbers, to the bit, as on a Table."""

    def __init__(self, engine: Engine, kind: str = "bic", ess: float = 1.0) -> None:
        self.name = kind
        formula = SCORES[kind]
        self.equivalent, self.rises_with_arcs = formula.equivalent, formula.rises_with_arcs
        self.variables = engine.names
        self.equivalent_sample_size = ess if formula.uses_sample_size else None
        self.table = getattr(engine, "table", None)
        self._engine = engine
        self._counted = _core.CountedScore(engine.rows, kind, ess)

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents."""
        return float(self._counted.scores(self._engine.counts(child, (), list(parents)))[0])

    def additions(
        self,
        child: int,
        candidates: Candidates,
        parents: Collection[int],
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> Floats:
        """Return, by candidate, the score of the child with the parents and that candidate: one request."""
        del threads, poll
        if len(candidates) == 0:
            return np.empty(0)
        return self._counted.scores(self._engine.counts(child, as_positions(candidates), list(parents)))

    def families(
        self, child: int, parent_sets: Sequence[Collection[int]], *, threads: int = 1, poll: Poll | None = None
    ) -> Floats:
        """Return the scores of the child with each of several sets of parents: one request."""
        del threads, poll
        found = self._engine.counts_of_sets(child, (), [list(parents) for parents in parent_sets])
        return np.array([self._counted.scores(counts)[0] for counts in found], np.float64)
