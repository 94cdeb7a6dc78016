"""From a column of values to a column of codes.

The rule that decides a column's kind, unless the caller says otherwise:

========================================  ===========
values                                    kind
========================================  ===========
strings, declared categories, booleans    categorical
integers with at most 20 distinct values  categorical
integers with more                        continuous
floats                                    continuous
========================================  ===========

Levels are the declared categories where there are any (seen or not), otherwise the values seen, in sorted order.
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

    Categorical columns have codes and levels, continuous ones have values. Where `missing` is true, codes and values
    mean nothing.
    """

    kind: Kind
    reason: str
    levels: tuple[Any, ...] = ()
    codes: Codes | None = None
    values: NDArray[np.float64] | None = None
    missing: NDArray[np.bool_] | None = None
    declared: bool = False
    """Whether the levels were declared, and so count even where they do not occur."""

    def __len__(self) -> int:
        return len(self.codes) if self.codes is not None else 0 if self.values is None else len(self.values)

    def take(self, keep: NDArray[np.bool_]) -> Encoded:
        """Return the column with only the rows to keep, none of which may be missing."""
        if self.codes is None:
            return replace(self, values=None if self.values is None else self.values[keep], missing=None)
        codes, levels = self.codes[keep], self.levels
        if not self.declared:  # levels that are gone are no levels any more
            present = np.unique(codes)
            codes = as_codes(np.searchsorted(present, codes), len(present))
            levels = tuple(self.levels[k] for k in present)
        return replace(self, codes=codes, levels=levels, missing=None)

    def blank(self) -> Encoded:
        """Return the column with NaN for missing numbers, whatever stood there."""
        if self.missing is None or self.values is None:
            return self
        return replace(self, values=np.where(self.missing, math.nan, self.values))

    def missing_as_level(self) -> Encoded:
        """Return the column with one more level, `None`, for what is missing."""
        if self.missing is None or self.codes is None:
            return self
        codes = as_codes(self.codes, len(self.levels) + 1)
        codes[self.missing] = len(self.levels)
        return replace(self, levels=(*self.levels, None), codes=codes, missing=None)


def as_codes(codes: NDArray[Any], levels: int) -> Codes:
    """Return codes in the narrowest type for so many levels."""
    return codes.astype(np.uint8) if levels <= 256 else codes.astype(np.uint16)


class Kinds:
    """The kinds a caller asks for: one word for all columns, or some by name."""

    def __init__(self, asked: str | Mapping[str, str] | None = None) -> None:
        self.by_name: dict[str, Kind] = {}
        self.for_all: Kind | None = None
        if isinstance(asked, str):
            self.for_all = self._checked(asked, "all columns")
        elif isinstance(asked, Mapping):
            self.by_name = {str(name): self._checked(kind, f"column {name!r}") for name, kind in asked.items()}
        elif asked is not None:
            raise OptionError(f"kinds must be one word for all columns or a dict by column name, not {asked!r:.60}")

    @staticmethod
    def _checked(kind: str, whose: str) -> Kind:
        for known in KINDS:
            if kind == known:
                return known
        raise OptionError(f"kind {kind!r} of {whose} is not known; use 'categorical' or 'continuous'")

    def __bool__(self) -> bool:
        return self.for_all is not None or bool(self.by_name)

    def of(self, name: str) -> Kind | None:
        """Return the kind asked for a column, if any."""
        return self.by_name.get(name, self.for_all)


def _check_levels(name: str, levels: int) -> None:
    if levels > _core.MAX_LEVELS:
        raise DataError(
            f"column {name!r} has {levels:,} levels, more than the {_core.MAX_LEVELS:,} a categorical column can have; "
            f"if it is an identifier leave it out, if it is a quantity pass kinds={{{name!r}: 'continuous'}}"
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
    """Return whether a Python value stands for nothing: None, NaN, NaT, pandas.NA."""
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
    """Encode values of any hashable kind, by identity of value."""
    seen: dict[Any, int] = {} if declared is None else {label: k for k, label in enumerate(declared)}
    try:
        codes = np.fromiter((seen.setdefault(v, len(seen)) for v in values), np.int64, len(values))
    except TypeError:
        odd = next(v for v in values if not _hashable(v))
        raise DataError(
            f"column {name!r} holds a {type(odd).__name__} ({odd!r:.60}); every cell must be a single value"
        ) from None
    return encode_distinct(
        name, list(seen), codes, declared=None if declared is None else len(declared), kind=kind, reason=reason
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
    """Encode a column given as distinct labels and a position among them for every row."""
    gone = np.array([is_missing(label) for label in labels], bool)
    if kind == "continuous":
        return encode_floats(name, _parse_numbers(name, labels, gone)[codes], gone[codes], kind)
    kept = [k for k in range(len(labels)) if not gone[k]]
    _check_levels(name, len(kept))
    if declared is None:
        kept = _sorted_by_label(kept, labels)
    elif len(kept) > declared:
        raise DataError(
            f"column {name!r} has the value {labels[kept[-1]]!r}, which is not one of its declared categories"
        )
    rank = np.zeros(len(labels) or 1, np.int64)
    rank[kept] = np.arange(len(kept))
    missing = _missing_or_none(gone[codes]) if len(labels) else None
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


def _parse_numbers(name: str, labels: list[Any], gone: NDArray[np.bool_]) -> NDArray[np.float64]:
    numbers = np.full(len(labels), math.nan)
    for k, label in enumerate(labels):
        if gone[k]:
            continue
        try:
            numbers[k] = float(label)
        except (TypeError, ValueError):
            raise DataError(
                f"column {name!r} was to be continuous but holds {label!r:.60}, which is not a number; "
                f"correct it or leave the column categorical"
            ) from None
    return numbers


def encode_objects(name: str, values: Sequence[Any], kind: Kind | None = None) -> Encoded:
    """Encode Python objects: truth values, whole numbers, real numbers or anything else, whichever all of them are."""
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
                whole = np.array([0 if m else int(v) for v, m in zip(values, missing, strict=True)], np.int64)
            except OverflowError:
                raise DataError(
                    f"column {name!r} holds a whole number beyond 64 bits; pass it as text instead"
                ) from None
            return encode_integers(name, whole, missing, kind)
        if all(isinstance(v, int | float | np.integer | np.floating) and not isinstance(v, bool) for v in present):
            real = np.array([math.nan if m else float(v) for v, m in zip(values, missing, strict=True)])
            return encode_floats(name, real, missing, kind)
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
        f"turn it into one of these first"
    )
