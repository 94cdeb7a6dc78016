"""What results that are graphs have in common: a table of edges, and files for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from serape.errors import OptionError
from serape.files import atomic_write
from serape.formats import SUFFIXES, dagitty_text, graphml_text
from serape.names import unknown
from serape.results.displayed import edge_table
from serape.results.kind import ResultKind

if TYPE_CHECKING:
    import networkx as nx


class GraphResult(ResultKind):
    """A result that is a graph."""

    formats: ClassVar[tuple[str, ...]] = ("json", "dot", "graphml", "dagitty")
    """The formats that it can be written in."""
    _most_rows = sys.maxsize

    @property
    def _edges(self) -> nx.Graph[str]:
        """The graph itself."""
        raise NotImplementedError

    def edges_with_evidence(self) -> list[tuple[str, str, str, Mapping[str, Any]]]:
        """Return every edge once: from, → or –, to, and its evidence."""
        raise NotImplementedError

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        edges = self.edges_with_evidence()
        return *edge_table(edges[:max_rows]), len(edges)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result in the format of the file's ending. If writing fails, an old file is unchanged.

        The endings are .dot or .gv (Graphviz), .graphml, .dagitty and, of skeletons and networks, .bnlearn. All other
        files are JSON, which `serape.load_result` reads.
        """
        format_ = SUFFIXES.get(Path(path).suffix.lower(), "json")
        atomic_write(Path(path), self.text(format_ if format_ in self.formats else "json"))

    def text(self, format_: str) -> str:
        """Return the result as text in a format: "json", "dot", "graphml", "dagitty" or, if it has it, "bnlearn"."""
        if format_ not in self.formats:
            raise OptionError(unknown("format", format_, self.formats))
        text: str = getattr(self, f"to_{format_}")()
        return text

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT; undirected edges have no arrowhead."""
        raise NotImplementedError

    def to_graphml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the graph and its evidence in GraphML, and write it to a file if `path` is given.

        An undirected edge of a network is present in both directions, with the attribute `directed` false.
        """
        text = graphml_text(self._edges)
        if path is not None:
            atomic_write(Path(path), text)
        return text

    def to_dagitty(self) -> str:
        """Return the graph as text for DAGitty: a `dag` if all edges are directed, otherwise a `pdag`."""
        return dagitty_text(self._edges)
