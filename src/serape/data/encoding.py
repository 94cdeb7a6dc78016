"""Encoding a column: its kind, its levels and its codes, or its numbers.

`serape.data.kinds` holds the rule that decides a column's kind. The levels are the declared categories, whether they
occur or not; without any, the values that occur, sorted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.dates import (
    DURATIONS,
    UNIT,
)
from serape.data.kinds import (
    AS_ASKED,
    AS_CODES,
    FEW_LEVELS,
    Kind,
    check_boolean,
    check_numbers,
    kind_of_floats,
    kind_of_integers,
)
from serape.errors import DataError, row_text
from serape.wording import setting

Codes = NDArray[np.uint8] | NDArray[np.uint16]
_BLOCK = 1 << 16  # rows treated at a time, to stay in the cache
_EXACT = 1 << 53  # whole numbers up to this are exact in 64 bits with a point
_MANY = 4096  # fewer numbers are sorted faster than marked


@dataclass(frozen=True, slots=True)
class Encoded:
    """One column, ready to be packed.

    A column of categories has codes and levels, one of numbers has values. If it has values and levels, the values are
    the positions of levels. Where `missing` is true, codes and values have no meaning.
    """

    kind: Kind
    reason: str
    levels: tuple[Any, ...] = ()
    codes: Codes | None = None
    values: NDArray[np.float64] | None = None
    missing: NDArray[np.bool_] | None = None
    declared: bool = False
    """Whether the levels were declared; declared levels are kept even if they do not occur."""

    def __len__(self) -> int:
        return len(self.codes) if self.codes is not None else 0 if self.values is None else len(self.values)

    def changed(self, **changes: Any) -> Encoded:
        """Return the column with some fields changed."""
        return replace(self, **changes)

    def rows(self, indices: NDArray[np.integer[Any]]) -> Encoded:
        """Return the column that has, in each row, the row of this one at that index."""
        return self.changed(
            codes=None if self.codes is None else self.codes[indices],
            values=None if self.values is None else self.values[indices],
            missing=None if self.missing is None else self.missing[indices],
        )

    def kept_rows(self, keep: NDArray[np.bool_]) -> Encoded:
        """Return the column with only the rows to keep; levels that no longer occur are removed."""
        missing = None if self.missing is None else missing_or_none(self.missing[keep])
        if self.codes is None:
            return self.changed(values=None if self.values is None else self.values[keep], missing=missing)
        codes, levels = self.codes[keep], self.levels
        if not self.declared:
            present = np.unique(codes if missing is None else codes[~missing])
            codes = np.minimum(np.searchsorted(present, codes), max(len(present) - 1, 0))
            codes, levels = as_codes(codes, len(present)), tuple(self.levels[k] for k in present)
        return self.changed(codes=codes, levels=levels, missing=missing)

    def with_nan(self) -> Encoded:
        """Return the column with NaN for missing numbers."""
        if self.missing is None or self.values is None:
            return self
        return self.changed(values=np.where(self.missing, math.nan, self.values))

    def missing_as_level(self) -> Encoded:
        """Return the column with one more level, `None`, for missing values."""
        if self.missing is None or self.codes is None:
            return self
        codes = as_codes(self.codes, len(self.levels) + 1)
        codes[self.missing] = len(self.levels)
        return self.changed(levels=(*self.levels, None), codes=codes, missing=None)


def as_codes(codes: NDArray[Any], levels: int) -> Codes:
    """Return codes in the narrowest type that holds this number of levels."""
    return codes.astype(np.uint8) if levels <= 256 else codes.astype(np.uint16)


def lookup(values: NDArray[np.integer[Any]], codes: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """Return the value of every code; quickly if both are bytes."""
    if values.dtype == codes.dtype == np.uint8:
        values = np.concatenate([values, np.zeros(256 - len(values), np.uint8)])
        return np.frombuffer(bytearray(codes.tobytes().translate(values.tobytes())), np.uint8)
    found: NDArray[np.integer[Any]] = values[codes]
    return found


def numbered(values: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return, for every value, its rank among the distinct ones, and their number."""
    largest = int(values.max()) if len(values) and values.dtype.kind in "iu" and values.min() >= 0 else -1
    if 0 <= largest < 4 * len(values) + 1024:  # marking those that occur is quicker than sorting
        occurs = np.zeros(largest + 1, bool)
        occurs[values] = True
        rank = np.cumsum(occurs) - 1
        return rank[values], int(rank[-1]) + 1
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.ravel().astype(np.int64), len(distinct)


def new_array(rows: int, dtype: Any) -> NDArray[Any]:
    """Return an array of zeros in ordinary pages of memory.

    NumPy asks for huge pages, which some virtual machines provide fifteen times more slowly than ordinary ones.
    """
    return np.frombuffer(bytearray(rows * np.dtype(dtype).itemsize), dtype)


def check_levels(name: str, levels: int) -> None:
    """Refuse a column of too many levels."""
    if levels > _core.MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {levels:,} levels, more than the {_core.MAX_LEVELS:,} a categorical column can have; "
            f"if it is an identifier ignore it, if it is a quantity pass {setting('kinds', {name: 'continuous'})}"
        )


def missing_or_none(missing: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """Return a mask of missing values, or None if none is missing."""
    return missing if missing is not None and bool(missing.any()) else None


def _is_narrow(low: Any, high: Any) -> bool:
    """Return whether there are at most 65,536 whole numbers from one to another."""
    return isinstance(low, np.integer) and int(high) - int(low) < 65_536


def _from(values: NDArray[Any], low: Any) -> NDArray[Any]:
    """Return by how much whole numbers exceed the smallest, in a type in which this does not overflow."""
    wide: NDArray[Any] = values if values.dtype == np.uint64 else values.astype(np.int64, copy=False)
    above: NDArray[Any] = wide - wide.dtype.type(low)
    return above


def distinct_numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct numbers, ascending; those of a narrow range are marked in an array and not sorted."""
    if values.dtype.kind in "iu" and len(values) < _MANY:
        return np.array(sorted(set(values.tolist())), values.dtype)  # NumPy loads masked arrays for unique numbers
    if values.dtype.kind not in "iu" or not _is_narrow(low := values.min(), high := values.max()):
        return np.unique(values)
    occurs = np.zeros(int(high) - int(low) + 1, bool)
    for begin in range(0, len(values), _BLOCK):
        occurs[_from(values[begin : begin + _BLOCK], low)] = True
    exact = np.uint64 if values.dtype == np.uint64 else np.int64
    return (np.flatnonzero(occurs).astype(exact) + exact(low)).astype(values.dtype)


def _number_codes(
    name: str,
    values: NDArray[Any],
    missing: NDArray[np.bool_] | None,
    kind: Kind,
    reason: str,
    distinct: NDArray[Any] | None = None,
) -> Encoded:
    if distinct is None:
        distinct = distinct_numbers(values if missing is None else values[~missing])
    check_levels(name, len(distinct))
    check_boolean(name, len(distinct), kind)
    if len(distinct) == 0:
        codes: NDArray[Any] = np.zeros(len(values), np.uint8)
    elif missing is None and len(values) >= _MANY and _is_narrow(distinct[0], distinct[-1]):
        rank = np.zeros(int(distinct[-1]) - int(distinct[0]) + 1, np.uint8 if len(distinct) <= 256 else np.uint16)
        rank[_from(distinct, distinct[0])] = np.arange(len(distinct))
        codes = new_array(len(values), rank.dtype)
        for begin in range(0, len(values), _BLOCK):
            codes[begin : begin + _BLOCK] = rank[_from(values[begin : begin + _BLOCK], distinct[0])]
    else:
        codes = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return Encoded(kind, reason, tuple(distinct.tolist()), as_codes(codes, len(distinct)), missing=missing)


def encode_integers(
    name: str,
    values: NDArray[np.integer[Any]],
    missing: NDArray[np.bool_] | None = None,
    kind: Kind | None = None,
    rows: NDArray[np.integer[Any]] | None = None,
) -> Encoded:
    """Encode whole numbers.

    If `rows` is given, it holds for every row the index of its value.
    """
    missing = missing_or_none(missing)
    if kind in AS_CODES:
        column = _number_codes(name, values, missing, kind, AS_ASKED)
    elif kind is not None:
        check_numbers(name, values, missing, kind)
        column = Encoded(kind, AS_ASKED, values=_as_doubles(name, values, missing, kind), missing=missing)
    else:
        distinct = distinct_numbers(values if missing is None else values[~missing])
        if len(distinct) <= FEW_LEVELS:
            reason = f"whole numbers, {len(distinct)} distinct"
            column = _number_codes(name, values, missing, "categorical", reason, distinct)
        else:
            every = values if rows is None else values[rows]
            if missing is not None:
                every = every[~(missing if rows is None else missing[rows])]
            found = kind_of_integers(every, distinct)
            reason = f"whole numbers, {len(distinct):,} distinct (more than {FEW_LEVELS})"
            if found == "identifier":
                reason = "whole numbers that number the rows"
            column = Encoded(found, reason, values=_as_doubles(name, values, missing, found), missing=missing)
    return column if rows is None else column.rows(rows)


def _as_doubles(
    name: str, values: NDArray[np.integer[Any]], missing: NDArray[np.bool_] | None, kind: Kind
) -> NDArray[np.float64]:
    """Return whole numbers in 64 bits with a point; refuse different ones that these do not tell apart."""
    numbers: NDArray[np.float64] = values.astype(np.float64)
    if kind != "identifier" and len(values) and max(-int(values.min()), int(values.max())) > _EXACT:
        distinct = np.unique(values if missing is None else values[~missing])
        same = np.flatnonzero(np.diff(distinct.astype(np.float64)) == 0)
        if len(same):
            raise DataError(
                f"column {name!r} has different numbers such as {distinct[same[0]]} and {distinct[same[0] + 1]}, which "
                f"are the same once they are rounded to the 15 digits of a real number; subtract a constant from it, "
                f"or ignore it"
            )
    return numbers


def encode_floats(
    name: str,
    values: NDArray[np.floating[Any]],
    missing: NDArray[np.bool_] | None = None,
    kind: Kind | None = None,
    copy: bool = True,
) -> Encoded:
    """Encode real numbers; NaN counts as missing. Without `copy`, the array belongs to the result."""
    numbers = values.astype(np.float64, copy=copy)  # contiguous, where `values` is a column of an array
    finite = len(numbers) > 0 and math.isfinite(numbers.min()) and math.isfinite(numbers.max())
    if not finite:
        nan = np.isnan(numbers)
        missing = nan if missing is None else nan | missing
    missing = missing_or_none(missing)
    if kind in AS_CODES:
        return _number_codes(name, values, missing, kind, AS_ASKED)
    if not finite and (infinite := np.isinf(numbers)).any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"column {name!r} has an infinite value ({values[row]}) in {row_text(row)}; "
            f"replace it by a number or a missing value"
        )
    check_numbers(name, values, missing, kind)
    reason = AS_ASKED if kind else "real numbers"
    found = kind or kind_of_floats(numbers if missing is None else numbers[~missing])
    return Encoded(found, reason, values=numbers, missing=missing)


def encode_booleans(
    name: str, values: NDArray[np.bool_], missing: NDArray[np.bool_] | None = None, kind: Kind | None = None
) -> Encoded:
    """Encode truth values."""
    if kind is not None and kind not in AS_CODES:
        return encode_integers(name, values.astype(np.uint8), missing, kind)
    reason = AS_ASKED if kind else "truth values"
    numbers = _number_codes(name, values.astype(np.uint8), missing_or_none(missing), kind or "boolean", reason)
    return replace(numbers, levels=tuple(bool(v) for v in numbers.levels))


def encode_days(
    name: str,
    days: NDArray[np.float64],
    missing: NDArray[np.bool_] | None = None,
    kind: Kind | None = None,
    reason: str = f"dates, in {UNIT}",
) -> Encoded:
    """Encode dates, times of the day or durations that are given in days."""
    if kind in (None, "date"):
        found: Kind = "continuous" if reason == DURATIONS else "date"
        return Encoded(found, reason, values=days, missing=missing_or_none(missing))
    return encode_floats(name, days, missing, kind)
