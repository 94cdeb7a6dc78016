"""Encoding a column: its kind, its levels and its codes.

The rule that decides a column's kind, unless the caller sets it:

========================================  ===========
values                                    kind
========================================  ===========
strings, declared categories, booleans    categorical
integers with at most 20 distinct values  categorical
integers with more                        continuous
floats                                    continuous
========================================  ===========

The levels are the declared categories, whether they occur or not; without any, the values that occur, sorted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import DataError, OptionError

Kind = Literal["categorical", "continuous"]
KINDS: tuple[Kind, ...] = ("categorical", "continuous")

FEW_LEVELS = 20
"""Integers with at most this many distinct values are categories."""

Codes = NDArray[np.uint8] | NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Encoded:
    """One column, ready to be packed.

    A categorical column has codes and levels, a continuous one has values. Where `missing` is true, codes and values
    have no meaning.
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

    def rows(self, indices: NDArray[np.int64]) -> Encoded:
        """Return the column that has, in each row, the row of this one at that index."""
        return replace(
            self,
            codes=None if self.codes is None else self.codes[indices],
            values=None if self.values is None else self.values[indices],
            missing=None if self.missing is None else self.missing[indices],
        )

    def kept_rows(self, keep: NDArray[np.bool_]) -> Encoded:
        """Return the column with only the rows to keep; levels that no longer occur are removed."""
        missing = None if self.missing is None else _missing_or_none(self.missing[keep])
        if self.codes is None:
            return replace(self, values=None if self.values is None else self.values[keep], missing=missing)
        codes, levels = self.codes[keep], self.levels
        if not self.declared:
            present = np.unique(codes if missing is None else codes[~missing])
            codes = np.minimum(np.searchsorted(present, codes), max(len(present) - 1, 0))
            codes, levels = as_codes(codes, len(present)), tuple(self.levels[k] for k in present)
        return replace(self, codes=codes, levels=levels, missing=missing)

    def with_nan(self) -> Encoded:
        """Return the column with NaN for missing numbers."""
        if self.missing is None or self.values is None:
            return self
        return replace(self, values=np.where(self.missing, math.nan, self.values))

    def missing_as_level(self) -> Encoded:
        """Return the column with one more level, `None`, for missing values."""
        if self.missing is None or self.codes is None:
            return self
        codes = as_codes(self.codes, len(self.levels) + 1)
        codes[self.missing] = len(self.levels)
        return replace(self, levels=(*self.levels, None), codes=codes, missing=None)


def as_codes(codes: NDArray[Any], levels: int) -> Codes:
    """Return codes in the narrowest type that holds this number of levels."""
    return codes.astype(np.uint8) if levels <= 256 else codes.astype(np.uint16)


class Kinds:
    """The kinds that a caller sets: one for all columns, or some by name."""

    def __init__(self, given: str | Mapping[str, str] | None = None) -> None:
        self.by_name: dict[str, Kind] = {}
        self.for_all: Kind | None = None
        if isinstance(given, str):
            self.for_all = self._checked(given, "all columns")
        elif isinstance(given, Mapping):
            self.by_name = {str(name): self._checked(kind, f"column {name!r}") for name, kind in given.items()}
        elif given is not None:
            raise OptionError(f"kinds must be one word for all columns or a dict by column name, not {given!r:.60}")

    @staticmethod
    def _checked(kind: str, columns: str) -> Kind:
        for known in KINDS:
            if kind == known:
                return known
        raise OptionError(f"kind {kind!r} of {columns} is not known; use 'categorical' or 'continuous'")

    def __bool__(self) -> bool:
        return self.for_all is not None or bool(self.by_name)

    def of(self, name: str) -> Kind | None:
        """Return the kind that the caller sets for a column, or None."""
        return self.by_name.get(name, self.for_all)


def _check_levels(name: str, levels: int) -> None:
    if levels > _core.MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {levels:,} levels, more than the {_core.MAX_LEVELS:,} a categorical column can have; "
            f"if it is an identifier ignore it, if it is a quantity pass kinds={{{name!r}: 'continuous'}}"
        )


def _missing_or_none(missing: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    return missing if missing is not None and bool(missing.any()) else None


def _categorical_numbers(
    name: str,
    values: NDArray[Any],
    missing: NDArray[np.bool_] | None,
    reason: str,
    distinct: NDArray[Any] | None = None,
) -> Encoded:
    if distinct is None:
        distinct = np.unique(values if missing is None else values[~missing])
    _check_levels(name, len(distinct))
    if len(distinct) == 0:
        codes = np.zeros(len(values), np.intp)
    else:
        codes = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return Encoded("categorical", reason, tuple(distinct.tolist()), as_codes(codes, len(distinct)), missing=missing)


def encode_integers(
    name: str, values: NDArray[np.integer[Any]], missing: NDArray[np.bool_] | None = None, kind: Kind | None = None
) -> Encoded:
    """Encode whole numbers."""
    missing = _missing_or_none(missing)
    if kind != "continuous":
        distinct = np.unique(values if missing is None else values[~missing])
        if kind == "categorical":
            return _categorical_numbers(name, values, missing, "as asked", distinct)
        if len(distinct) <= FEW_LEVELS:
            reason = f"whole numbers, {len(distinct)} distinct"
            return _categorical_numbers(name, values, missing, reason, distinct)
        reason = f"whole numbers, {len(distinct):,} distinct (more than {FEW_LEVELS})"
    else:
        reason = "as asked"
    return Encoded("continuous", reason, values=values.astype(np.float64), missing=missing)


def encode_floats(
    name: str, values: NDArray[np.floating[Any]], missing: NDArray[np.bool_] | None = None, kind: Kind | None = None
) -> Encoded:
    """Encode real numbers; NaN counts as missing."""
    nan = np.isnan(values)
    missing = _missing_or_none(nan if missing is None else nan | missing)
    if kind == "categorical":
        return _categorical_numbers(name, values, missing, "as asked")
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise DataError(
            f"column {name!r} has an infinite value ({values[row]}) in row {row}; "
            f"replace it by a number or a missing value"
        )
    reason = "as asked" if kind else "real numbers"
    return Encoded("continuous", reason, values=values.astype(np.float64), missing=missing)


def encode_booleans(
    name: str, values: NDArray[np.bool_], missing: NDArray[np.bool_] | None = None, kind: Kind | None = None
) -> Encoded:
    """Encode truth values."""
    if kind == "continuous":
        return encode_integers(name, values.astype(np.uint8), missing, kind)
    numbers = _categorical_numbers(
        name, values.astype(np.uint8), _missing_or_none(missing), "as asked" if kind else "truth values"
    )
    return Encoded(
        "categorical", numbers.reason, tuple(bool(v) for v in numbers.levels), numbers.codes, missing=numbers.missing
    )


def is_missing(value: object) -> bool:
    """Return whether a Python value is a missing one: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}


def encode_labels(
    name: str,
    values: Sequence[Any],
    *,
    declared: Sequence[Any] | None = None,
    kind: Kind | None = None,
    reason: str = "text",
) -> Encoded:
    """Encode values of any hashable type; equal values are one level."""
    code_of: dict[Any, int] = {} if declared is None else {label: k for k, label in enumerate(declared)}
    try:
        codes = np.fromiter((code_of.setdefault(v, len(code_of)) for v in values), np.int64, len(values))
    except TypeError:
        odd = next(v for v in values if not _hashable(v))
        raise DataError(
            f"column {name!r} holds a {type(odd).__name__} ({odd!r:.60}); every cell must be a single value"
        ) from None
    return encode_distinct(
        name, list(code_of), codes, declared=None if declared is None else len(declared), kind=kind, reason=reason
    )


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def encode_distinct(
    name: str,
    labels: list[Any],
    codes: NDArray[np.int64],
    *,
    declared: int | None = None,
    kind: Kind | None = None,
    reason: str = "text",
) -> Encoded:
    """Encode a column given as distinct labels and, for every row, the index of its label.

    If `declared` is given, the first `declared` labels are the declared categories.
    """
    is_gap = np.array([is_missing(label) for label in labels], bool)
    if kind == "continuous":
        return encode_floats(name, _parse_numbers(name, labels, is_gap)[codes], is_gap[codes], kind)
    kept = [k for k in range(len(labels)) if not is_gap[k]]
    _check_levels(name, len(kept))
    if declared is None:
        kept = _sorted_by_label(kept, labels)
    elif len(kept) > declared:
        raise DataError(
            f"column {name!r} has the value {labels[kept[-1]]!r}, which is not one of its declared categories; "
            f"declare it"
        )
    rank = np.zeros(len(labels) or 1, np.int64)
    rank[kept] = np.arange(len(kept))
    missing = _missing_or_none(is_gap[codes]) if len(labels) else None
    return Encoded(
        "categorical",
        "as asked" if kind else reason,
        tuple(labels[k] for k in kept),
        as_codes(rank[codes], len(kept)),
        missing=missing,
        declared=declared is not None,
    )


def _sorted_by_label(positions: list[int], labels: list[Any]) -> list[int]:
    try:
        return sorted(positions, key=lambda k: labels[k])
    except TypeError:  # labels of several types
        return sorted(positions, key=lambda k: (type(labels[k]).__name__, str(labels[k])))


def _parse_numbers(name: str, labels: list[Any], is_gap: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = np.full(len(labels), math.nan)
    for k, label in enumerate(labels):
        if is_gap[k]:
            continue
        try:
            numbers[k] = float(label)
        except (TypeError, ValueError):
            raise DataError(
                f"column {name!r} cannot be continuous: it holds {label!r:.60}, which is not a number; "
                f"correct the value or leave the column categorical"
            ) from None
    return numbers


def encode_objects(name: str, values: Sequence[Any], kind: Kind | None = None) -> Encoded:
    """Encode Python objects: as truth values, whole numbers or real numbers if all of them are, otherwise as labels."""
    present = [v for v in values if not is_missing(v)]
    if kind != "categorical" and present:
        missing = np.fromiter((is_missing(v) for v in values), bool, len(values))
        if all(isinstance(v, bool | np.bool_) for v in present):
            truth = np.fromiter(
                (bool(v) if not m else False for v, m in zip(values, missing, strict=True)), bool, len(values)
            )
            return encode_booleans(name, truth, missing, kind)
        if all(isinstance(v, int | np.integer) and not isinstance(v, bool) for v in present):
            try:
                integers = np.array([0 if m else int(v) for v, m in zip(values, missing, strict=True)], np.int64)
            except OverflowError:
                raise DataError(
                    f"column {name!r} holds a whole number beyond 64 bits; pass it as text instead"
                ) from None
            return encode_integers(name, integers, missing, kind)
        if all(isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool) for v in present):
            floats = np.array([math.nan if m else float(v) for v, m in zip(values, missing, strict=True)])
            return encode_floats(name, floats, missing, kind)
    return encode_labels(name, values, kind=kind)


def encode_array(
    name: str, values: NDArray[Any], missing: NDArray[np.bool_] | None = None, kind: Kind | None = None
) -> Encoded:
    """Encode a one-dimensional NumPy array by its type."""
    if values.dtype.kind == "b":
        return encode_booleans(name, values, missing, kind)
    if values.dtype.kind in "iu":
        return encode_integers(name, values, missing, kind)
    if values.dtype.kind == "f":
        return encode_floats(name, values, missing, kind)
    if values.dtype.kind in "US":
        return encode_labels(name, values.tolist(), kind=kind)
    if values.dtype.kind == "O":
        return encode_objects(name, values.tolist(), kind)
    raise DataError(
        f"column {name!r} is of type {values.dtype}, which is neither numbers, truth values nor text; "
        f"convert it to one of these"
    )
