"""The levels of all columns of a table at once, and which columns are constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape import _core

if TYPE_CHECKING:
    from serape.data.table import Table


def all_levels(table: Table) -> NDArray[np.int64]:
    """Return `table.levels` of all columns."""
    if table.remote is not None or table.continuous:
        return np.array([table.levels(k) for k in range(len(table.names))], np.int64)
    return table.codes_alone.all_levels().astype(np.int64)


def all_constant(table: Table) -> NDArray[np.bool_]:
    """Return `table.is_constant` of all columns."""
    return table.memory.keep("constant columns", lambda: _constant(table), len(table.names))


def varying(table: Table) -> list[int]:
    """Return the searched columns that are not constant."""
    constant = all_constant(table).tolist()
    return [k for k in table.searched if not constant[k]]


def _constant(table: Table) -> NDArray[np.bool_]:
    """Return which columns are constant: those kept as bitsets by the rows of each level."""
    count = len(table.names)
    if table.remote is not None or table.continuous or table.missing:
        return np.fromiter(map(table.is_constant, range(count)), bool, count)
    levels = all_levels(table)
    constant = levels < 2
    declared = np.fromiter(table._declared, np.intp, len(table._declared))  # levels that may not occur
    for position in declared.tolist():
        table.codes_alone.verify(position)
    n_planes = np.where(levels <= _core.PLANE_LEVELS, np.maximum(levels - 1, 0), 0)
    totals = table.codes_alone.totals[: int(n_planes.sum())].astype(np.int64)
    column = np.arange(count).repeat(n_planes)
    above = np.bincount(column, totals, count)  # rows with a level above the first
    occurring = np.bincount(column, totals > 0, count) + (above < table.rows)
    constant[declared] = occurring[declared] < 2
    for position in declared[n_planes[declared] == 0].tolist():
        constant[position] = table.is_constant(position)
    return constant
