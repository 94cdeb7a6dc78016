"""Columns of Arrow tables, as NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from serape.data.dates import DURATIONS, MICROSECONDS, TIMES, UNIT
from serape.data.encoding import (
    Encoded,
    encode_booleans,
    encode_days,
    encode_floats,
    encode_integers,
    lookup,
    new_array,
)
from serape.data.kinds import AS_CODES, Kind
from serape.data.labels import encode_distinct, encode_labels
from serape.errors import DataError


class Chunks:
    """A column of an Arrow table, part by part; the parts can be read only once."""

    def __init__(self, column_type: Any, rows: int, parts: Iterable[Any]) -> None:
        self.type, self.rows, self.parts = column_type, rows, parts

    @classmethod
    def of(cls, column: Any) -> Chunks:
        """Return the chunks of a chunked array."""
        return cls(column.type, len(column), column.chunks)

    def cast(self, column_type: Any) -> Chunks:
        """Return the values in another type."""
        return Chunks(column_type, self.rows, (part.cast(column_type, safe=False) for part in self.parts))


def values_of(column: Chunks) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the numbers of a column, and where they are missing; the arrays are not shared."""
    values = new_array(column.rows, column.type.to_pandas_dtype())
    missing = None
    begin = 0
    for part in column.parts:
        end = begin + len(part)
        if part.null_count:
            missing = np.zeros(column.rows, bool) if missing is None else missing
            missing[begin:end] = part.is_null().to_numpy(zero_copy_only=False)
            part = part.fill_null(0)
        values[begin:end] = part.to_numpy(zero_copy_only=False)
        begin = end
    return values, missing


def labels_of(column: Chunks) -> tuple[list[Any], NDArray[Any]]:
    """Return the distinct values of a column and the index of every row's value; None, a missing one, comes last."""
    code_of: dict[Any, int] = {}
    codes = new_array(column.rows, np.uint8)
    begin = 0
    for part in column.parts:
        encoded = part if pa.types.is_dictionary(column.type) else part.dictionary_encode()
        labels = encoded.dictionary.to_pylist() + [None] * bool(encoded.null_count)
        rank = [code_of.setdefault(label, len(code_of)) for label in labels]
        if len(code_of) > 256 and codes.dtype == np.uint8:
            codes = codes.astype(np.int32)
        indices = encoded.indices.fill_null(len(encoded.dictionary)) if encoded.null_count else encoded.indices
        own = indices.to_numpy().astype(np.uint8 if len(rank) <= 256 else np.int32, copy=False)
        is_same = rank == list(range(len(rank)))
        codes[begin : begin + len(part)] = own if is_same else lookup(np.array(rank, codes.dtype), own)
        begin += len(part)
    labels = list(code_of)
    if None in code_of and code_of[None] < len(labels) - 1:
        gap = code_of[None]
        rank = [*range(gap), len(labels) - 1, *range(gap, len(labels) - 1)]
        return [*labels[:gap], *labels[gap + 1 :], None], lookup(np.array(rank, codes.dtype), codes)
    return labels, codes


def encode_column(name: str, column: Chunks, kind: Kind | None, declared: bool = True) -> Encoded:
    """Encode a column by its type; `declared` says whether the values of a dictionary are declared categories."""
    found, is_type = column.type, pa.types
    if is_type.is_dictionary(found):
        labels, codes = labels_of(column)
        if not declared:
            return encode_distinct(name, labels, codes, kind=kind)
        categories = len(labels) - (None in labels[-1:])
        return encode_distinct(name, labels, codes, declared=categories, ordered=found.ordered, kind=kind)
    if is_type.is_string(found) or is_type.is_large_string(found) or is_type.is_string_view(found):
        return encode_distinct(name, *labels_of(column), kind=kind)
    if is_type.is_boolean(found):
        values, missing = values_of(column.cast(pa.uint8()))
        return encode_booleans(name, values.astype(bool), missing, kind)
    if is_type.is_decimal(found):
        column = column.cast(pa.float64())
    if is_type.is_floating(column.type):
        return encode_floats(name, *values_of(column), kind, copy=False)
    if is_type.is_integer(found):
        return encode_integers(name, *values_of(column), kind)
    if is_type.is_temporal(found):
        return _encode_temporal(name, column, kind)
    if is_type.is_null(found):
        return encode_labels(name, [None] * column.rows, kind=kind)
    raise DataError(
        f"column {name!r} is of type {found}, which is neither numbers, truth values, dates nor text; "
        f"convert it to one of these, or ignore it"
    )


def _encode_temporal(name: str, column: Chunks, kind: Kind | None) -> Encoded:
    """Encode dates and times in days, times of the day and durations too."""
    if kind in AS_CODES:
        return encode_labels(name, [value for part in column.parts for value in part.to_pylist()], kind=kind)
    found, reason = column.type, f"dates, in {UNIT}"
    if pa.types.is_duration(found):
        column, reason = column.cast(pa.duration("us")), DURATIONS
    elif pa.types.is_time(found):
        column, reason = column.cast(pa.time64("us")), TIMES
    elif pa.types.is_date(found) or pa.types.is_timestamp(found):
        column = column.cast(pa.timestamp("us", getattr(found, "tz", None)))
    else:
        raise DataError(f"column {name!r} is of type {found}, which is no date; convert it to one, or ignore it")
    numbers, missing = values_of(column.cast(pa.int64()))
    days = numbers / MICROSECONDS
    if missing is not None:
        days[missing] = np.nan
    return encode_days(name, days, missing, kind, reason)
