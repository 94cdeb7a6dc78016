"""What the report of a blanket, or of parents and children, says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serape.results.explanation import p_text
from serape.results.report.calls import blanket_calls
from serape.results.report.common import Embedded, budget_about, few, provenance_pairs, skipped_about, strengths
from serape.results.report.page import MOST_TEXT, Cell, Grid, Name, Page, Words, listed, shown

if TYPE_CHECKING:
    from serape.results.result import Result

MOST_MEMBERS = 400
"""Members embedded; of more, those with the least p."""
MOST_OUTSIDE = 300
"""Variables left out that are embedded: those that came nearest."""
MOST_DRAWN = 120
"""Members in the graph."""

_MEANING = {
    "target": "the target",
    "near": "parent or child: joined to the target by an arc",
    "child": "child that the target shares with a spouse",
    "spouse": "spouse: joined to the target through a common child",
    "member": "member: parent, child or spouse, not told apart",
    "out": "left out (shown when chosen)",
}
_ROLE = {
    "target": "target",
    "near": "parent or child",
    "child": "common child",
    "spouse": "spouse",
    "member": "member",
    "out": "left out",
}
_COLUMNS = ("Variable", "Role", "Statistic", "Degrees of freedom", "p", "Rows per cell", "Given")
_NUMBERS = frozenset({"Statistic", "Degrees of freedom", "p", "Rows per cell"})


def blanket_page(found: Result) -> Page:
    """Say what was found about a target, and why each variable is in or out."""
    kinds = _kinds(found)
    inside = found.members if len(found.members) <= MOST_MEMBERS else _least_p(found, found.members, MOST_MEMBERS)
    members = set(found.members)
    outside = [name for name in found.trace.names if name != found.target and name not in members]
    first = [name for name in outside if name in found.dropped]
    rest = [name for name in outside if name not in found.dropped]
    nearest = (first + found.trace.nearest(rest, MOST_OUTSIDE))[:MOST_OUTSIDE]
    drawn = inside if len(inside) <= MOST_DRAWN else _with_children(found, _least_p(found, inside, MOST_DRAWN))

    names = Embedded()
    names.indices([found.target, *inside, *nearest])  # before any that these mention
    rows = {row["variable"]: row for row in found.trace.records(found, [*inside, *nearest])}
    variables = [
        _target(found),
        *(_variable(found, name, kinds.get(name, "out"), rows[name], names) for name in (*inside, *nearest)),
    ]
    left = len(outside) - len(nearest)
    return Page(
        kicker="Markov blanket" if found.finds == "blanket" else "Parents and children",
        title=shown(found.target),
        answer=_answer(found, len(outside)),
        facts=_facts(found),
        warnings=_warnings(found, rows),
        hint="Choose a variable to see why it is in; the smaller p, the thicker the line."
        + (
            " A variable that was left out appears below the graph when it is chosen, joined to what separates it from "
            "the target."
            if outside
            else ""
        ),
        legend={k: _MEANING[k] for k in _MEANING if k in {"target", *kinds.values(), *(["out"] if outside else [])}},
        graph={
            "mode": "around",
            "centre": 0,
            "variables": [*variables, *({"name": shown(name)} for name in names.names[len(variables) :])],
            "described": len(variables),
            "absent": left,
            "drawn": [0, *(names.index(name) for name in drawn)],
            "edges": _edges(found, drawn, rows, names),
            "label": f"Graph of {len(drawn):,} variables around {shown(found.target)}",
        },
        grids=(
            Grid("members", _members_title(found), _members_about(found, len(inside), len(drawn)), _COLUMNS, _NUMBERS,
                 [_row(found, name, _ROLE[kinds[name]], rows[name], names) for name in inside]),
            Grid("outside", "Left out", _outside_about(len(outside), len(nearest)), _COLUMNS, _NUMBERS,
                 [_row(found, name, _out_role(found, name), rows[name], names) for name in nearest]),
        ),
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size),
        notes=found.notes,
        reproduce=provenance_pairs(found.data),
        calls=blanket_calls(found),
    )  # fmt: skip


# --- who is who ------------------------------------------------------------------------------------------------------


def _kinds(found: Result) -> dict[str, str]:
    """Return what each member is, as far as the algorithm tells."""
    if found.parents_children is None:
        return dict.fromkeys(found.members, "member")
    kinds = dict.fromkeys(found.members, "member")
    kinds.update((name, "near") for name in found.parents_children if name in kinds)
    for spouse, children in (found.spouses or {}).items():
        if spouse in kinds:
            kinds[spouse] = "spouse"
            kinds.update((child, "child") for child in children if child in kinds)
    return kinds


def _least_p(found: Result, names: Sequence[str], most: int) -> tuple[str, ...]:
    """Return some names, those of the least p, in the table's order."""
    kept = set(found.trace.nearest(list(names), most))
    return tuple(name for name in names if name in kept)


def _with_children(found: Result, names: Sequence[str]) -> tuple[str, ...]:
    """Leave out spouses none of whose children is there."""
    kept = set(names)
    return tuple(n for n in names if not (via := (found.spouses or {}).get(n)) or kept & set(via))


def _edges(found: Result, drawn: Sequence[str], rows: Mapping[str, Any], names: Embedded) -> list[dict[str, Any]]:
    """Return the lines of the graph: to members, to and from common children as arrows."""
    inside = set(drawn)
    strong = strengths({name: float(rows[name]["log_p"]) for name in drawn})
    spouses = {name: [c for c in via if c in inside] for name, via in (found.spouses or {}).items() if name in inside}
    children = {child for via in spouses.values() for child in via}
    edges = []
    for name in drawn:
        if name in spouses and name not in (found.parents_children or ()):
            edges += [
                {"a": names.index(name), "b": names.index(child), "arrow": 1, "strength": strong[name]}
                for child in spouses[name]
            ]
            if spouses[name]:
                continue
        loose = found.parents_children is not None and name not in found.parents_children
        edges.append(
            {"a": 0, "b": names.index(name), "arrow": int(name in children), "strength": strong[name]}
            | ({"loose": 1} if loose else {})
        )
    return edges


# --- about single variables ------------------------------------------------------------------------------------------


def _target(found: Result) -> dict[str, Any]:
    count = len(found.members)
    return {
        "name": shown(found.target),
        "kind": "target",
        "role": "target",
        "said": f"{found.title}: {count:,} {'variable' if count == 1 else 'variables'}.",
        "facts": [],
        "sets": [],
    }


def _variable(found: Result, name: str, kind: str, row: Mapping[str, Any], names: Embedded) -> dict[str, Any]:
    why = found.trace.explain(name, found)
    facts = []
    if why.given is not None:
        facts = [["Test", found.test], ["Statistic", f"{why.statistic:.5g}"], ["Degrees of freedom", f"{why.dof:g}"],
                 ["p", p_text(why.log_p)]]  # fmt: skip
        if row["rows"] is not None:
            facts.append(["Rows used", f"{row['rows']:,}"])
        if not math.isnan(row["rows_per_cell"]):
            facts.append(["Rows per cell", _plain(row["rows_per_cell"])])
        if not why.reliable:
            facts.append(["Verdict", "none: skipped as unreliable"])
        facts += [[f"{what.capitalize()} at step", str(row[what])] for what in ("entered", "left") if row[what]]
    sets = []
    if why.given is not None:
        sets.append(names.group("Tested given", why.given))
    if why.separating_set is not None:
        sets.append(names.group(f"Separated from {shown(found.target)} by", why.separating_set))
    if (found.spouses or {}).get(name):
        sets.append(names.group("Spouse through", (found.spouses or {})[name]))
    shared = [s for s, via in (found.spouses or {}).items() if name in via]
    if shared:
        sets.append(names.group("Shared with", shared))
    if name in found.interchangeable:
        sets.append(names.group("Copies, which would do as well", found.interchangeable[name]))
    return {
        "name": shown(name),
        "kind": kind,
        "role": _out_role(found, name) if kind == "out" else _ROLE[kind],
        "brief": "not tested"
        if why.given is None
        else "no verdict"
        if not why.reliable
        else f"p = {p_text(why.log_p)}",
        "said": shown(why.text, MOST_TEXT),
        "facts": facts,
        "sets": sets,
        **({"apart": names.indices(why.separating_set)} if why.separating_set and kind == "out" else {}),
    }


def _out_role(found: Result, name: str) -> str:
    if name in found.dropped:
        return "left out by the wrapper"
    for member, copies in found.interchangeable.items():
        if name in copies:
            return f"copy of {shown(member)}"
    return "left out"


def _row(found: Result, name: str, role: str, row: Mapping[str, Any], names: Embedded) -> list[Cell]:
    given = found.trace.given(name)
    if given is None:
        return [
            Cell(shown(name), shown(name), names.index(name)),
            Cell(role, role),
            *[Cell("–")] * 4,
            Cell("not tested"),
        ]
    per_cell = row["rows_per_cell"]
    return [
        Cell(shown(name), shown(name), names.index(name)),
        Cell(role, role),
        _number(row["statistic"], f"{row['statistic']:.5g}"),
        _number(row["dof"], f"{row['dof']:g}"),
        _number(row["log_p"], p_text(row["log_p"]) if row["reliable"] else "no verdict"),
        _number(per_cell, _plain(per_cell)),
        Cell(few(given), float(len(given))),
    ]


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _number(value: float, text: str) -> Cell:
    return Cell("–") if math.isnan(value) else Cell(text, float(value))


# --- sentences -------------------------------------------------------------------------------------------------------


def _answer(found: Result, outside: int) -> Words:
    target = Name(shown(found.target))
    count, total = len(found.members), len(found.members) + outside
    others = f"{total:,} other variable{'' if total == 1 else 's'}"
    blanket = found.finds == "blanket"
    if not count:
        what = "tell anything about " if blanket else "be joined by an arc to "
        return [f"None of the {others} was found to {what}", target, "."]
    if blanket:
        what = f"tell{'s' if count == 1 else ''} all that these data show about "
    else:
        what = f"{'is' if count == 1 else 'are'} joined by an arc, as far as these data tell, to "
    return [f"{count:,} of {others} {what}", target, ": ", *listed(found.members), "."]


def _facts(found: Result) -> dict[str, str]:
    facts = {"Algorithm": found.algorithm, "Test": found.test, "Alpha": f"{found.alpha:g}"}
    if found.data is not None:
        facts |= {"Rows": f"{found.data.rows:,}", "Columns": f"{found.data.columns:,}"}
    return {**facts, "Tests": f"{found.tests:,}", "Skipped": f"{found.skipped:,}", "Time": f"{found.seconds:.3g} s"}


def _warnings(found: Result, rows: Mapping[str, Any]) -> list[Words]:
    warnings: list[Words] = []
    if not found.complete:
        warnings.append(["The search was interrupted: this is what had been found by then."])
    if found.skipped:
        told = skipped_about(found.tests, found.skipped, found.options.get("max_conditioning"))
        warnings.append([f"{told} The answer may miss variables that more rows would show."])
    unsure = [n for n in found.members if n in rows and rows[n]["given"] is not None and not rows[n]["reliable"]]
    if unsure:
        warnings.append(["The last question about ", *listed(unsure), " had no verdict; what came before kept it in."])
    return warnings


def _members_title(found: Result) -> str:
    return "Members of the blanket" if found.finds == "blanket" else "Parents and children"


def _members_about(found: Result, embedded: int, drawn: int) -> str:
    count = len(found.members)
    if not count:
        return "There are none."
    told = "For each, the test that settled it: the latest one against the target."
    if embedded < count:
        told += f" Of {count:,} members the {embedded:,} with the least p are here."
    if drawn < embedded:
        told += f" The graph shows {drawn:,} of them."
    return told


def _outside_about(outside: int, embedded: int) -> str:
    if not outside:
        return "There are none."
    told = "For each, the test that settled it; where p is above alpha, the variables it was given separate it."
    if embedded < outside:
        told += (
            f" These are the {embedded:,} that came nearest to being found; {outside - embedded:,} more were left out "
            f"and are not embedded in this file (found.evidence has them all)."
        )
    return told
