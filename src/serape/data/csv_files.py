"""CSV files, plain or compressed, read a block at a time.

The first line names the columns. The separator is whichever of comma, semicolon, tab and bar the first line has most
of. A column is whole numbers or real numbers if all its values are, otherwise text. Empty fields and the fields in
`MISSING` are missing values.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Encoded, Kind, Kinds, encode_distinct, encode_floats, encode_integers
from serape.errors import DataError
from serape.files import COMPRESSED, open_text

MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"})
SUFFIXES = (".csv", ".tsv", ".txt", ".data")
_BLOCK = 20_000


def is_csv(path: Path) -> bool:
    """Return whether the name looks like a CSV file's."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in SUFFIXES


def read_csv(path: Path, kinds: Kinds) -> tuple[list[str], list[Encoded]]:
    """Read and encode a CSV file."""
    with open_text(path) as file:
        first = next((line for line in file if line.strip()), "")
        if not first:
            raise DataError(f"{path} is empty; its first line must name the columns")
        separator = max(",;\t|", key=re.sub(r'"[^"]*"', "", first).count)
        reader = csv.reader(chain([first], file), delimiter=separator, skipinitialspace=True, strict=True)
        names = [name.strip() for name in next(reader)]
        seen: list[dict[str, int]] = [{} for _ in names]
        blocks: list[list[NDArray[np.int64]]] = [[] for _ in names]
        while block := list(islice(_rows(reader, len(names), path), _BLOCK)):
            for column, values in enumerate(zip(*block, strict=True)):
                known = seen[column]
                places = (known.setdefault(value, len(known)) for value in values)
                blocks[column].append(np.fromiter(places, np.int64, len(values)))
    encoded = []
    for column, name in enumerate(names):
        codes = np.concatenate(blocks[column]) if blocks[column] else np.zeros(0, np.int64)
        encoded.append(_encode_text(name, list(seen[column]), codes, kinds.of(name)))
        blocks[column] = []
    return names, encoded


def _rows(reader: Iterator[list[str]], width: int, path: Path) -> Iterator[list[str]]:
    for row in reader:
        if len(row) != width:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue  # an empty line
            line = getattr(reader, "line_num", 0)
            raise DataError(f"{path}, line {line}: {len(row)} fields where the first line has {width}")
        yield row


def _encode_text(name: str, texts: list[str], codes: NDArray[np.int64], kind: Kind | None) -> Encoded:
    """Encode a column of text by what all its distinct values can be read as."""
    labels = [text.strip() for text in texts]
    gone = np.array([label in MISSING for label in labels], bool)
    if kind is None and not gone.all():
        numbers = _read_numbers([label for label, g in zip(labels, gone, strict=True) if not g])
        if numbers is not None:
            values = np.zeros(len(labels), numbers.dtype)
            values[~gone] = numbers
            encode = encode_integers if numbers.dtype.kind == "i" else encode_floats
            return encode(name, values[codes], gone[codes])
    distinct: dict[str | None, int] = {}  # stripping can make two values one
    position = [distinct.setdefault(None if g else label, len(distinct)) for label, g in zip(labels, gone, strict=True)]
    return encode_distinct(
        name, list(distinct), np.asarray(position, np.int64)[codes] if position else codes, kind=kind
    )


def _read_numbers(labels: list[str]) -> NDArray[Any] | None:
    """Return the numbers that all labels spell, whole if all are, or None if some label is not a number."""
    if any("_" in label or _is_code(label) for label in labels):
        return None
    try:
        return np.array([int(label) for label in labels], np.int64)
    except (ValueError, OverflowError):
        pass
    try:
        return np.array([float(label) for label in labels], np.float64)
    except ValueError:
        return None


def _is_code(label: str) -> bool:
    """Return whether a number is written as a code, like 007, that has to be kept as text."""
    digits = label.lstrip("+-")
    return len(digits) > 1 and digits.isdigit() and digits.startswith("0")
