"""An engine in plain NumPy: slow and short, the twin that the fast ones are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from serape._core import Counts
from serape.arrays import Candidates
from serape.data.origins import measured_columns
from serape.data.table import Table
from serape.engines.base import Gram


class PlainEngine:
    """Counts by sorting."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = table.names
        self.rows = table.rows
        numeric = set(table.continuous)
        self._codes = {k: table.codes(k).astype(np.int64) for k in range(len(table.names)) if k not in numeric}

    def levels(self, column: int) -> int:
        """Return how many levels a categorical column has; 0 if it is numeric."""
        return self.table.levels(column)

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Counts:
        """Count each candidate with the target in the strata of the conditioning set."""
        stratum = np.zeros(self.rows, np.int64)
        for z in given:
            stratum = np.unique(stratum * self.levels(z) + self._codes[z], return_inverse=True)[1]
        in_cell = stratum * self.levels(target) + self._codes[target]
        nothing = np.zeros(self.rows, np.int64)
        columns = [(self._codes[int(x)], self.levels(int(x))) for x in candidates] or [(nothing, 1)]
        cells = [self._cells(in_cell, self.levels(target), codes, levels) for codes, levels in columns]
        return Counts(
            rows=self.rows,
            target_levels=self.levels(target),
            given_levels=[self.levels(z) for z in given],
            candidate_levels=[levels for _, levels in columns],
            begin=[0, *np.cumsum([len(one) for one in cells]).tolist()],
            cells=np.concatenate(cells),
        )

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Do as `counts` does for each of several conditioning sets."""
        return [self.counts(target, candidates, given) for given in sets]

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each."""
        x, y = (measured_columns(self.table, some).T for some in (columns, others))
        sums, other_sums = (np.array([math.fsum(a) for a in some]) for some in (x, y))
        squares = np.array([math.fsum(b * b) for b in y])
        products = np.array([[math.fsum(a * b) for b in y] for a in x]).reshape(len(x), len(y))
        return Gram(self.rows, sums, other_sums, squares, products)

    @staticmethod
    def _cells(in_cell: np.ndarray, target_levels: int, codes: np.ndarray, levels: int) -> np.ndarray:
        met, rows = np.unique(in_cell * levels + codes, return_counts=True)
        return np.column_stack([met // levels // target_levels, met // levels % target_levels, met % levels, rows])
