"""The report of causes and effects: that of the blanket, with the roles and directions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from serape.markup import MAX_TEXT, shown
from serape.results.report.blanket import blanket_page, embedded_variables
from serape.results.report.calls import causes_calls
from serape.results.report.common import budget_about
from serape.results.report.page import Cell, Grid, Name, Page, Words, listed

if TYPE_CHECKING:
    from serape.results.causes import Causes

_ARC = "arrow: from cause to effect"
_EDGE = "line without an arrowhead: not decided"
_HIDDEN_EDGE = "line without an arrowhead: a hidden common cause, or not decided; the table says which"


def causes_page(found: Causes) -> Page:
    """Return the report of causes and effects."""
    page = blanket_page(found.blanket_result)
    graph = dict(page.graph)
    described = graph["described"]
    inside, excluded = embedded_variables(found.blanket_result)
    own = [found.target, *inside, *excluded]
    graph["variables"] = [
        *(_variable(found, name, one) for name, one in zip(own, graph["variables"][:described], strict=True)),
        *graph["variables"][described:],
    ]
    graph["edges"] = [_edge(found, own, edge) for edge in graph["edges"]]
    members, *rest = page.grids
    return replace(
        page,
        kicker="Causes and effects",
        answer=_answer(found),
        facts={
            **page.facts,
            "Algorithm": f"{found.algorithm}, with blankets by {found.learner}",
            "Blankets learned": f"{len(found.expanded):,}",
            "Tests": f"{found.tests:,}",
            "Skipped": f"{found.skipped:,}",
            "Time": f"{found.seconds:.3g} s",
            "Hidden common causes": "allowed for" if found.hidden else "assumed absent",
        },
        hint=page.hint.replace("why it is a member", "whether it is a cause or an effect, and why"),
        legend={**page.legend, "arc": _ARC, "edge": _HIDDEN_EDGE if found.hidden else _EDGE},
        graph=graph,
        grids=[_with_roles(found, members, own), *rest],
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size),
        notes=[
            *found._other_notes(),
            *(f"dropped because of a contradiction: {conflict}" for conflict in found.conflicts[:50]),
        ],
        calls=causes_calls(found),
    )


def _variable(found: Causes, name: str, one: dict[str, Any]) -> dict[str, Any]:
    """Return what the page says about a variable, with its role and why it has it."""
    if name == found.target:
        return one
    return {**one, "role": found.role(name), "text": shown(found.explain(name), MAX_TEXT)}


def _edge(found: Causes, names: list[str], edge: dict[str, Any]) -> dict[str, Any]:
    """Return an edge of the target with its direction; those of spouses stay as they are."""
    if edge["a"] != 0:
        return edge
    mark = found.marks.get(names[edge["b"]], "")
    if mark == "→":
        return {**edge, "a": edge["b"], "b": 0, "arrow": 1}
    return {**edge, "arrow": int(mark == "←")}


def _with_roles(found: Causes, grid: Grid, names: list[str]) -> Grid:
    """Return the table of members with their roles."""
    at = grid.columns.index("Role")

    def role(row: Any) -> Cell:
        name = names[row[0].variable] if row[0].variable is not None else ""
        text = found.role(name)
        return Cell(text, text)

    rows = [[*row[:at], role(row), *row[at + 1 :]] for row in grid.rows]
    return replace(grid, title="Causes, effects and spouses", rows=rows)


def _answer(found: Causes) -> Words:
    words: list[str] = []
    for kind, names in (
        (" has no known cause" if not found.causes else " has the causes ", found.causes),
        ("; it has no known effect" if not found.effects else "; the effects ", found.effects),
        ("; it shares hidden causes with " if found.confounded else "", found.confounded),
        ("; not decided: " if found.undecided else "", found.undecided),
    ):
        words += [kind, *listed(names)] if names else [kind]
    return [Name(shown(found.target)), *(word for word in words if word), "."]
