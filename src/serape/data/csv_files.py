"""Files of delimited text, plain or compressed, read a block at a time.

The first line names the columns, unless it looks like data (`_why_data`) or the caller says otherwise. The separator is
the commonest of comma, semicolon, tab and bar in the first line. A column holds whole numbers or real numbers if all
its values are such numbers, otherwise text, which may be dates. Empty fields and the words in `MISSING` are missing
values.
"""

from __future__ import annotations

import csv
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Encoded, encode_distinct, encode_floats, encode_integers
from serape.data.kinds import Kind, Kinds
from serape.errors import DataError, OptionError, abbreviate
from serape.files import COMPRESSED, open_text

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "?"})
SUFFIXES = (".csv", ".tsv", ".txt", ".data")
SEPARATORS = ",;\t|"
_BLOCK = 20_000
_SAMPLE_BYTES = 65_536  # read to decide whether a file is delimited text
_NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
_ABOUT_FIRST_LINE = "the first line"


@dataclass(frozen=True, slots=True)
class TextOptions:
    """How a text file is read."""

    header: bool | tuple[str, ...] | None = None
    missing: frozenset[str] = MISSING

    @classmethod
    def make(cls, header: object, na_values: object) -> TextOptions | None:
        """Check the options that a caller gives and return them; None if all are at their default."""
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
    """Return whether a file's name ends like that of a CSV file."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in SUFFIXES


def looks_delimited(path: Path) -> bool:
    """Return whether the first lines of a file, whatever its name, all have the same number of fields, two or more.

    The answer is True for a pipe, because reading from it would consume the data.
    """
    if not path.is_file():
        return True
    try:
        start = _sample(path)
        if len(start) == _SAMPLE_BYTES:  # the last line may be cut
            start = start[: start.rfind(b"\n") + 1]
        text = start.decode("utf-8-sig")
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
    """Read and encode a file of delimited text, or the open file `opened`. Return names, columns and notes."""
    with open_text(path, opened) as file:
        first, skipped = _first_lines(file)
        if not first:
            raise DataError(f"{path} is empty; its first line must name the columns")
        reader = csv.reader(
            chain(first, file), delimiter=_separator(first[0], path), skipinitialspace=True, strict=True
        )
        line = [field.strip() for field in next(reader)]
        texts: list[dict[str, int]] = [{} for _ in line]  # by column, the distinct texts and their codes
        blocks: list[list[NDArray[np.int64]]] = [[] for _ in line]
        while block := list(islice(_rows(reader, len(line), path, skipped), _BLOCK)):
            for column, values in enumerate(zip(*block, strict=True)):
                code_of = texts[column]
                block_codes = (code_of.setdefault(value, len(code_of)) for value in values)
                blocks[column].append(np.fromiter(block_codes, np.int64, len(values)))
    codes = [np.concatenate(b) if b else np.zeros(0, np.int64) for b in blocks]
    del blocks
    names, is_data, notes = _names(path, line, texts, codes, options)
    encoded = []
    for column, name in enumerate(names):
        column_codes = codes[column]
        if is_data:
            code = texts[column].setdefault(line[column], len(texts[column]))
            column_codes = np.concatenate([np.array([code], np.int64), column_codes])
        encoded.append(_encode_text(name, list(texts[column]), column_codes, kinds.of(name), options.missing))
        codes[column] = np.zeros(0, np.int64)
    return names, encoded, notes


def column_names(path: Path) -> list[str]:
    """Return the fields of the first line of a file of delimited text, without reading the rest."""
    with open_text(path) as file:
        first, _ = _first_lines(file)
        return (
            [field.strip() for field in next(csv.reader(first, delimiter=_separator(first[0], path)))] if first else []
        )


def with_first_line_note(message: str, notes: Iterable[str]) -> str:
    """Add the note about the first line, if there is one, to an error message: it may be the reason."""
    about = [note for note in notes if note.startswith(_ABOUT_FIRST_LINE)]
    return f"{message.removesuffix('.')}. Note that {about[0]}" if about else message


# --- the first line --------------------------------------------------------------------------------------------------


def _sample(path: Path) -> bytes:
    try:
        opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix.lower(), open)
        with opener(path, "rb") as file:
            start: bytes = file.read(_SAMPLE_BYTES)
            return start
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""


def _first_lines(file: IO[str]) -> tuple[list[str], int]:
    """Return the first line that is neither empty nor a comment, and the number of lines before it.

    If it begins with a bar, the line after it had to be read as well and is returned too.
    """
    skipped = 0
    for line in file:
        if not line.strip():
            skipped += 1
        elif line.startswith("|"):
            following = next(file, "")
            return ([following], skipped + 1) if _is_comment([line, following]) else ([line, following], skipped)
        else:
            return [line], skipped
    return [], skipped


def _is_comment(lines: list[str]) -> bool:
    """Return whether the first of two lines is a comment, as in some files of the UCI archive."""
    return len(lines) > 1 and lines[0].startswith("|") and "|" not in lines[1] and bool(lines[1].strip())


def _separator(line: str, path: Path) -> str:
    line = re.sub(r'"[^"]*"', "", line)
    if "\t" in line and ".tsv" in path.suffixes:
        return "\t"
    return max(SEPARATORS, key=line.count)


def _names(
    path: Path, line: list[str], texts: list[dict[str, int]], codes: list[NDArray[np.int64]], options: TextOptions
) -> tuple[list[str], bool, tuple[str, ...]]:
    """Return the columns' names, whether the first line is data, and the notes about it."""
    numbered = [f"x{k}" for k in range(len(line))]
    if isinstance(options.header, tuple):
        if len(options.header) != len(line):
            raise DataError(f"{path} has {len(line)} columns, but header names {len(options.header)}")
        return list(options.header), True, ()
    if options.header is not None:
        return (line, False, ()) if options.header else (numbered, True, ())
    why = _why_data(line, texts, codes, options.missing)
    if why:
        called = f"{numbered[0]} to {numbered[-1]}" if len(line) > 1 else numbered[0]
        note = (
            f"{_ABOUT_FIRST_LINE} is taken for data ({why}), so columns are called {called}; pass header=True if it "
            f"holds their names, or header=[…] to name them"
        )
        return numbered, True, (note,)
    numbers = [field for field in line if _NUMBER.fullmatch(field)]
    if numbers and len(codes[0]):
        note = (
            f"{_ABOUT_FIRST_LINE} is taken for names, though {abbreviate(numbers, 3)} could be data; pass header=False "
            f"if it is"
        )
        return line, False, (note,)
    return line, False, ()


def _why_data(
    line: list[str], texts: list[dict[str, int]], codes: list[NDArray[np.int64]], missing: frozenset[str]
) -> str:
    """Return why the first line is data, or an empty text if it holds names.

    A text above a column of numbers, or a number above a column without numbers, is a name; then the line holds names.
    Otherwise the line is data if a number occurs twice in it, if it has numbers and one of its texts occurs again in
    its own column, or if it is all numbers, some with fractions, neither ascending nor descending. A line of texts is
    data if all of them occur again in their columns, and not only because the whole line is repeated.
    """
    if len(codes[0]) == 0:
        return ""
    words: list[int] = []
    numbers: list[int] = []
    for k, field in enumerate(line):
        below = [value for value in map(str.strip, islice(texts[k], 1000)) if value not in missing]
        if field in missing or not below:
            continue
        if _NUMBER.fullmatch(field):
            if not any(_NUMBER.fullmatch(value) for value in below):
                return ""
            numbers.append(k)
        else:
            if all(_NUMBER.fullmatch(value) for value in below):
                return ""
            words.append(k)
    repeated = [k for k in words if line[k] in texts[k]]
    if not numbers:
        if len(words) < 2 or len(repeated) < len(words):
            return ""
        counts = {int((codes[k] == texts[k][line[k]]).sum()) for k in words}
        twice = len({line[k] for k in words}) < len(words)
        return "all its values occur again below" if twice or len(counts) > 1 else ""
    values = [line[k] for k in numbers]
    commonest, times = Counter(values).most_common(1)[0]
    if times > 1:
        return f"{commonest!r} occurs twice in it"
    if repeated:
        return f"{line[repeated[0]]!r} occurs again in its column"
    if not words and len(values) > 2 and any(float(v) % 1 for v in values):
        steps = np.diff([float(v) for v in values])
        if not ((steps > 0).all() or (steps < 0).all()):
            return "it holds nothing but numbers"
    return ""


# --- rows and columns ------------------------------------------------------------------------------------------------


def _rows(reader: Iterator[list[str]], width: int, path: Path, skipped: int) -> Iterator[list[str]]:
    for row in reader:
        if len(row) != width:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue  # an empty line
            line = getattr(reader, "line_num", 0) + skipped
            raise DataError(f"{path}, line {line}: {len(row)} fields where the first line has {width}")
        yield row


def _encode_text(
    name: str, texts: list[str], codes: NDArray[np.int64], kind: Kind | None, missing: frozenset[str]
) -> Encoded:
    """Encode a column given as distinct texts, each of which occurs, and the code of every row's text.

    Without a kind, the column holds whole numbers or real numbers if all texts can be read as such.
    """
    labels = [text.strip() for text in texts]
    is_gap = np.array([label in missing for label in labels], bool)
    if kind is None and not is_gap.all():
        numbers = _read_numbers([label for label, gap in zip(labels, is_gap, strict=True) if not gap])
        if numbers is not None:
            values = np.zeros(len(labels), numbers.dtype)
            values[~is_gap] = numbers
            if numbers.dtype.kind == "f":
                return encode_floats(name, values[codes], is_gap[codes])
            return encode_integers(name, values, is_gap, rows=codes)
    distinct: dict[str | None, int] = {}  # stripping can make two texts equal
    code_of = [
        distinct.setdefault(None if gap else label, len(distinct)) for label, gap in zip(labels, is_gap, strict=True)
    ]
    return encode_distinct(name, list(distinct), np.asarray(code_of, np.int64)[codes] if code_of else codes, kind=kind)


def _read_numbers(labels: list[str]) -> NDArray[Any] | None:
    """Return the labels as numbers, integers if all of them are, or None if some label is not a number."""
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
    """Return whether a number has leading zeros, like 007: then it is a code and stays text."""
    digits = label.lstrip("+-")
    return len(digits) > 1 and digits.isdigit() and digits.startswith("0")
