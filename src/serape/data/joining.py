"""The rows of several sources as one table: each source is read by itself, then their columns are joined."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns, Store
from serape.data.encoding import Encoded, encode_booleans, encode_floats, encode_integers
from serape.data.kinds import AS_ASKED, Kind
from serape.data.labels import encode_distinct
from serape.errors import DataError, abbreviate
from serape.wording import setting


@dataclass(frozen=True, slots=True)
class Part:
    """One of several sources."""

    name: str
    columns: Columns


def joined(parts: Sequence[Part], store: Store) -> Columns:
    """Return the rows of all parts, one part below the other; columns may be in another order in each."""
    first = parts[0].columns
    for part in parts[1:]:
        if set(part.columns.names) != set(first.names):
            lacking = [name for name in first.names if name not in set(part.columns.names)]
            surplus = [name for name in part.columns.names if name not in set(first.names)]
            what = f"lacks the column {abbreviate(lacking, 3)}" if lacking else f"has also {abbreviate(surplus, 3)}"
            raise DataError(f"{part.name} {what}, unlike {parts[0].name}; files of one table have the same columns")
    notes = [f"{len(parts):,} files are read as one table, from {parts[0].name!r} to {parts[-1].name!r}"]
    for part in parts:
        notes += [f"{part.name}: {note}" for note in part.columns.notes]
    encoded = store(_joined_columns(parts))
    rows = sum(part.columns.rows for part in parts)
    return Columns(list(first.names), rows, encoded, notes=tuple(notes), store=store)


def _joined_columns(parts: Sequence[Part]) -> Iterator[Encoded]:
    encoded = [part.columns.unpacked().encoded for part in parts]
    positions = [{name: k for k, name in enumerate(part.columns.names)} for part in parts]
    for name in parts[0].columns.names:
        columns = [of_part[at[name]] for of_part, at in zip(encoded, positions, strict=True)]
        yield _join(name, columns, [part.name for part in parts])


def _join(name: str, columns: list[Encoded], files: list[str]) -> Encoded:
    """Join one column: its kind is found again from all its values, unless the caller sets it."""
    asked = [c.kind for c in columns if c.reason == AS_ASKED]
    kind: Kind | None = asked[0] if len(asked) == len(columns) and len(set(asked)) == 1 else None
    missing = np.concatenate([np.zeros(len(c), bool) if c.missing is None else c.missing for c in columns])
    sorts = [sort_of(c) for c in columns]
    known = {sort for sort in sorts if sort != "nothing"}
    if known <= {"days"} and known:
        kinds = {c.kind for c, sort in zip(columns, sorts, strict=True) if sort == "days"}
        if len(kinds) == 1:
            values = np.concatenate([numbers_of(c) for c in columns])
            return columns[sorts.index("days")].changed(values=values, missing=missing if missing.any() else None)
    if known <= {"whole", "real"} and known:
        values = np.concatenate([numbers_of(c) for c in columns])
        if "real" in known:
            return encode_floats(name, np.where(missing, math.nan, values), missing, kind)
        return encode_integers(name, np.where(missing, 0, values).astype(np.int64), missing, kind)
    if known == {"truth"}:
        truth = np.concatenate([numbers_of(c) for c in columns]) == 1
        return encode_booleans(name, truth, missing, kind)
    if known <= {"labels"}:
        return _join_labels(name, columns, missing, kind)
    odd = next(k for k, sort in enumerate(sorts) if sort not in ("nothing", sorts[0]))
    raise DataError(
        f"column {name!r} holds {called(sorts[0])} in {files[0]} but {called(sorts[odd])} in {files[odd]}; pass "
        f"{setting('kinds', {name: 'categorical'})}, or ignore it"
    )


_CALLED = {
    "nothing": "no values", "whole": "whole numbers", "real": "numbers", "truth": "truth values", "labels": "text",
    "days": "dates or times",
}  # fmt: skip


def called(sort: str) -> str:
    """Return the words for a sort of values."""
    return _CALLED[sort]


def sort_of(column: Encoded) -> str:
    """Return which sort of values a column holds."""
    if column.missing is not None and column.missing.all():
        return "nothing"
    if column.levels:
        if column.declared or column.reason == AS_ASKED:
            return "labels"
        if all(isinstance(level, bool) for level in column.levels):
            return "truth"
        return "whole" if all(type(level) is int for level in column.levels) else "labels"
    if column.kind == "date" or column.reason.startswith(("dates", "times", "durations")):
        return "days"
    values = column.values
    whole = values is not None and column.reason.startswith("whole numbers")
    return "whole" if whole else "real"


def numbers_of(column: Encoded) -> NDArray[np.float64]:
    """Return the values of a column of numbers, also of one that is encoded by levels."""
    if column.values is not None and not column.levels:
        return column.values
    if not column.levels:
        return np.full(len(column), math.nan)
    numbers: NDArray[np.float64] = np.array(column.levels, np.float64)[indices_of(column)]
    return numbers


def indices_of(column: Encoded) -> NDArray[Any]:
    """Return, for every row, the index of its level."""
    if column.codes is not None:
        return column.codes
    assert column.values is not None
    return np.nan_to_num(column.values).astype(np.int64)


def _join_labels(name: str, columns: list[Encoded], missing: NDArray[np.bool_], kind: Kind | None) -> Encoded:
    declared = [c for c in columns if c.declared]
    code_of: dict[Any, int] = {}
    for column in columns:
        for level in column.levels:
            code_of.setdefault(level, len(code_of))
    labels = list(code_of)
    gap = len(labels)
    codes = []
    for column in columns:
        rank = np.array([*(code_of[level] for level in column.levels), gap], np.int64)
        codes.append(rank[np.minimum(indices_of(column), len(column.levels))])
    every = np.concatenate(codes)
    every[missing] = gap
    labels += [None] * bool(missing.any())
    if declared and len(declared) == len(columns):
        same = all(c.levels == columns[0].levels for c in columns)
        ordered = same and columns[0].kind == "ordinal"
        return encode_distinct(name, labels, every, declared=gap, ordered=ordered, kind=kind)
    used = np.unique(every)
    position = np.zeros(gap + 1, np.int64)
    position[used] = np.arange(len(used))
    return encode_distinct(name, [labels[k] for k in used], position[every], kind=kind)
