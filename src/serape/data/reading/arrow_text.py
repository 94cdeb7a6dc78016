"""The rows of large delimited texts, read by pyarrow.

Numbers are converted by pyarrow, all other columns stay text and are encoded like those of the plain reader. The result
is the same: where pyarrow reads a field in another way (leading zeros, a plus sign, hexadecimal digits, spaces beside
quotation marks), the columns are read as text, or the file is left to the plain reader.
"""

from __future__ import annotations

import codecs
import importlib.util
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import ignored_column
from serape.data.dates import parse_date
from serape.data.encoding import Encoded, encode_floats, encode_integers
from serape.data.reading.dialect import Layout
from serape.data.reading.fields import FieldReader, is_code
from serape.data.reading.plain import wrong_width
from serape.errors import DataError

MIN_BYTES = 1 << 18
"""Smaller texts are read by the plain reader, which takes less time than loading pyarrow."""
MIN_COLUMN_BYTES = 2000
"""So are texts of fewer bytes per column."""
_CHUNK = 1 << 18
_PART = 1 << 26  # bytes of a text that are parsed together, where memory is scarce
_BLOCK = 1 << 20  # bytes that pyarrow parses together; more if rows are long, because no row may be longer
_CARDINALITY = 2000  # texts of more distinct values are not encoded while they are parsed
_MAX_BAD_ROWS = 100
_THREADS = 2
_ODD = re.compile(r"\s*(?:\+|-?0[0-9xX])")
_ZERO, _NINE, _PLUS, _MINUS, _POINT, _X = (np.uint8(mark) for mark in b"09+-.x")
_IN_NUMBERS = np.frombuffer(b"-eE:", np.uint8)  # what precedes a zero inside a field, such as 1e-05 or 12:05


@dataclass(frozen=True, slots=True)
class Scan:
    """What is known about a text that is read in groups of columns, after it was read once."""

    quotes: int
    has_odd_numbers: bool
    types: Mapping[str, Any]
    """By name, the type of a column."""


def scanned(layout: Layout, reader: FieldReader, skip: frozenset[str]) -> Scan | None:
    """Read a text once, part by part, to find the types of its columns; None if it is left to the plain reader."""
    quotes = _quotes_if_readable(layout)
    used = [name for name in layout.names if name not in skip]
    if quotes is None or not used:
        return None
    import pyarrow as pa

    found: dict[str, set[Any]] = {name: set() for name in used}
    try:
        for part in _parts(layout, quotes > 0):
            schema = _parse(part, reader, used, {}, quotes > 0).schema
            for name in used:
                found[name].add(schema.field(name).type)
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None
    return Scan(quotes, _has_odd_numbers(layout), {name: _common_type(types) for name, types in found.items()})


def _common_type(types: set[Any]) -> Any:
    """Return the type that pyarrow finds for a column whose parts have these."""
    import pyarrow as pa

    types = types - {pa.null()}
    if not types:
        return pa.null()
    if types <= {pa.int64(), pa.float64()}:
        return pa.int64() if types == {pa.int64()} else pa.float64()
    return _text_type()


def _text_type() -> Any:
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _parts(layout: Layout, has_quotes: bool) -> Iterator[Layout]:
    """Divide a text after the ends of some rows."""
    body, mark, begin = layout.body, layout.quote.encode(), 0
    lines = layout.first_line
    while begin < len(body):
        end, quotes, newlines, ends_row = begin, 0, 0, False
        while end < len(body) and (end < begin + _PART or quotes % 2 or not ends_row):
            chunk = bytes(body[end : end + _CHUNK])
            is_last = end + len(chunk) == len(body)
            chunk = chunk if is_last else chunk[: chunk.rfind(b"\n") + 1] or chunk
            quotes += chunk.count(mark) if has_quotes else 0
            end += len(chunk)
            ends_row = is_last or chunk.endswith(b"\n")
            newlines += chunk.count(b"\n")
        yield replace(layout, body=body[begin:end], first_line=lines)
        begin, lines = end, lines + newlines


def _quotes_if_readable(layout: Layout) -> int | None:
    """Return the number of quotation marks; None if the text is left to the plain reader."""
    least = MIN_BYTES and max(MIN_BYTES, MIN_COLUMN_BYTES * len(layout.names))
    if len(layout.body) < least or importlib.util.find_spec("pyarrow") is None:
        return None
    if len(set(layout.names)) < len(layout.names) or bytes(layout.body[:3]) == codecs.BOM_UTF8:
        return None
    return _quotes(layout)


def read_rows(
    layout: Layout, reader: FieldReader, skip: frozenset[str], scan: Scan | None = None
) -> list[Encoded] | None:
    """Return the columns of a text file; None if it is left to the plain reader."""
    quotes = _quotes_if_readable(layout) if scan is None else scan.quotes
    if quotes is None:
        return None
    from concurrent.futures import ThreadPoolExecutor

    import pyarrow as pa

    from serape.data.reading.arrow_columns import Chunks, labels_of

    as_text = {name for k, name in enumerate(layout.names) if _stays_text(layout, k, reader)}
    used = [name for name in layout.names if name not in skip]
    if not used:
        return None
    parse = partial(_parse if scan is None else _parse_parts, layout, reader, has_quotes=quotes > 0)
    types = dict.fromkeys(as_text, _text_type())
    try:
        table = parse(used, types if scan is None else {**scan.types, **types})
        again = {name for name in used if name not in as_text and _is_unsure(table.schema.field(name).type)}
        numbers = {name for name in used if _is_number(table.schema.field(name).type)}
        if numbers and (_has_odd_numbers(layout) if scan is None else scan.has_odd_numbers):
            again |= numbers
        texts = parse([n for n in used if n in again], dict.fromkeys(again, _text_type())) if again else None
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        return None  # the plain reader says what is wrong
    columns = {name: (table if texts is None or name not in again else texts)[name] for name in used}
    columns |= {
        name: table[name] for name in again & numbers if _are_plain_numbers(labels_of(Chunks.of(columns[name]))[0])
    }
    del table, texts
    threads = min(_THREADS, len(used))
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(
            lambda part: [(name, _try_to_encode(name, columns.pop(name), reader)) for name in part],
            [used[k::threads] for k in range(threads)],
        )
        found = {name: column for part in parts for name, column in part}
    encoded = {name: _unless_error(found[name]) for name in used}
    reader.notes += [note for name in used for note in encoded[name][1]]
    rows = len(encoded[used[0]][0])
    return [encoded[name][0] if name in encoded else ignored_column(rows) for name in layout.names]


# --- what pyarrow reads in another way --------------------------------------------------------------------------------


def _stays_text(layout: Layout, k: int, reader: FieldReader) -> bool:
    """Return whether a column is read as text: the caller sets its kind, or it begins with codes, dates or times."""
    if reader.kinds.of(layout.names[k]) is not None:
        return True
    fields = {row[k] for row in layout.sample if len(row) > k} - reader.options.missing
    return any(is_code(field) or ":" in field or parse_date(field) == parse_date(field) for field in fields)


def _is_unsure(kind: Any) -> bool:
    """Return whether a column was read as dates or times."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _chunks(layout: Layout) -> Iterator[NDArray[np.uint8]]:
    """Return the body in parts, each with three bytes before and after it, or lines' ends in their place."""
    body = np.frombuffer(layout.body, np.uint8)
    edge = np.full(3, ord("\n"), np.uint8)
    for begin in range(0, len(body), _CHUNK):
        end = begin + _CHUNK
        part = body[max(begin - 3, 0) : end + 3]
        lacking = 3 - min(max(len(body) - end, 0), 3)
        yield np.concatenate([edge[: 3 * (begin == 0)], part, edge[:lacking]]) if begin == 0 or lacking else part


def _has_odd_numbers(layout: Layout) -> bool:
    """Return whether some field may be a number with leading zeros, a plus sign or hexadecimal digits."""
    for chunk in _chunks(layout):
        before, inner, after = chunk[2:-4], chunk[3:-3], chunk[4:-2]
        begins = (before - _POINT) > _NINE - _POINT  # not after a digit or a point
        follows = ((after - _ZERO) <= _NINE - _ZERO) | ((after | 32) == _X)
        if not ((inner == _ZERO) & begins & follows | (inner == _PLUS)).any():
            continue
        at = np.flatnonzero((inner == _ZERO) & begins & follows | (inner == _PLUS))
        marks = before[at]
        signed = chunk[at + 1][marks == _MINUS]
        if not np.isin(marks, _IN_NUMBERS).all() or not np.isin(signed, _IN_NUMBERS).all():
            return True
    return False


def _are_plain_numbers(texts: list[Any]) -> bool:
    """Return whether pyarrow reads these texts of numbers just like Python."""
    return not any(text is not None and _ODD.match(text) for text in texts)


def _quotes(layout: Layout) -> int | None:
    """Return the number of quotation marks; None unless each begins or ends a field, or is doubled inside one."""
    if not layout.quote:
        return 0
    mark, delimiter = ord(layout.quote), ord(layout.delimiter)
    beside = np.zeros(256, bool)
    beside[[mark, delimiter, ord("\n"), ord("\r")]] = True
    count = 0
    for chunk in _chunks(layout):
        found = chunk[3:-3] == mark
        if not found.any():
            continue
        at = np.flatnonzero(found)
        opening = at[count % 2 :: 2]
        closing = at[1 - count % 2 :: 2]
        if not beside[chunk[opening + 2]].all() or not beside[chunk[closing + 4]].all():
            return None
        count += len(at)
    return count if count % 2 == 0 else None


# --- reading ----------------------------------------------------------------------------------------------------------


def _parse_parts(
    layout: Layout, reader: FieldReader, used: list[str], types: Mapping[str, Any], has_quotes: bool
) -> Any:
    """Return some columns as an Arrow table, as `_parse` does, in the memory that they take and little more."""
    import pyarrow as pa

    return pa.concat_tables([_parse(part, reader, used, types, has_quotes) for part in _parts(layout, has_quotes)])


def _parse(layout: Layout, reader: FieldReader, used: list[str], types: Mapping[str, Any], has_quotes: bool) -> Any:
    """Return some columns as an Arrow table, of these types where they are given."""
    import pyarrow as pa
    from pyarrow import csv

    bad: list[Any] = []

    def skip_row(row: Any) -> str:
        if row.text.strip():
            bad.append((row.text, row.actual_columns))
        return "skip" if len(bad) < _MAX_BAD_ROWS else "error"

    words = sorted(reader.options.missing)
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(layout.body)),
            csv.ReadOptions(column_names=layout.names, block_size=max(_BLOCK, 20 * _row_bytes(layout))),
            csv.ParseOptions(
                delimiter=layout.delimiter,
                quote_char=layout.quote if has_quotes else False,
                newlines_in_values=has_quotes,
                invalid_row_handler=skip_row,
            ),
            csv.ConvertOptions(
                column_types={name: types[name] for name in used if name in types},
                include_columns=used,
                null_values=[*words, *(f" {word}" for word in words)],
                true_values=[],
                false_values=[],
                auto_dict_encode=True,
                auto_dict_max_cardinality=_CARDINALITY,
                decimal_point=layout.decimal,
            ),
            pa.system_memory_pool(),  # the default pool takes up to three times as long where pages are scarce
        )
    finally:
        if bad:
            raise _first_bad_row(layout, bad)
    return table


def _row_bytes(layout: Layout) -> int:
    return max((sum(len(field) + 1 for field in row) for row in layout.sample[:100]), default=0)


def _first_bad_row(layout: Layout, bad: list[tuple[str, int]]) -> Exception:
    content = bytes(layout.body)
    at, fields = min((_line_at(content, text.encode()), fields) for text, fields in bad)
    ends = sum(content.count(end, 0, at) for end in (b"\n", b"\r")) - content.count(b"\r\n", 0, at)
    return wrong_width(layout, layout.first_line + ends + 1, fields)


def _line_at(content: bytes, line: bytes) -> int:
    """Return where a line begins; the same text may be part of another."""
    found = re.search(rb"(?:\A|[\r\n])(" + re.escape(line) + rb")(?=[\r\n]|\Z)", content)
    return content.find(line) if found is None else found.start(1)


def _try_to_encode(name: str, column: Any, reader: FieldReader) -> tuple[Encoded, list[str]] | DataError:
    """Encode a column, or return the error."""
    try:
        return _encode(name, column, reader)
    except DataError as error:
        return error


def _unless_error(found: tuple[Encoded, list[str]] | DataError) -> tuple[Encoded, list[str]]:
    if isinstance(found, DataError):
        raise found
    return found


def _encode(name: str, column: Any, reader: FieldReader) -> tuple[Encoded, list[str]]:
    """Encode a column; return notes as well."""
    import pyarrow as pa

    from serape.data.reading.arrow_columns import Chunks, labels_of, values_of

    kind = column.type
    if pa.types.is_integer(kind):
        return encode_integers(name, *values_of(Chunks.of(column))), []
    if pa.types.is_floating(kind):
        return encode_floats(name, *values_of(Chunks.of(column)), copy=False), []
    own = replace(reader, notes=[])
    if pa.types.is_null(kind):
        return own.encode(name, [""], np.zeros(len(column), np.int64)), own.notes
    texts, codes = labels_of(Chunks.of(column))
    return own.encode(name, ["" if text is None else text for text in texts], codes), own.notes
