"""Columns of a table that are duplicates of each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from serape.data.table import Table


def duplicate_groups(table: Table) -> Mapping[int, tuple[int, ...]]:
    """Return, by position, the group of columns, itself included, with the same rows in each level, or equal numbers.

    Columns without duplicates, constant columns and columns with missing values are not in it.
    """
    groups: dict[Any, list[int]] = {}
    numbers = set(table.continuous)
    if table.missing:
        firsts: Any = {k: table.codes(k).tobytes() for k in range(len(table.names)) if k not in numbers}
        compared: Iterable[int] = range(len(table.names))
    else:
        firsts = table.codes_alone.first_copies()
        compared = np.flatnonzero(np.bincount(firsts)[firsts] > 1).tolist()
    for k in compared:
        if k not in table.missing and not table.is_constant(k):
            key = ("numbers", table.numbers(k).tobytes()) if k in numbers else ("codes", firsts[k])
            groups.setdefault(key, []).append(k)
    duplicates = [tuple(group) for group in groups.values() if len(group) > 1]
    return {k: group for group in duplicates for k in group}
