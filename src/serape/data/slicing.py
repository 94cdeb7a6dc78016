"""Columns of a table that follow each other, as a table that uses their memory."""

from __future__ import annotations

import numpy as np

from serape import _core
from serape.data.table import Table


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
    part._kinds = [table._kinds[k] for k in range(begin, end)]
    part._reasons = [table._reasons[k] for k in range(begin, end)]
    part._levels = [table._levels[k] for k in range(begin, end)]
    part._values = {k - begin: table.numbers(k) for k in table.continuous if begin <= k < end}
    part._declared = {k - begin for k in range(begin, end) if k in table._declared}
    part.missing = {k - begin: mask for k, mask in table.missing.items() if begin <= k < end}
    part.weights, part.groups = table.weights, table.groups
    part._constant, part._made = {}, {}
    part._reading_notes = part.notes = ()
    return part
