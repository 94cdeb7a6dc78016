"""Encoding values of any type: labels, Python objects, and NumPy arrays by their type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.dates import (
    DURATIONS,
    TIMES,
    UNIT,
    days_of,
    days_of_array,
    has_form,
    is_ambiguous,
    parse_date,
    parse_dates,
    parse_times,
)
from serape.data.encoding import (
    Encoded,
    as_codes,
    check_levels,
    encode_booleans,
    encode_days,
    encode_floats,
    encode_integers,
    lookup,
    missing_or_none,
)
from serape.data.kinds import AS_ASKED, AS_CODES, FEW_LEVELS, Kind, check_boolean, kind_of_labels, names_rows
from serape.errors import DataError, either, row_text, shown


def is_missing(value: object) -> bool:
    """Return whether a Python value is a missing one: None, NaN, NaT, pandas.NA."""
    if value is None:
        return True
    if isinstance(value, float | Decimal):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}


def encode_labels(
    name: str,
    values: Sequence[Any],
    *,
    declared: Sequence[Any] | None = None,
    ordered: bool = False,
    kind: Kind | None = None,
) -> Encoded:
    """Encode values of any hashable type; equal values are one level. `declared` categories may be `ordered`."""
    code_of: dict[Any, int] = {} if declared is None else {label: k for k, label in enumerate(declared)}
    try:
        for label in dict.fromkeys(values):  # few, mostly
            code_of.setdefault(label, len(code_of))
        codes = np.fromiter(map(code_of.__getitem__, values), np.int64, len(values))
    except TypeError:
        odd = next(v for v in values if not _hashable(v))
        raise DataError(
            f"column {name!r} holds a {type(odd).__name__} ({shown(odd)}); every cell must be a single value"
        ) from None
    return encode_distinct(
        name, list(code_of), codes, declared=None if declared is None else len(declared), ordered=ordered, kind=kind
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
    codes: NDArray[np.integer[Any]],
    *,
    declared: int | None = None,
    ordered: bool = False,
    kind: Kind | None = None,
) -> Encoded:
    """Encode a column given as distinct labels and, for every row, the index of its label.

    If `declared` is given, the first `declared` labels are the declared categories.
    """
    is_gap = np.array([is_missing(label) for label in labels], bool)
    missing = missing_or_none(is_gap[codes]) if is_gap.any() else None
    if kind in ("continuous", "count", "proportion") or (kind == "ordinal" and declared is None):
        return encode_floats(name, _parse_numbers(name, labels, is_gap, codes, kind)[codes], missing, kind)
    if kind == "date" or (kind is None and declared is None):
        days = parse_dates(labels, is_gap)
        if days is not None:
            return encode_days(name, days[codes], missing)
        if kind == "date" or len(labels) > FEW_LEVELS:
            times = parse_times(labels, is_gap)
            if times is not None:
                return encode_days(name, times[codes], missing, reason=TIMES)
        if kind == "date":
            if is_ambiguous([label for k, label in enumerate(labels) if not is_gap[k]]):
                raise DataError(
                    f"column {name!r} cannot be a date: {labels[int(np.argmin(is_gap))]!r} can be read in two ways, "
                    f"with the day or the month first; write dates as 2024-05-17"
                )
            given = np.flatnonzero(~is_gap).tolist()
            if not given:
                return encode_days(name, np.full(len(codes), math.nan), missing)
            odd = min(given, key=lambda k: (has_form(labels[k]), not math.isnan(parse_date(labels[k]))))
            raise _cannot_be(name, "a date", labels, odd, codes, "a date such as 2024-05-17")
    kept = [k for k in range(len(labels)) if not is_gap[k]]
    present = len(codes) - (0 if missing is None else int(missing.sum()))
    if kind is None and declared is None and names_rows(len(kept), present):
        kind, reason = "identifier", f"text, {len(kept):,} distinct values in {present:,} rows"
    elif kind is not None:
        reason = AS_ASKED
    elif declared is None:
        kind, reason = kind_of_labels([labels[k] for k in kept]), "text"
    else:
        kind = "ordinal" if ordered else "categorical"
        reason = f"{declared} {'ordered' if ordered else 'declared'} categories"
    if declared is None:
        kept = _sorted_by_label(kept, labels)
    elif len(kept) > declared:
        raise DataError(
            f"column {name!r} has the value {labels[kept[-1]]!r}, which is not one of its declared categories; "
            f"declare it"
        )
    rank: NDArray[np.integer[Any]] = np.zeros(len(labels) or 1, np.int64 if len(kept) > 256 else np.uint8)
    rank[kept] = np.arange(len(kept))
    levels = tuple(labels[k] for k in kept)
    if kind == "identifier" or (kind == "ordinal" and reason == AS_ASKED):
        return Encoded(kind, reason, levels, values=rank[codes].astype(np.float64), missing=missing)
    check_levels(name, len(kept))
    check_boolean(name, len(kept), kind)
    return Encoded(
        kind, reason, levels, as_codes(lookup(rank, codes), len(kept)), missing=missing, declared=declared is not None
    )


def sorted_labels(labels: list[Any]) -> list[Any]:
    """Return labels in the order of levels."""
    return [labels[k] for k in _sorted_by_label(list(range(len(labels))), labels)]


def _sorted_by_label(positions: list[int], labels: list[Any]) -> list[int]:
    try:
        return sorted(positions, key=lambda k: labels[k])
    except TypeError:  # labels of several types
        return sorted(positions, key=lambda k: (type(labels[k]).__name__, str(labels[k])))


def _parse_numbers(
    name: str, labels: list[Any], is_gap: NDArray[np.bool_], codes: NDArray[np.integer[Any]], kind: Kind
) -> NDArray[np.float64]:
    numbers = np.full(len(labels), math.nan)
    for k, label in enumerate(labels):
        if is_gap[k]:
            continue
        try:
            numbers[k] = float(label)
        except (TypeError, ValueError):
            if kind == "ordinal":
                raise DataError(
                    f"column {name!r} cannot be ordinal: it holds {shown(label)} in {_first_row(codes, k)}, which "
                    f"is not a number, and its order is not declared; "
                    f"{either('pass ordered categories, such as those of pandas', 'write its levels as numbers')}"
                ) from None
            word = kind if kind == "continuous" else f"a {kind}"
            raise _cannot_be(name, word, labels, k, codes, "a number") from None
    return numbers


def _first_row(codes: NDArray[np.integer[Any]], code: int) -> str:
    return row_text(int(np.argmax(codes == code)))


def _cannot_be(
    name: str, kind: str, labels: list[Any], k: int, codes: NDArray[np.integer[Any]], needed: str
) -> DataError:
    return DataError(
        f"column {name!r} cannot be {kind}: it holds {shown(labels[k])} in {_first_row(codes, k)}, which is not "
        f"{needed}; correct the value or leave the column categorical"
    )


def encode_objects(name: str, values: Sequence[Any], kind: Kind | None = None) -> Encoded:
    """Encode Python objects: as truth values, numbers or dates if all of them are such, otherwise as labels."""
    present = [v for v in values if not is_missing(v)]
    if kind not in AS_CODES and present:
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
                raise DataError(f"column {name!r} holds a whole number beyond 64 bits; write it as text") from None
            return encode_integers(name, integers, missing, kind)
        if all(
            isinstance(v, int | float | Decimal | np.integer | np.floating) and not isinstance(v, bool) for v in present
        ):
            floats = np.array([math.nan if m else float(v) for v, m in zip(values, missing, strict=True)])
            return encode_floats(name, floats, missing, kind)
        for types, reason in ((date, f"dates, in {UNIT}"), (time, TIMES), (timedelta, DURATIONS)):
            if all(isinstance(v, types) for v in present):
                days = np.array([math.nan if m else days_of(v) for v, m in zip(values, missing, strict=True)])
                return encode_days(name, days, missing, kind, reason)
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
    if values.dtype.kind in "Mm":
        if kind in AS_CODES:
            return encode_labels(name, values.astype(f"{values.dtype.kind}8[us]").tolist(), kind=kind)
        days, nat = days_of_array(values)
        reason = DURATIONS if values.dtype.kind == "m" else f"dates, in {UNIT}"
        return encode_days(name, days, nat if missing is None else nat | missing, kind, reason)
    raise DataError(
        f"column {name!r} is of type {values.dtype}, which is neither numbers, truth values, dates nor text; "
        f"convert it to one of these, or ignore it"
    )
