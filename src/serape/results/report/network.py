"""What the report of a skeleton or a network says."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import networkx as nx

from serape.results.explanation import p_text
from serape.results.layout import Edge, lay_out
from serape.results.report.calls import structure_calls
from serape.results.report.common import Embedded, budget_about, few, provenance_pairs, skipped_about, strengths
from serape.results.report.page import Cell, Grid, Page, Words, listed, shown

if TYPE_CHECKING:
    from serape.results.structure import Structure

MOST_WHOLE = 60
"""Variables of a graph that is drawn whole; of a larger one, the surroundings of the chosen variable."""
MOST_VARIABLES = 400
"""Variables embedded; of more, those with the most edges."""
MOST_EDGES = 700
MOST_SETS = 30
"""Separating sets embedded for each variable."""

_PIXELS = 96.0
_LETTER = 7.4 / _PIXELS
_LONGEST = 30


def network_page(found: Structure) -> Page:
    """Say which variables are joined, which way, and what speaks for each edge."""
    graph = found.graph
    near = {name: set(nx.all_neighbors(graph, name)) for name in graph}
    order = sorted(graph, key=lambda name: -len(near[name]))[:MOST_VARIABLES]
    kept = set(order)
    inside = [name for name in graph if name in kept]
    edges = [(a, b) for a, b in found.edges if a in kept and b in kept]
    if len(edges) > MOST_EDGES:
        edges = sorted(edges, key=lambda edge: _log_p(found, edge))[:MOST_EDGES]

    names = Embedded()
    names.indices(inside)
    strong = strengths({edge: _log_p(found, edge) for edge in edges})
    apart = _apart(found, kept)
    whole = len(inside) == len(graph) and len(graph) <= MOST_WHOLE and len(edges) == len(found.edges)
    variables = [_variable(found, name, edges, apart.get(name, []), names) for name in inside]
    drawing: dict[str, Any] = {"mode": "around", "centre": names.index(order[0])}
    if whole:
        drawing = {"mode": "whole", "centre": None, **_drawing(found, inside, edges)}
    directed = found.finds == "network"
    return Page(
        kicker="Network" if directed else "Skeleton",
        title=f"{len(graph):,} variable{'' if len(graph) == 1 else 's'}",
        answer=_answer(found, near),
        facts=_facts(found),
        warnings=_warnings(found),
        hint="Choose a variable to see what it is joined to and why. The smaller p, the thicker the line."
        if whole
        else "The graph shows what is joined to one variable; choose another to move there. "
        "The smaller p, the thicker the line.",
        legend={"member": "variable"}
        | ({"arc": "arc, from parent to child"} if any(_arrow(found, edge) for edge in edges) else {})
        | ({"edge": "edge whose direction is not known"} if not all(_arrow(found, edge) for edge in edges) else {}),
        graph={
            **drawing,
            "variables": [*variables, *({"name": shown(name)} for name in names.names[len(variables) :])],
            "described": len(variables),
            "absent": len(graph) - len(inside),
            "drawn": list(range(len(inside))),
            "edges": [
                {
                    "a": names.index(a),
                    "b": names.index(b),
                    "arrow": int(_arrow(found, (a, b))),
                    "strength": strong[a, b],
                }
                for a, b in edges
            ],
            "label": f"Graph of {len(inside):,} variables" if whole else "Graph around the chosen variable",
        },
        grids=[_edge_grid(found, edges, names)],
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size)
        if found.test is not None
        else f"No tests were performed: {found.algorithm} goes by the score.",
        notes=[*found.notes, *(f"left out for contradicting others: {conflict}" for conflict in found.conflicts[:50])],
        reproduce=provenance_pairs(found.data),
        calls=structure_calls(found),
    )


def _arrow(found: Structure, edge: tuple[str, str]) -> bool:
    a, b = edge
    return isinstance(found.graph, nx.DiGraph) and not found.graph.has_edge(b, a)


def _log_p(found: Structure, edge: tuple[str, str]) -> float:
    """Return the log p of an edge, or, where there is only a score, the loss without it in its place."""
    seen = found.graph.edges[edge]
    return float(seen["log_p"]) if "log_p" in seen else -float(seen.get("gain", math.nan))


# --- drawing ---------------------------------------------------------------------------------------------------------


def _drawing(found: Structure, names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return where everything is, in pixels."""
    index = {name: k for k, name in enumerate(names)}
    boxes = [(max(0.5, 0.3 + _LETTER * _letters(shown(name))), 28 / _PIXELS) for name in names]
    plan = lay_out(boxes, [Edge(index[a], index[b], _arrow(found, (a, b))) for a, b in edges])

    def pixels(*lengths: float) -> list[float]:
        return [round(length * _PIXELS, 1) for length in lengths]

    return {
        "size": pixels(plan.width, plan.height),
        "boxes": [pixels(x, y, w, h) for (x, y), (w, h) in zip(plan.centres, plan.boxes, strict=True)],
        "routes": [[pixels(*point) for point in route] for route in plan.routes],
    }


def _letters(name: str) -> float:
    """Return how wide a name is, in letters; long ones are cut by the page."""
    return min(
        _LONGEST, sum(1.9 if unicodedata.east_asian_width(c) in "WF" else 1.2 if c.isupper() else 1.0 for c in name)
    )


# --- about single variables and edges --------------------------------------------------------------------------------


def _apart(found: Structure, kept: set[str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return, for every variable, what separates it from others."""
    apart: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for pair, given in found.separating_sets.items():
        a, b = sorted(pair)
        for name, other in ((a, b), (b, a)):
            if name in kept and len(apart.setdefault(name, [])) < MOST_SETS:
                apart[name].append((other, given))
    return apart


def _variable(
    found: Structure,
    name: str,
    edges: Sequence[tuple[str, str]],
    apart: Sequence[tuple[str, tuple[str, ...]]],
    names: Embedded,
) -> dict[str, Any]:
    own = [edge for edge in edges if name in edge]
    parents = [a for a, b in own if b == name and _arrow(found, (a, b))]
    children = [b for a, b in own if a == name and _arrow(found, (a, b))]
    open_ = [b if a == name else a for a, b in own if not _arrow(found, (a, b))]
    groups = (
        ("Parents", parents),
        ("Children", children),
        ("Joined to" if not parents + children else "Open edges", open_),
    )
    count = len(own)
    return {
        "name": shown(name),
        "kind": "member",
        "role": f"{count:,} neighbour{'' if count == 1 else 's'}",
        "brief": ", ".join(f"{len(group)} {label.lower()}" for label, group in groups if group) or "joined to nothing",
        "said": "" if count else "It was found to be joined to nothing.",
        "facts": [],
        "sets": [names.group(label, group) for label, group in groups if group],
        "links": [
            [names.index(b if a == name else a), _told(found.graph.edges[a, b])]
            for a, b in own
            if found.graph.edges[a, b]
        ],
        "parted": [[names.index(other), names.indices(given)] for other, given in apart],
    }


def _told(seen: Mapping[str, Any]) -> str:
    parts = []
    if "log_p" in seen:
        parts.append(f"p = {p_text(seen['log_p'])} given {few(seen.get('given') or ())}")
    if "gain" in seen:
        parts.append(f"the score would lose {seen['gain']:.2f} without it")
    return "; ".join(parts)


def _edge_grid(found: Structure, edges: Sequence[tuple[str, str]], names: Embedded) -> Grid:
    tested = any("log_p" in found.graph.edges[edge] for edge in edges)
    scored = any("gain" in found.graph.edges[edge] for edge in edges)
    columns = (
        "From",
        "",
        "To",
        *(("Statistic", "Degrees of freedom", "p", "Given") if tested else ()),
        *(("Gain",) if scored else ()),
    )
    rows = []
    for a, b in edges:
        seen = found.graph.edges[a, b]
        row = [
            Cell(shown(a), shown(a), names.index(a)),
            Cell("→" if _arrow(found, (a, b)) else "–", "→" if _arrow(found, (a, b)) else "–"),
            Cell(shown(b), shown(b), names.index(b)),
        ]
        if tested and seen.get("given") is None:
            row += [*[Cell("–")] * 3, Cell("not tested")]
        elif tested:
            given = seen["given"]
            row += [
                Cell(f"{seen['statistic']:.5g}", _order(seen["statistic"])),
                Cell(f"{seen['dof']:g}", _order(seen["dof"])),
                Cell(p_text(seen["log_p"]), _order(seen["log_p"])),
                Cell(few(given), float(len(given))),
            ]
        if scored:
            row.append(Cell(f"{seen['gain']:.2f}", _order(seen["gain"])) if "gain" in seen else Cell("–"))
        rows.append(row)
    about = "For each, what speaks for it: " + (
        "the test given the other parents of the child, and what the score would lose without it."
        if tested and scored
        else "what the score would lose without it."
        if scored
        else "the weakest association that was met on the way."
    )
    if not edges:
        about = "There are none."
    elif len(edges) < len(found.edges):
        about += (
            f" {len(edges):,} of {len(found.edges):,} edges are here, between the variables that have the most; the "
            f"others are not embedded in this file (found.evidence has them all)."
        )
    return Grid("edges", "Edges", about, columns, frozenset({"Statistic", "Degrees of freedom", "p", "Gain"}), rows)


def _order(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


# --- sentences -------------------------------------------------------------------------------------------------------


def _answer(found: Structure, near: Mapping[str, set[str]]) -> Words:
    joined = sorted((name for name in near if near[name]), key=lambda name: -len(near[name]))
    if not joined:
        return [f"None of the {len(near):,} variables was found to be joined to another."]
    most = len(near[joined[0]])
    best = [name for name in joined if len(near[name]) == most]
    have, each = ("has", "") if len(best) == 1 else ("have", " each")
    join = "joins" if len(found.edges) == 1 else "join"
    what = found.title.partition(": ")[2]
    return [
        f"{what} {join} {len(joined):,} of {len(near):,} variables; ",
        *listed(best, 5),
        f" {have} the most neighbours, {most:,}{each}.",
    ]


def _facts(found: Structure) -> dict[str, str]:
    facts = {"Algorithm": found.algorithm}
    if found.test is not None and found.alpha is not None:
        facts |= {"Test": found.test, "Alpha": f"{found.alpha:g}"}
    if found.score is not None and found.total is not None:
        facts |= {"Score": f"{found.score} {found.total:,.2f}"}
    if found.data is not None:
        facts |= {"Rows": f"{found.data.rows:,}", "Columns": f"{found.data.columns:,}"}
    if found.test is not None:
        facts |= {"Tests": f"{found.tests:,}", "Skipped": f"{found.skipped:,}"}
    return {**facts, "Time": f"{found.seconds:.3g} s"}


def _warnings(found: Structure) -> list[Words]:
    warnings: list[Words] = []
    if not found.complete:
        warnings.append(["The search was interrupted: this is what had been found by then."])
    if found.skipped:
        warnings.append([skipped_about(found.tests, found.skipped, found.options.get("max_conditioning"))])
    if found.conflicts:
        arrows = "1 arrow was" if len(found.conflicts) == 1 else f"{len(found.conflicts):,} arrows were"
        warnings.append([f"{arrows} left out for contradicting surer ones; the notes name them."])
    return warnings
