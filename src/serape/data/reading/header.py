"""Whether the first line of a text file holds names or data, judged from the first rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from serape.data.reading.options import ReadOptions
from serape.errors import DataError, abbreviate, either, embedded
from serape.wording import setting

NUMBER = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?")
ABOUT_FIRST_LINE = "the first line"
NO_NAME = ("", "Unnamed: 0")
"""What the first field of a header is if the first column holds the names of the rows."""


def with_first_line_note(message: str, notes: Iterable[str]) -> str:
    """Add the note about the first line, if there is one, to an error message: it may be the reason."""
    about = [note for note in notes if note.startswith(ABOUT_FIRST_LINE)]
    return f"{message.removesuffix('.')}. Note that {embedded(about[0])}" if about else message


def default_names(count: int) -> list[str]:
    """Return the names of columns that have none."""
    return [f"x{k}" for k in range(count)]


def find_names(
    file: str, line: list[str], below: Sequence[Sequence[str]], options: ReadOptions
) -> tuple[list[str], bool, list[str]]:
    """Return the names of the columns, whether the first line is data, and notes.

    `below` has, by column, the fields of the first rows after that line.
    """
    numbered = default_names(len(line))
    if isinstance(options.header, tuple):
        if len(options.header) != len(line):
            raise DataError(
                f"{file} has {len(line)} columns, but {either('header', '--names')} names {len(options.header)}"
            )
        return list(options.header), True, []
    if options.header is not None:
        return (line, False, []) if options.header else (numbered, True, [])
    why = _why_data(line, below, options.missing)
    if why:
        called = f"{numbered[0]} to {numbered[-1]}" if len(line) > 1 else numbered[0]
        note = (
            f"{ABOUT_FIRST_LINE} is taken for data ({why}), so columns are called {called}; pass "
            f"{setting('header', True)} if it holds their names, or name them, as in {setting('header', ['a', 'b'])}"
        )
        return numbered, True, [note]
    numbers = [field for field in line if NUMBER.fullmatch(field)]
    if numbers and len(below[0]) and line[0] not in NO_NAME:
        note = (
            f"{ABOUT_FIRST_LINE} is taken for names, though {abbreviate(numbers, 3)} could be data; pass "
            f"{setting('header', False)} if it is"
        )
        return line, False, [note]
    return line, False, []


def _why_data(line: list[str], below: Sequence[Sequence[str]], missing: frozenset[str]) -> str:
    """Return why the first line is data, or an empty text if it holds names.

    A text above a column of numbers, or a number above a column without numbers, is a name; then the line holds names.
    Otherwise the line is data if a number occurs twice in it, if it has numbers and one of its texts occurs again in
    its own column, or if it is all numbers, some with fractions, neither ascending nor descending. A line of texts is
    data if all of them occur again in their columns, and not only because the whole line is repeated.
    """
    if len(below[0]) == 0:
        return ""
    words: list[int] = []
    numbers: list[int] = []
    counts = [Counter(column) for column in below]
    for k, field in enumerate(line):
        present = [value for value in counts[k] if value not in missing]
        if field in missing or not present:
            continue
        if NUMBER.fullmatch(field):
            if not any(NUMBER.fullmatch(value) for value in present):
                return ""
            numbers.append(k)
        else:
            if all(NUMBER.fullmatch(value) for value in present):
                return ""
            words.append(k)
    repeated = [k for k in words if line[k] in counts[k]]
    if not numbers:
        if len(words) < 2 or len(repeated) < len(words):
            return ""
        occurrences = {counts[k][line[k]] for k in words}
        twice = len({line[k] for k in words}) < len(words)
        return "all its values occur again below" if twice or len(occurrences) > 1 else ""
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


def is_index(name: str, column: Sequence[str], missing: frozenset[str]) -> bool:
    """Return whether a first column, of which the first fields are given, only names or numbers the rows."""
    if name not in NO_NAME or len(column) == 0 or len(set(column)) < len(column):
        return False
    if name:  # as pandas calls an index that it reads as a column
        return all(field.isdecimal() for field in column) and is_consecutive([int(field) for field in column])
    return missing.isdisjoint(column)


def is_consecutive(numbers: Sequence[int]) -> bool:
    """Return whether each number is one more than that before it."""
    return all(b - a == 1 for a, b in pairwise(numbers))
