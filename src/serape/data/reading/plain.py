"""The rows of delimited text, read by Python's own csv module, a block at a time.

It reads every file, needs no other package, and defines what the fast reader in `serape.data.reading.arrow_text`
returns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import ignored_column
from serape.data.encoding import Encoded
from serape.data.reading.dialect import CsvRows, Layout, csv_reader
from serape.data.reading.fields import FieldReader
from serape.errors import DataError, one_line

_BLOCK = 20_000
_NO_CODES = np.zeros(0, np.int64)


def read_rows(layout: Layout, reader: FieldReader, skip: frozenset[str]) -> list[Encoded]:
    """Return the columns of a text file; those to skip are empty."""
    lines = io.TextIOWrapper(io.BufferedReader(_Bytes(layout.body)), encoding="utf-8", newline="")
    try:
        rows = csv_reader(lines, layout.delimiter, layout.quote)
        return encode_rows(_complete(rows, layout), layout.names, reader, skip)
    except csv.Error as error:
        raise DataError(f"{layout.name} is not a CSV file that can be read: {one_line(error)}") from None


class _Bytes(io.RawIOBase):
    """Bytes as a file, without a copy of them."""

    def __init__(self, content: memoryview) -> None:
        self._left = content

    def readable(self) -> bool:
        """Return that this can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read the next bytes."""
        size = min(len(buffer), len(self._left))
        buffer[:size] = self._left[:size]
        self._left = self._left[size:]
        return size


def encode_rows(
    rows: Iterable[Sequence[str]], names: list[str], reader: FieldReader, skip: frozenset[str]
) -> list[Encoded]:
    """Return the columns of rows of text fields."""
    rows = iter(rows)
    texts: list[dict[str, int]] = [{} for _ in names]  # by column, the distinct texts and their codes
    blocks: list[list[NDArray[np.int64]]] = [[] for _ in names]
    count = 0
    while block := list(islice(rows, _BLOCK)):
        count += len(block)
        for column, values in enumerate(zip(*block, strict=True)):
            if names[column] not in skip:
                code_of = texts[column]
                blocks[column].append(np.array([code_of.setdefault(value, len(code_of)) for value in values], np.int64))
    encoded = []
    for column, name in enumerate(names):
        if name in skip:
            encoded.append(ignored_column(count))
            continue
        codes = blocks[column][0] if len(blocks[column]) == 1 else np.concatenate([_NO_CODES, *blocks[column]])
        blocks[column] = []
        encoded.append(reader.encode(name, list(texts[column]), codes))
    return encoded


def _complete(rows: CsvRows, layout: Layout) -> Iterator[list[str]]:
    """Return the rows, without empty lines; refuse one of another number of fields."""
    width = len(layout.names)
    for row in rows:
        if len(row) != width:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            raise wrong_width(layout, layout.first_line + rows.line_num, len(row))
        yield row


def wrong_width(layout: Layout, line: int, fields: int) -> DataError:
    """Return the error about a line of another number of fields than the first."""
    return DataError(f"{layout.name}, line {line}: {fields} fields where the first line has {len(layout.names)}")
