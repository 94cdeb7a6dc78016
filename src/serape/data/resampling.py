"""Rows drawn again from a table, many times over, without going back to the data."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table

MOST_VALUES = 1 << 28
"""Values up to which codes are laid out by row, a byte each."""

_BLOCK = 2048  # columns that lie together

Rows = NDArray[np.int64]


class Resampler:
    """Draws rows of a table.

    What does not change between draws is worked out once: codes lie row by row, so that a draw copies whole rows and
    packs them in one go. Very large tables are drawn column by column, which takes longer but no more memory.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        count = len(table.names)
        levels = [table.levels(k) for k in range(count)]
        self._planes = sum(r - 1 for r in levels if 1 < r <= 8)
        self._parts: list[tuple[int, NDArray[Any], NDArray[np.uint32]]] | None = None
        if table.rows * count > MOST_VALUES:
            return
        self._parts = []
        for narrow, run in groupby(range(count), lambda k: levels[k] <= 256):
            columns = list(run)
            for begin in range(0, len(columns), _BLOCK if narrow else 1):
                block = columns[begin : begin + (_BLOCK if narrow else 1)]
                codes = np.zeros((table.rows, len(block)), np.uint8 if narrow else np.uint16)
                for k in block:
                    if levels[k]:  # a continuous column takes its place with one level
                        codes[:, k - block[0]] = table.codes(k)
                self._parts.append((block[0], codes, np.maximum([levels[k] for k in block], 1).astype(np.uint32)))

    def draw(self, rows: Rows) -> Table:
        """Return a table of these rows, any of which may come several times; kinds and levels stay as they are."""
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
