"""The text of DAGitty, the web page and the R package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from serape.structure.mixed_edges import arcs_of, undirected_edges

if TYPE_CHECKING:
    import networkx as nx


def dagitty_text(graph: nx.Graph[str]) -> str:
    """Return a graph as DAGitty's text: a `dag` if all edges are directed, otherwise a `pdag` with `--`."""
    undirected = undirected_edges(graph)
    lines = [
        "pdag {" if undirected else "dag {",
        *(_quoted(name) for name in graph),
        *(f"{_quoted(a)} -> {_quoted(b)}" for a, b in arcs_of(graph)),
        *(f"{_quoted(a)} -- {_quoted(b)}" for a, b in undirected),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'
