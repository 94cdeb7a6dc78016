"""Columns of Arrow tables, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from serape.data.dates import DURATIONS, MICROSECONDS, TIMES, UNIT
from serape.data.encoding import Encoded, encode_booleans, encode_days, encode_floats, encode_integers, lookup
from serape.data.kinds import AS_CODES, Kind
from serape.data.labels import encode_distinct, encode_labels
from serape.errors import DataError


def values_of(column: Any) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the numbers of a chunked array, and where they are missing; the array is not shared."""
    dtype = column.type.to_pandas_dtype()
    values = np.empty(len(column), dtype)
    begin = 0
    for chunk in column.chunks:
        part = chunk.fill_null(0) if chunk.null_count else chunk
        values[begin : begin + len(chunk)] = part.to_numpy(zero_copy_only=False)
        begin += len(chunk)
    return values, missing_of(column)


def missing_of(column: Any) -> NDArray[np.bool_] | None:
    """Return where values of a chunked array are missing; None if none are."""
    if not column.null_count:
        return None
    return np.concatenate([chunk.is_null().to_numpy(zero_copy_only=False) for chunk in column.chunks])


def labels_of(column: Any) -> tuple[list[Any], NDArray[Any]]:
    """Return the distinct values of a chunked array, None for a missing one, and the index of every row's value."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    code_of: dict[Any, int] = {}
    ranks = []  # by chunk, the index of each value of its dictionary
    for chunk in column.chunks:
        labels = chunk.dictionary.to_pylist() + [None] * bool(chunk.null_count)
        ranks.append([code_of.setdefault(label, len(code_of)) for label in labels])
    codes = np.empty(len(column), np.uint8 if len(code_of) <= 256 else np.int32)
    begin = 0
    for chunk, rank in zip(column.chunks, ranks, strict=True):
        indices = chunk.indices.fill_null(len(chunk.dictionary)) if chunk.null_count else chunk.indices
        own = indices.to_numpy()
        part = codes[begin : begin + len(chunk)]
        if len(rank) <= 256:
            own = own.astype(np.uint8)
        part[:] = own if rank == list(range(len(rank))) else lookup(np.array(rank, codes.dtype), own)
        begin += len(chunk)
    return list(code_of), codes


def encode_column(name: str, column: Any, kind: Kind | None, declared: bool = True) -> Encoded:
    """Encode a chunked array by its type; `declared` says whether the values of a dictionary are all categories."""
    found, is_type = column.type, pa.types
    if is_type.is_dictionary(found):
        labels, codes = labels_of(column)
        if not declared:
            return encode_distinct(name, labels, codes, kind=kind)
        categories = len(labels) - bool(column.null_count)
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
        return encode_labels(name, [None] * len(column), kind=kind)
    raise DataError(
        f"column {name!r} is of type {found}, which is neither numbers, truth values, dates nor text; "
        f"convert it to one of these, or ignore it"
    )


def _encode_temporal(name: str, column: Any, kind: Kind | None) -> Encoded:
    """Encode dates and times in days, times of the day and durations too."""
    if kind in AS_CODES:
        return encode_labels(name, column.to_pylist(), kind=kind)
    found = column.type
    missing = missing_of(column)
    if pa.types.is_date(found):
        column = column.cast(pa.timestamp("s"))
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    elif pa.types.is_duration(found):
        column = column.cast(pa.duration("us"), safe=False)
    elif pa.types.is_time(found):
        column = column.cast(pa.time64("us"), safe=False)
    else:
        raise DataError(f"column {name!r} is of type {found}, which is no date; convert it to one, or ignore it")
    numbers, _ = values_of(column.cast(pa.int64()))
    days = numbers / MICROSECONDS
    if missing is not None:
        days[missing] = np.nan
    reason = DURATIONS if pa.types.is_duration(found) else TIMES if pa.types.is_time(found) else f"dates, in {UNIT}"
    return encode_days(name, days, missing, kind, reason)
