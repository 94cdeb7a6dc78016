"""Weights and groups of rows, applied when a table is made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.encoding import Encoded
from serape.data.labels import is_missing
from serape.data.weights import checked_weights, one_per_row
from serape.errors import DataError, OptionError, abbreviate, row_text, shown, suggestion
from serape.settings import DataSettings
from serape.wording import setting

MAX_BYTES = 1 << 28
"""Up to this size, rows are repeated by their frequencies; larger tables keep the frequencies."""


def with_row_settings(columns: Columns, settings: DataSettings, notes: list[str]) -> Columns:
    """Return the columns that are variables, with the weights and groups of their rows, without rows of weight 0.

    Columns that are ignored, or hold weights or groups, are no variables.
    """
    weights = _given(columns, settings.sample_weight, "sample_weight")
    groups = _given(columns, settings.groups, "groups")
    used = [name for name in (settings.sample_weight, settings.groups) if isinstance(name, str)]
    ignored = [name for name in settings.ignore if name not in used]
    if used or ignored:
        columns = columns.without([*used, *ignored])
    if ignored:
        notes.append(f"ignored, as asked: {abbreviate(ignored)}")
    if weights is not None or groups is not None:
        columns = columns.unpacked()
    if groups is not None:
        columns.groups = _numbered(one_per_row(groups, columns.rows, "groups", "label"))
        notes.append(f"the rows are in {int(columns.groups.max()) + 1:,} groups{_from(settings.groups)}")
    if weights is not None:
        columns.weights = checked_weights(weights, columns.rows, settings.weight_kind)
        positive = columns.weights.values > 0
        if not positive.all():
            notes.append(f"{int((~positive).sum()):,} of {columns.rows:,} rows left out: their weight is 0")
            columns = columns.kept(positive)
    return columns


def with_weights_applied(columns: Columns, settings: DataSettings, notes: list[str]) -> Columns:
    """Return the columns with rows repeated by their frequencies; survey weights, and many frequencies, are kept."""
    weights = columns.weights
    if weights is None:
        return columns
    source = _from(settings.sample_weight)
    if weights.kind == "survey":
        if columns.rows < 2:
            raise DataError("only one row has a positive weight; at least two are needed")
        notes.append(
            f"rows have survey weights{source}: {columns.rows:,} rows count as {weights.effective:,.1f} "
            f"(the effective number of rows)"
        )
        return columns
    total = round(weights.total)
    if total < 2:
        raise DataError("the frequencies add up to one row; at least two are needed")
    notes.append(f"rows are repeated by their frequencies{source}: {columns.rows:,} rows count as {total:,}")
    if total * sum(map(_bytes_per_row, columns.encoded)) > MAX_BYTES:
        return columns
    indices = np.repeat(np.arange(columns.rows), weights.values.astype(np.int64))
    return Columns(
        columns.names,
        total,
        [column.rows(indices) for column in columns.encoded],
        groups=None if columns.groups is None else columns.groups[indices],
    )


def _bytes_per_row(column: Encoded) -> int:
    return 8 if column.codes is None else column.codes.itemsize


def _from(given: Any) -> str:
    return f" in {given!r}" if isinstance(given, str) else ""


def _given(columns: Columns, given: Any, name: str) -> Any:
    """Return the values of a setting about rows: those of the column that it names, or as given."""
    if not isinstance(given, str):
        return given
    if given not in columns.names:
        raise OptionError(f"there is no column {given!r} for {setting(name)}.{suggestion(given, columns.names)}")
    column = columns.unpacked().encoded[columns.names.index(given)]
    if column.missing is not None:
        row = int(np.argmax(column.missing))
        raise DataError(f"column {given!r}, named by {setting(name)}, has no value in {row_text(row)}; give it one")
    if column.values is not None and not column.levels:
        return column.values
    indices = column.codes if column.values is None else column.values.astype(np.int64)
    if all(type(level) is int for level in column.levels):
        return np.array(column.levels)[indices]
    levels = np.empty(len(column.levels), object)
    levels[:] = column.levels
    return levels[indices]


def _numbered(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return the number of the group of every row; groups are numbered in the order of their first rows."""
    number: dict[Any, int] = {}
    for row, label in enumerate(labels.tolist()):
        if is_missing(label):
            raise DataError(
                f"{row_text(row)} has no group; give every row a label, one of its own if it is independent"
            )
        try:
            number.setdefault(label, len(number))
        except TypeError:
            raise DataError(f"the group of {row_text(row)} is {shown(label)}; a label is a number or text") from None
    if len(number) < 2:
        raise DataError("all rows are in one group; groups need at least two labels")
    return np.array([number[label] for label in labels.tolist()], np.int64)
