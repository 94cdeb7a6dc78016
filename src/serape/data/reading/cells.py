"""Columns of typed cells, such as those of a workbook or of SQLite, in which text and numbers may be mixed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from serape.data.columns import Columns, ignored_column
from serape.data.encoding import Encoded
from serape.data.kinds import Kinds
from serape.data.labels import encode_objects
from serape.data.reading.fields import FieldReader
from serape.data.reading.options import ReadOptions


def encode_cells(names: list[str], cells: Sequence[Sequence[Any]], kinds: Kinds, options: ReadOptions) -> Columns:
    """Encode columns of cells; a column in which there is text is read like one of a text file."""
    reader = FieldReader(kinds, options)
    rows = len(cells[0]) if cells else 0
    encoded = [
        ignored_column(rows) if name in options.ignore else _encode(name, column, reader)
        for name, column in zip(names, cells, strict=True)
    ]
    return Columns(names, rows, encoded, notes=tuple(reader.notes))


def _encode(name: str, column: Sequence[Any], reader: FieldReader) -> Encoded:
    if not any(isinstance(value, str | bytes) for value in column):
        return encode_objects(name, column, reader.kinds.of(name))
    code_of: dict[str, int] = {}
    codes = np.fromiter((code_of.setdefault(as_field(value), len(code_of)) for value in column), np.int64, len(column))
    return reader.encode(name, list(code_of), codes)


def as_field(value: Any) -> str:
    """Return a cell as a text file would have it."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ") if value.time() != time() else value.date().isoformat()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return repr(value / timedelta(days=1))
    return str(value)
