"""Discretisation: continuous columns are divided into classes, at cuts that can be saved and applied to new data.

- `"quantile"`: classes of about equally many rows. Equal values stay together, so ties can make classes fewer.
- `"width"`: classes of equal width between the smallest and the largest value.
- `"mdl"`: classes that inform about a categorical target. Cuts reduce the entropy of the target, as long as the
  minimum description length principle accepts them (Fayyad and Irani, *Multi-interval discretization of
  continuous-valued attributes for classification learning*, IJCAI 1993). A column without such cuts becomes one class.

A class includes its upper end: (a, b] is a < x ≤ b. The first and last classes are unbounded, so every value has a
class.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Floats
from serape.checks import is_one_of
from serape.data.encoding import Encoded, as_codes
from serape.data.kinds import Kinds
from serape.data.reading import read
from serape.data.table import Table
from serape.errors import (
    DataError,
    InputTypeError,
    OptionError,
    abbreviate,
    first_few,
    is_integer,
    n_shown,
    shown,
    suggestion,
)
from serape.types import Missing

Method = Literal["quantile", "width", "mdl"]
METHODS: tuple[Method, ...] = ("quantile", "width", "mdl")

_WORDS = {"quantile": "by quantiles", "width": "by equal width", "mdl": "by minimum description length"}


class Discretised:
    """A table in which continuous columns are divided into classes, and the cuts between the classes.

    Examples
    --------
    >>> cut = serape.discretise({"size": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}, "width", bins=2)
    >>> cut.apply({"size": [0.25, 9.75]}).column(0).tolist()
    ['(-inf, 4]', '(4, inf)']
    """

    def __init__(
        self, cuts: Mapping[str, Floats], method: Method, target: str | None = None, table: Table | None = None
    ) -> None:
        self.cuts = dict(cuts)
        """By name, the cuts of a column, ascending; k cuts make k + 1 classes."""
        self.method = method
        self.target = target
        self._table = table

    @property
    def table(self) -> Table:
        """The data from which the cuts were computed, divided into classes."""
        if self._table is None:
            raise OptionError("cuts that were loaded have no table; use apply(data)")
        return self._table

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """By name, the classes of a column."""
        return {name: labels_of(cuts) for name, cuts in self.cuts.items()}

    def apply(self, data: Any, missing: Missing = "error") -> Table:
        """Divide the same columns of other data at the same cuts.

        Values outside the range of the first data belong to the first or last class. All classes are declared, whether
        they occur or not. Other columns are read unchanged.
        """
        if isinstance(data, Table):
            table = data
            _check_names(self.cuts, table.names)
        else:
            columns = read(data, Kinds(dict.fromkeys(self.cuts, "continuous")))
            _check_names(self.cuts, columns.names)
            table = Table(columns, missing=missing)
        return _divided(table, self.cuts, self.method, [])

    def to_dict(self) -> dict[str, Any]:
        """Return the cuts as plain dicts and lists, fit for JSON; numbers are kept exactly."""
        return {
            "method": self.method,
            "target": self.target,
            "cuts": {name: [float(c) for c in cuts] for name, cuts in self.cuts.items()},
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Discretised:
        """Return the cuts that `to_dict` wrote."""
        try:
            method, target = saved["method"], saved.get("target")
            cuts = {str(name): np.array(values, np.float64) for name, values in saved["cuts"].items()}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DataError(
                f"these are not cuts that Discretised.to_dict wrote ({type(error).__name__}: {error})"
            ) from None
        if method not in METHODS:
            raise DataError(f"the method {shown(method)} is not known; methods are {', '.join(map(repr, METHODS))}")
        if target is not None and not isinstance(target, str):
            raise DataError(f"the target must be a name, not {shown(target)}")
        for name, column_cuts in cuts.items():
            if column_cuts.ndim != 1 or not np.isfinite(column_cuts).all() or not (np.diff(column_cuts) > 0).all():
                raise DataError(f"the cuts of {name!r} must be finite numbers in ascending order")
            if len(column_cuts) >= _core.MAX_LEVELS:
                raise DataError(
                    f"{name!r} has {len(column_cuts):,} cuts; at most {_core.MAX_LEVELS - 1:,} are possible"
                )
        return cls(cuts, method, target)

    def __repr__(self) -> str:
        lines = [f"{len(self.cuts):,} columns divided {_WORDS[self.method]}"]
        n = n_shown(len(self.levels), 20)
        lines += [f"  {name}: {', '.join(levels)}" for name, levels in list(self.levels.items())[:n]]
        lines += [f"  … and {len(self.levels) - n:,} more"] if n < len(self.levels) else []
        return "\n".join(lines)


def discretise(
    data: Any,
    method: Method = "quantile",
    bins: int = 5,
    columns: Sequence[str | int] | str | int | None = None,
    target: str | int | None = None,
) -> Discretised:
    """Divide continuous columns into classes.

    Parameters
    ----------
    data
        A Table or anything that a Table can be made of. Missing values stay missing.
    method
        "quantile", "width", or "mdl", which needs a target.
    bins
        The number of classes, for "quantile" and "width"; "mdl" decides it itself.
    columns
        The columns to divide, by name or position; all continuous ones by default.
    target
        For "mdl", the categorical column that the classes inform about.

    Returns
    -------
    Discretised
        The table with classes (`table`), and the cuts between them, which can be applied to other data.

    Examples
    --------
    >>> cut = serape.discretise({"size": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]}, "width", bins=2)
    >>> cut.cuts, cut.table.variables["size"].levels
    ({'size': array([4.])}, ('(-inf, 4]', '(4, inf)'))
    """
    if not is_one_of(method, METHODS):
        raise OptionError(
            f"method={shown(method)} is not known; methods are {', '.join(map(repr, METHODS))}."
            f"{suggestion(shown(method), METHODS)}"
        )
    if not is_integer(bins) or not 2 <= bins <= _core.MAX_LEVELS:
        raise OptionError(f"bins must be a whole number from 2 to {_core.MAX_LEVELS:,}, not {shown(bins)}")
    if (method == "mdl") != (target is not None):
        raise OptionError(
            "method='mdl' needs a target: the categorical column that the classes inform about"
            if target is None
            else f"target is for method='mdl'; method={method!r} does not use one"
        )
    table = Table(data)
    chosen = _chosen(table, columns)
    at = None if target is None else table.position(target)
    if at is not None and at in table.continuous:
        raise DataError(
            f"method='mdl' needs a categorical target, but {table.names[at]!r} is continuous; discretise it first, by "
            f"another method"
        )
    if method == "mdl" and table.weights is not None:
        raise DataError("method='mdl' takes no weights; use method='quantile' or 'width'")
    cuts: dict[str, Floats] = {}
    for k in chosen:
        values, present = table.numbers(k), ~table.missing[k] if k in table.missing else None
        if at is not None:
            if at in table.missing:
                present = ~table.missing[at] if present is None else present & ~table.missing[at]
            classes = table.codes(at)
            column_cuts = _mdl(
                values if present is None else values[present], classes if present is None else classes[present]
            )
        else:
            rows = slice(None) if present is None else present
            weights = None if table.weights is None else table.weights.values[rows]
            observed = values[rows]
            column_cuts = (
                _quantile(observed, int(bins), weights) if method == "quantile" else _width(observed, int(bins))
            )
        if len(column_cuts) >= _core.MAX_LEVELS:
            raise DataError(
                f"column {table.names[k]!r} would have {len(column_cuts) + 1:,} classes; at most "
                f"{_core.MAX_LEVELS:,} are possible"
            )
        cuts[table.names[k]] = column_cuts
    name = None if at is None else table.names[at]
    return Discretised(cuts, method, name, _divided(table, cuts, method, _notes(cuts, method, int(bins))))


def labels_of(cuts: Iterable[float]) -> tuple[str, ...]:
    """Return the names of the classes between cuts, with as few digits as make the cuts distinct."""
    numbers = [float(c) for c in cuts]
    texts = [f"{c:.17g}" for c in numbers]
    for digits in range(6, 17):
        short = [f"{c:.{digits}g}" for c in numbers]
        if len(set(short)) == len(short):
            texts = short
            break
    ends = ["-inf", *texts, "inf"]
    return tuple(f"({a}, {b}{')' if b == 'inf' else ']'}" for a, b in pairwise(ends))


# --- cuts ------------------------------------------------------------------------------------------------------------


def _quantile(values: Floats, bins: int, weights: Floats | None = None) -> Floats:
    """Return the cuts that leave a number of rows below them as near as possible to each k-th part of all rows."""
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    if len(distinct) < 2:
        return np.zeros(0)
    if weights is not None:
        counts = np.bincount(inverse, weights)
    until = np.cumsum(counts)[:-1]
    wanted = np.arange(1, bins) * (float(counts.sum()) / bins)
    after = np.searchsorted(until, wanted)
    below, above = np.maximum(after - 1, 0), np.minimum(after, len(until) - 1)
    nearest = np.where(wanted - until[below] <= until[above] - wanted, below, above)
    cuts: Floats = distinct[np.unique(nearest)]
    return cuts


def _width(values: Floats, bins: int) -> Floats:
    low, high = float(values.min()), float(values.max())
    part = np.arange(1, bins) / bins
    cuts = np.unique(low * (1 - part) + high * part)  # no difference that could overflow
    return cuts[(cuts >= low) & (cuts < high)]


def _mdl(values: Floats, classes: NDArray[Any]) -> Floats:
    """Return the cuts that the minimum description length principle accepts: Fayyad and Irani 1993, section 3."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _, codes = np.unique(classes[order], return_inverse=True)
    codes = codes.ravel()
    if len(ordered) < 2 or codes.max() == 0:
        return np.zeros(0)
    ends = np.flatnonzero(np.append(np.diff(ordered) > 0, True))  # the last row of each distinct value
    # A cut between two values whose rows are all of one class is never the best (their theorem 1).
    starts = np.concatenate([[0], ends[:-1] + 1])
    low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
    boundary = np.append((low[1:] != high[1:]) | (low[:-1] != high[:-1]) | (low[1:] != low[:-1]), True)
    blocks = ends[boundary]
    counts = np.zeros((len(blocks) + 1, int(codes.max()) + 1), np.int64)
    block_of = np.searchsorted(blocks, np.arange(len(ordered)))
    np.add.at(counts, (block_of + 1, codes), 1)
    until = np.cumsum(counts, axis=0)
    cuts: list[float] = []
    pending = [(0, len(blocks))]
    while pending:
        begin, end = pending.pop()
        at = _best_cut(until[begin : end + 1])
        if at is not None:
            last = blocks[begin + at - 1]
            cuts.append(_between(float(ordered[last]), float(ordered[last + 1])))
            pending += [(begin, begin + at), (begin + at, end)]
    return np.array(sorted(cuts))


def _best_cut(until: NDArray[np.int64]) -> int | None:
    """Return the number of blocks before the best cut, given the class counts up to each block; None for no cut."""
    if len(until) < 3:
        return None
    total = until[-1] - until[0]
    left = until[1:-1] - until[0]
    right = total - left
    n, n_left, n_right = int(total.sum()), left.sum(axis=1), right.sum(axis=1)
    bits_left, bits_right = _bits(left, n_left), _bits(right, n_right)  # rows times entropy
    both = bits_left + bits_right
    at = int(np.argmax(both <= both.min() + 1e-9 * n))  # of cuts equally good up to rounding, the lowest
    bits = float(_bits(total[None], np.array([n]))[0])
    gain = (bits - float(bits_left[at] + bits_right[at])) / n
    k, k_left, k_right = (int((c > 0).sum()) for c in (total, left[at], right[at]))
    entropies = (
        k * bits / n
        - k_left * float(bits_left[at]) / int(n_left[at])
        - k_right * float(bits_right[at]) / int(n_right[at])
    )
    delta = k * math.log2(3) + math.log2(1 - 2 * 3.0**-k) - entropies  # log2(3^k − 2) − …
    return at + 1 if gain > (math.log2(n - 1) + delta) / n else None


def _bits(counts: NDArray[np.int64], rows: NDArray[np.int64]) -> Floats:
    """Return rows times the entropy of the classes, in bits."""
    logs = np.log2(np.maximum(counts, 1))
    bits: Floats = rows * np.log2(rows) - (counts * logs).sum(axis=1)
    return np.maximum(bits, 0.0)


def _between(low: float, high: float) -> float:
    """Return the middle of two numbers; the lower one if there is none."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


# --- tables ----------------------------------------------------------------------------------------------------------


def _chosen(table: Table, columns: Sequence[str | int] | str | int | None) -> list[int]:
    if columns is None:
        return [k for k in table.continuous if k not in table.identifiers]
    if isinstance(columns, np.ndarray) and columns.ndim == 0:
        columns = columns.item()
    if isinstance(columns, str) or is_integer(columns):
        columns = (columns,)  # type: ignore[assignment]
    if not isinstance(columns, Iterable):
        raise InputTypeError(f"columns must be names or positions, not {shown(columns)}")
    chosen = [table.position(c) for c in columns]
    continuous = set(table.continuous)
    categorical = [table.names[k] for k in chosen if k not in continuous]
    if categorical:
        reason = table.variables[categorical[0]].reason
        raise DataError(
            f"{abbreviate(categorical)} cannot be divided into classes: categorical already ({reason}); if the values "
            f"are quantities pass kinds={{{categorical[0]!r}: 'continuous'}} to Table"
        )
    return list(dict.fromkeys(chosen))


def _check_names(cuts: Iterable[str], names: Sequence[str]) -> None:
    known = set(names)
    absent = [name for name in cuts if name not in known]
    if absent:
        raise DataError(f"the data have no column {abbreviate(absent)}, which has cuts.{suggestion(absent[0], names)}")


def _divided(table: Table, cuts: Mapping[str, Floats], method: str, notes: list[str]) -> Table:
    """Return the table with columns divided at cuts."""
    encoded = []
    for k, name in enumerate(table.names):
        if name not in cuts:
            encoded.append(table.encoded(k))
            continue
        values = _numbers_of(table, k)
        levels = labels_of(cuts[name])
        codes = as_codes(np.searchsorted(cuts[name], values, side="left"), len(levels))
        if k in table.missing:
            codes[table.missing[k]] = 0
        reason = f"{len(levels)} classes, divided {_WORDS[method]}"
        encoded.append(Encoded("categorical", reason, levels, codes, missing=table.missing.get(k), declared=True))
    return table.with_columns(encoded, notes)


def _numbers_of(table: Table, k: int) -> Floats:
    """Return a column's numbers, also if it is categorical because they have few distinct values."""
    if table.levels(k) == 0:
        return table.numbers(k)
    levels = table.variables[table.names[k]].levels
    try:
        if any(isinstance(v, str | bool) or v is None for v in levels):
            raise TypeError
        numbers = np.array([float(v) for v in levels])
    except (TypeError, ValueError):
        odd = next(v for v in levels if isinstance(v, str | bool) or not isinstance(v, int | float))
        raise DataError(
            f"column {table.names[k]!r} cannot be divided into classes: it holds {shown(odd)}, which is not a number"
        ) from None
    return numbers[table.codes(k)]


def _notes(cuts: Mapping[str, Floats], method: str, bins: int) -> list[str]:
    notes = []
    if cuts:
        classes = first_few(list(cuts), lambda name: f"{name!r} ({len(cuts[name]) + 1})", what="columns")
        notes.append(f"divided into classes {_WORDS[method]}: {classes}")
    else:
        notes.append("no column is continuous, so none is divided into classes")
    if method == "mdl":
        undivided = [name for name, c in cuts.items() if len(c) == 0]
        if undivided:
            notes.append(f"one class only, as no cut informs enough about the target: {abbreviate(undivided)}")
    else:
        fewer = [name for name, c in cuts.items() if len(c) + 1 < bins]
        if fewer:
            notes.append(f"fewer than {bins} classes, because of equal values: {abbreviate(fewer)}")
    return notes
