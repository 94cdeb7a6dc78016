"""GraphML, which Cytoscape, Gephi, igraph, networkx and yEd read."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

from serape.errors import DataError, shown

if TYPE_CHECKING:
    import networkx as nx

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def graphml_text(graph: nx.Graph[str]) -> str:
    """Return a graph in GraphML with the attributes of its nodes and edges.

    An undirected edge of a partly directed graph is present in both directions, with the attribute `directed` false.
    Attributes that are several names become one text.
    """
    import networkx as nx

    made: nx.Graph[str] = nx.DiGraph() if graph.is_directed() else nx.Graph()
    for name, attributes in graph.nodes(data=True):
        if found := _NOT_IN_XML.search(name):
            raise DataError(f"{shown(name)} has the character {found[0]!r}, which XML cannot hold; rename it")
        made.add_node(name, **_plain(attributes))
    for a, b, attributes in graph.edges(data=True):
        extra = {"directed": not graph.has_edge(b, a)} if graph.is_directed() else {}
        made.add_edge(a, b, **_plain(attributes), **extra)
    content = io.BytesIO()
    nx.write_graphml_xml(made, content, named_key_ids=True)
    return content.getvalue().decode() + "\n"


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes as text, numbers and truth values."""
    return {
        name: ", ".join(map(str, value)) if isinstance(value, tuple | list) else value
        for name, value in attributes.items()
        if value is not None
    }
