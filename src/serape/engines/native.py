"""The engine in this process: the core, on a Table's packed columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from serape import _core
from serape.arrays import Candidates
from serape.data.origins import measured_columns
from serape.data.table import Table
from serape.engines.base import Gram


class NativeEngine:
    """Counts by the core. Tests and scores on a Table do not ask it: the core answers them without writing counts."""

    def __init__(self, table: Table, threads: int = 1) -> None:
        self.table = table
        self.names = table.names
        self.rows = table.rows
        self._threads = threads

    def levels(self, column: int) -> int:
        """Return how many levels a categorical column has; 0 if it is numeric."""
        return self.table.levels(column)

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> _core.Counts:
        """Count each candidate with the target in the strata of the conditioning set."""
        positions = np.ascontiguousarray(candidates, np.uint32)
        return _core.counts(self.table.packed, target, positions, given, self._threads)

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[_core.Counts]:
        """Do as `counts` does for each of several conditioning sets."""
        return [self.counts(target, candidates, given) for given in sets]

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each."""
        x, y = (measured_columns(self.table, some) for some in (columns, others))
        return Gram(self.rows, x.sum(axis=0), y.sum(axis=0), (y * y).sum(axis=0), x.T @ y)
