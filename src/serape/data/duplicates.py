"""Columns of a table that are duplicates of each other."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from serape.data.table import Table


def duplicate_groups(table: Table) -> Mapping[int, tuple[int, ...]]:
    """Return, by position, the group of columns, itself included, with the same rows in each level, or equal numbers.

    Columns without duplicates, constant columns and columns with missing values are not in it.
    """
    numbers = set(table.continuous)
    if table.missing:
        categories = [k for k in range(len(table.names)) if k not in numbers and k not in table.missing]
        by_codes = _groups({k: table.codes(k).tobytes() for k in categories})
    else:
        by_codes = _copies(table.codes_alone.first_copies(), numbers)
    groups = [*by_codes, *_groups({k: table.numbers(k).tobytes() for k in sorted(numbers - table.missing.keys())})]
    duplicates = [tuple(group) for group in groups if len(group) > 1 and not table.is_constant(group[0])]
    return {k: group for group in duplicates for k in group}


def _groups(values: Mapping[int, bytes]) -> Iterable[list[int]]:
    """Return the positions of equal values, in groups."""
    groups: dict[bytes, list[int]] = {}
    for k, value in values.items():
        groups.setdefault(value, []).append(k)
    return groups.values()


def _copies(firsts: NDArray[np.uint32], numbers: Collection[int]) -> list[list[int]]:
    """Return the positions of columns that are copies of the same first one, in groups; those of numbers are not."""
    counts = np.bincount(firsts)
    copied = np.flatnonzero(counts[firsts] > 1)
    copied = copied[~np.isin(copied, list(numbers))] if numbers else copied
    together = copied[np.argsort(firsts[copied], kind="stable")]
    ends = np.flatnonzero(np.diff(firsts[together])) + 1
    return [group.tolist() for group in np.split(together, ends)] if len(together) else []
