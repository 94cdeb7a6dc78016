"""Gram matrices of scores on a device: blocks of rows are sent, expanded there and multiplied as matrices.

The core makes the scores and the polynomials; so the matrix is that of the core up to rounding, 10⁻¹⁰.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from serape.arrays import Floats, Positions
from serape.data.table import Table
from serape.engines.gpu.device import Device
from serape.engines.gram_matrix import KINDS, CoreRows
from serape.types import Poll

_BLOCK_BYTES = 1 << 28  # of the scores of a block of rows
_SHARE = 1 / 8  # of the memory, that these may take
_SCORE, _COMMON, _POWER, _LEVEL = range(len(KINDS))


class DeviceRows:
    """The rows of a table in this process, whose products a device adds up."""

    where = "device"

    def __init__(self, device: Device, table: Table) -> None:
        self.device, self.table = device, table
        self._core = CoreRows(table)

    @property
    def rows(self) -> float:
        """The effective number of rows."""
        return self._core.rows

    def scores_of(self, columns: Sequence[int], degree: int, threads: int, poll: Poll | None) -> Positions:
        """Return the scores of columns, one after another."""
        return self._core.scores_of(columns, degree, threads, poll)

    def products(self, scores: Positions, known: int, threads: int, poll: Poll | None) -> Floats:
        """Return the sums over the rows of the products of all scores with those after the first `known`."""
        del threads
        xp = self.device.xp
        makers = self._makers(scores)
        room = min(_BLOCK_BYTES, int(self.device.memory * _SHARE))
        at_once = max(room // (8 * max(len(scores), 1)), 1)
        root = self._core.scored.native.root_weights
        total = xp.zeros((len(scores), len(scores) - known))
        for begin in range(0, self.table.rows, at_once):
            if poll is not None:
                poll()
            rows = slice(begin, min(begin + at_once, self.table.rows))
            own_root = xp.asarray(root[rows])
            block = xp.empty((len(scores), len(own_root)))
            for maker in makers:
                maker.fill(xp, rows, own_root, block)
            total += block @ block[known:].T
        return np.asarray(self.device.to_host(total))

    def _makers(self, scores: Positions) -> list[_Number | _Category]:
        """Return what makes the scores of each column."""
        places: dict[int, list[tuple[int, int, int]]] = {}  # by column: kind, value and place
        for place, (kind, column, value) in enumerate(scores.tolist()):
            places.setdefault(column, []).append((kind, value, place))
        self._core.scored.make(self.table, places)
        return [
            _Category(self._core, self.table, column, own) if own[0][0] == _LEVEL else _Number(self._core, column, own)
            for column, own in places.items()
        ]


class _Number:
    """Makes scores of a number."""

    def __init__(self, core: CoreRows, column: int, places: Sequence[tuple[int, int, int]]) -> None:
        self._place = {value if kind != _COMMON else 0: place for kind, value, place in places}  # by degree
        self._highest = max(self._place)
        native = core.scored.native
        self._scale = float(np.sqrt(core.rows))
        self._scores, self._common = native.scores(column)
        self._polynomials = native.polynomials(column, self._highest).reshape(-1, 3)

    def fill(self, xp: Any, rows: slice, root: Any, block: Any) -> None:
        """Put the scores of some rows where they belong in a block."""
        score = xp.asarray(self._scores[rows]) * self._scale
        if 0 in self._place:
            block[self._place[0]] = xp.asarray(self._common[rows]) * self._scale
        if 1 in self._place:
            block[self._place[1]] = score
        first = last = score / root
        before = xp.ones_like(first)
        for degree in range(2, self._highest + 1):
            shift, back, scale = map(float, self._polynomials[degree - 1])
            last, before = ((first - shift) * last - back * before) * scale, last
            if degree in self._place:
                block[self._place[degree]] = last * root


class _Category:
    """Makes indicators of levels of a category."""

    def __init__(self, core: CoreRows, table: Table, column: int, places: Sequence[tuple[int, int, int]]) -> None:
        levels, shares = core.scored.native.indicators(column)
        share = dict(zip(levels.tolist(), shares.tolist(), strict=True))
        own = np.array([share[level] for _, level, _ in places])
        scale = 1 / np.sqrt(own * (1 - own))
        values = np.repeat(
            (-own * scale)[:, None], table.levels(column), axis=1
        )  # by level with an indicator and level
        values[np.arange(len(places)), [level for _, level, _ in places]] = (1 - own) * scale
        self._values = values
        self._places = np.array([place for _, _, place in places])
        self._codes = table.codes(column)

    def fill(self, xp: Any, rows: slice, root: Any, block: Any) -> None:
        """Put the scores of some rows where they belong in a block."""
        codes = xp.asarray(self._codes[rows].astype(np.int64))
        block[xp.asarray(self._places)] = xp.asarray(self._values)[:, codes] * root
