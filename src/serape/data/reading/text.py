"""Files of delimited text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from serape.data.columns import Columns, ignored_column
from serape.data.encoding import Encoded
from serape.data.kinds import Kinds
from serape.data.reading import arrow_text, plain
from serape.data.reading.dialect import INDEX, SUFFIXES, Layout, find_layout, looks_delimited
from serape.data.reading.fields import FieldReader
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source, open_source
from serape.errors import DataError


def read_text(source: Source, kinds: Kinds, options: ReadOptions) -> Columns | None:
    """Read a file of delimited text; None if it is none."""
    if source.ending in SUFFIXES or options.given or (source.path is None and not source.ending):
        layout = find_layout(source, options)
    else:
        try:
            layout = find_layout(source, options)
        except DataError:
            return None
        if not looks_delimited(layout):
            return None
    skip = options.ignore | {INDEX}
    used = [name for name in layout.names if name not in skip]
    notes = list(layout.notes)
    in_groups = options.keeping.max_bytes is not None
    scan = arrow_text.scanned(layout, FieldReader(kinds, options, layout.decimal), skip) if in_groups else None
    stored = options.keeping.store(
        column
        for group in options.keeping.groups(used, _count_rows(layout))
        for column in _read_group(layout, group, FieldReader(kinds, options, layout.decimal), notes, scan)
    )
    if not used:
        return as_columns(layout.names, plain.read_rows(layout, FieldReader(kinds, options), skip), notes, layout.index)
    each, rows = iter(stored), len(stored[0])
    encoded = [ignored_column(rows) if name in skip else next(each) for name in layout.names]
    return replace(as_columns(layout.names, encoded, notes, layout.index), store=options.keeping.store)


def _count_rows(layout: Layout) -> int:
    """Return about how many rows a text has."""
    sample = sum(len(field) + 1 for row in layout.sample for field in row)
    return int(len(layout.body) * len(layout.sample) / sample) if sample else 0


def _read_group(
    layout: Layout, group: Sequence[str], reader: FieldReader, notes: list[str], scan: arrow_text.Scan | None
) -> list[Encoded]:
    """Return some columns; what is to be known about them is added to the notes."""
    skip = frozenset(layout.names).difference(group)
    encoded = arrow_text.read_rows(layout, reader, skip, scan)
    if encoded is None:
        reader.notes.clear()
        encoded = plain.read_rows(layout, reader, skip)
    notes += reader.notes
    return [column for name, column in zip(layout.names, encoded, strict=True) if name not in skip]


def as_columns(names: list[str], encoded: list[Encoded], notes: list[str], index: bool) -> Columns:
    """Return the columns without the index and without empty columns that have no name."""
    rows = len(encoded[0])
    kept = [k for k in range(index, len(names)) if names[k] or not _is_empty(encoded[k])]
    empty = len(names) - index - len(kept)
    if empty and kept:
        notes.append(f"{empty} column{'s' * (empty > 1)} without a name and without values left out")
    else:
        kept = list(range(index, len(names)))
    return Columns([names[k] for k in kept], rows, [encoded[k] for k in kept], notes=tuple(notes))


def _is_empty(column: Encoded) -> bool:
    return column.missing is not None and bool(column.missing.all())


def has_text_name(path: Path) -> bool:
    """Return whether a file's name ends like that of delimited text, compressed or not."""
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    return any(ending in SUFFIXES for ending in endings)


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a file of delimited text, without reading the rest of it."""
    options = ReadOptions()
    source, options = open_source(path, options)
    layout: Layout = find_layout(source, options)
    return [name for name in layout.names if name != INDEX]
