"""Resampling: tables of rows drawn from a table, made fast enough to be made many times."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table

MAX_VALUES = 1 << 28
"""Up to this number of values, the codes are stored by row, one byte each."""

_BLOCK = 2048  # columns stored together

RowPositions = NDArray[np.int64]


class Resampler:
    """Draws rows of a table, or whole groups of them.

    The codes are stored by row once, so that a draw copies rows and packs them all together. Very large tables are
    drawn column by column, which takes longer but no more memory.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        count = len(table.names)
        levels = [table.levels(k) for k in range(count)]
        self._planes = sum(r - 1 for r in levels if 1 < r <= 8)
        self._parts: list[tuple[int, NDArray[Any], NDArray[np.uint32]]] | None = None
        if table.rows * count > MAX_VALUES:
            return
        self._parts = []
        for narrow, run in groupby(range(count), lambda k: levels[k] <= 256):
            columns = list(run)
            for begin in range(0, len(columns), _BLOCK if narrow else 1):
                block = columns[begin : begin + (_BLOCK if narrow else 1)]
                codes = np.zeros((table.rows, len(block)), np.uint8 if narrow else np.uint16)
                for k in block:
                    if levels[k]:  # a continuous column is packed as one of one level
                        codes[:, k - block[0]] = table.codes(k)
                self._parts.append((block[0], codes, np.maximum([levels[k] for k in block], 1).astype(np.uint32)))

    @property
    def units(self) -> int:
        """How many units can be drawn: groups, or else rows, as often as their frequencies say."""
        table = self.table
        if table.groups is not None:
            return int(table.groups.max()) + 1
        if table.weights is not None and table.weights.kind == "frequency":
            return table.weights.rows
        return table.rows

    def rows_in(self, units: RowPositions) -> int:
        """Return how many rows some units have."""
        return len(units) if self.table.groups is None else int(np.bincount(self.table.groups)[units].sum())

    def draw_units(self, units: RowPositions) -> Table:
        """Return a table of some units, in ascending order, some of which may be repeated."""
        table = self.table
        if table.groups is not None:
            times = np.bincount(units, minlength=self.units)
            return self.draw(np.repeat(np.arange(table.rows), times[table.groups]))
        if table.weights is None or table.weights.kind == "survey":
            return self.draw(units)
        rows = np.searchsorted(np.cumsum(table.weights.values), units, side="right")
        frequencies = np.bincount(rows, minlength=table.rows)
        drawn = self.draw(np.flatnonzero(frequencies))
        drawn.weights = replace(table.weights, values=frequencies[frequencies > 0].astype(np.float64))
        return drawn

    def draw(self, rows: RowPositions) -> Table:
        """Return a table of these rows, some of which may be repeated; kinds and levels stay the same."""
        if self._parts is None:
            return self.table.part(range(len(self.table.names)), rows)
        packed = _core.PackedTable(len(rows))
        packed.reserve_planes(self._planes)
        constant: list[int] = []
        for first, codes, levels in self._parts:
            drawn = codes[rows]
            if drawn.dtype == np.uint8:
                packed.append_block(drawn, levels)
            else:
                packed.append(drawn[:, 0], int(levels[0]))
            constant += (first + np.flatnonzero(drawn.min(axis=0) == drawn.max(axis=0))).tolist()
        return self.table.redrawn(rows, packed, constant)
