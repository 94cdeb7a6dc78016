"""The section of a report about the columns of the data."""

from __future__ import annotations

from collections.abc import Sequence

from serape.data.provenance import Provenance
from serape.errors import n_shown
from serape.markup import MAX_TEXT, shown
from serape.results.description import column_facts
from serape.results.report.page import Cell, Grid

MAX_COLUMNS = 300
"""The largest number of columns that are described."""
_HEADS = ("Column", "Kind", "Levels", "Missing", "About")


def data_grid(data: Provenance | None, first: Sequence[str]) -> tuple[Grid, ...]:
    """Return a table of the columns, those of the answer `first`; none if the data are not at hand."""
    table = None if data is None else data.table
    if table is None:
        return ()
    every = dict.fromkeys([*map(table.position, first), *range(len(table.names))])
    order = list(every)[: n_shown(len(every), MAX_COLUMNS)]
    rows = []
    for k in order:
        same = [table.names[x] for x in table.duplicates.get(k, ()) if x != k]
        facts = column_facts(table, k, [f"duplicate of {same[0]!r}"] if same else ())
        rows.append(
            [
                Cell(shown(facts.variable), shown(facts.variable)),
                Cell(facts.kind, facts.kind),
                Cell(f"{facts.levels:,}", float(facts.levels)) if facts.levels else Cell("–"),
                Cell(f"{facts.missing:,}", float(facts.missing)),
                Cell(shown(facts.about, MAX_TEXT)),
            ]
        )
    about = "The kind of each column and why; the most frequent levels, or the range."
    if len(order) < len(table.names):
        about += (
            f" Of {len(table.names):,} columns, these are {len(order):,} "
            f"(`serape.describe(data)` and, on the command line, `serape describe` have all)."
        )
    return (Grid("data", "Columns of the data", about, _HEADS, frozenset({"Levels", "Missing"}), rows),)
