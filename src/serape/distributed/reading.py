"""From a source to shards on a cluster: which worker reads what, and how all encode it alike."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import numpy as np

from serape.data.kinds import AS_ASKED
from serape.data.missing import rules_by_column
from serape.data.packed_files.layout import packed_path
from serape.data.provenance import how_made
from serape.data.reading.sources import are_paths
from serape.data.table import Table
from serape.distributed import pieces, shards
from serape.distributed.cluster import Cluster, is_wide
from serape.distributed.encoding import ColumnEncoding, Facts, is_constant, merged, with_gap_level
from serape.distributed.table import ClusterTable, ColumnEncodings
from serape.distributed.waiting import gathered, number_of_threads, submitted
from serape.errors import DataError, OptionError, abbreviate, row_text
from serape.progress import Sayer
from serape.settings import DataSettings
from serape.wording import setting

Split = Literal["auto", "rows", "columns", "both"]


@dataclass(frozen=True)
class GridShape:
    """Into how many parts the rows, and into how many blocks the columns are divided."""

    parts: int
    blocks: int


def choose_shape(split: object, rows: int, columns: int, workers: int) -> GridShape:
    """Return how a table of this size is divided among so many workers."""
    if split not in ("auto", "rows", "columns", "both"):
        raise OptionError(f"{setting('split', split)} is not known; use 'auto', 'rows', 'columns' or 'both'")
    if split == "auto":
        split = "columns" if is_wide(rows, columns) else "rows"
    if split == "both":
        return GridShape(min(rows, max(2, workers // 2)), min(columns, 2))
    return GridShape(min(rows, workers), 1) if split == "rows" else GridShape(1, min(columns, workers))


def table_on_cluster(
    client: Any,
    source: Any,
    split: str,
    parts: int | None,
    settings: DataSettings,
    say: Sayer,
    timeout: float | None,
) -> ClusterTable:
    """Read a source into shards on the workers of a Dask client."""
    refused = [name for name in ("sample_weight", "groups") if getattr(settings, name) is not None]
    if refused:
        raise OptionError(f"{setting(refused[0])} cannot be used on a cluster yet; leave it out")
    rules = settings.missing.values() if isinstance(settings.missing, dict) else [settings.missing]
    if "pairwise" in rules:
        raise OptionError(
            f"{setting('missing', 'pairwise')} cannot be used on a cluster; pass {setting('missing', 'drop')} or "
            f"{setting('missing', 'level')}"
        )
    workers = parts or number_of_threads(client, timeout)
    if not workers:
        raise OptionError("the cluster has no workers; start some, or wait for them with client.wait_for_workers(1)")
    found = _pieces(source)
    if found is None:
        return _from_table(client, source, split, workers, settings, timeout)
    return _from_pieces(client, source, found, split, workers, settings, say, timeout)


def _pieces(source: Any) -> list[Any] | None:
    """Return the parts of a source that workers read; None if it is one that this process reads or maps."""
    if hasattr(source, "to_delayed") and hasattr(source, "dtypes"):
        return list(source.to_delayed())
    if isinstance(source, str | PathLike) and packed_path(source) is None:
        text = str(fspath(source))
        found = sorted(glob.glob(text)) if glob.has_magic(text) else [text]  # noqa: PTH207 - of any folder
        if not found:
            raise DataError(f"no file has a name like {text}")
        return _files(found)
    if are_paths(source):
        return _files([str(path) for path in source])
    return None


def _files(paths: Sequence[str]) -> list[Any]:
    """Return files, and the groups of rows of a single Parquet file."""
    absolute = [str(Path(path).absolute()) for path in paths]
    if len(absolute) == 1 and absolute[0].lower().endswith((".parquet", ".pq")) and Path(absolute[0]).exists():
        import pyarrow.parquet as pq

        groups = pq.ParquetFile(absolute[0]).metadata.num_row_groups
        if groups > 1:
            return [pieces.RowGroups(absolute[0], (k,)) for k in range(groups)]
    return list(absolute)


def _divided(count: int, parts: int) -> list[int]:
    """Return where each of several parts of nearly equal size begins, and where the last ends."""
    return [round(k * count / parts) for k in range(parts + 1)]


# --- a table that is encoded already ----------------------------------------------------------------------------------


def _from_table(
    client: Any, source: Any, split: str, workers: int, settings: DataSettings, timeout: float | None
) -> ClusterTable:
    """Divide data of this process, or a packed file that all workers can read."""
    table = Table.of(source, settings)
    if table.weights is not None or table.groups is not None or table.missing:
        raise OptionError("a table with weights, groups or missing values cannot be used on a cluster yet")
    path = packed_path(source)
    shape = choose_shape(split, table.rows, len(table.names), workers)
    rows, starts = _divided(table.rows, shape.parts), _divided(len(table.names), shape.blocks)
    grid = []
    for begin, end in itertools.pairwise(rows):
        take = None if shape.parts == 1 else (begin, end)
        line = []
        for first, last in itertools.pairwise(starts):
            if path is not None:
                arguments: tuple[Any, ...] = (str(Path(path).absolute()), take, (first, last), first)
            else:
                part = shards.shard_of_table(table, take, (first, last), first).table
                arguments = (part, None, (0, last - first), first)
            line.append(submitted(client, shards.shard_of_table, *arguments))
        grid.append(line)
    described = ColumnEncodings(
        table._kinds, table._reasons, table._levels, table._declared, table.continuous, table.notes
    )
    constant = {k: table.is_constant(k) for k in {*table._values, *table._declared}}
    cluster = Cluster(client, grid, starts, np.diff(rows).tolist(), timeout)
    made = {} if path is None else {"path": str(path)}
    spread = ClusterTable.of_cluster(cluster, table.names, described, made, table._reading_notes, constant)
    spread.identifiers, spread._position = table.identifiers, table._position  # a packed file knows them without a loop
    return spread


# --- parts that workers read ------------------------------------------------------------------------------------------


def _from_pieces(
    client: Any,
    source: Any,
    sources: Sequence[Any],
    split: str,
    workers: int,
    settings: DataSettings,
    say: Sayer,
    timeout: float | None,
) -> ClusterTable:
    def results(tasks: Sequence[Any], doing: str) -> list[Any]:
        report = say.of(len(tasks), doing)
        return gathered(client, tasks, lambda: report(sum(task.done() for task in tasks)), timeout)

    def each(function: Any, *arguments: Sequence[Any]) -> list[Any]:
        return [submitted(client, function, *of_one) for of_one in zip(*arguments, strict=True)]

    places = [piece if isinstance(piece, str) else f"part {k} of the data" for k, piece in enumerate(sources)]
    ready = [client.compute(piece) if hasattr(piece, "dask") else piece for piece in sources]
    sizes = results(each(pieces.size_of, ready, [settings] * len(ready)), "parts looked at")
    names = sizes[0].names
    for place, size in zip(places, sizes, strict=True):
        if set(size.names) != set(names):
            odd = min(set(names) ^ set(size.names))
            raise DataError(
                f"{place} and {places[0]} have different columns ({odd!r} is in one of them only); all parts of a "
                f"table must have the same"
            )
    rows = sum(size.rows for size in sizes)
    shape = choose_shape(split, rows, len(names), workers)
    groups = [ready] if shape.parts == 1 else [[piece] for piece in ready]
    starts = _divided(len(names), shape.blocks)
    blocks = [names[first:last] for first, last in itertools.pairwise(starts)]
    grid = [[submitted(client, pieces.read_part, settings, own, *group) for own in blocks] for group in groups]
    rules = rules_by_column(settings.missing, list(names))
    if "drop" in rules.values():
        masks = results(
            [submitted(client, pieces.complete_rows, one, settings) for line in grid for one in line], "parts read"
        )
        keep = [pieces.in_all(masks[k * len(blocks) : (k + 1) * len(blocks)]) for k in range(len(grid))]
    else:
        keep = [None] * len(grid)
    grid = [[submitted(client, pieces.kept_rows, one, keep[k]) for one in line]
            for k, line in enumerate(grid)]  # fmt: skip
    facts = results([submitted(client, pieces.facts_in, one) for line in grid for one in line], "parts read")
    by_part = [
        [one for of_block in facts[k * len(blocks) : (k + 1) * len(blocks)] for one in of_block]
        for k in range(len(grid))
    ]
    in_parts = [part[0].rows for part in by_part]
    if sum(in_parts) < 2:
        found = {0: "no rows", 1: "one row"}[sum(in_parts)]
        raise DataError(f"the table has {found}; at least two are needed")
    by_column = list(zip(*by_part, strict=True))
    _refuse_gaps([own for own in by_column if rules[own[0].name] != "level"])
    where = places if len(grid) > 1 else [places[0]]
    described = _with_ranks([merged(own, where) for own in by_column], by_part)
    for k, own in enumerate(by_column):
        if rules[own[0].name] == "level":
            described[k] = with_gap_level(described[k], own)
    grid = [
        [
            submitted(client, shards.shard_of_columns, one, described[first:last], first)
            for one, first, last in zip(line, starts, starts[1:], strict=False)
        ]
        for line in grid
    ]
    notes = [f"{len(sources):,} parts are read as one table"] if len(sources) > 1 else []
    if settings.ignore:
        notes.append(f"ignored, as asked: {abbreviate(settings.ignore)}")
    if sum(in_parts) < rows:
        notes.append(f"{rows - sum(in_parts):,} of {rows:,} rows dropped because values are missing")
    constant = {k: is_constant(d, own) for k, (d, own) in enumerate(zip(described, by_column, strict=True))}
    made = how_made(source if isinstance(source, str | PathLike) else None, settings)
    cluster = Cluster(client, grid, starts, in_parts, timeout)
    return ClusterTable.of_cluster(cluster, names, ColumnEncodings.of(described), made, notes, constant)


def _refuse_gaps(by_column: Sequence[Sequence[Facts]]) -> None:
    """Refuse missing values that no rule treats."""
    for own in by_column:
        gaps = sum(part.gaps for part in own)
        if gaps:
            before = 0
            for part in own:
                if part.gaps:
                    break
                before += part.rows
            raise DataError(
                f"values are missing in {own[0].name!r} ({gaps:,}, first in {row_text(before + part.first_gap)}); pass "
                f"{setting('missing', 'drop')} to drop such rows, or {setting('missing', 'level')} to make 'missing' "
                f"a level of its own"
            )


def _with_ranks(described: list[ColumnEncoding], by_part: Sequence[Sequence[Facts]]) -> list[ColumnEncoding]:
    """Return ranks as numbers: several columns of consecutive numbers, each in another order, number no rows."""
    ranks = []
    for k, own in enumerate(described):
        numbers = [part[k].numbers for part in by_part]
        is_found = own.kind == "identifier" and own.reason != AS_ASKED and own.as_numbers and not own.levels
        if is_found and not all(n is None or n.is_monotone for n in numbers):
            ranks.append(k)
    if len(ranks) > 1:
        for k in ranks:
            described[k] = described[k]._replace(kind="continuous", reason="whole numbers, like ranks")
    return described
