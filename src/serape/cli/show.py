"""Results on standard output: tables for people, JSON for programs.

Names are never cut. If a table is wider than the terminal, its last column is folded; if that is not enough, every row
becomes several lines.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import serape
from serape.errors import command_words, n_shown
from serape.markup import plain
from serape.results.displayed import edge_table, evidence_table, variables_text
from serape.results.result import Result
from serape.results.saved import finite

MIN_FOLDED = 24
"""The least width of a folded column."""
MAX_COLUMNS = 100
"""The largest number of columns of the data that are printed."""
PIPED = 160
"""The width of tables where there is no terminal."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which exits as other programs do."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return the console: in colour on a terminal only, and not if NO_COLOR is set."""
    out = _Console(stderr=stderr, highlight=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED
    return out


def print_json(content: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(finite(content), indent=1, allow_nan=False, default=str))


def print_line(text: str) -> None:
    """Print a line without markup, folded to the width of a terminal if there is one."""
    out = console()
    out.print(Text(plain(text)), soft_wrap=not out.is_terminal)


def print_grid(
    columns: Sequence[str], lines: Iterable[Sequence[str]], title: str | None = None, min_width: int = 0
) -> None:
    """Print a table so that nothing in it is cut; it is at least `min_width` wide, even if the terminal is not."""
    out = console()
    out.width = max(out.width, min_width)
    rows = [list(map(plain, line)) for line in lines]
    widths = [max([cell_len(head), *(cell_len(row[k]) for row in rows)]) for k, head in enumerate(columns)]
    borders = 3 * len(columns) + 1
    fixed = sum(widths[:-1]) + borders
    if fixed + min(widths[-1], MIN_FOLDED) > out.width:
        _print_stacked(out, columns, rows, title)
        return
    grid = Grid(title=title)
    for k, head in enumerate(columns):
        grid.add_column(head, no_wrap=k < len(columns) - 1, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    out.print(grid)


def _print_stacked(out: Console, columns: Sequence[str], rows: list[list[str]], title: str | None) -> None:
    if title:
        out.print(Text(title))
    for row in rows:
        out.print(Text(row[0], style="bold"), overflow="fold")
        for head, cell in zip(columns[1:], row[1:], strict=True):
            out.print(Text(f"  {head}: {cell}" if head else f"  {cell}"), overflow="fold")


# --- about the data --------------------------------------------------------------------------------------------------


def show_description(found: serape.Description) -> None:
    """Print the columns of a table, what is odd about them, and what "auto" means."""
    from serape.results.description import COLUMN_HEADS

    print_line(found.title)
    shown = found.columns[: n_shown(len(found.columns), MAX_COLUMNS)]
    print_grid(COLUMN_HEADS, (column.cells for column in shown))
    if len(found.columns) > len(shown):
        print_line(f"and {len(found.columns) - len(shown):,} more columns (--json lists all)")
    for line in str(found).splitlines()[-len(found.choices) - len(found.notes) :]:
        print_line(line.strip())


# --- about one target ------------------------------------------------------------------------------------------------


def show_result(found: Result, explain: Sequence[str] = (), as_json: bool = False) -> None:
    """Print a blanket or a neighbourhood, and explanations for some variables."""
    explanations = [found.explain(name) for name in explain]
    if as_json:
        told = {"explanations": {one.variable: str(one) for one in explanations}} if explanations else {}
        print_json({**found.to_dict(), "records": list(_records(found)), **told})
        return
    print_line(f"{found.title}: {variables_text(len(found.members))}")
    if found.members:
        heads, rows = evidence_table(found, found.members)
        print_grid(["variable", *heads], ([name, *row] for name, row in zip(found.members, rows, strict=True)))
    for line in command_words(str(found)).splitlines()[1:]:
        print_line(line.strip())
    for explanation in explanations:
        print_line(f"\n{explanation}")


def _records(found: Result) -> Iterator[dict[str, Any]]:
    """Return the deciding test of every variable, with names and p."""
    for row in found.evidence:
        why = found.explain(row["variable"])
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
        sets = {"given": why.given, "separating_set": why.separating_set}
        yield plain | {name: None if names is None else list(names) for name, names in sets.items()}


def show_kind(
    found: Any,
    explain: Sequence[str] = (),
    as_json: bool = False,
) -> None:
    """Print a result: what it says, its table, and explanations for some variables."""
    explanations = {name: found.explain(name) for name in explain}
    if as_json:
        print_json({**found.to_dict(), **({"explanations": explanations} if explanations else {})})
        return
    lines = str(found).splitlines()
    print_line(lines[0])
    if len(found.records):
        heads, rows, total = found._grid(MAX_COLUMNS)
        print_grid(heads, rows)
        if total > len(rows):
            print_line(f"and {total - len(rows):,} more {heads[0]}s (--json lists all)")
    for line in lines[1:]:
        print_line(line.strip())
    for explanation in explanations.values():
        print_line(f"\n{explanation}")


def show_path(found: serape.AlphaPath) -> None:
    """Print the alpha at which each variable enters."""
    lines = str(found).splitlines()
    print_line(lines[0])
    if len(found.records):
        print_grid(
            ("variable", "enters at alpha", "share of alphas"),
            ([row["variable"], f"{row['enters']:.3g}", f"{row['share']:.0%}"] for row in found.records),
        )
    else:
        print_line("no variable is found at any of these levels")
    for line in lines[1 + len(found.records) :]:
        print_line(line.strip())


def show_stability(
    found: serape.Stability | serape.EdgeStability, threshold: float, bound: serape.FalseSelections | None
) -> None:
    """Print how often variables or edges were found, the most frequent first, and the bound on false selections."""
    from serape.results.charts import MAX_BARS

    found_rows = [row for row in found.records if row["draws"]]
    n = n_shown(len(found_rows), MAX_BARS)
    lines = str(found).splitlines()
    print_line(lines[0])
    if found_rows:
        print_grid(
            (*(_ARROWS.get(name, name) for name in found.records.columns), "stable"),
            ([*map(_share_text, row.values()), "yes" if row["share"] >= threshold else ""] for row in found_rows[:n]),
        )
    if n < len(found_rows):
        share = found_rows[n]["share"]
        print_line(f"and {len(found_rows) - n:,} others, each in at most {share:.0%} of the draws (--json lists all)")
    for line in lines[1:]:
        print_line(line.strip())
    if bound is not None:
        print_line(str(bound))
    elif threshold > 1:
        print_line(
            "no threshold keeps the expected number of false selections so low; use more draws or a smaller alpha"
        )


_ARROWS = {"forward": "→", "backward": "←", "undirected": "–"}


def _share_text(value: str | int | float) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.0%}" if isinstance(value, float) else f"{value:,}"


# --- about many variables --------------------------------------------------------------------------------------------


def show_structure(found: serape.Structure, comparison: serape.GraphComparison | None = None) -> None:
    """Print a skeleton or a network, and its comparison with the truth."""
    title, *rest = str(found).splitlines()
    print_line(title)
    show_edges(found.edges_with_evidence())
    for line in rest:
        print_line(line.strip())
    if comparison is not None:
        print_line(str(comparison))


def show_edges(edges: Sequence[tuple[str, str, str, Mapping[str, Any]]]) -> None:
    """Print edges with their evidence."""
    if edges:
        print_grid(*edge_table(edges))
