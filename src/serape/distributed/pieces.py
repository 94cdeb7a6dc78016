"""What workers do with a source: read a part of it, and report what the encoding of all parts depends on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.joining import Part, joined
from serape.data.kinds import Kinds
from serape.data.missing import rules_by_column
from serape.data.reading import ReadOptions, read
from serape.distributed.encoding import Facts, facts_of
from serape.settings import DataSettings


@dataclass(frozen=True)
class RowGroups:
    """Some groups of rows of a Parquet file."""

    path: str
    groups: tuple[int, ...]

    def read(self) -> Any:
        """Return them as an Arrow table."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(self.path).read_row_groups(list(self.groups), use_threads=False)


class Size(NamedTuple):
    """The rows and the names of columns of a part of the data."""

    rows: int
    names: tuple[str, ...]


def size_of(source: Any, settings: DataSettings) -> Size:
    """Return the size of a part of the data: of Parquet, what the file says of itself."""
    if isinstance(source, RowGroups) or (isinstance(source, str) and source.lower().endswith((".parquet", ".pq"))):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(source if isinstance(source, str) else source.path)
        names = tuple(name for name in map(str, file.schema_arrow.names) if name not in settings.ignore)
        if not any(name.startswith("__index_level_") for name in names) and settings.index is None:
            groups = range(file.num_row_groups) if isinstance(source, str) else source.groups
            return Size(sum(file.metadata.row_group(k).num_rows for k in groups), names)
    columns = _read(source, settings)
    return Size(columns.rows, tuple(columns.names))


def _read(source: Any, settings: DataSettings) -> Columns:
    data = source.read() if isinstance(source, RowGroups) else source
    columns = read(data, Kinds(settings.kinds), ReadOptions.of(settings)).unpacked()
    return columns.without(settings.ignore) if settings.ignore else columns


def read_part(settings: DataSettings, names: tuple[str, ...], *sources: Any) -> Columns:
    """Read some columns of the rows of one or more sources, one below the other."""
    parts = []
    for k, source in enumerate(sources):
        columns = _read(source, settings)
        at = {name: place for place, name in enumerate(columns.names)}
        own = Columns(list(names), columns.rows, [columns.encoded[at[name]] for name in names])
        parts.append(Part(source if isinstance(source, str) else f"part {k} of the data", own))
    return parts[0].columns if len(parts) == 1 else joined(parts, list)


def complete_rows(columns: Columns, settings: DataSettings) -> NDArray[np.bool_] | None:
    """Return which rows have all values of the columns whose missing values drop rows; None if all have."""
    rules = rules_by_column(settings.missing, columns.names)
    gaps = [c.missing for name, c in zip(columns.names, columns.encoded, strict=True)
            if c.missing is not None and rules[name] == "drop"]  # fmt: skip
    return None if not gaps else ~np.logical_or.reduce(gaps)


def in_all(masks: Sequence[NDArray[np.bool_] | None]) -> NDArray[np.bool_] | None:
    """Return which rows all masks keep; None if they keep all."""
    some = [mask for mask in masks if mask is not None]
    return None if not some else np.asarray(np.logical_and.reduce(some), bool)


def kept_rows(columns: Columns, keep: NDArray[np.bool_] | None) -> Columns:
    """Return the columns without the rows that are dropped."""
    return columns if keep is None else columns.kept(keep)


def facts_in(columns: Columns) -> list[Facts]:
    """Return the facts about each column."""
    return [facts_of(name, column) for name, column in zip(columns.names, columns.encoded, strict=True)]
