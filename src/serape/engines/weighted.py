"""Counts of rows that have weights: sums of weights in place of numbers of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape._core import Counts
from serape.arrays import Candidates
from serape.data.origins import measured_columns
from serape.data.table import Table
from serape.engines.base import Gram

Labels = NDArray[np.int64]


class Division(NamedTuple):
    """The rows divided by some columns."""

    labels: Labels
    """By row, the number of its part."""
    bound: int
    """All numbers are below it."""


class WeightedRows:
    """A table's rows with their weights. A sum is over rows in their order, whatever the order of the columns."""

    def __init__(self, table: Table, weights: NDArray[np.float64]) -> None:
        self.table = table
        self._weights = weights
        self._codes: dict[int, Labels] = {}
        self._last: tuple[tuple[int, ...], Division] = (), Division(np.zeros(table.rows, np.int64), 1)

    def strata(self, given: Sequence[int]) -> Division:
        """Divide the rows into the strata of a conditioning set."""
        asked = tuple(given)
        known, strata = self._last
        if asked == known:
            return strata
        strata = Division(np.zeros(self.table.rows, np.int64), 1)
        for k in asked:
            strata = self.divided(strata, k)
            if strata.bound > 4 * self.table.rows:  # number only the strata that occur
                met, labels = np.unique(strata.labels, return_inverse=True)
                strata = Division(labels, len(met))
        self._last = asked, strata
        return strata

    def divided(self, parts: Division, column: int) -> Division:
        """Divide each part by the levels of a column: level l of part p has the number p · levels + l."""
        if column not in self._codes:
            self._codes[column] = self.table.codes(column).astype(np.int64)
        levels = self.table.levels(column)
        return Division(parts.labels * levels + self._codes[column], parts.bound * levels)

    def sums(self, division: Division) -> tuple[Labels, NDArray[np.float64]]:
        """Return the parts that occur, in ascending order, and the sum of the weights in each."""
        if division.bound <= 4 * self.table.rows + 1024:
            sums = np.asarray(np.bincount(division.labels, self._weights, division.bound), np.float64)
            met = np.flatnonzero(sums).astype(np.int64)  # weights are positive
            return met, sums[met]
        met, labels = np.unique(division.labels, return_inverse=True)
        return met, np.asarray(np.bincount(labels, self._weights, len(met)), np.float64)


class WeightedEngine:
    """Counts of rows that occur as often as their frequencies say: the same integers as if they were repeated."""

    def __init__(self, table: Table) -> None:
        assert table.weights is not None
        self.table = table
        self.names = table.names
        self.rows = table.weights.rows
        self._weighted = WeightedRows(table, table.weights.values)

    def levels(self, column: int) -> int:
        """Return how many levels a categorical column has; 0 if it is numeric."""
        return self.table.levels(column)

    def counts(self, target: int, candidates: Candidates, given: Sequence[int] = ()) -> Counts:
        """Count each candidate with the target in the strata of the conditioning set."""
        own = self._weighted.divided(self._weighted.strata(given), target)
        xs = [int(x) for x in candidates]
        cells = [self._cells(target, x, own) for x in xs] or [self._cells(target, None, own)]
        return Counts(
            rows=self.rows,
            target_levels=self.levels(target),
            given_levels=[self.levels(z) for z in given],
            candidate_levels=[self.levels(x) for x in xs] or [1],
            begin=[0, *np.cumsum([len(one) for one in cells]).tolist()],
            cells=np.concatenate(cells),
        )

    def counts_of_sets(self, target: int, candidates: Candidates, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Do as `counts` does for each of several conditioning sets."""
        return [self.counts(target, candidates, given) for given in sets]

    def gram(self, columns: Candidates, others: Candidates) -> Gram:
        """Return the sums of numeric columns, of others, and of the products of each with each."""
        assert self.table.weights is not None
        weights = self.table.weights.values
        x, y = (measured_columns(self.table, some) for some in (columns, others))
        weighted = x * weights[:, None]
        return Gram(self.rows, weighted.sum(axis=0), weights @ y, weights @ (y * y), weighted.T @ y)

    def _cells(self, target: int, x: int | None, own: Division) -> NDArray[np.int64]:
        met, sums = self._weighted.sums(own if x is None else self._weighted.divided(own, x))
        in_own, level = np.divmod(met, 1 if x is None else self.levels(x))
        return np.column_stack([*np.divmod(in_own, self.levels(target)), level, sums.astype(np.int64)])
