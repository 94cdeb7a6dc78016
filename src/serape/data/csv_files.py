"""Files of delimited text, plain or compressed, read a block at a time.

The first line names the columns, unless it looks like data (`_is_data`) or the caller says otherwise. The separator is
whichever of comma, semicolon, tab and bar the first line has most of. A column is whole numbers or real numbers if all
its values are, otherwise text. Empty fields and the fields in `MISSING` are missing values.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Encoded, Kind, Kinds, encode_distinct, encode_floats, encode_integers
from serape.errors import DataError, OptionError, abbreviate
from serape.files import COMPRESSED, open_text

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?"})
SUFFIXES = (".csv", ".tsv", ".txt", ".data")
SEPARATORS = ",;\t|"
_BLOCK = 20_000
_GLANCE = 65_536  # bytes looked at to tell whether a file is delimited text
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How a text file is to be read."""

    header: bool | tuple[str, ...] | None = None
    missing: frozenset[str] = MISSING

    @classmethod
    def make(cls, header: object, na_values: object) -> TextOptions | None:
        """Check what a caller asks for; None if it is nothing."""
        if isinstance(na_values, str | bytes) or not isinstance(na_values, Collection):
            raise OptionError(f"na_values must be a list of words, not {na_values!r:.60}")
        if header is None and not na_values:
            return None
        if header is not None and not isinstance(header, bool):
            if isinstance(header, str | bytes) or not isinstance(header, Sequence):
                raise OptionError(f"header must be True, False or a list of names, not {header!r:.60}")
            header = tuple(str(name) for name in header)
        return cls(header, MISSING | {str(word).strip() for word in na_values})


def is_csv(path: Path) -> bool:
    """Return whether the name looks like a CSV file's."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in SUFFIXES


def looks_delimited(path: Path) -> bool:
    """Return whether the first lines of a file, whatever it is called, have the same number of fields, two or more.

    What cannot be looked at without being used up, a pipe, is trusted.
    """
    if not path.is_file():
        return True
    try:
        start = _glance(path)
        whole = len(start) < _GLANCE
        text = start.decode("utf-8-sig") if whole else start[: start.rfind(b"\n") + 1].decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    lines = [line for line in text.splitlines() if line.strip()][:20]
    lines = lines[1:] if _is_comment(lines) else lines
    if "\0" in text or not lines:
        return False
    try:
        widths = {len(row) for row in csv.reader(lines, delimiter=_separator(lines[0], path))}
    except csv.Error:
        return False
    return len(widths) == 1 and widths.pop() > 1


def read_csv(
    path: Path, kinds: Kinds, options: TextOptions, opened: IO[str] | None = None
) -> tuple[list[str], list[Encoded], tuple[str, ...]]:
    """Read and encode a file of delimited text, or one that is open already: names, columns and notes."""
    with open_text(path, opened) as file:
        first, before = _first_lines(file)
        if not first:
            raise DataError(f"{path} is empty; its first line must name the columns")
        reader = csv.reader(
            chain(first, file), delimiter=_separator(first[0], path), skipinitialspace=True, strict=True
        )
        line = [field.strip() for field in next(reader)]
        seen: list[dict[str, int]] = [{} for _ in line]
        blocks: list[list[NDArray[np.int64]]] = [[] for _ in line]
        while block := list(islice(_rows(reader, len(line), path, before), _BLOCK)):
            for column, values in enumerate(zip(*block, strict=True)):
                known = seen[column]
                indices = (known.setdefault(value, len(known)) for value in values)
                blocks[column].append(np.fromiter(indices, np.int64, len(values)))
    codes = [np.concatenate(b) if b else np.zeros(0, np.int64) for b in blocks]
    del blocks
    names, is_data, notes = _names(path, line, seen, codes, options)
    encoded = []
    for column, name in enumerate(names):
        own = codes[column]
        if is_data:
            index = seen[column].setdefault(line[column], len(seen[column]))
            own = np.concatenate([np.array([index], np.int64), own])
        encoded.append(_encode_text(name, list(seen[column]), own, kinds.of(name), options.missing))
        codes[column] = np.zeros(0, np.int64)
    return names, encoded, notes


def column_names(path: Path) -> list[str]:
    """Return the fields of the first line of a file of delimited text, and read no more of it."""
    with open_text(path) as file:
        first, _ = _first_lines(file)
        return (
            [field.strip() for field in next(csv.reader(first, delimiter=_separator(first[0], path)))] if first else []
        )


# --- the first line --------------------------------------------------------------------------------------------------


def _glance(path: Path) -> bytes:
    try:
        opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix.lower(), open)
        with opener(path, "rb") as file:
            start: bytes = file.read(_GLANCE)
            return start
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""


def _first_lines(file: IO[str]) -> tuple[list[str], int]:
    """Return the first line that holds anything (two, if that was needed to tell) and how many lines went before."""
    before = 0
    for line in file:
        if not line.strip():
            before += 1
        elif line.startswith("|"):
            following = next(file, "")
            return ([following], before + 1) if _is_comment([line, following]) else ([line, following], before)
        else:
            return [line], before
    return [], before


def _is_comment(lines: list[str]) -> bool:
    """Return whether the first of two lines is a remark, as in some files of the UCI archive, and no row."""
    return len(lines) > 1 and lines[0].startswith("|") and "|" not in lines[1] and bool(lines[1].strip())


def _separator(line: str, path: Path) -> str:
    line = re.sub(r'"[^"]*"', "", line)
    if "\t" in line and ".tsv" in path.suffixes:
        return "\t"
    return max(SEPARATORS, key=line.count)


def _names(
    path: Path, line: list[str], seen: list[dict[str, int]], codes: list[NDArray[np.int64]], options: TextOptions
) -> tuple[list[str], bool, tuple[str, ...]]:
    """Return the columns' names, whether the first line is data, and what is to be told about it."""
    numbered = [f"x{k}" for k in range(len(line))]
    if isinstance(options.header, tuple):
        if len(options.header) != len(line):
            raise DataError(f"{path} has {len(line)} columns, but header names {len(options.header)}")
        return list(options.header), True, ()
    if options.header is not None:
        return (line, False, ()) if options.header else (numbered, True, ())
    why = _is_data(line, seen, codes, options.missing)
    if why:
        called = f"{numbered[0]} to {numbered[-1]}" if len(line) > 1 else numbered[0]
        told = f"the first line is taken for data ({why}), so columns are called {called}; pass header=True if it "
        return numbered, True, (told + "holds their names, or header=[…] to name them",)
    numbers = [field for field in line if _NUMBER.fullmatch(field)]
    if numbers and len(codes[0]):
        told = f"the first line is taken for names, though {abbreviate(numbers, 3)} could be data; pass header=False if it is"
        return line, False, (told,)
    return line, False, ()


def _is_data(
    line: list[str], seen: list[dict[str, int]], codes: list[NDArray[np.int64]], missing: frozenset[str]
) -> str:
    """Return why the first line is data, or nothing if it is to be taken for names.

    A text above nothing but numbers, and a number above none, are names, and settle it. Otherwise a number that stands
    twice in the line, a text beside numbers that occurs again in its own column, or fractions in no order are data. A
    line of texts is data if all of them occur again in their columns, and not just as copies of the whole line.
    """
    if len(codes[0]) == 0:
        return ""
    texts: list[int] = []
    numbers: list[int] = []
    for k, field in enumerate(line):
        below = [value for value in map(str.strip, islice(seen[k], 1000)) if value not in missing]
        if field in missing or not below:
            continue
        if _NUMBER.fullmatch(field):
            if not any(_NUMBER.fullmatch(value) for value in below):
                return ""
            numbers.append(k)
        else:
            if all(_NUMBER.fullmatch(value) for value in below):
                return ""
            texts.append(k)
    again = [k for k in texts if line[k] in seen[k]]
    if not numbers:
        if len(texts) < 2 or len(again) < len(texts):
            return ""
        counts = {int((codes[k] == seen[k][line[k]]).sum()) for k in texts}
        twice = len({line[k] for k in texts}) < len(texts)
        return "all its values occur again below" if twice or len(counts) > 1 else ""
    values = [line[k] for k in numbers]
    commonest, times = Counter(values).most_common(1)[0]
    if times > 1:
        return f"{commonest!r} stands there twice"
    if again:
        return f"{line[again[0]]!r} occurs again in its column"
    if not texts and len(values) > 2 and any(float(v) % 1 for v in values):
        steps = np.diff([float(v) for v in values])
        if not ((steps > 0).all() or (steps < 0).all()):
            return "it holds nothing but numbers"
    return ""


# --- rows and columns ------------------------------------------------------------------------------------------------


def _rows(reader: Iterator[list[str]], width: int, path: Path, before: int) -> Iterator[list[str]]:
    for row in reader:
        if len(row) != width:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue  # an empty line
            line = getattr(reader, "line_num", 0) + before
            raise DataError(f"{path}, line {line}: {len(row)} fields where the first line has {width}")
        yield row


def _encode_text(
    name: str, texts: list[str], codes: NDArray[np.int64], kind: Kind | None, missing: frozenset[str]
) -> Encoded:
    """Encode a column of text by what all its distinct values can be read as."""
    labels = [text.strip() for text in texts]
    gone = np.array([label in missing for label in labels], bool)
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
