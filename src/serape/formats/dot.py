"""Graphviz's DOT."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from serape.independence.outcomes import p_text
from serape.palette import LIGHT
from serape.structure.mixed_edges import arcs_of, undirected_edges

if TYPE_CHECKING:
    import networkx as nx

_TARGET = LIGHT.boxes["target"]


def dot_text(graph: nx.Graph[str], *, title: str = "", target: str | None = None) -> str:
    """Return a graph in DOT: undirected edges have no arrowhead, and the tooltip of an edge has its p-value."""
    directed = graph.is_directed()
    lines = [f"{'digraph' if directed else 'graph'} {{"]
    if title:
        lines.append(f"  label={_quoted(title)}; labelloc=t;")
    lines.append("  node [shape=box, style=rounded];")
    filled = f' [style="rounded,filled", fillcolor="{_TARGET.face}", fontcolor="{_TARGET.ink}"]'
    lines += [f"  {_quoted(name)}{filled if name == target else ''};" for name in graph]
    sign = "->" if directed else "--"
    for a, b in arcs_of(graph):
        lines.append(f"  {_quoted(a)} {sign} {_quoted(b)}{_attributes(graph.edges[a, b], _ends(graph.edges[a, b]))};")
    for a, b in undirected_edges(graph):
        plain = _ends(graph.edges[a, b]) or ({"dir": "none"} if directed else {})
        lines.append(f"  {_quoted(a)} {sign} {_quoted(b)}{_attributes(graph.edges[a, b], plain)};")
    return "\n".join([*lines, "}"]) + "\n"


def _ends(evidence: Mapping[str, Any]) -> dict[str, str]:
    """Return the ends of an edge of a graph with hidden common causes: a circle is a mark that is not decided."""
    marks = str(evidence.get("marks", ""))
    if not marks or marks == "→":
        return {}
    shapes = {"o": "odot", "–": "none", "→": "normal", "←": "normal", "↔": "normal"}
    return {"dir": "both", "arrowtail": shapes[marks[0]], "arrowhead": shapes[marks[-1]]}


def _attributes(evidence: Mapping[str, Any], own: Mapping[str, str] | None = None) -> str:
    attributes = dict(own or {})
    if (log_p := evidence.get("log_p", math.nan)) <= 0:
        attributes["tooltip"] = _quoted(f"p = {p_text(log_p)}")
    return f" [{', '.join(f'{name}={value}' for name, value in attributes.items())}]" if attributes else ""


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
