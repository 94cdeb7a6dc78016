"""The report of a skeleton or a network."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from serape.errors import n_shown
from serape.independence.effects import size_text
from serape.independence.outcomes import p_text
from serape.markup import shown
from serape.results.effects import edge_effect
from serape.results.layout import Edge, lay_out
from serape.results.lines import MEASURES, Lines
from serape.results.report.calls import structure_calls
from serape.results.report.common import Embedded, budget_about, few, provenance_pairs, rate_facts, skipped_about
from serape.results.report.data import data_grid
from serape.results.report.page import Cell, Grid, Page, Words, listed

if TYPE_CHECKING:
    from serape.results.structure import Structure

MAX_FULL = 60
"""Up to this number of variables the full graph is drawn, otherwise the neighbours of the chosen variable."""
MAX_VARIABLES = 400
"""The largest number of variables that are embedded: those with the most edges."""
MAX_EDGES = 700
MAX_SETS = 30
"""The largest number of separating sets that are embedded for each variable."""

_PIXELS = 96.0
_LETTER = 7.4 / _PIXELS
_MAX_LETTERS = 30


def network_page(found: Structure) -> Page:
    """Return the report of a structure: its edges, their directions, and the evidence for each."""
    import networkx as nx

    graph = found.graph
    neighbours = {name: set(nx.all_neighbors(graph, name)) for name in graph}
    order = sorted(graph, key=lambda name: -len(neighbours[name]))[: n_shown(len(graph), MAX_VARIABLES)]
    kept = set(order)
    inside = [name for name in graph if name in kept]
    edges = [(a, b) for a, b in found.edges if a in kept and b in kept]
    if (n := n_shown(len(edges), MAX_EDGES)) < len(edges):
        edges = sorted(edges, key=lambda edge: _log_p(found, edge))[:n]

    names = Embedded()
    names.indices(inside)
    lines = Lines({m: {edge: float(graph.edges[edge].get(m, math.nan)) for edge in edges} for m in MEASURES})
    separations = _separations(found, kept)
    full = len(inside) == len(graph) and len(graph) <= MAX_FULL and len(edges) == len(found.edges)
    variables = [_variable(found, name, edges, separations.get(name, []), names) for name in inside]
    drawing = {"mode": "full", **_drawing(found, inside, edges)} if full else {"mode": "around"}
    directed = found.finds == "network"
    return Page(
        kicker="Network" if directed else "Skeleton",
        title=f"{len(graph):,} variable{'' if len(graph) == 1 else 's'}",
        answer=_answer(found, neighbours),
        facts=_facts(found),
        warnings=_warnings(found),
        hint=(
            f"Choose a variable to see its neighbours and the evidence for them. {lines.meaning}"
            if full
            else "The graph shows the neighbours of one variable; choose another variable to see its neighbours. "
            f"{lines.meaning}"
        ),
        legend={"variable": "variable"}
        | ({"arc": "arc, from parent to child"} if any(_arrow(found, edge) for edge in edges) else {})
        | (
            {"edge": "edge whose direction is not decided" if directed else "edge"}
            if not all(_arrow(found, edge) for edge in edges)
            else {}
        ),
        widths=lines.legend(),
        graph={
            **drawing,
            "centre": names.index(order[0]),
            "variables": [*variables, *({"name": shown(name)} for name in names.names[len(variables) :])],
            "described": len(variables),
            "absent": len(graph) - len(inside),
            "drawn": list(range(len(inside))),
            "edges": [
                {
                    "a": names.index(a),
                    "b": names.index(b),
                    "arrow": int(_arrow(found, (a, b))),
                    "strength": lines.part((a, b)),
                }
                for a, b in edges
            ],
            "label": f"Graph of {len(inside):,} variables" if full else "Graph around the chosen variable",
        },
        grids=[_edge_grid(found, edges, names), *data_grid(found.data, inside)],
        budget=found.tests_by_size,
        budget_about=budget_about(found.tests, found.skipped, found.tests_by_size)
        if found.test is not None
        else f"No tests were performed: {found.algorithm} uses a score.",
        notes=[
            *found._other_notes(),
            *(f"dropped because of a contradiction: {conflict}" for conflict in found.conflicts[:50]),
        ],
        reproduce=provenance_pairs(found.data),
        calls=structure_calls(found),
    )


def _arrow(found: Structure, edge: tuple[str, str]) -> bool:
    import networkx as nx

    a, b = edge
    return isinstance(found.graph, nx.DiGraph) and not found.graph.has_edge(b, a)


def _log_p(found: Structure, edge: tuple[str, str]) -> float:
    """Return the log p of an edge or, if it has only a score, minus its gain."""
    evidence = found.graph.edges[edge]
    return float(evidence["log_p"]) if "log_p" in evidence else -float(evidence.get("gain", math.nan))


# --- drawing ---------------------------------------------------------------------------------------------------------


def _drawing(found: Structure, names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return the positions of boxes and lines, in pixels."""
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
    """Return the width of a name in letters; the page shortens long names."""
    return min(
        _MAX_LETTERS, sum(1.9 if unicodedata.east_asian_width(c) in "WF" else 1.2 if c.isupper() else 1.0 for c in name)
    )


# --- variables and edges ---------------------------------------------------------------------------------------------


def _separations(found: Structure, kept: set[str]) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Return, for every variable, others and the sets that separate it from them."""
    separations: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for pair, given in found.separating_sets.items():
        a, b = sorted(pair)
        for name, other in ((a, b), (b, a)):
            if name in kept and len(separations.setdefault(name, [])) < MAX_SETS:
                separations[name].append((other, given))
    return separations


def _variable(
    found: Structure,
    name: str,
    edges: Sequence[tuple[str, str]],
    separations: Sequence[tuple[str, tuple[str, ...]]],
    names: Embedded,
) -> dict[str, Any]:
    incident = [edge for edge in edges if name in edge]
    parents = [a for a, b in incident if b == name and _arrow(found, (a, b))]
    children = [b for a, b in incident if a == name and _arrow(found, (a, b))]
    undirected = [b if a == name else a for a, b in incident if not _arrow(found, (a, b))]
    groups = (
        ("Parents", parents),
        ("Children", children),
        ("Neighbours" if not parents + children else "Neighbours whose direction is not decided", undirected),
    )
    count = len(incident)
    return {
        "name": shown(name),
        "kind": "variable",
        "role": f"{count:,} neighbour{'' if count == 1 else 's'}",
        "brief": ", ".join(f"{len(group)} {label.lower()}" for label, group in groups if group) or "no neighbours",
        "text": "" if count else "It has no neighbours.",
        "facts": [],
        "sets": [names.group(label, group) for label, group in groups if group],
        "links": [
            [names.index(b if a == name else a), _evidence_text(found.graph.edges[a, b])]
            for a, b in incident
            if found.graph.edges[a, b]
        ],
        "separations": [[names.index(other), names.indices(given)] for other, given in separations],
    }


def _evidence_text(evidence: Mapping[str, Any]) -> str:
    parts = []
    if "log_p" in evidence:
        given = evidence.get("given")
        effect = edge_effect(evidence)
        known = "" if effect is None else f", {effect}"
        condition = f" given {''.join(few(given))}" if given else ""
        parts.append(f"p = {p_text(evidence['log_p'])}{known}{condition}")
    if "gain" in evidence:
        parts.append(f"the score would lose {evidence['gain']:.2f} without it")
    return "; ".join(parts)


def _edge_grid(found: Structure, edges: Sequence[tuple[str, str]], names: Embedded) -> Grid:
    tested = any("log_p" in found.graph.edges[edge] for edge in edges)
    scored = any("gain" in found.graph.edges[edge] for edge in edges)
    columns = (
        "From",
        "Direction",
        "To",
        *(("Statistic", "Degrees of freedom", "p", "Effect (bits)", "Given") if tested else ()),
        *(("Gain",) if scored else ()),
    )
    rows = []
    for a, b in edges:
        evidence = found.graph.edges[a, b]
        row = [
            Cell(shown(a), shown(a), names.index(a)),
            Cell("→" if _arrow(found, (a, b)) else "–", "→" if _arrow(found, (a, b)) else "–"),
            Cell(shown(b), shown(b), names.index(b)),
        ]
        if tested and evidence.get("given") is None:
            row += [*[Cell("–")] * 4, Cell("not tested")]
        elif tested:
            given = evidence["given"]
            row += [
                Cell(f"{evidence['statistic']:z.5g}", _order(evidence["statistic"])),
                Cell(f"{evidence['dof']:g}", _order(evidence["dof"])),
                Cell(p_text(evidence["log_p"]), _order(evidence["log_p"])),
                Cell(size_text(bits := evidence.get("effect", math.nan)), _order(bits)),
                Cell(few(given), float(len(given))),
            ]
        if scored:
            row.append(Cell(f"{evidence['gain']:.2f}", _order(evidence["gain"])) if "gain" in evidence else Cell("–"))
        rows.append(row)
    about = "The evidence for each edge: " + (
        "the test given the other parents of the child, and what the score would lose without it."
        if tested and scored
        else "what the score would lose without it."
        if scored
        else "the weakest association of the pair in all tests."
    )
    if not edges:
        about = "There are none."
    elif len(edges) < len(found.edges):
        about += (
            f" This file has {len(edges):,} of {len(found.edges):,} edges, between the variables with the most "
            f"(found.evidence has all)."
        )
    return Grid(
        "edges",
        "Edges",
        about,
        columns,
        frozenset({"Statistic", "Degrees of freedom", "p", "Effect (bits)", "Gain"}),
        rows,
    )


def _order(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


# --- sentences -------------------------------------------------------------------------------------------------------


def _answer(found: Structure, neighbours: Mapping[str, set[str]]) -> Words:
    connected = sorted((name for name in neighbours if neighbours[name]), key=lambda name: -len(neighbours[name]))
    if not connected:
        return [f"None of the {len(neighbours):,} variables has a neighbour."]
    largest = len(neighbours[connected[0]])
    hubs = [name for name in connected if len(neighbours[name]) == largest]
    have, each = ("has", "") if len(hubs) == 1 else ("have", " each")
    connect = "connects" if len(found.edges) == 1 else "connect"
    edges = f"{len(found.edges):,} edge{'' if len(found.edges) == 1 else 's'}"
    directions = f"{found.directions}; " if found.directions else ""
    return [
        f"{edges} {connect} {len(connected):,} of {len(neighbours):,} variables; {directions}",
        *listed(hubs, 5),
        f" {have} the most neighbours, {largest:,}{each}.",
    ]


def _facts(found: Structure) -> dict[str, str]:
    facts = {"Algorithm": found.algorithm}
    if found.test is not None and found.alpha is not None:
        facts |= {"Test": found.test, "Alpha": f"{found.alpha:g}"} | rate_facts(found)
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
        warnings.append([f"The search is {found._unfinished()}."])
    if found.skipped:
        warnings.append([skipped_about(found.tests, found.skipped, found.options.get("max_conditioning"))])
    if found.conflicts:
        arrows = "1 arrow was" if len(found.conflicts) == 1 else f"{len(found.conflicts):,} arrows were"
        warnings.append([f"{arrows} dropped because of contradictions to more certain ones; see the notes."])
    return warnings
