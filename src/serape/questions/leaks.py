"""Columns that tell the target by themselves: copies of it in other units, and likely leaks.

A copy is a column of numbers that is a strictly monotone function of a target of numbers, such as 2y + 1 or exp(y).
Every candidate is compared, first in a few rows that are read once for all targets: nearly all fail there.

A likely leak is a column that leaves at most a fiftieth of the target open: of the errors in guessing its level, or of
the variance of its ranks. Members are compared in all rows, which takes one sort for each. Other candidates are
compared only if there is a copy or a leak, or on request, first in a thousand rows. No test is performed.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import abbreviate, n_shown
from serape.independence import table_of
from serape.search import Search
from serape.wording import setting

MAX_LEFT = 0.02  # the share of the target that a likely leak leaves open: a rank correlation of .99
_MIN_ROWS = 20
_MIN_ERRORS = 10  # in guessing the target without a column; with fewer, a column can be right by chance
_MIN_ROWS_PER_LEVEL = 5  # on average
_FIRST_ROWS = 16
_FEW_ROWS = 64
_MANY_ROWS = 1000
_FEW_CELLS = 256  # combinations of levels whose counts are looked at one by one
_MAX_CHECKED = 1000  # candidates that are compared beside members

RowIndices = NDArray[np.intp]


@dataclass(frozen=True)
class Leaks:
    """Columns that tell a target by themselves, by name; exact duplicates of the target are left out."""

    target: str
    copies: tuple[str, ...] = ()
    """Copies of the target in other units."""
    likely: tuple[str, ...] = ()
    """Columns that leave at most a fiftieth of the target open."""
    unchecked: int = 0
    """The number of candidates that were not compared because there are too many."""

    @property
    def notes(self) -> list[str]:
        """What was found and what to do, in sentences."""
        notes = []
        if self.copies:
            notes.append(
                f"{_are(self.copies, 'a copy', 'copies')} of the target in other units (a strictly increasing or "
                f"decreasing function of {self.target!r}), so little else can be found beside {_it(self.copies)}: "
                f"{ignore_remedy(self.copies)}"
            )
        if self.likely:
            named = self.likely
            notes.append(
                f"{abbreviate(named)} alone {'tells' if len(named) == 1 else 'tell'} {self.target!r} nearly exactly, "
                f"which is likely a leak: if {_it(named, subject=True)} known only after {self.target!r}, "
                f"{ignore_remedy(named)}"
            )
        return notes


def find_leaks(search: Search, target: int, members: Collection[int], max_checked: int | None = None) -> Leaks:
    """Return the columns that are copies of the target, or determine it nearly.

    Identifiers and forbidden members are no candidates, and are not named. Candidates besides the members are compared
    if `max_checked` is given, at most so many of them; otherwise only if there is a copy or a leak.
    """
    table = table_of(search.test)
    if table is None or table.remote is not None:  # columns elsewhere are not read for this
        return Leaks(search.test.variables[target])
    same = set(table.duplicates.get(target, ()))
    numbers = () if table.levels(target) else table.continuous
    copies = _copies(table, target, [x for x in search.admissible(target, numbers) if x not in same])
    asked = [x for x in sorted(members) if x not in same and x not in copies]
    leaks = [x for x, left in zip(asked, shares_left(table, target, asked), strict=True) if left <= MAX_LEFT]
    unchecked = 0
    if max_checked is not None or copies or leaks or not same.isdisjoint(members):
        known = {*same, *copies, *members}
        others = [x for x in search.candidates(target).tolist() if x not in known]
        checked = others[: _MAX_CHECKED if max_checked is None else max_checked]
        unchecked = len(others) - len(checked)
        some = some_rows(table, _MANY_ROWS)
        leaks += [x for x in checked if _leaks(table, target, x, some, 2 * MAX_LEFT) and _leaks(table, target, x)]
    return Leaks(table.names[target], _with_duplicates(table, copies), _with_duplicates(table, leaks), unchecked)


def some_rows(table: Table, count: int) -> RowIndices:
    """Return so many rows of a table, drawn at random, always the same; all if it has no more."""
    return np.random.default_rng(0).permutation(table.rows)[:count]


def share_left(table: Table, target: int, x: int, rows: RowIndices | None = None) -> float:
    """Return the share of the target that a column leaves open: 0 if it tells the target, 1 if it tells nothing.

    For a categorical target it is the share of errors that remain in guessing its level. A row's guess is the commonest
    level among the other rows of its level of x; if x holds numbers, neighbours in its order are compared. For numbers
    it is the share of the variance of the ranks that remains: 1 − r², or that within levels. It is 1 if there are too
    few rows to say, or fewer than five for each level on average.
    """
    take = _complete(table, target, _complete(table, x, np.arange(table.rows) if rows is None else rows))
    if len(take) < _MIN_ROWS:
        return 1.0
    if table.levels(x):
        levels = table.codes(x)[take].astype(np.int64)
        if _MIN_ROWS_PER_LEVEL * np.count_nonzero(np.bincount(levels)) > len(take):
            return 1.0
        if table.levels(target):
            return _errors_left(levels, table.codes(target)[take])
        return _variance_left(levels, _ranks(table.numbers(target)[take]))
    numbers = table.numbers(x)[take]
    if table.levels(target):
        return _changes_left(numbers, table.codes(target)[take])
    one, other = _ranks(numbers), _ranks(table.numbers(target)[take])
    length = math.sqrt(float(one @ one) * float(other @ other))
    return 1.0 - (float(one @ other) / length) ** 2 if length > 0 else 1.0


def shares_left(table: Table, target: int, columns: Sequence[int]) -> list[float]:
    """Return `share_left` of many columns in all rows; the core counts categories of few combinations."""
    levels = 0 if table.missing else table.levels(target)
    counted = [x for x in columns if 0 < levels * table.levels(x) <= _FEW_CELLS]
    guesses = _core.counts(table.codes_alone, target, counted, ()).guesses() if counted else ()
    known = {x: _errors_counted(table.rows, *found) for x, found in zip(counted, guesses, strict=True)}
    return [known[x] if x in known else share_left(table, target, x) for x in columns]


def ignore_remedy(named: Sequence[str]) -> str:
    """Return how to leave columns out, in words."""
    n = n_shown(len(named), 5)
    return f"leave {_it(named)} out with {setting('ignore', list(named[:n]))}{' …' if n < len(named) else ''}"


# --- internal --------------------------------------------------------------------------------------------------------


def _leaks(table: Table, target: int, x: int, rows: RowIndices | None = None, max_left: float = MAX_LEFT) -> bool:
    return share_left(table, target, x, rows) <= max_left


def _copies(table: Table, target: int, columns: Sequence[int]) -> list[int]:
    """Return the columns of numbers that are strictly monotone functions of a target of numbers."""
    columns = _may_be_copies(table, target, columns)
    if not columns:
        return []
    order = _complete(table, target, np.argsort(table.numbers(target), kind="stable"))
    some = order[:: max(1, len(order) // _FEW_ROWS)]
    return [x for x in columns if _is_monotone(table, target, x, some) and _is_copy(table, target, x, order)]


def _may_be_copies(table: Table, target: int, columns: Sequence[int]) -> Sequence[int]:
    """Return the columns of numbers that grow or fall where the target does, in a few rows, and those with gaps."""
    if target in table.missing or not columns:
        return columns
    index, values = table.memory.keep(
        "numbers in a few rows", lambda: _first_look(table), 2 * 8 * _FIRST_ROWS * len(table.continuous)
    )
    values = values[:, np.argsort(values[index[target]], kind="stable")]
    up, down = values[:, 1:] > values[:, :-1], values[:, 1:] < values[:, :-1]
    grows = up[index[target]]
    agrees = (up == grows).all(axis=1) & ~down.any(axis=1) | (down == grows).all(axis=1) & ~up.any(axis=1)
    return [x for x in columns if agrees[index[x]] or x in table.missing]


def _first_look(table: Table) -> tuple[dict[int, int], NDArray[np.float64]]:
    """Return the indices of the columns of numbers, and their values in a few rows."""
    rows = some_rows(table, _FIRST_ROWS)
    values = np.array([table.numbers(k)[rows] for k in table.continuous])
    return {k: index for index, k in enumerate(table.continuous)}, values


def _is_copy(table: Table, target: int, x: int, order: RowIndices) -> bool:
    order = _complete(table, x, order)
    if len(order) < _MIN_ROWS or table.numbers(target)[order[0]] == table.numbers(target)[order[-1]]:
        return False
    return _is_monotone(table, target, x, order)


def _is_monotone(table: Table, target: int, x: int, order: RowIndices) -> bool:
    """Return whether a column grows or falls exactly where the target grows, in rows that are sorted by the target."""
    order = _complete(table, x, order)
    steps, values = table.numbers(target)[order], table.numbers(x)[order]
    grows, up, down = steps[1:] > steps[:-1], values[1:] > values[:-1], values[1:] < values[:-1]
    falls_never, grows_never = not down.any(), not up.any()
    return (falls_never and np.array_equal(up, grows)) or (grows_never and np.array_equal(down, grows))


def _complete(table: Table, x: int, rows: RowIndices) -> RowIndices:
    return rows[~table.missing[x][rows]] if x in table.missing else rows


def _errors_left(levels: NDArray[Any], classes: NDArray[Any]) -> float:
    """Return the share of errors that remain if each row's class is guessed from the others of its level."""
    totals = np.bincount(classes)
    without, cells = len(classes) - int(totals.max()), (int(levels.max()) + 1) * len(totals)
    if without < _MIN_ERRORS or cells > 4 * len(classes) + 1024:  # too few rows for so many combinations
        return 1.0
    counts = np.bincount(levels * len(totals) + classes, minlength=cells).reshape(-1, len(totals))
    second, largest = np.partition(counts, len(totals) - 2, axis=1)[:, -2:].T
    right = int(largest[largest - 1 > second].sum())  # without the row itself, its class is still the commonest
    return (len(classes) - right) / without


def _errors_counted(rows: int, commonest: int, levels: int, right: int) -> float:
    """Return what `share_left` does from numbers of rows; see `Counts.guesses`."""
    without = rows - commonest
    if rows < _MIN_ROWS or _MIN_ROWS_PER_LEVEL * levels > rows or without < _MIN_ERRORS:
        return 1.0
    return (rows - right) / without


def _changes_left(numbers: NDArray[np.float64], classes: NDArray[Any]) -> float:
    """Return the share of errors that remain if each row's class is guessed from its neighbours in order of numbers.

    A single wrong row changes the class twice. Rows of equal numbers are in random order.
    """
    without = len(classes) - int(np.bincount(classes).max())
    if without < _MIN_ERRORS:
        return 1.0
    mixed = np.random.default_rng(0).permutation(len(numbers))
    ordered = classes[mixed][np.argsort(numbers[mixed], kind="stable")]
    return int((ordered[1:] != ordered[:-1]).sum()) / 2 / without


def _variance_left(levels: NDArray[Any], ranks: NDArray[np.float64]) -> float:
    """Return the share of the variance of ranks with mean 0 that is within levels."""
    rows, total = np.bincount(levels), float(ranks @ ranks)
    sums, rows = np.bincount(levels, weights=ranks)[rows > 0], rows[rows > 0]
    within = total - float((sums**2 / rows).sum())
    return within / (len(ranks) - len(rows)) / (total / (len(ranks) - 1)) if total > 0 else 1.0


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ranks with mean 0; equal values share the mean of theirs."""
    _, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts + 1) / 2 - (len(values) - 1) / 2)[index.ravel()]


def _with_duplicates(table: Table, columns: Collection[int]) -> tuple[str, ...]:
    found = {k for x in columns for k in table.duplicates.get(x, (x,))}
    return tuple(table.names[k] for k in sorted(found))


def _are(named: Sequence[str], one: str, more: str) -> str:
    return f"{abbreviate(named)} is {one}" if len(named) == 1 else f"{abbreviate(named)} are {more}"


def _it(named: Sequence[str], *, subject: bool = False) -> str:
    if subject:
        return "it is" if len(named) == 1 else "they are"
    return "it" if len(named) == 1 else "them"
