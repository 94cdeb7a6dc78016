"""Several tables as one, with a column that says from which table a row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Unpack

import numpy as np

from serape._keywords import Keywords
from serape.data.columns import Columns
from serape.data.encoding import Encoded, as_codes
from serape.data.joining import Part, joined
from serape.data.kinds import Kinds
from serape.data.reading import ReadOptions, read
from serape.data.table import Table
from serape.errors import DataError, InputTypeError, OptionError, shown
from serape.settings import FIELDS, DataSettings, Settings, check_options, question, refuse
from serape.wording import setting

_USED = {f.name for f in fields(DataSettings)}
_OF_READING = ("kinds", "header", "na_values", "delimiter", "decimal", "encoding", "quote", "comment", "index", "table")


@question(without=dict.fromkeys((name for name in FIELDS if name not in _USED), "tables are joined without a search"))
def join_tables(tables: Mapping[str, Any], context: str = "context", **settings: Unpack[Keywords]) -> Table:
    """Join the rows of several tables, and add a column that says from which table each row is.

    Parameters
    ----------
    tables
        By name, anything a `Table` can be made of, but no Table. All have the same columns, in any order.
    context
        The name of the added column, the last of the table; its levels are the names of the tables.

    Returns
    -------
    Table
        The table, for example for `context_blankets`.

    Examples
    --------
    >>> both = serape.join_tables({"2023": clinic(300, seed=1), "2024": clinic(300, seed=2)}, context="Year")
    >>> both.rows, both.variables["Year"].levels
    (600, ('2023', '2024'))
    """
    if not isinstance(tables, Mapping) or any(isinstance(one, Table) for one in tables.values()):
        raise InputTypeError(
            "tables must be a dict of data by name, such as frames or paths, and no Table: kinds and levels are found "
            "in all rows together"
        )
    if len(tables) < 2:
        raise DataError(f"{len(tables)} tables cannot be joined; at least two are needed")
    if not isinstance(context, str):
        raise InputTypeError(f"{setting('context')} must be the name of the added column, not {shown(context)}")
    refuse(join_tables, settings)
    given = Settings.of(**settings)
    check_options("join_tables", given.options, ["context"])
    asked = given.data
    options = ReadOptions.of(asked)
    parts = [Part(str(name), read(one, Kinds(asked.kinds), options)) for name, one in tables.items()]
    together = joined(parts, options.keeping.store)
    if context in together.names:
        raise OptionError(f"the tables have a column {context!r} already; give the added one another name")
    names = tuple(part.name for part in parts)
    codes = as_codes(np.repeat(np.arange(len(parts)), [part.columns.rows for part in parts]), len(names))
    added = Encoded("categorical", f"{len(names)} joined tables", names, codes)
    notes = tuple(note for part in parts for note in (f"{part.name}: {one}" for one in part.columns.notes))
    columns = Columns([*together.names, context], together.rows, [*together.encoded, added], notes=notes)
    rest = replace(asked, **{name: _default(name) for name in _OF_READING})
    return Table.of(columns, rest)


def _default(name: str) -> Any:
    return next(f.default for f in fields(DataSettings) if f.name == name)
