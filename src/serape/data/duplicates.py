"""Columns of a table that are duplicates of each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from serape.data.table import Table


class Duplicates(Mapping[int, tuple[int, ...]]):
    """By position, the group of columns, itself included, that are duplicates of each other.

    Groups are kept in arrays, because a wide table can have many thousands.
    """

    def __init__(self, firsts: NDArray[np.integer]) -> None:  # by position, its first duplicate, or itself
        copied = np.flatnonzero(np.bincount(firsts, minlength=1)[firsts] > 1)
        self._firsts = firsts
        self._members = copied[np.argsort(firsts[copied], kind="stable")]  # group by group
        self._first_of_each = firsts[self._members]

    def __getitem__(self, k: int) -> tuple[int, ...]:
        if not 0 <= k < len(self._firsts):
            raise KeyError(k)
        begin, end = (int(self._first_of_each.searchsorted(self._firsts[k], side)) for side in ("left", "right"))
        if begin == end:
            raise KeyError(k)
        return tuple(self._members[begin:end].tolist())

    def __iter__(self) -> Iterator[int]:
        return iter(self._members.tolist())

    def __len__(self) -> int:
        return len(self._members)

    def later(self) -> frozenset[int]:
        """Return the columns that are duplicates of columns before them."""
        return frozenset(self._members[self._members != self._first_of_each].tolist())


def find_duplicates(table: Table) -> Duplicates:
    """Return the columns with the same rows in each level, or equal numbers.

    Columns without duplicates, constant columns and columns with missing values are not in it.
    """
    numbers = set(table.continuous)
    if table.missing:
        categories = [k for k in range(len(table.names)) if k not in numbers and k not in table.missing]
        firsts = np.arange(len(table.names))
        _mark_equal(firsts, {k: table.codes(k).tobytes() for k in categories})
    else:
        firsts = table.codes_alone.first_copies().astype(np.intp)
        apart = np.flatnonzero(np.isin(firsts, list(numbers)))  # numbers have the codes of constants
        firsts[apart] = apart
    _mark_equal(firsts, {k: table.numbers(k).tobytes() for k in sorted(numbers - table.missing.keys())})
    copies = np.flatnonzero(firsts != np.arange(len(firsts)))
    if not len(copies):
        return Duplicates(firsts)
    constant = [k for k in np.unique(firsts[copies]).tolist() if table.is_constant(k)]
    alike = copies[np.isin(firsts[copies], constant)]
    firsts[alike] = alike
    return Duplicates(firsts)


def _mark_equal(firsts: NDArray[np.intp], values: Mapping[int, bytes]) -> None:
    """Set the first of columns of equal values."""
    known: dict[bytes, int] = {}
    for k, value in values.items():
        firsts[k] = known.setdefault(value, k)
