"""The result of `region`: the variables within some edges of a target, and the edges on the way."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import networkx as nx

from serape.data.provenance import Provenance
from serape.errors import OptionError, suggestion
from serape.formats import dot_text
from serape.markup import plain, shown
from serape.records import Records
from serape.results.call import Call
from serape.results.displayed import rate_text
from serape.results.graph_result import GraphResult
from serape.results.kind import READERS
from serape.results.pictures import draw_graph, save_picture
from serape.results.saved import count, optional, rate
from serape.results.structure import Structure, read_evidence, told_by

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from serape.results.report.page import Page

    Graph = nx.Graph[str]
else:
    Graph = nx.Graph

_HOW = ("target", "depth", "algorithm", "test", "alpha", "fdr", "tests", "skipped", "seconds", "notes", "complete")
"""The attributes of the graph: how it was found."""


def _attribute(name: str, meaning: str) -> Any:
    """Return a property that reads an attribute of the graph."""
    return property(lambda found: found.graph[name], doc=meaning)


class Region(GraphResult, Graph, file="serape-region-1"):
    """The variables within some edges of a target, and the edges on the way: a `networkx.Graph` with evidence.

    It is a graph in all respects. What networkx makes of it, such as a copy or a subgraph, is a region with the same
    attributes.

    Examples
    --------
    >>> found = serape.region(patients, "HeartDisease", depth=2, alpha=0.01)
    >>> found.target, found.nodes["Anxiety"]["distance"], sorted(found["Anxiety"])
    ('HeartDisease', 2, ['ChestPain'])
    >>> print(found.explain("Anxiety"))
    Anxiety is 2 edges from HeartDisease, through ChestPain (g2 = 220.9, p = 5.6e-50).
    """

    tests_by_size: Mapping[int, int] = {}
    """The number of tests performed, by size of the conditioning set."""
    options: Mapping[str, Any] = {}
    """The other settings of the call."""
    data: Provenance | None = None
    """The data: rows, columns, fingerprint; None for an independence test without data."""
    call: Call = Call()
    """What a report needs to show the call again."""

    # --- how it was found: the attributes of the graph ---------------------------------------------------------------

    target = _attribute("target", "The variable in the middle.")
    depth = _attribute("depth", "The largest number of edges between the target and a variable.")
    algorithm = _attribute("algorithm", "The algorithm that found the neighbourhoods.")
    test = _attribute("test", "The independence test.")
    alpha = _attribute("alpha", "The significance level.")
    fdr = _attribute("fdr", "The false discovery rate asked for, or None.")
    tests = _attribute("tests", "The number of tests performed.")
    skipped = _attribute("skipped", "The number of tests skipped.")
    seconds = _attribute("seconds", "The time that the search took.")
    complete = _attribute("complete", "False if the search was interrupted, or a budget ended it.")

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # a graph that networkx makes has none at first
        """Remarks about the data and the search."""
        return tuple(self.graph.get("notes", ()))

    def _reword(self, words: Callable[[str], str]) -> None:
        self.graph["notes"] = tuple(map(words, self.notes))

    # --- output ------------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Region around {self.target}"

    def _heading(self) -> str:
        edges = "1 edge" if self.depth == 1 else f"{self.depth} edges"
        found = len(self) - 1
        return f"Within {edges} of {self.target}: {found:,} variable{'' if found == 1 else 's'}"

    @property
    def _edges(self) -> Graph:
        return self

    def to_dot(self) -> str:
        """Return the graph in Graphviz's DOT, with the target marked."""
        return dot_text(self, target=self.target)

    def edges_with_evidence(self) -> list[tuple[str, str, str, Mapping[str, Any]]]:
        """Return every edge: from, –, to, and its evidence."""
        return [(a, "–", b, evidence) for a, b, evidence in self.edges(data=True)]

    def __str__(self) -> str:
        if "target" not in self.graph:  # a graph that networkx is making
            return f"Region with {len(self)} nodes and {self.number_of_edges()} edges"
        lines = [
            self._heading(),
            f"  by {self.algorithm} with {self.test} at alpha {self.alpha:g}{rate_text(self.fdr)}: "
            f"{self.tests:,} tests, {self.skipped:,} skipped, {self.seconds:.3g} s",
        ]
        return self._whole_text(lines)

    def __repr__(self) -> str:
        return super().__repr__() if "target" in self.graph else f"<{self}>"

    @property
    def records(self) -> Records:
        """The evidence for every edge: a table for any dataframe library."""
        rows = self._entry("edges")
        heads = list(dict.fromkeys(name for row in rows for name in row)) or ["from", "to"]
        columns: dict[str, list[Any]] = {name: [row.get(name) for row in rows] for name in heads}
        if "given" in columns:
            columns["given"] = [None if names is None else ", ".join(names) for names in columns["given"]]
        return Records(columns)

    def explain(self, variable: str) -> str:
        """Return how a variable is near: how far, by which way, and the evidence for the last edge of it."""
        if variable == self.target:
            raise OptionError(f"{variable!r} is the target itself; name another variable")
        if variable not in self:
            raise OptionError(
                f"no variable {variable!r} is found within {self.depth} edge{'' if self.depth == 1 else 's'} of "
                f"{self.target!r}.{suggestion(str(variable), list(self))}"
            )
        *way, last, _ = nx.shortest_path(self, self.target, variable)
        through = [*way, last][1:]
        steps = f"{len(through) + 1} edges" if through else "1 edge"
        by = f", through {' and '.join(through)}" if through else ""
        told = told_by(self.test, self.edges[last, variable])
        return plain(f"{variable} is {steps} from {self.target}{by}{f' ({told})' if told else ''}.")

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the graph with the target marked, and write it to a file (.png, .svg, .pdf) if `path` is given."""
        figure = draw_graph(self, target=self.target)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    def _page(self) -> Page:
        """Return the report of the graph as a skeleton has it, under a heading of its own."""
        from serape.results.report import network_page
        from serape.results.report.calls import region_calls

        about = {name: self.graph[name] for name in _HOW if name not in ("target", "depth")}
        skeleton = Structure(
            finds="skeleton", graph=self, score=None, total=None, tests_by_size=self.tests_by_size,
            options=self.options, separating_sets={}, data=self.data, call=self.call, **about,
        )  # fmt: skip
        return replace(
            network_page(skeleton),
            kicker="Region",
            title=shown(self.target),
            answer=[f"{shown(self._heading())}, joined by {self.number_of_edges():,} edges."],
            calls=region_calls(self),
        )

    # --- files -------------------------------------------------------------------------------------------------------

    _entries = (*_HOW, "nodes", "edges", "tests_by_size", "options", "data", "call")
    _unnamed: ClassVar = frozenset({"target", "depth", "nodes", "edges"})  # as the command line wrote regions
    _readers: ClassVar[Mapping[str, Any]] = {
        **READERS,
        "depth": count,
        "fdr": optional(rate),
        "nodes": lambda values: {str(one["name"]): count(one["distance"]) for one in values},
        "tests": count,
        "skipped": count,
    }

    def _entry(self, name: str) -> Any:
        match name:
            case "nodes":
                return [{"name": name, "distance": steps} for name, steps in self.nodes(data="distance")]
            case "edges":
                return [
                    {"from": a, "to": b, "p": math.exp(evidence["log_p"]) if "log_p" in evidence else None, **evidence}
                    for a, b, evidence in self.edges(data=True)
                ]
        return self.graph[name] if name in _HOW else getattr(self, name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the region that `to_dict` wrote; files of version 0.2.0 and before have no settings and no data."""
        del made
        found = cls()
        read = {name: cls._readers[name](content[name]) for name in (*_HOW, "nodes")}
        for name, steps in read.pop("nodes").items():
            found.add_node(name, distance=steps)
        found.graph.update(read)
        if found.target not in found:
            raise ValueError("the target is not among the variables")
        for edge in content["edges"]:
            a, b = str(edge["from"]), str(edge["to"])
            if a not in found or b not in found:
                raise ValueError(f"an edge joins {a!r} and {b!r}, which are not both variables")
            found.add_edge(a, b, **read_evidence(edge))
        for name in ("tests_by_size", "options", "data", "call"):
            if name in content:
                setattr(found, name, cls._readers[name](content[name]))
        return found
