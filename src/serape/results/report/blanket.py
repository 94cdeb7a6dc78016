"""The report of a blanket, or of parents and children."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serape.errors import n_shown
from serape.independence.effects import size_text
from serape.independence.outcomes import p_text, p_value_text
from serape.markup import MAX_TEXT, shown
from serape.results.displayed import variables_text
from serape.results.lines import Lines, Measure
from serape.results.report.calls import blanket_calls
from serape.results.report.common import Embedded, budget_about, few, provenance_pairs, rate_facts, skipped_about
from serape.results.report.data import data_grid
from serape.results.report.page import Cell, Grid, Name, Page, Words, listed

if TYPE_CHECKING:
    from serape.results.explanation import Explanation
    from serape.results.result import Result

MAX_MEMBERS = 400
"""The largest number of members that are embedded: those with the smallest p."""
MAX_EXCLUDED = 300
"""The largest number of other variables that are embedded: the most strongly associated."""
MAX_DRAWN = 120
"""The largest number of members in the graph."""

_MEANING = {
    "target": "the target",
    "neighbour": "parent or child: adjacent to the target",
    "child": "common child of the target and a spouse",
    "spouse": "spouse: it has a common child with the target",
    "member": "member: parent, child or spouse (role unknown)",
    "excluded": "excluded (shown when chosen)",
}
_ROLE = {
    "target": "target",
    "neighbour": "parent or child",
    "child": "common child",
    "spouse": "spouse",
    "member": "member",
    "excluded": "excluded",
}
_NUMBERS = ("Statistic", "Degrees of freedom", "p", "Adjusted p", "Effect (bits)", "Rows per cell")
_COLUMNS = ("Variable", "Role", *_NUMBERS, "Given")
_NEAREST = 5
"""How many variables an empty answer names: those with the smallest p."""


def blanket_page(found: Result) -> Page:
    """Return the report of a result: the members, and why each variable is a member or not."""
    kinds = _kinds(found)
    inside, excluded = embedded_variables(found)
    members = set(found.members)
    outside = [name for name in found.trace.names if name != found.target and name not in members]
    drawn = _with_children(found, _smallest_p(found, inside, MAX_DRAWN))

    names = Embedded()
    names.indices([found.target, *inside, *excluded])  # before the names that their explanations mention
    rows = {row["variable"]: row for row in found.trace.records(found, [*inside, *excluded])}
    measures: tuple[Measure, ...] = ("effect", "log_p")
    lines = Lines({measure: {name: float(rows[name][measure]) for name in drawn} for measure in measures})
    variables = [
        _target(found),
        *(_variable(found, name, kinds.get(name, "excluded"), rows[name], names) for name in (*inside, *excluded)),
    ]
    edges = _edges(found, drawn, lines, names)
    return Page(
        kicker="Markov blanket" if found.finds == "blanket" else "Parents and children",
        title=shown(found.target),
        answer=_answer(found, outside),
        facts=_facts(found),
        warnings=_warnings(found, rows),
        hint=_hint(found, outside, lines.meaning),
        legend={k: _MEANING[k] for k in _MEANING if k in {"target", *kinds.values()} or (k == "excluded" and outside)},
        widths=lines.legend(),
        dashed=bool(edges) and all("loose" in edge for edge in edges),
        graph={
            "mode": "around",
            "centre": 0,
            "variables": [*variables, *({"name": shown(name)} for name in names.names[len(variables) :])],
            "described": len(variables),
            "absent": len(outside) - len(excluded),
            "drawn": [0, *(names.index(name) for name in drawn)],
            "edges": edges,
            "label": f"Graph of {len(drawn):,} variables around {shown(found.target)}",
        },
        grids=(
            _grid("members", _members_title(found), _members_about(found, inside, len(drawn)),
                  [_row(found, name, _ROLE[kinds[name]], rows[name], names) for name in inside]),
            _grid("outside", "Excluded variables", _excluded_about(found, len(outside), excluded),
                  [_row(found, name, _excluded_role(found, name), rows[name], names) for name in excluded]),
            *data_grid(found.data, [found.target, *inside, *excluded]),
        ),
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size),
        notes=found._other_notes(),
        reproduce=provenance_pairs(found.data),
        calls=blanket_calls(found),
    )  # fmt: skip


def embedded_variables(found: Result) -> tuple[tuple[str, ...], list[str]]:
    """Return the members and the other variables that the page describes, after the target."""
    members = {found.target, *found.members}
    outside = [name for name in found.trace.names if name not in members]
    dropped = [name for name in outside if name in found.dropped]
    others = [name for name in outside if name not in found.dropped]
    n = n_shown(len(outside), MAX_EXCLUDED)
    return _smallest_p(found, found.members, MAX_MEMBERS), (dropped + found.trace.strongest(others, n))[:n]


# --- roles and edges -------------------------------------------------------------------------------------------------


def _kinds(found: Result) -> dict[str, str]:
    """Return the kind of each member, as far as it is known."""
    if found.parents_children is None:
        return dict.fromkeys(found.members, "member")
    kinds = dict.fromkeys(found.members, "member")
    kinds.update((name, "neighbour") for name in found.parents_children if name in kinds)
    for spouse, children in (found.spouses or {}).items():
        if spouse in kinds:
            kinds[spouse] = "spouse"
            kinds.update((child, "child") for child in children if child in kinds)
    return kinds


def _smallest_p(found: Result, names: Sequence[str], max_count: int) -> tuple[str, ...]:
    """Return up to `max_count` names, those with the smallest p, in the table's order."""
    n = n_shown(len(names), max_count)
    if n == len(names):
        return tuple(names)
    kept = set(found.trace.strongest(list(names), n))
    return tuple(name for name in names if name in kept)


def _with_children(found: Result, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without spouses that have children of which none is among the names."""
    kept = set(names)
    return tuple(n for n in names if not (via := (found.spouses or {}).get(n)) or kept & set(via))


def _edges(found: Result, drawn: Sequence[str], lines: Lines[str], names: Embedded) -> list[dict[str, Any]]:
    """Return the lines of the graph: from the target to members, and from spouses to common children."""
    inside = set(drawn)
    spouses = {name: [c for c in via if c in inside] for name, via in (found.spouses or {}).items() if name in inside}
    children = {child for via in spouses.values() for child in via}
    edges = []
    for name in drawn:
        if name in spouses and name not in (found.parents_children or ()):
            edges += [
                {"a": names.index(name), "b": names.index(child), "arrow": 1, "strength": lines.part(name)}
                for child in spouses[name]
            ]
            if spouses[name]:
                continue
        loose = name not in (found.parents_children or ())
        edges.append(
            {"a": 0, "b": names.index(name), "arrow": int(name in children), "strength": lines.part(name)}
            | ({"loose": 1} if loose else {})
        )
    return edges


# --- variables -------------------------------------------------------------------------------------------------------


def _target(found: Result) -> dict[str, Any]:
    return {
        "name": shown(found.target),
        "kind": "target",
        "role": "target",
        "text": f"{found.title}: {variables_text(len(found.members))}.",
        "facts": [],
        "sets": [],
    }


def _variable(found: Result, name: str, kind: str, row: Mapping[str, Any], names: Embedded) -> dict[str, Any]:
    why = found.trace.explain(name, found)
    facts = []
    if why.given is not None:
        facts = [["Test", found.test], ["Statistic", f"{why.statistic:z.5g}"], ["Degrees of freedom", f"{why.dof:g}"],
                 ["p", p_text(why.log_p)]]  # fmt: skip
        if name in found.adjusted_p:
            facts.append(["Adjusted p", p_value_text(found.adjusted_p[name])])
        if why.effect is not None:
            facts.append(["Effect", str(why.effect)])
        if row["rows"] is not None:
            facts.append(["Rows used", f"{row['rows']:,}"])
        if not math.isnan(row["rows_per_cell"]):
            facts.append(["Rows per cell", _plain(row["rows_per_cell"])])
        if not why.reliable:
            facts.append(["Verdict", "none: the test was skipped"])
        facts += [[f"{what.capitalize()} at step", str(row[what])] for what in ("entered", "left") if row[what]]
    sets = []
    separated = why.separating_set is not None and not _too_weak(found, why)
    if why.given is not None:
        sets.append(names.group("Conditioning set", why.given))
    if separated and why.separating_set is not None:
        sets.append(names.group(f"Separated from {shown(found.target)} by", why.separating_set))
    if (found.spouses or {}).get(name):
        sets.append(names.group("Spouse through", (found.spouses or {})[name]))
    shared = [s for s, via in (found.spouses or {}).items() if name in via]
    if shared:
        sets.append(names.group("Common child with", shared))
    if name in found.interchangeable:
        sets.append(names.group("Duplicates (any of them would do as well)", found.interchangeable[name]))
    return {
        "name": shown(name),
        "kind": kind,
        "role": _excluded_role(found, name) if kind == "excluded" else _ROLE[kind],
        "brief": "not tested"
        if why.given is None
        else "test skipped"
        if not why.reliable
        else f"p = {p_text(why.log_p)}",
        "text": shown(why.text, MAX_TEXT),
        "facts": facts,
        "sets": sets,
        **(
            {"separators": names.indices(why.separating_set)}
            if separated and why.separating_set and kind == "excluded"
            else {}
        ),
    }


def _too_weak(found: Result, why: Explanation) -> bool:
    """Return whether the association is too weak for the false discovery rate, though p is at most alpha."""
    return found.level < found.alpha and math.log(found.level) < why.log_p <= math.log(found.alpha)


def _grid(key: str, title: str, about: str, rows: Sequence[Sequence[Cell]]) -> Grid:
    """Return a table without the columns that say nothing about any row."""
    optional = {"Adjusted p", "Effect (bits)", "Rows per cell"}
    kept = [k for k, c in enumerate(_COLUMNS) if c not in optional or any(row[k].text != "–" for row in rows)]
    columns = tuple(_COLUMNS[k] for k in kept)
    return Grid(key, title, about, columns, frozenset(_NUMBERS), [[row[k] for k in kept] for row in rows])


def _excluded_role(found: Result, name: str) -> str:
    if name in found.dropped:
        return "removed by the wrapper"
    for member, duplicates in found.interchangeable.items():
        if name in duplicates:
            return f"duplicate of {shown(member)}"
    return "excluded"


def _row(found: Result, name: str, role: str, row: Mapping[str, Any], names: Embedded) -> list[Cell]:
    given = found.trace.given(name)
    if given is None:
        return [
            Cell(shown(name), shown(name), names.index(name)),
            Cell(role, role),
            *[Cell("–")] * len(_NUMBERS),
            Cell("not tested"),
        ]
    per_cell, adjusted = row["rows_per_cell"], row["adjusted_p"]
    return [
        Cell(shown(name), shown(name), names.index(name)),
        Cell(role, role),
        _number(row["statistic"], f"{row['statistic']:z.5g}"),
        _number(row["dof"], f"{row['dof']:g}"),
        _number(row["log_p"], p_text(row["log_p"]) if row["reliable"] else "skipped"),
        _number(adjusted, p_value_text(adjusted)),
        _number(row["effect"], size_text(row["effect"])),
        _number(per_cell, _plain(per_cell)),
        Cell(few(given), float(len(given))),
    ]


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _number(value: float, text: str) -> Cell:
    return Cell("–") if math.isnan(value) else Cell(text, float(value))


# --- sentences -------------------------------------------------------------------------------------------------------


def _hint(found: Result, outside: Sequence[str], meaning: str) -> str:
    if not found.members:
        return "Choose a variable by its name, or in the table below, to see why it is excluded." if outside else ""
    hint = f"Choose a variable to see why it is a member. {meaning}"
    if outside:
        hint += " An excluded variable appears below the graph when it is chosen, with lines to its separating set."
    return hint


def _answer(found: Result, outside: Sequence[str]) -> Words:
    target = Name(shown(found.target))
    count, total = len(found.members), len(found.members) + len(outside)
    others = f"{total:,} other variable{'' if total == 1 else 's'}"
    blanket = found.finds == "blanket"
    if not count:
        what = "was shown to belong to the Markov blanket of " if blanket else "was shown to be a parent or child of "
        return [f"None of the {others} {what}", target, ".", *_nearest(found, outside)]
    if blanket:
        what = f"form{'s' if count == 1 else ''} the Markov blanket of "
    else:
        what = "is a parent or child of " if count == 1 else "are parents or children of "
    return [f"{count:,} of {others} {what}", target, ": ", *listed(found.members), "."]


def _nearest(found: Result, outside: Sequence[str]) -> Words:
    """Return a sentence on the variables with the smallest p, and the p that a member needs."""
    log_p = {name: found.trace.log_p(name) for name in outside}
    nearest = heapq.nsmallest(
        _NEAREST, (name for name in outside if not math.isnan(log_p[name])), key=log_p.__getitem__
    )
    if not nearest:
        return []
    words: list[str] = [" The smallest p: " if len(nearest) > 1 else " The only p: "]
    for k, name in enumerate(nearest):
        words += [", " if k else "", Name(shown(name, 60)), f" {p_text(log_p[name])}"]
    limit = "alpha" if found.level == found.alpha else "the false discovery rate"
    return [*words, f". By {limit}, a member needs p of at most {p_value_text(found.level)}."]


def _facts(found: Result) -> dict[str, str]:
    facts = {"Algorithm": found.algorithm, "Test": found.test, "Alpha": f"{found.alpha:g}"} | rate_facts(found)
    if found.data is not None:
        facts |= {"Rows": f"{found.data.rows:,}", "Columns": f"{found.data.columns:,}"}
    return {**facts, "Tests": f"{found.tests:,}", "Skipped": f"{found.skipped:,}", "Time": f"{found.seconds:.3g} s"}


def _warnings(found: Result, rows: Mapping[str, Any]) -> list[Words]:
    warnings: list[Words] = []
    if not found.complete:
        warnings.append([f"The search is {found._unfinished()}."])
    if found.skipped:
        about = skipped_about(found.tests, found.skipped, found.options.get("max_conditioning"))
        warnings.append([f"{about} Members may be missing that more rows would reveal."])
    untested = [n for n in found.members if n in rows and rows[n]["given"] is not None and not rows[n]["reliable"]]
    if untested:
        warnings.append(
            ["The deciding test was skipped for these members, which earlier tests kept: ", *listed(untested), "."]
        )
    return warnings


def _members_title(found: Result) -> str:
    return "Members of the blanket" if found.finds == "blanket" else "Parents and children"


def _members_about(found: Result, inside: Sequence[str], drawn: int) -> str:
    count, embedded = len(found.members), len(inside)
    if not count:
        return "There are none."
    about = "For each member, the test that decides on it." + _adjusted_about(found, inside)
    if embedded < count:
        about += f" Of {count:,} members, this file has the {embedded:,} with the smallest p."
    if drawn < embedded:
        about += f" The graph shows {drawn:,} of them."
    return about


def _excluded_about(found: Result, outside: int, excluded: Sequence[str]) -> str:
    embedded = len(excluded)
    if not outside:
        return "There are none."
    about = (
        "For each variable, the test that decides on it. If p is above alpha, the conditioning set separates it from "
        "the target."
    )
    if found.level < found.alpha:
        about += (
            f" If p is at most alpha but above {p_value_text(found.level)}, the association is too weak for the false "
            f"discovery rate."
        )
    about += _adjusted_about(found, excluded)
    if embedded < outside:
        about += (
            f" These are the {embedded:,} most strongly associated; {outside - embedded:,} more are excluded and not "
            f"embedded in this file (found.evidence has all)."
        )
    return about


def _adjusted_about(found: Result, names: Sequence[str]) -> str:
    judged = any(name in found.adjusted_p for name in names)
    return " Adjusted p is the smallest false discovery rate at which a variable is kept." if judged else ""
