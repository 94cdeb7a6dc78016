"""Columns of a table that follow each other, as a table that uses their memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, overload

import numpy as np

from serape import _core
from serape.data.table import Table

Value = TypeVar("Value")


class _Range(Sequence[Value]):
    """Some items of a sequence that follow each other; each is looked up when it is used."""

    def __init__(self, items: Sequence[Value], begin: int, end: int) -> None:
        self._items, self._begin, self._end = items, begin, end

    def __len__(self) -> int:
        return self._end - self._begin

    @overload
    def __getitem__(self, k: int) -> Value: ...
    @overload
    def __getitem__(self, k: slice) -> list[Value]: ...
    def __getitem__(self, k: int | slice) -> Value | list[Value]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return self._items[range(self._begin, self._end)[k]]


def column_range(table: Table, begin: int, end: int) -> Table:
    """Return the columns from one position up to another as a table; nothing is copied."""
    packed = table._packed
    levels = packed.all_levels()
    in_planes = np.where(levels <= _core.PLANE_LEVELS, levels - 1, 0)
    narrow = (levels > _core.PLANE_LEVELS) & (levels <= 256)
    first, last = (int(in_planes[:k].sum()) for k in (begin, end))
    planes = packed.planes
    words = 0 if not in_planes.any() else len(planes) // int(in_planes.sum())
    rows = packed.rows
    narrow_at = [rows * int(narrow[:k].sum()) for k in (begin, end)]
    wide_at = [rows * int((levels[:k] > 256).sum()) for k in (begin, end)]
    part = object.__new__(Table)
    part._packed = _core.PackedTable.borrow(
        rows,
        "the table",
        levels[begin:end],
        packed.totals[first:last],
        packed.checksums()[begin:end],
        planes[first * words : last * words],
        packed.narrow[slice(*narrow_at)],
        packed.wide[slice(*wide_at)],
    )
    part.names, part.rows = table.names[begin:end], table.rows
    part._kinds = _Range(table._kinds, begin, end)
    part._reasons = _Range(table._reasons, begin, end)
    part._levels = _Range(table._levels, begin, end)
    part._values = {k - begin: table.numbers(k) for k in table.continuous if begin <= k < end}
    part._declared = {k - begin for k in table._declared if begin <= k < end}
    part.missing = {k - begin: mask for k, mask in table.missing.items() if begin <= k < end}
    part.weights, part.groups = table.weights, table.groups
    part._constant, part._made = {}, {}
    part._reading_notes = part.notes = ()
    return part
