"""Columns that carry no information, or none of their own: constants, duplicates, and functions of other columns.

Their consequences:

- A *constant* column is never part of a blanket, and cannot be a target.
- Of *duplicates* a search finds one, the first in the table or the first tested: given one, the others are independent
  of everything. `interchangeable` names them: any of them could be the member in place of the one found.
- A column that others *determine* is independent of everything given these. This violates faithfulness: true
  neighbours can be lost, most easily by algorithms that check both ends of an edge. Nearly deterministic relations have
  the same effect, because few rows are left that could show a dependence (Rodrigues de Morais and Aussem, *An efficient
  and scalable algorithm for local Bayesian network structure discovery*, 2010, Definition 1). `determined_by` finds
  such relations; the remedy is to ignore the less useful column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import numbered
from serape.data.table import Table
from serape.errors import OptionError, abbreviate, first_few

_BLOCK = 1 << 24  # cells compared together
_ROUNDING = 1e-9

NameGroups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Determination:
    """How nearly a column is a function of others. It is true if the share of violations is within the tolerance."""

    target: str
    columns: tuple[str, ...]
    violations: int
    """The smallest number of rows to remove so that every combination of the columns' values has one value of the
    target: the measure g₃ of Kivinen and Mannila, *Approximate inference of functional dependencies from relations*,
    1995."""
    rows: int
    """The number of rows in which no value of the columns is missing."""
    combinations: int
    """The number of combinations of the columns' values that occur. If there are nearly as many as rows, determining
    the target means nothing: identifiers determine everything."""
    tolerance: float = 0.0

    @property
    def share(self) -> float:
        """The share of rows that violate it."""
        return self.violations / self.rows if self.rows else 0.0

    @property
    def exact(self) -> bool:
        """Whether no row violates it."""
        return self.violations == 0

    def __bool__(self) -> bool:
        return self.share <= self.tolerance


@dataclass(frozen=True)
class Degenerate:
    """Columns of a table without information, or with the same as others, by name and in the table's order."""

    constant: tuple[str, ...]
    """Columns of one value."""
    duplicates: NameGroups
    """Groups of exact duplicates: categorical columns with the same rows in each level, whatever the levels are called,
    and continuous ones of equal values. A missing value is equal to a missing value only."""
    rescaled: NameGroups = ()
    """Groups of continuous columns that are equal up to scale and shift, a·x + b with a ≠ 0, and rounding; exact
    duplicates are members too."""
    determined: tuple[Determination, ...] = ()
    """Pairs of categorical columns, no duplicates, of which one determines or nearly determines the other; empty
    without a tolerance."""

    def interchangeable(self, name: str) -> tuple[str, ...]:
        """Return the duplicates of a column, exact or up to scale."""
        return tuple(other for other in self._group.get(name, ()) if other != name)

    @cached_property
    def _group(self) -> dict[str, tuple[str, ...]]:
        # a group of columns up to scale contains all exact duplicates of its members, so it comes last and wins
        return {name: group for groups in (self.duplicates, self.rescaled) for group in groups for name in group}

    @property
    def notes(self) -> tuple[str, ...]:
        """The findings, in sentences."""
        notes = []
        if self.constant:
            notes.append(f"constant, so never part of a blanket: {abbreviate(self.constant)}")
        for what, groups in (("duplicates", self.duplicates), ("duplicates up to scale", self.rescaled)):
            if groups:
                first = first_few(groups, abbreviate, what="groups", between="; ")
                notes.append(f"{what} of each other, so a search finds one of each group: {first}")
        notes.extend(
            f"{one.columns[0]!r} determines {one.target!r} "
            f"{'in all rows' if one.exact else f'in all but {one.violations:,} of {one.rows:,} rows'}, "
            f"so neighbours of {one.target!r} can be lost: ignore the less useful of the two"
            for one in self.determined
        )
        return tuple(notes)

    def __bool__(self) -> bool:
        return bool(self.constant or self.duplicates or self.rescaled or self.determined)

    def __str__(self) -> str:
        return "\n".join(self.notes) or "no degenerate columns"


def degenerate(data: Any, tolerance: float | None = None) -> Degenerate:
    """Find constant columns and duplicates, in time proportional to the size of the table.

    Parameters
    ----------
    data
        A Table or anything that a Table can be made of.
    tolerance
        If given, find also categorical columns whose level another column tells nearly exactly: with at most this
        share of the errors that a guess of the commonest level makes. This compares all pairs of columns.

    Examples
    --------
    >>> found = serape.degenerate({"a": [0, 1, 0, 1], "b": ["x", "y", "x", "y"], "c": [1, 1, 1, 1]})
    >>> found.constant, found.duplicates
    (('c',), (('a', 'b'),))
    """
    table = Table(data)
    if tolerance is not None:
        _check_tolerance(tolerance)
    found: dict[bytes, list[int]] = {}
    constant: list[int] = []
    continuous = set(table.continuous)
    binary: list[int] = []
    for k in sorted(set(range(len(table.names))) - table.identifiers):  # identifiers take part in no search
        if k in continuous:
            if table.is_constant(k):
                constant.append(k)
            else:
                found.setdefault(_hashed(_numbers(table, k), b"numbers"), []).append(k)
        elif table.levels(k) <= 2 and k not in table.missing:
            binary.append(k)
        elif table.is_constant(k):
            constant.append(k)
        else:
            found.setdefault(_class_key(table, k), []).append(k)
    step = max(1, _BLOCK // table.rows)
    for begin in range(0, len(binary), step):
        for k, key in zip(binary[begin:], _binary_keys(table, binary[begin : begin + step]), strict=False):
            if key is None:
                constant.append(k)
            else:
                found.setdefault(key, []).append(k)
    groups = sorted(sorted(group) for group in found.values() if len(group) > 1)
    distinct = [group[0] for group in found.values() if group[0] in continuous]
    duplicates = {group[0]: group for group in groups}
    rescaled = [sorted(c for k in group for c in duplicates.get(k, [k])) for group in _rescaled(table, distinct)]
    return Degenerate(
        tuple(table.names[k] for k in sorted(constant)),
        tuple(tuple(table.names[k] for k in group) for group in groups),
        tuple(tuple(table.names[k] for k in group) for group in sorted(rescaled)),
        () if tolerance is None else _determinations(table, {*constant, *continuous}, groups, tolerance),
    )


def determined_by(
    data: Any, target: str | int, columns: Sequence[str | int] | str | int, tolerance: float = 0.0
) -> Determination:
    """Return whether, and how nearly, a column is a function of others.

    Parameters
    ----------
    data
        As for `degenerate`. Rows with a missing value in one of the columns are not used.
    target
        The column that may be determined, by name or position.
    columns
        What may determine it: one or several. Values of continuous columns are equal only if exactly equal.
    tolerance
        The share of rows that may violate it. What is returned is true if no larger share does.

    Examples
    --------
    >>> data = {"country": ["at", "at", "fr", "fr"], "town": ["Graz", "Wien", "Lyon", "Nice"]}
    >>> bool(serape.determined_by(data, "country", "town")), bool(serape.determined_by(data, "town", "country"))
    (True, False)
    """
    table = Table(data)
    _check_tolerance(tolerance)
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        columns = (columns,)
    at, others = table.position(target), [table.position(c) for c in columns]
    if at in others:
        raise OptionError(f"{table.names[at]!r} determines itself; remove it from the columns")
    complete = np.ones(table.rows, bool)
    for k in (at, *others):
        if k in table.missing:
            complete &= ~table.missing[k]
    rows = int(complete.sum())
    cell = np.zeros(rows, np.int64)
    cells = 1 if rows else 0
    for k in others:
        cell, cells = _crossed(cell, _values(table, k)[complete])
    pairs = _crossed(cell, _values(table, at)[complete])[0]
    kept = 0
    if rows:
        _, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        largest = np.zeros(cells, np.int64)
        np.maximum.at(largest, cell[first], counts)
        kept = int(largest.sum())
    names = tuple(table.names[k] for k in others)
    return Determination(table.names[at], names, rows - kept, rows, cells, float(tolerance))


def functions_of(table: Table, targets: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Return the targets that are exact functions of one of the columns, or of all together.

    There must be two rows on average for each combination of values: with one for each, anything is a function. Rows
    with a missing value in a column concerned are not used.
    """
    sets = [*([z] for z in columns), *([columns] if len(columns) > 1 else [])]
    found: set[int] = set()
    for some in sets:
        gaps = [table.missing[z] for z in some if z in table.missing]
        kept = ~np.logical_or.reduce(gaps) if gaps else slice(None)
        cell = np.zeros(table.rows, np.int64)[kept]
        cells = 1
        for z in some:
            cell, cells = _crossed(cell, _values(table, z)[kept])
        for x in set(targets) - found:
            exact = False
            if x in table.missing:
                here = determined_by(table, x, some)
                exact = here.exact and 2 * here.combinations <= here.rows
            elif 2 * cells <= len(cell):
                values = _values(table, x)[kept]
                any_of = np.zeros(cells, values.dtype)
                any_of[cell] = values
                exact = bool((any_of[cell] == values).all())
            if exact:
                found.add(x)
    return [x for x in targets if x in found]


# --- internal --------------------------------------------------------------------------------------------------------


def _check_tolerance(tolerance: float) -> None:
    if not isinstance(tolerance, int | float | np.number) or not 0 <= tolerance < 1:
        raise OptionError(f"tolerance is a share, from 0 to less than 1, not {tolerance!r}")


def _determinations(
    table: Table, excluded: set[int], duplicates: list[list[int]], tolerance: float
) -> tuple[Determination, ...]:
    """Compare all pairs of columns, except those of excluded columns and those of duplicates."""
    first = {k: group[0] for group in duplicates for k in group}
    codes = {k: table.codes(k).astype(np.int64) for k in range(len(table.names)) if k not in excluded}
    found = []
    for a, of_a in codes.items():
        for b, of_b in codes.items():
            if a == b or first.get(a, a) == first.get(b, b):
                continue
            complete = np.ones(table.rows, bool)
            for k in (a, b):
                if k in table.missing:
                    complete &= ~table.missing[k]
            one, other = (of_a, of_b) if complete.all() else (of_a[complete], of_b[complete])
            width = table.levels(b)
            if table.levels(a) * width > 4 * table.rows + 1024:
                continue  # too few rows for each level
            counts = np.bincount(one * width + other, minlength=table.levels(a) * width).reshape(-1, width)
            wrong = len(one) - int(counts.max(axis=1).sum())
            guessed = len(one) - int(counts.sum(axis=0).max(initial=0))
            combinations = int(np.count_nonzero(counts.sum(axis=1)))
            if guessed > 0 and wrong <= tolerance * guessed and 2 * combinations <= len(one):
                found.append(Determination(table.names[b], (table.names[a],), wrong, len(one), combinations, tolerance))
    return tuple(found)


def _values(table: Table, k: int) -> NDArray[Any]:
    return table.codes(k) if table.levels(k) else table.numbers(k)


def _crossed(cell: NDArray[np.int64], values: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Divide cells by the values of one more column; return the cell of every row and the number that occur."""
    codes, distinct = numbered(values)
    return numbered(cell * max(distinct, 1) + codes)


def _hashed(values: NDArray[Any], kind: bytes) -> bytes:
    from hashlib import blake2b

    return blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16, key=kind).digest()


def _numbers(table: Table, k: int) -> NDArray[np.float64]:
    """Return a column's numbers so that equal numbers have equal bytes."""
    values = table.numbers(k) + 0.0  # −0.0 becomes 0.0
    return np.where(np.isnan(values), np.nan, values)


def _class_key(table: Table, k: int) -> bytes:
    """Return a key that is equal for duplicates; some levels may not occur."""
    codes = table.codes(k).astype(np.int64)
    if k in table.missing:
        codes[table.missing[k]] = table.levels(k)
        classes = _by_first_row(codes)
        classes[table.missing[k]] = -1
        return _hashed(classes, b"gaps")
    classes = _by_first_row(codes)
    return _hashed(np.packbits(classes > 0), b"bits") if classes.max() == 1 else _hashed(classes, b"classes")


def _by_first_row(codes: NDArray[np.int64]) -> NDArray[np.int32]:
    """Number levels in the order in which they first occur."""
    first = np.full(int(codes.max()) + 1, len(codes), np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # the last to be written is the first row
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    return rank[codes]


def _binary_keys(table: Table, columns: list[int]) -> list[bytes | None]:
    """Return the key of each of many columns of two levels; None for a constant one."""
    codes = np.empty((len(columns), table.rows), bool)
    for index, k in enumerate(columns):
        codes[index] = table.codes(k)
    codes ^= codes[:, :1].copy()  # the first row's level becomes 0
    varies: list[bool] = np.logical_or.reduce(codes, axis=1).tolist()
    bits = np.packbits(codes, axis=1)
    return [_hashed(bits[index], b"bits") if varies[index] else None for index in range(len(columns))]


def _rescaled(table: Table, columns: list[int]) -> list[list[int]]:
    """Group continuous columns that are equal up to scale and shift.

    Standardised columns are projected onto two random directions. Duplicates up to scale have the same projections but
    for sign and rounding, so only columns with nearly equal projections are compared.
    """
    weights = np.random.default_rng(0).normal(size=(2, table.rows))
    reach = float(np.abs(weights).sum(axis=1).max())
    projected: list[tuple[float, float, float, int]] = []
    for k in columns:
        standard, slack = _standardised(table, k)
        if standard is not None:
            first, second = np.abs(weights @ standard).tolist()
            projected.append((first, second, slack * reach, k))
    projected.sort()
    groups: list[list[int]] = []
    candidates: list[tuple[float, float, float, list[int]]] = []
    for first, second, slack, k in projected:
        candidates = [one for one in candidates if first - one[0] <= one[2] + slack]
        close = (group for _, v, s, group in candidates if abs(second - v) <= s + slack)
        equal = next((group for group in close if _equal_up_to_scale(table, group[0], k)), None)
        if equal is None:
            groups.append([k])
            candidates.append((first, second, slack, groups[-1]))
        else:
            equal.append(k)
    return [group for group in groups if len(group) > 1]


def _standardised(table: Table, k: int) -> tuple[NDArray[np.float64] | None, float]:
    """Return a column with mean 0 and length √n, 0 where values are missing, and a bound of its rounding errors."""
    values = table.numbers(k)
    if k in table.missing:
        values = values[~table.missing[k]]
    middle = float(np.median(values))
    with np.errstate(over="ignore"):
        off = values - middle
        if not np.isfinite(off).all():  # the range overflows
            off = values / 4 - middle / 4
    off = off / np.abs(off).max()  # neither squares nor sums overflow now
    off = off - off.mean()
    length = float(np.sqrt((off * off).mean()))
    if length == 0:
        return None, 0.0
    largest, spread = float(np.abs(values).max()), float(np.abs(values / 4 - middle / 4).max()) * length * 4
    rounding = 8 * np.finfo(float).eps * (largest / spread if spread > 0 else 0.0)
    standard = np.zeros(table.rows)
    standard[slice(None) if k not in table.missing else ~table.missing[k]] = off / length
    return standard, _ROUNDING + min(rounding, 1e-6)


def _equal_up_to_scale(table: Table, a: int, b: int) -> bool:
    if (a in table.missing) != (b in table.missing):
        return False
    if a in table.missing and not np.array_equal(table.missing[a], table.missing[b]):
        return False
    (one, slack), (other, more) = _standardised(table, a), _standardised(table, b)
    assert one is not None
    assert other is not None
    sign = 1.0 if float(one @ other) >= 0 else -1.0
    return bool(np.abs(one - sign * other).max() <= slack + more)
