"""How a text file is laid out, found from its first lines: marks, comments, titles, header, index.

Comments and titles become empty lines, and runs of spaces that separate fields become one space. So the readers of the
rows that follow know only one delimiter and one quotation mark, and lines keep their numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from serape.data.reading.decoding import as_utf8
from serape.data.reading.header import NUMBER, find_names, is_index
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import MAX_LINE, Source
from serape.errors import DataError, shown
from serape.wording import setting

INDEX = "\0index"
"""The name of an index, which no other column has."""
SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat", ".psv", ".asc")
DELIMITERS = ",;\t|"
_COMMENTS = ("#", "%")
_SAMPLE = 1 << 18  # bytes; more if they hold fewer lines than _LINES
_LINES = 20
_ROWS, _CELLS, _FEW_ROWS = 1000, 100_000, 10  # at most so many rows or cells are judged, but a few rows at least
_MOST = 0.5  # a delimiter is right if more than this share of lines has the same number of fields
_SPACES = re.compile(rb'("(?:[^"]|"")*")|[ \t]+')
_COMMA_NUMBER = re.compile(r"[+-]?(?:\d++(?:,\d*+)?|,\d++)(?:[eE][+-]?\d++)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_ERROR_VALUE = re.compile(r"#(?:N/A|NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!)")  # of a spreadsheet
_SEP_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)


class CsvRows(Protocol):
    """A reader of Python's csv module."""

    line_num: int

    def __iter__(self) -> Iterator[list[str]]: ...


@dataclass(frozen=True, slots=True)
class Layout:
    """A text file from its first row of data on, and how to read it."""

    name: str
    body: memoryview
    first_line: int
    """The number of lines before the body."""
    delimiter: str
    quote: str
    decimal: str
    names: list[str]
    index: bool
    """Whether the first column is an index."""
    sample: list[list[str]]
    """The first rows of data."""
    notes: list[str]


def find_layout(source: Source, options: ReadOptions) -> Layout:
    """Return how a source of delimited text is laid out."""
    content, encoding = as_utf8(source, options.encoding)
    found: dict[str, str] = {}
    if options.encoding is None and encoding != "utf-8":
        found["encoding"] = encoding
    lines, complete = _first_lines(source.name, content)
    if not any(line.strip() for line in lines):
        raise DataError(f"{source.name} is empty; its first line must name the columns")
    delimiter = options.delimiter
    first = next(k for k, line in enumerate(lines) if line.strip())
    sep = _SEP_LINE.fullmatch(lines[first])
    skipped = 0
    if sep and len(lines) > first + 1 and delimiter is None:  # as Excel writes it
        delimiter, skipped = sep[1], first + 1
    comment, names_in_comment = _comment(lines[skipped:], delimiter, options), ""
    if comment:
        if options.comment is None:
            found["comment"] = comment
        names_in_comment = _last_comment(lines[skipped:], comment)
        content = _without_comments(content, comment)
        lines, complete = _first_lines(source.name, content)
    if delimiter is None:
        delimiter = _delimiter(lines[skipped:], source.ending)
        if delimiter != "," and not (delimiter == "\t" and source.ending in (".tsv", ".tab")):
            found["delimiter"] = delimiter
    if delimiter == " ":
        content = _with_single_spaces(content)
        lines, complete = _first_lines(source.name, content)
    escaped = options.quote is None and any(map(_escapes(delimiter).search, lines))
    if escaped:
        content = bytes(content).replace(b'\\"', b'""')
        lines, complete = _first_lines(source.name, content)
    quote = options.quote if options.quote is not None else _quote(lines, delimiter)
    if options.quote is None and quote != '"':
        found["quote"] = quote
    rows = [row for row in parse_rows(lines, delimiter, quote, complete) if row[1] > skipped]
    if not rows:
        raise DataError(f"{source.name} is empty; its first line must name the columns")
    decimal = options.decimal or _decimal([fields for fields, _ in rows], delimiter, options.missing)
    if options.decimal is None and decimal != ".":
        found["decimal"] = decimal
    notes = []
    if found:
        settings = ", ".join(setting(name, value) for name, value in found.items())
        notes.append(f"detected in the text: {settings}; pass other values if this is wrong")
    if escaped:
        notes.append("quotation marks after a backslash are taken for part of the text, as R and MySQL write them")
    layout = Layout(source.name, memoryview(b""), 0, delimiter, quote, decimal, [], False, [], notes)
    layout, begin = _with_header(layout, rows, names_in_comment, options)
    start = sum(len(line.encode("utf-8")) for line in lines[:begin])
    return replace(layout, body=memoryview(content)[start:], first_line=begin)


def layout_of_rows(name: str, rows: list[list[str]], options: ReadOptions) -> Layout:
    """Return how rows of cells are laid out; `first_line` is the number of rows before the first one of data."""
    numbered = [([field.strip() for field in row], k + 1) for k, row in enumerate(rows[: _ROWS + 1])]
    layout = Layout(name, memoryview(b""), 0, ",", '"', ".", [], False, [], [])
    titles = next((k for k, (row, _) in enumerate(numbered) if sum(map(bool, row)) > 1), 0)
    if titles and options.header is None:
        layout = replace(layout, notes=[_about_titles(titles, next(filter(None, numbered[0][0])))])
        numbered = numbered[titles:]
    layout, begin = _with_header(layout, numbered, "", options)
    return replace(layout, first_line=max(begin, titles))


def looks_delimited(layout: Layout) -> bool:
    """Return whether the first rows of a file all have the same number of fields, two or more."""
    widths = {len(row) for row in layout.sample[:_LINES]} | {len(layout.names)}
    return len(widths) == 1 and len(layout.names) > 1


def parse_rows(lines: Iterable[str], delimiter: str, quote: str, complete: bool = True) -> list[tuple[list[str], int]]:
    """Return the fields of the first rows, each with the number of lines up to its end; empty lines are left out."""
    reader = csv_reader(lines, delimiter, quote, strict=False)
    rows: list[tuple[list[str], int]] = []
    cells = 0
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                rows.append(([field.strip() for field in row], reader.line_num))
                cells += len(row)
                if len(rows) > _ROWS or (cells > _CELLS and len(rows) > _FEW_ROWS):
                    return rows
    except csv.Error:
        return rows
    return rows if complete or len(rows) < 2 else rows[:-1]  # the last may be cut


def csv_reader(lines: Iterable[str], delimiter: str, quote: str, strict: bool = True) -> CsvRows:
    """Return a reader of the rows of lines."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    return csv.reader(
        lines, delimiter=delimiter, quotechar=quote or '"', quoting=quoting, skipinitialspace=delimiter != " ",
        strict=strict,
    )  # fmt: skip


# --- lines ------------------------------------------------------------------------------------------------------------


def _first_lines(name: str, content: bytes | memoryview) -> tuple[list[str], bool]:
    """Return the first lines, each with its end, and whether they are all."""
    size = _SAMPLE
    while True:
        start = bytes(content[:size])
        if size >= len(content):
            return list(io.StringIO(start.decode("utf-8"), newline="")), True
        if start.count(b"\n") >= _LINES or start.count(b"\r") >= _LINES or (size >= MAX_LINE and b"\n" in start):
            cut = max(start.rfind(b"\n"), start.rstrip(b"\r").rfind(b"\r"))
            return list(io.StringIO(start[: cut + 1].decode("utf-8"), newline="")), False
        if size >= MAX_LINE:
            raise DataError(f"{name} has a line of more than {MAX_LINE >> 20} MiB; is it delimited text?")
        size *= 4


def _comment(lines: Sequence[str], delimiter: str | None, options: ReadOptions) -> str:
    """Return how comments begin: as the first line, or as a line that has another number of fields than most."""
    if options.comment is not None:
        return options.comment
    first = next((line for line in lines if line.strip()), "")
    for mark in _COMMENTS:
        starting = [line for line in lines if line.startswith(mark) and not _ERROR_VALUE.match(line)]
        others = [line for line in lines if line.strip() and not line.startswith(mark)]
        if not starting or not others:
            continue
        separator = delimiter or _delimiter(others, "")
        width = _width(others, separator)
        if first in starting or any(_width([line], separator) != width for line in starting):
            return mark
    return ""


def _width(lines: Sequence[str], delimiter: str) -> int:
    """Return the commonest number of fields."""
    widths = Counter(len(row) for row, _ in parse_rows(lines, delimiter, '"'))
    return widths.most_common(1)[0][0] if widths else 0


def _last_comment(lines: Sequence[str], comment: str) -> str:
    """Return the last of the comments before the first row."""
    last = ""
    for line in lines:
        if line.startswith(comment):
            last = line.removeprefix(comment)
        elif line.strip():
            break
    return last


def _without_comments(content: bytes | memoryview, comment: str) -> bytes:
    mark = re.escape(comment.encode())
    return re.sub(rb"(?m)^(?!" + _ERROR_VALUE.pattern.encode() + rb")" + mark + rb"[^\r\n]*", b"", bytes(content))


def _with_single_spaces(content: bytes | memoryview) -> bytes:
    single = _SPACES.sub(lambda found: found[1] or b" ", bytes(content))
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", single)


# --- marks ------------------------------------------------------------------------------------------------------------


def _delimiter(lines: Sequence[str], ending: str) -> str:
    """Return the commonest delimiter of the first line, if most lines have as many fields; otherwise the best one."""
    first = re.sub(r'"[^"]*"', "", next((line for line in lines if line.strip()), ""))
    commonest = max(DELIMITERS, key=first.count)
    if "\t" in first and ending in (".tsv", ".tab"):
        commonest = "\t"
    if first.count(commonest) and _share(lines, commonest) > _MOST:
        return commonest
    right = [mark for mark in DELIMITERS if _share(lines, mark) > _MOST]
    if right:
        return max(right, key=lambda mark: _width(lines[:200], mark))
    if first.count(commonest) == 0:
        spaced = [single.decode() for line in lines if (single := _with_single_spaces(line.encode()).strip())]
        if _share(spaced, " ") > _MOST and abs(len(spaced[0].split()) - _width(spaced, " ")) <= 1:
            return " "
    return commonest


def _share(lines: Sequence[str], delimiter: str) -> float:
    """Return the share of lines that have the commonest number of fields; 0 if that is one."""
    widths = Counter(len(row) for row, _ in parse_rows(lines[:200], delimiter, '"'))
    if not widths:
        return 0.0
    width, count = widths.most_common(1)[0]
    return count / widths.total() if width > 1 else 0.0


def _escapes(delimiter: str) -> re.Pattern[str]:
    """Return a pattern of a quotation mark after a backslash that does not end a field."""
    return re.compile(rf'\\"[^"\r\n{re.escape(delimiter)}]')


def _quote(lines: Sequence[str], delimiter: str) -> str:
    """Return a single quotation mark if most texts stand in such marks, and double ones do not occur."""
    if any('"' in line for line in lines) or not any("'" in line for line in lines):
        return '"'
    fields = [field for row, _ in parse_rows(lines[:200], delimiter, "") for field in row]
    texts = [field for field in fields if field and not NUMBER.fullmatch(field)]
    quoted = [field for field in texts if len(field) > 1 and field[0] == field[-1] == "'"]
    return "'" if quoted and 2 * len(quoted) > len(texts) else '"'


def _decimal(rows: list[list[str]], delimiter: str, missing: frozenset[str]) -> str:
    """Return a comma if some columns are numbers only with it, and none only with a point."""
    if not any("," in field for row in rows for field in row):
        return "."
    votes: Counter[str] = Counter()
    width = Counter(map(len, rows)).most_common(1)[0][0]
    for column in zip(*(row for row in rows if len(row) == width), strict=True):
        marked = [field for field in column[1:] if field not in missing and ("," in field or "." in field)]
        if not marked:
            continue
        fields = [field for field in column[1:] if field not in missing and any(map(str.isdigit, field))]
        most = 0.9 * len(fields)
        has_comma = any("," in field for field in marked)
        if has_comma and sum(_COMMA_NUMBER.fullmatch(field) is not None for field in fields) >= most:
            in_thousands = delimiter == "," and all(map(_THOUSANDS.fullmatch, marked))
            votes["" if in_thousands else ","] += 1
        elif sum(NUMBER.fullmatch(field) is not None for field in fields) >= most:
            votes["."] += 1
    return "," if votes[","] > votes["."] else "."


# --- the first rows ---------------------------------------------------------------------------------------------------


def _with_header(
    layout: Layout, rows: list[tuple[list[str], int]], comment: str, options: ReadOptions
) -> tuple[Layout, int]:
    """Return the layout with names, index and sample, and the number of lines before the first row of data."""
    notes = list(layout.notes)
    width = Counter(len(row) for row, _ in rows[:200]).most_common(1)[0][0]
    titles = 0
    if width > 1 and not isinstance(options.header, tuple):
        titles = next(k for k, (row, _) in enumerate(rows) if len(row) == width)
        short = titles > 0 and len(rows[titles - 1][0]) == width - 1 and options.header is not False
        titles -= short
        if titles and any(sum(map(bool, row)) > 1 for row, _ in rows[:titles]):
            titles, short = 0, False  # a line that is too short, which is an error
        elif titles:
            notes.append(_about_titles(titles, rows[0][0][0]))
    else:
        short = False
    before = rows[titles - 1][1] if titles else 0
    rows = rows[titles:]
    line, end = rows[0]
    point = layout.decimal == ","
    sample = [_with_points(row) if point else row for row, _ in rows]
    if short and len(rows) > 1:
        line, sample[0] = ["", *line], ["", *sample[0]]
    below = list(zip(*(row for row in sample[1:] if len(row) == len(line)), strict=True)) or [()] * len(line)
    names_above = next((row for row, _ in parse_rows([comment], layout.delimiter, layout.quote)), [])
    if options.header is None and 1 < len(names_above) == width and not _is_header(sample[0], below):
        names, is_data = names_above, True
    else:
        names, is_data, header_notes = find_names(layout.name, sample[0], below, options)
        names = line if not is_data else names
        notes += header_notes
    index = options.index
    if index is None:
        may_be = not is_data and width > 1 and names[0] not in options.ignore
        index = may_be and is_index(names[0], below[0], options.missing)
        if index:
            called = repr(names[0]) if names[0] else "without a name"
            notes.append(
                f"the first column, {called}, only names the rows, so it is an index and no variable; pass "
                f"{setting('index', False)} if it is a variable"
            )
    if index:
        names = [INDEX, *names[1:]]
    elif not names[0] and width > 1 and not is_data and not options.missing.issuperset(below[0]):
        names = ["x0", *names[1:]]
        notes.append("the first column has no name and is called 'x0'")
    data = [row for row, _ in (rows if is_data else rows[1:])]
    layout = replace(layout, names=names, index=index, sample=data, notes=notes)
    return layout, before if is_data else end


def _is_header(row: list[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row has no numbers, but the rows below have some."""
    if any(map(NUMBER.fullmatch, row)):
        return False
    return any(NUMBER.fullmatch(field) for column in below for field in column[:_LINES])


def _about_titles(count: int, first: str) -> str:
    return f"{count} line{'s' * (count > 1)} before the table left out: {shown(first)}"


def _with_points(row: list[str]) -> list[str]:
    return [field.replace(",", ".") if _COMMA_NUMBER.fullmatch(field) else field for field in row]
