"""Results on standard output: tables for people, JSON for programs.

Names are never cut. If a table is wider than the terminal, its last column is folded; if that is not enough, every row
becomes a few lines.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from serape.errors import OptionError, command_words, n_shown, shown
from serape.markup import plain
from serape.results.displayed import evidence_table, variables_text
from serape.results.result import Result
from serape.results.saved import finite

MIN_FOLDED = 24
"""The least width of a folded column."""
PIPED = 160
"""The width of tables where there is no terminal."""


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command, which exits as other programs do."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return the console: in colour on a terminal only, and not if NO_COLOR is set."""
    out = _Console(stderr=stderr, highlight=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED
    return out


def json_of(content: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(finite(content), indent=1, allow_nan=False, default=str)


def print_json(content: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json_of(content))


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
    """Print each row as a few lines: the name, or the edge, then what is told of it."""
    if title:
        out.print(Text(title))
    named = max([0, *(k for k, head in enumerate(columns) if head in ("", "to"))]) + 1  # an arrow, and its other end
    for row in rows:
        told = [f"{head} {cell}" for head, cell in zip(columns[named:], row[named:], strict=True) if cell]
        out.print(Text(" ".join(filter(None, row[:named])), style="bold"), overflow="fold")
        for line in Text(", ".join(told)).wrap(out, out.width - 2, overflow="fold"):
            out.print(Text(f"  {line.plain.rstrip()}"))


# --- results ---------------------------------------------------------------------------------------------------------


def show_kind(
    found: Any,
    explain: Sequence[str] = (),
    as_json: bool = False,
    *,
    more: Mapping[str, Any] = MappingProxyType({}),
    also: Iterable[str] = (),
    last: Iterable[str] = (),
    **chosen: Any,
) -> None:
    """Print a result of any kind: what it says, its table, and explanations.

    `more` stands in the JSON besides, `also` are lines before the explanations, `last` those after them; what is
    `chosen` is for the table to say.
    """
    explanations = explained(found, explain)
    if as_json:
        told = {"explanations": {name: str(one) for name, one in explanations.items()}} if explanations else {}
        print_json({**found.to_dict(), **more, **told})
        return
    print_line(found._heading())
    _print_unfinished(found)
    heads, rows, total = found._grid(found._most_rows + 1, **chosen)
    rows = rows[: n_shown(total, found._most_rows)]
    if rows:
        print_grid(heads, rows)
    elif found._nothing:
        print_line(found._nothing)
    if total > len(rows):
        print_line(f"{found._others(len(rows), total)} (--json lists all)")
    for line in (*found._below(), *also):
        print_line(line)
    for line in (*_apart(explanations), *last):
        print_line(line)


def show_result(found: Result, explain: Sequence[str] = (), as_json: bool = False) -> None:
    """Print a blanket or a neighbourhood, and explanations for some variables."""
    if as_json:
        show_kind(found, explain, as_json, more={"records": list(_records(found))})
        return
    explanations = explained(found, explain)
    print_line(f"{found.title}: {variables_text(len(found.members))}")
    _print_unfinished(found)
    if found.members:
        heads, rows = evidence_table(found, found.members)
        print_grid(["variable", *heads], ([name, *row] for name, row in zip(found.members, rows, strict=True)))
    for line in command_words(str(found)).splitlines()[2 if found._unfinished() else 1 :]:
        print_line(line.strip())
    for line in _apart(explanations):
        print_line(line)


def _print_unfinished(found: Any) -> None:
    """Print what a reader must know before the table: that the search is not complete."""
    if unfinished := found._unfinished():
        print_line(command_words(unfinished))


def _records(found: Result) -> Iterator[dict[str, Any]]:
    """Return the deciding test of every variable, with names and p."""
    for row in found.evidence:
        why = found.explain(row["variable"])
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in row.items()}
        sets = {"given": why.given, "separating_set": why.separating_set}
        yield plain | {name: None if names is None else list(names) for name, names in sets.items()}


def explained(found: Any, asked: Sequence[str]) -> dict[str, Any]:
    """Return what a result says of variables or, if it is about edges, of pairs such as A,B."""
    of_two = asked and len(inspect.signature(found.explain).parameters) == 2
    return {name: found.explain(*(_pair(name, found._entry("variables")) if of_two else [name])) for name in asked}


def _pair(text: str, names: Collection[str]) -> list[str]:
    """Return the two names in a text: names may have commas, too."""
    pieces = text.split(",")
    pairs = [[",".join(pieces[:k]).strip(), ",".join(pieces[k:]).strip()] for k in range(1, len(pieces))]
    if not pairs:
        raise OptionError(f"--explain {shown(text)} must be two columns, as in --explain {text},OTHER")
    return next((pair for pair in pairs if set(pair) <= set(names)), pairs[0])


def _apart(explanations: Mapping[str, Any]) -> list[str]:
    """Return explanations, each below an empty line."""
    return [f"\n{one}" for one in explanations.values()]
