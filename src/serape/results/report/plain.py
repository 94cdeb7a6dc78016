"""The report of any kind of result: its answer, its explanations around the target, and its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from serape.errors import n_shown
from serape.markup import MAX_TEXT, shown
from serape.records import cell_text
from serape.results.report.common import budget_about, provenance_pairs, skipped_about
from serape.results.report.data import data_grid
from serape.results.report.page import Cell, Grid, Page, Words

if TYPE_CHECKING:
    from serape.results.kind import ResultKind

MAX_ROWS = 500
"""The largest number of rows of the table."""
MAX_DRAWN = 120


@dataclass(frozen=True)
class Member:
    """A variable around the target of a report."""

    name: str
    kind: str
    """How it is drawn: "neighbour", "spouse" or "member"."""
    role: str
    strength: float
    """The width of its line, from 0 to 1."""


@dataclass(frozen=True)
class Around:
    """What is drawn around the target of a report."""

    centre: str
    members: Sequence[Member]
    """The most important first."""
    legend: Mapping[str, str] = field(default_factory=dict)
    """The meaning of the kinds of members."""
    widths: Mapping[str, float] = field(default_factory=dict)
    """The meaning of the widths of lines."""
    target: str = "the target"
    """The meaning of the centre."""


def plain_page(found: ResultKind, kicker: str, around: Around | None = None) -> Page:
    """Return the report of a result from what its kind declares."""
    heading, *how = [line.strip().rstrip(".") for line in (found._heading(), *found._how())]
    answer = ". ".join(line[:1].upper() + line[1:] for line in (heading, *how))
    data = getattr(found, "data", None)
    parts: dict[str, Any] = {"hint": "", "legend": {}, "widths": {}, "graph": {}}
    if around is not None:
        parts = _drawn(found, around)
    first = [] if around is None else [one.name for one in around.members]
    return Page(
        kicker=kicker,
        title=shown(found.title if around is None else around.centre),
        answer=[shown(f"{answer}.", MAX_TEXT)],
        facts=_facts(found),
        warnings=_warnings(found),
        **parts,
        grids=[_grid(found, around), *found._grids(), *([] if data is None else data_grid(data, first))],
        budget=getattr(found, "tests_by_size", {}),
        budget_about=_budget(found),
        notes=found._other_notes(),
        reproduce=dict(list(provenance_pairs(data).items())[: None if hasattr(found, "data") else 1]),
        calls=found._calls(),
    )


def _facts(found: ResultKind) -> dict[str, str]:
    """Return how a result was found, as far as its kind says."""
    asked, data = found._asked, getattr(found, "data", None)
    known = {
        "Algorithm": (asked, "algorithm", ""),
        "Test": (asked, "test", ""),
        "Alpha": (asked, "alpha", "g"),
        "False discovery rate": (asked, "fdr", "g"),
        "Rows": (data, "rows", ","),
        "Columns": (data, "columns", ","),
        "Draws": (found, "draws", ","),
        "Tests": (found, "tests", ","),
        "Skipped": (found, "skipped", ","),
        "Time": (found, "seconds", ".3g"),
    }
    facts = {head: (getattr(source, name, None), form) for head, (source, name, form) in known.items()}
    told = {head: format(value, form) for head, (value, form) in facts.items() if value is not None}
    return {head: f"{text} s" if head == "Time" else shown(text) for head, text in told.items()}


def _budget(found: ResultKind) -> str:
    """Return how many tests were performed; an empty text for a kind that counts none."""
    tests: int | None = getattr(found, "tests", None)
    skipped: int | None = getattr(found, "skipped", None)
    if tests is None:
        return ""
    if skipped is not None:
        return budget_about(tests, skipped, getattr(found, "tests_by_size", {}))
    return f"{tests:,} {'test was' if tests == 1 else 'tests were'} performed."


def _drawn(found: ResultKind, around: Around) -> dict[str, Any]:
    members = around.members[: n_shown(len(around.members), MAX_DRAWN)]
    kinds = {"target", *(one.kind for one in members)}
    legend = {"target": around.target, **around.legend}
    variables = [
        {"name": shown(around.centre), "kind": "target", "role": "target",
         "text": shown(f"{found._heading()}.", MAX_TEXT), "facts": [], "sets": []},
        *(
            {"name": shown(one.name), "kind": one.kind, "role": one.role, "brief": one.role,
             "text": shown(str(found.explain(one.name)), MAX_TEXT), "facts": [], "sets": []}
            for one in members
        ),
    ]  # fmt: skip
    return {
        "hint": "Choose a variable to read about it." if members else "",
        "legend": {kind: meaning for kind, meaning in legend.items() if kind in kinds},
        "widths": around.widths if members else {},
        "graph": {
            "mode": "around",
            "centre": 0,
            "variables": variables,
            "described": len(variables),
            "absent": len(around.members) - len(members),
            "drawn": list(range(len(variables))),
            "edges": [
                {"a": 0, "b": k, "arrow": 0, "strength": one.strength} | ({"loose": 1} if one.kind == "member" else {})
                for k, one in enumerate(members, 1)
            ],
            "label": f"Graph of {len(members):,} variables around {shown(around.centre)}",
        },
    }


def _grid(found: ResultKind, around: Around | None) -> Grid:
    """Return the records as a table that can be sorted."""
    records = found.records
    n = n_shown(len(records), MAX_ROWS)
    drawn = {} if around is None else {one.name: k for k, one in enumerate(around.members[:MAX_DRAWN], 1)}
    heads = tuple(name[:1].upper() + name[1:].replace("_", " ") for name in records.columns)
    first = records.columns[0] if records.columns else ""
    rows = [
        [_cell(value, drawn.get(str(value)) if name == first else None) for name, value in records[k].items()]
        for k in range(n)
    ]
    numbers = {
        head
        for head, name in zip(heads, records.columns, strict=True)
        if any(
            isinstance(value, float | np.floating | int) and not isinstance(value, bool) for value in records[name][:n]
        )
    }
    about = f"Of {len(records):,} rows, this file has {n:,}." if n < len(records) else "" if rows else "There are none."
    return Grid("table", "Table", about, heads, frozenset(numbers), rows)


def _cell(value: Any, variable: int | None) -> Cell:
    text = shown(cell_text(value), MAX_TEXT)
    if isinstance(value, float | np.floating):
        return Cell(text, None if np.isnan(value) else float(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return Cell(f"{value:,}", float(value))
    return Cell(text, text or None, variable)


def _warnings(found: ResultKind) -> list[Words]:
    unfinished = found._unfinished()
    told = [f"The search is {unfinished}."] if unfinished else []
    options: Mapping[str, Any] | None = getattr(found._asked, "options", None)
    if options is not None and (skipped := getattr(found, "skipped", 0)):
        told.append(skipped_about(found.tests, skipped, options.get("max_conditioning")))  # type: ignore[attr-defined]
    return [[one] for one in told]
