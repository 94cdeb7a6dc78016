"""One encoding for a column whose rows are read in several places.

Each place reads its part as if it were the whole and reports facts about it. `merged` makes one description of the
facts, the one that a reader of all rows would have found, and `encoded_as` encodes a part by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Encoded, as_codes, check_levels, missing_or_none
from serape.data.joining import called, indices_of, numbers_of, sort_of
from serape.data.kinds import AS_ASKED, FEW_LEVELS, MAX_SMALL, MAX_STEP, Kind, is_monotone, kind_of_labels, names_rows
from serape.data.labels import sorted_labels
from serape.errors import DataError
from serape.wording import setting


class Numbers(NamedTuple):
    """What the kind of a column of numbers depends on."""

    rows: int
    low: float
    second: float
    """The smallest that is larger than `low`."""
    high: float
    first: float
    last: float
    is_monotone: bool
    are_distinct: bool
    sums: tuple[int, int, int]
    """Of whole numbers, their squares and their cubes, in 64 bits: those of consecutive numbers are known."""
    between_0_and_1: bool
    """Whether one is larger than 0 and smaller than 1."""


class Facts(NamedTuple):
    """What one place says about its part of a column."""

    name: str
    sort: str
    kind: Kind
    reason: str
    levels: tuple[Any, ...]
    declared: bool
    rows: int
    gaps: int
    first_gap: int
    """The first row without a value; −1 if there is none."""
    numbers: Numbers | None
    met: frozenset[Any] = frozenset()
    """Of declared levels, those that occur."""


class ColumnEncoding(NamedTuple):
    """The encoding of a column in all places."""

    kind: Kind
    reason: str
    levels: tuple[Any, ...]
    declared: bool
    as_numbers: bool


def facts_of(name: str, column: Encoded) -> Facts:
    """Return the facts about a part of a column."""
    missing = column.missing
    sort = sort_of(column)
    numbers = None
    if sort in ("whole", "real", "days"):
        values = numbers_of(column)
        numbers = _numbers(values if missing is None else values[~missing], whole=sort == "whole")
    gaps = 0 if missing is None else int(missing.sum())
    first_gap = int(np.argmax(missing)) if missing is not None and gaps else -1
    met: frozenset[Any] = frozenset()
    if column.declared and column.codes is not None:
        codes = column.codes if missing is None else column.codes[~missing]
        met = frozenset(column.levels[k] for k in np.unique(codes))
    return Facts(
        name, sort, column.kind, column.reason, column.levels, column.declared, len(column), gaps, first_gap, numbers,
        met,
    )  # fmt: skip


def _numbers(values: NDArray[np.float64], *, whole: bool) -> Numbers | None:
    if len(values) == 0:
        return None
    low, high = float(values.min()), float(values.max())
    above = values[values > low]
    second = float(above.min()) if len(above) else math.inf
    sums = (0, 0, 0)
    distinct = False
    if whole:
        exact = values.astype(np.int64).astype(np.uint64)
        sums = (int(exact.sum()), int((exact * exact).sum()), int((exact * exact * exact).sum()))
        distinct = len(np.unique(values)) == len(values)
    inside = bool(((values > 0) & (values < 1)).any())
    return Numbers(
        len(values), low, second, high, float(values[0]), float(values[-1]), is_monotone(values), distinct, sums, inside
    )


def merged(parts: Sequence[Facts], places: Sequence[str]) -> ColumnEncoding:
    """Return the encoding that a reader of all parts, in this order, would have chosen."""
    name, first = parts[0].name, parts[0]
    if len(parts) == 1:
        return ColumnEncoding(first.kind, first.reason, first.levels, first.declared, _is_numbers(first))
    known = {part.sort for part in parts if part.sort != "nothing"}
    asked = [part.kind for part in parts if part.reason == AS_ASKED]
    kind = asked[0] if len(asked) == len(parts) and len(set(asked)) == 1 else None
    typical = next((part for part in parts if part.sort != "nothing"), first)
    if not known or known <= {"days"}:
        return ColumnEncoding(typical.kind, typical.reason, typical.levels, typical.declared, _is_numbers(typical))
    if known <= {"whole", "real"}:
        if kind is not None:
            return ColumnEncoding(kind, AS_ASKED, (), declared=False, as_numbers=True)
        return _merged_numbers(parts, whole=known == {"whole"})
    if known == {"truth"}:
        levels = tuple(sorted({level for part in parts for level in part.levels}))
        return ColumnEncoding(kind or "boolean", typical.reason, levels, declared=False, as_numbers=False)
    if known <= {"labels"}:
        return _merged_labels(parts, kind)
    odd = next(k for k, part in enumerate(parts) if part.sort not in ("nothing", typical.sort))
    raise DataError(
        f"column {name!r} holds {called(typical.sort)} in {places[parts.index(typical)]} but "
        f"{called(parts[odd].sort)} in {places[odd]}; pass {setting('kinds', {name: 'categorical'})}, or ignore it"
    )


def _is_numbers(part: Facts) -> bool:
    return part.sort in ("whole", "real", "days") and not part.levels


def _merged_numbers(parts: Sequence[Facts], *, whole: bool) -> ColumnEncoding:
    found = [part.numbers for part in parts if part.numbers is not None]
    low, high = min(part.low for part in found), max(part.high for part in found)
    if not whole:
        proportion = low >= 0 and low < high <= 1 and any(part.between_0_and_1 for part in found)
        return ColumnEncoding("proportion" if proportion else "continuous", "real numbers", (), False, True)
    if all(part.levels for part in parts if part.numbers is not None):
        levels = tuple(sorted({level for part in parts for level in part.levels}))
        if len(levels) <= FEW_LEVELS:
            return ColumnEncoding("categorical", f"whole numbers, {len(levels)} distinct", levels, False, False)
    if _number_the_rows(found, int(low), int(high)):
        return ColumnEncoding("identifier", "whole numbers that number the rows", (), False, True)
    smallest = sorted({value for part in found for value in (part.low, part.second)})
    kind: Kind = "count" if low >= 0 and smallest[1] <= MAX_SMALL else "continuous"
    return ColumnEncoding(kind, f"whole numbers, more than {FEW_LEVELS} distinct", (), False, True)


def _number_the_rows(found: Sequence[Numbers], low: int, high: int) -> bool:
    """Return whether whole numbers are consecutive in some order, or ascend or descend in short steps."""
    rows = sum(part.rows for part in found)
    if not all(part.are_distinct for part in found):
        return False
    if high - low == rows - 1:
        return _sums_of(found) == _consecutive_sums(low, high)
    steps = [(part.first, part.last) for part in found]
    ends = [value for step in steps for value in step]
    monotone = all(part.is_monotone for part in found) and is_monotone(np.array(ends))
    return monotone and high - low < MAX_STEP * rows


def _sums_of(found: Sequence[Numbers]) -> tuple[int, ...]:
    return tuple(sum(part.sums[k] for part in found) % 2**64 for k in range(3))


def _consecutive_sums(low: int, high: int) -> tuple[int, ...]:
    """Return the sums of whole numbers from low to high, of their squares and cubes, in 64 bits."""

    def up_to(n: int) -> tuple[int, int, int]:
        return n * (n + 1) // 2, n * (n + 1) * (2 * n + 1) // 6, (n * (n + 1) // 2) ** 2

    return tuple((a - b) % 2**64 for a, b in zip(up_to(high), up_to(low - 1), strict=True))


def _merged_labels(parts: Sequence[Facts], kind: Kind | None) -> ColumnEncoding:
    name = parts[0].name
    labels = list(dict.fromkeys(level for part in parts for level in part.levels))
    if all(part.declared for part in parts):
        same = all(part.levels == parts[0].levels for part in parts)
        found: Kind = kind or ("ordinal" if same and parts[0].kind == "ordinal" else "categorical")
        reason = AS_ASKED if kind else f"{len(labels)} {'ordered' if found == 'ordinal' else 'declared'} categories"
        return ColumnEncoding(found, reason, tuple(labels), declared=True, as_numbers=False)
    rows = sum(part.rows - part.gaps for part in parts)
    levels = sorted_labels(labels)
    if kind is None and names_rows(len(levels), rows):
        reason = f"text, {len(levels):,} distinct values in {rows:,} rows"
        return ColumnEncoding("identifier", reason, tuple(levels), declared=False, as_numbers=True)
    if kind != "identifier":
        check_levels(name, len(levels))
    reason = AS_ASKED if kind else "text"
    return ColumnEncoding(
        kind or kind_of_labels(levels), reason, tuple(levels), False, kind in ("identifier", "ordinal")
    )


def encoded_as(column: Encoded, asked: ColumnEncoding) -> Encoded:
    """Encode a part of a column by the description of the whole."""
    missing = missing_or_none(column.missing)
    kind, reason, levels = asked.kind, asked.reason, asked.levels
    if asked.as_numbers and not levels:
        return Encoded(kind, reason, (), values=numbers_of(column), missing=missing)
    if column.levels == levels and (column.values is None) != asked.as_numbers:
        return column.changed(kind=kind, reason=reason, missing=missing, declared=True)
    at = {level: k for k, level in enumerate(levels)}
    rank = np.array([*(at[level] for level in column.levels), 0], np.int64)
    indices = rank[np.minimum(indices_of(column), len(column.levels))]
    if asked.as_numbers:
        return Encoded(kind, reason, levels, values=indices.astype(np.float64), missing=missing, declared=True)
    if missing is not None and None in at:
        indices, missing = np.where(missing, at[None], indices), None
    return Encoded(kind, reason, levels, as_codes(indices, len(levels)), missing=missing, declared=True)


def with_gap_level(described: ColumnEncoding, parts: Sequence[Facts]) -> ColumnEncoding:
    """Return the encoding with one more level for missing values, if there are any."""
    if not any(part.gaps for part in parts):
        return described
    if described.as_numbers:
        raise DataError(
            f"{setting('missing', 'level')} needs categorical columns, but values are missing in the continuous "
            f"{parts[0].name!r}; give it a rule of its own, as in {setting('missing', {parts[0].name: 'drop'})}"
        )
    return described._replace(levels=(*described.levels, None))


def is_constant(described: ColumnEncoding, parts: Sequence[Facts]) -> bool:
    """Return whether a column has only one value."""
    if described.as_numbers:
        found = [part.numbers for part in parts if part.numbers is not None]
        return not found or min(n.low for n in found) == max(n.high for n in found)
    if described.declared:
        return len(frozenset().union(*(part.met for part in parts))) + any(part.gaps for part in parts) < 2
    return len(described.levels) < 2
