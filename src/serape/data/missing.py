"""The treatment of missing values when a table is made."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from serape.data.columns import Columns
from serape.data.csv_files import with_first_line_note
from serape.errors import DataError, abbreviate
from serape.types import Missing


def treat_missing(columns: Columns, rule: Missing, notes: list[str]) -> Columns:
    """Return the columns with their missing values treated by a rule; what was done is added to the notes."""
    gaps = {columns.names[k]: mask for k, mask in columns.missing.items()}
    if not gaps:
        return columns
    where = describe_gaps(gaps)
    empty = [name for name, mask in gaps.items() if mask.all()]
    if empty:
        raise DataError(f"column {abbreviate(empty)} has no values at all; ignore it")
    complete = ~np.logical_or.reduce(list(gaps.values()))
    n_complete = int(complete.sum())
    n_dropped = columns.rows - n_complete
    if rule == "error":
        message = (
            f"values are missing in {where}; pass missing='drop' to drop such rows ({n_dropped:,} of "
            f"{columns.rows:,}), missing='pairwise' to keep them and let every test use the rows that are complete for "
            f"its variables, or missing='level' to make 'missing' a level of its own (--missing on the command line)"
        )
        raise DataError(with_first_line_note(message, notes))
    if rule == "level":
        continuous = [columns.names[k] for k in columns.missing if columns.encoded[k].values is not None]
        if continuous:
            raise DataError(
                f"missing='level' needs categorical columns, but values are missing in the continuous "
                f"{abbreviate(continuous)}"
            )
        notes.append(f"missing values are a level of their own in {where}")
        return columns.with_columns([c.missing_as_level() for c in columns.encoded])
    if rule == "pairwise":
        notes.append(
            f"values are missing in {where}; every test uses the rows that are complete for its variables "
            f"({n_complete:,} of {columns.rows:,} rows are complete for all)"
        )
        return columns.with_columns([c.with_nan() for c in columns.encoded])
    if n_complete < 2:
        raise DataError(
            f"dropping rows with missing values leaves {n_complete} of {columns.rows:,}; values are missing in "
            f"{where}; pass missing='pairwise' to keep them"
        )
    notes.append(f"{n_dropped:,} of {columns.rows:,} rows dropped because values are missing in {where}")
    return columns.kept(complete)


def describe_gaps(gaps: Mapping[str, NDArray[np.bool_]]) -> str:
    """Return in which columns values are missing, how many, and the first row of each."""
    first = ", ".join(
        f"{name!r} ({int(mask.sum()):,}, first in row {int(np.argmax(mask))})" for name, mask in list(gaps.items())[:5]
    )
    return first + (f" and {len(gaps) - 5:,} more columns" if len(gaps) > 5 else "")
