"""From columns as read to the columns of a table: checks, weights, groups, and missing values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from serape.data.columns import Columns
from serape.data.missing import treat_missing
from serape.data.rows import with_row_settings, with_weights_applied
from serape.errors import OptionError, suggestion
from serape.settings import DataSettings
from serape.wording import setting


@dataclass(frozen=True, slots=True)
class Prepared:
    """Columns that can make a table."""

    columns: Columns
    notes: tuple[str, ...]
    """What a user should know about how they were read."""
    empty: tuple[str, ...]
    """Columns without any value that were left out."""


def prepared(columns: Columns, settings: DataSettings, *, leave_out_empty: bool = False) -> Prepared:
    """Apply settings to columns as read; refuse columns that cannot make a table."""
    columns.check()
    if isinstance(settings.kinds, Mapping):
        known = set(columns.names)
        for name in map(str, settings.kinds):
            if name not in known:
                raise OptionError(
                    f"{setting('kinds')} names a column {name!r} that the data do not have.{suggestion(name, known)}"
                )
    notes: list[str] = list(columns.notes)
    columns = with_row_settings(columns.without_false_identifiers(), settings, notes)
    kept = treat_missing(columns, settings.missing, notes, leave_out_empty=leave_out_empty)
    left_out = set(columns.names).difference(kept.names) if leave_out_empty else ()
    empty = tuple(sorted(left_out, key=columns.names.index))
    return Prepared(with_weights_applied(kept, settings, notes), tuple(notes), empty)
