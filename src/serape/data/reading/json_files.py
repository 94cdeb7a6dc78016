"""JSON: an object per line, a list of objects, or an object of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.reading.decoding import as_utf8
from serape.data.reading.objects import read_mapping, read_records
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source
from serape.errors import DataError, one_line


def read_json(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a file of JSON or JSON lines."""
    options.refuse(f"{source.name} is", "encoding")
    options.refuse_table(f"{source.name} is")
    content, _ = as_utf8(source, options.encoding)
    text = bytes(content).decode("utf-8")
    start = text.lstrip()[:1]
    found: Any
    if start == "{" and (records := _lines(source.name, text)) is not None:
        return read_records(records, kinds, options.ignore)
    found = _parsed(text, source.name)
    if isinstance(found, Mapping) and isinstance(found.get("data"), list):  # as pandas writes it with orient="table"
        found = found["data"]
    if isinstance(found, Mapping) and found and all(isinstance(column, Mapping) for column in found.values()):
        rows = list(next(iter(found.values())))  # as pandas writes it: columns of rows
        found = {name: [column.get(row) for row in rows] for name, column in found.items()}
    if isinstance(found, Mapping) and found and all(isinstance(column, list) for column in found.values()):
        return read_mapping(found, kinds, options.ignore)
    if isinstance(found, list) and found and all(isinstance(row, dict) for row in found):
        return read_records(found, kinds, options.ignore)
    raise DataError(
        f"{source.name} holds no table; write a list of objects (column name to value), or one object per line"
    )


def _lines(name: str, text: str) -> list[dict[str, Any]] | None:
    """Return the objects of the lines; None if the text is one object over several lines."""
    records: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n")):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if not records:
                return None
            raise DataError(f"{name}, line {number + 1} is no JSON: {one_line(error)}") from None
        if not isinstance(record, dict):
            raise DataError(f"{name}, line {number + 1} holds no object (column name to value)")
        records.append(record)
    is_rows = len(records) > 1 or not any(isinstance(value, list | dict) for value in records[0].values())
    return records if is_rows else None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name} is no JSON that can be read: {one_line(error)}") from None
