"""Answers on standard output: tables for people, JSON for programs.

Names are never cut. Where a table is wider than the terminal, the last column is folded; where even that is not enough,
every row becomes a few lines.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

import serape
from serape.results.charts import MAX_BARS
from serape.results.explanation import p_text
from serape.results.result import Result, finite, json_text

FOLDED = 24
"""The least width of a column that is folded."""
PIPED = 160
"""The width of tables where there is no terminal to fill."""


def console(*, stderr: bool = False) -> Console:
    """Return where to print: in colour on a terminal only, and not if NO_COLOR is set."""
    out = Console(stderr=stderr, highlight=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = PIPED
    return out


def print_json(content: Any) -> None:
    """Print something as JSON."""
    typer.echo(json.dumps(finite(content), indent=1, allow_nan=False, default=str))


def print_line(text: str) -> None:
    """Print a line as it is: no markup; folded to the width of a terminal, if there is one."""
    out = console()
    out.print(Text(text), soft_wrap=not out.is_terminal)


def print_grid(
    columns: Sequence[str], lines: Iterable[Sequence[str]], title: str | None = None, least: int = 0
) -> None:
    """Print a table so that nothing in it is cut; `least` is a width to take even if the terminal has less."""
    out = console()
    out.width = max(out.width, least)
    rows = [list(line) for line in lines]
    widths = [max([cell_len(head), *(cell_len(row[k]) for row in rows)]) for k, head in enumerate(columns)]
    borders = 3 * len(columns) + 1
    fixed = sum(widths[:-1]) + borders
    if fixed + min(widths[-1], FOLDED) > out.width:
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


# --- about one target ------------------------------------------------------------------------------------------------


def show_result(found: Result, explain: Sequence[str] = (), as_json: bool = False) -> None:
    """Print a blanket or a neighbourhood, and why some variables are in or out."""
    explanations = [found.explain(name) for name in explain]
    if as_json:
        typer.echo(json_text(found), nl=False)
        return
    count = len(found.members)
    print_line(f"{found.title}: {count} {'variable' if count == 1 else 'variables'}")
    if found.members:
        print_grid(("variable", "statistic", "dof", "p", "given"), map(_member_row, map(found.explain, found.members)))
    for line in str(found).splitlines()[1:]:
        print_line(line.strip())
    for explanation in explanations:
        print_line(f"\n{explanation}")


def _member_row(why: Any) -> list[str]:
    return [why.variable, f"{why.statistic:.5g}", f"{why.dof:g}", p_text(why.log_p), _given(why.given)]


def _given(given: Sequence[str] | None) -> str:
    return "not tested" if given is None else ", ".join(given) or "nothing"


def show_path(found: serape.AlphaPath) -> None:
    """Print at which alpha each variable enters."""
    lines = str(found).splitlines()
    print_line(lines[0])
    if len(found.records):
        print_grid(
            ("variable", "enters at alpha", "share of alphas"),
            ([row["variable"], f"{row['enters']:.3g}", f"{row['share']:.0%}"] for row in found.records),
        )
    else:
        print_line("nothing was found at any of them")
    for line in lines[1 + len(found.records) :]:
        print_line(line.strip())


def show_stability(found: serape.Stability, threshold: float) -> None:
    """Print how often variables were found, the most frequent first."""
    ever = [row for row in found.records if row["draws"]]
    lines = str(found).splitlines()
    print_line(lines[0])
    if ever:
        print_grid(
            ("variable", "draws", "share", "stable"),
            (
                [
                    row["variable"],
                    f"{row['draws']:,}",
                    f"{row['share']:.0%}",
                    "yes" if row["share"] >= threshold else "",
                ]
                for row in ever[:MAX_BARS]
            ),
        )
    if len(ever) > MAX_BARS:
        most = ever[MAX_BARS]["share"]
        print_line(f"and {len(ever) - MAX_BARS:,} others, each in {most:.0%} of the draws at most (--json has all)")
    for line in lines[1:]:
        print_line(line.strip())


# --- about many variables --------------------------------------------------------------------------------------------


def show_structure(found: serape.Structure, comparison: serape.GraphComparison | None = None) -> None:
    """Print a skeleton or a network, and how it compares with the truth."""
    title, *rest = str(found).splitlines()
    print_line(title)
    both_ways = found.graph.has_edge
    directed = found.finds == "network"
    show_edges(
        [(a, "→" if directed and not both_ways(b, a) else "–", b, found.graph.edges[a, b]) for a, b in found.edges]
    )
    for line in rest:
        print_line(line.strip())
    if comparison is not None:
        print_line(str(comparison))


def show_edges(edges: Sequence[tuple[str, str, str, Mapping[str, Any]]]) -> None:
    """Print edges, each with what speaks for it."""
    if not edges:
        return
    tested = any("log_p" in seen for *_, seen in edges)
    scored = any("gain" in seen for *_, seen in edges)
    rows = []
    for a, arrow, b, seen in edges:
        row = [a, arrow, b]
        if scored:
            row.append(f"{seen['gain']:.2f}")
        if tested:
            row += [
                f"{seen.get('statistic', math.nan):.5g}",
                f"{seen.get('dof', math.nan):g}",
                p_text(seen.get("log_p", math.nan)),
                _given(seen.get("given")),
            ]
        rows.append(row)
    print_grid(("from", "", "to", *["gain"] * scored, *["statistic", "dof", "p", "given"] * tested), rows)
