"""The result of `stability` about skeletons and networks: how often each edge is found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.errors import OptionError, suggestion
from serape.markup import plain
from serape.records import Records
from serape.results.false_selections import Assumption
from serape.results.pictures import draw_graph, picture_format, save_picture
from serape.results.saved import known, one_of, optional, share, texts
from serape.results.stability import EdgeNames, Resampled
from serape.types import FindsEdges

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class EdgeStability(Resampled[EdgeNames], file="serape-edge-stability-1"):
    """How often each edge of a skeleton or network is found in resampled rows.

    `frequencies` has every pair that is adjacent in at least one draw, in the order of the variables.

    Examples
    --------
    >>> found = serape.stability(patients, finds="skeleton", draws=10, algorithm="hiton-pc", alpha=0.01)
    >>> found.frequencies["Smoking", "HeartDisease"]
    1.0
    >>> found.graph(0.9).has_edge("Smoking", "HeartDisease")
    True
    """

    finds: FindsEdges
    variables: tuple[str, ...] = field(repr=False)
    directions: Mapping[EdgeNames, float] = field(repr=False)
    """For networks, the share of the draws in which the edge from the first to the second variable is directed so in
    the equivalence class (CPDAG) of the network; in the remaining draws with the edge, its direction is undecided."""
    score: str | None = None

    _noun = "edge"

    @cached_property
    def records(self) -> Records:
        """For every edge, the number and share of draws in which it is found: a table for any dataframe library.

        For networks, also the shares of the draws in which it runs forward, backward, or is undirected.
        """
        edges, shares = list(self.frequencies), list(self.frequencies.values())
        columns: dict[str, list[Any]] = {
            "from": [a for a, _ in edges],
            "to": [b for _, b in edges],
            "draws": [round(share * self.draws) for share in shares],
            "share": shares,
        }
        if self.finds == "network":
            forward = [self.directions.get((a, b), 0.0) for a, b in edges]
            backward = [self.directions.get((b, a), 0.0) for a, b in edges]
            known = zip(shares, forward, backward, strict=True)
            undirected = [round((s - f - g) * self.draws) / self.draws for s, f, g in known]
            columns |= {"forward": forward, "backward": backward, "undirected": undirected}
        return Records(columns)

    def graph(
        self, threshold: float | None = None, *, max_false: float | None = None, assume: Assumption = "unimodal"
    ) -> nx.Graph[str]:
        """Return the graph of the stable edges, each with its `share`; the arguments are those of `stable`.

        For networks it is a `networkx.DiGraph`. An edge has a direction if that, too, is found in at least this share
        of the draws (and the opposite one is not), and is present in both directions otherwise.
        """
        import networkx as nx

        least = self.resolved(threshold, max_false, assume)
        graph: nx.Graph[str] = nx.DiGraph() if self.finds == "network" else nx.Graph()
        graph.add_nodes_from(self.variables)
        for a, b in self.stable(threshold, max_false=max_false, assume=assume):
            forward, backward = (self.directions.get(edge, 0.0) >= least for edge in ((a, b), (b, a)))
            for x, y, against in ((a, b, backward and not forward), (b, a, forward and not backward)):
                if not against:
                    graph.add_edge(x, y, share=self.frequencies[a, b])
        return graph

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        threshold: float | None = None,
        max_false: float | None = None,
        assume: Assumption = "unimodal",
        ax: Axes | None = None,
    ) -> Figure:
        """Draw the graph of the stable edges: the more often an edge is found, the thicker it is.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in. The other arguments are those of
        `stable`.
        """
        if path is not None:
            picture_format(Path(path))
        graph = self.graph(threshold, max_false=max_false, assume=assume)
        least = self.resolved(threshold, max_false, assume)
        title = f"{self.title}: edges found in at least {100 * least:.3g} % of them" if least <= 1 else self.title
        figure = draw_graph(graph, title=title, ax=ax)
        if path is not None:
            save_picture(figure, Path(path))
        return figure

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return *(name for name in super()._names() if name not in ("frequencies", "directions")), "edges"

    _readers: ClassVar = {
        **Resampled._readers,
        "finds": one_of(("skeleton", "network")),
        "variables": texts,
        "score": optional(str),
    }

    @property
    def edges(self) -> list[dict[str, Any]]:
        """Every edge that is found in at least one draw, and how often."""
        return list(self.records)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        frequencies: dict[EdgeNames, float] = {}
        directions: dict[EdgeNames, float] = {}
        for row in content["edges"]:
            a, b = known(texts([row["from"], row["to"]]), content["variables"])
            frequencies[a, b] = share(row["share"])
            directions |= {(a, b): share(row.get("forward", 0)), (b, a): share(row.get("backward", 0))}
        directions = {arc: found for arc, found in directions.items() if found}
        return super().from_dict(content, frequencies=frequencies, directions=directions, **made)

    _kicker = "Stability of edges"

    def explain(self, a: str, b: str) -> str:
        """Return in how many draws two variables are adjacent and, for networks, in which direction."""
        for name in (a, b):
            if name not in self.variables:
                raise OptionError(f"there is no variable {name!r}.{suggestion(str(name), self.variables)}")
        share = self.frequencies.get((a, b), self.frequencies.get((b, a), 0.0))
        said = f"{a} and {b} are adjacent in {round(share * self.draws):,} of {self.draws:,} draws ({share:.0%})"
        ways = [(x, y, self.directions.get((x, y), 0.0)) for x, y in ((a, b), (b, a))]
        told = [f"from {x} to {y} in {way:.0%}" for x, y, way in ways if way]
        return plain(f"{said}; {' and '.join(told)}." if told else f"{said}.")

    @property
    def _question(self) -> str:
        return f"{self.finds.capitalize()} of {len(self.variables):,} variables"

    @staticmethod
    def _text(item: EdgeNames) -> str:
        return " – ".join(item)

    @property
    def _method(self) -> str:
        return super()._method + ("" if self.score is None else f"{', ' if self.test else ' '}{self.score} score")
