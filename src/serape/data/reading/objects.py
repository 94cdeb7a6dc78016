"""Python objects: dicts of columns and lists of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from serape.data.columns import Columns, ignored_column
from serape.data.kinds import Kinds
from serape.data.labels import encode_array, encode_objects
from serape.errors import DataError, InputTypeError, shown


def read_mapping(data: Mapping[Any, Any], kinds: Kinds, ignore: frozenset[str] = frozenset()) -> Columns:
    """Read a dict of columns; the values of columns to ignore are not read."""
    columns = {str(name): _as_column(str(name), values) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        (one, a), (other, b) = min(lengths.items(), key=lambda c: c[1]), max(lengths.items(), key=lambda c: c[1])
        raise DataError(f"column {one!r} has {a:,} values but column {other!r} has {b:,}; all must be of one length")
    if len(columns) != len(data):
        raise DataError("two columns have the same name once written as text; give every column a name of its own")
    encoded = [
        ignored_column(lengths[name])
        if name in ignore
        else encode_array(name, values, kind=kinds.of(name))
        if isinstance(values, np.ndarray)
        else encode_objects(name, values, kinds.of(name))
        for name, values in columns.items()
    ]
    return Columns(list(columns), next(iter(lengths.values()), 0), encoded)


def _as_column(name: str, values: Any) -> Any:
    """Return a value of a dict of columns as a column; refuse what is not a list or array of values."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise DataError(f"column {name!r} is an array of {values.ndim} dimensions; a column has one")
        return np.asarray(values) if not np.ma.is_masked(values) else values.tolist()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise DataError(f"column {name!r} is {shown(values)}; a column is a list or array of values")
    return list(values)


def read_records(data: Sequence[Any], kinds: Kinds, ignore: frozenset[str] = frozenset()) -> Columns:
    """Read a list of rows; the values of columns to ignore are not read."""
    if not data:
        raise DataError("the table has no rows")
    if not all(isinstance(row, Mapping) for row in data):
        odd = next(row for row in data if not isinstance(row, Mapping))
        raise InputTypeError(
            f"a list of rows must hold dicts (column name to value), but it holds a {type(odd).__name__}; "
            f"for numbers without names pass a NumPy array"
        )
    names = list(dict.fromkeys(name for row in data for name in row))
    return read_mapping({name: [row.get(name) for row in data] for name in names}, kinds, ignore)
