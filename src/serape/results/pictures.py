"""Pictures of graphs, drawn with matplotlib. The same graph always gives the same picture."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from serape.errors import InputTypeError, OptionError, abbreviate, library_or, suggestion
from serape.files import atomic_write
from serape.palette import LIGHT, Role
from serape.results.layout import Edge, Plan, Point, lay_out
from serape.results.legends import Legend, line_entry
from serape.results.lettering import POINT, Lettering, box_size, text_size
from serape.results.lines import MEASURES, UNKNOWN_WIDTH, Lines

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

MAX_NAMES = 150
"""With more nodes than this, names are not drawn."""

_Arc = tuple[int, int]
EdgeKind = Literal["found", "half", "extra", "turned", "missing"]

# The colours of edges; kinds also differ without colour: by a cross, by dashes, by lightness.
_COLOURS: dict[EdgeKind, str] = {
    "found": LIGHT.ink, "half": LIGHT.accent, "extra": LIGHT.wrong, "turned": LIGHT.wrong, "missing": LIGHT.edge,
}  # fmt: skip
_DASHES: dict[EdgeKind, Any] = {
    "found": "-", "half": (0, (1.5, 1.5)), "extra": "-", "turned": (0, (7, 2, 1.5, 2)), "missing": (0, (3.5, 3)),
}  # fmt: skip
_MEANING: dict[EdgeKind, str] = {
    "found": "in the truth too",
    "half": "directed in one graph only",
    "extra": "not in the truth",
    "turned": "reversed in the truth",
    "missing": "in the truth only",
}


@dataclass(frozen=True)
class BoxStyle:
    """The style of the box of a node."""

    face: str
    line: str
    ink: str
    width: float = 0.9
    """The width of the outline, in points."""
    dashes: Any = "-"
    roundness: float = 1.0

    @classmethod
    def of(cls, role: Role, **changes: Any) -> BoxStyle:
        """Return a style in the colours of a role."""
        box = LIGHT.boxes[role]
        return cls(box.face, box.line, box.ink, **changes)


NODE, TARGET = BoxStyle.of("member"), BoxStyle.of("target", width=2.2)
_DOT = BoxStyle(NODE.line, NODE.line, NODE.line)

# Inches.
MARGIN = 0.15
_LONGEST_SIDE = 80.0
_MAX_WIDTH = 2.6  # of a line, in points


@dataclass(frozen=True)
class _Edge(Edge):
    """An edge, its kind, and the width of its line in points."""

    kind: EdgeKind
    width: float
    marks: str = ""
    """In a graph with hidden common causes: the marks at its ends, such as "o→" and "↔"."""


def draw_graph(
    graph: nx.Graph[Any],
    *,
    target: str | None = None,
    truth: nx.Graph[Any] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Figure:
    """Draw a directed or partly directed graph.

    Parameters
    ----------
    graph
        An undirected edge is present in both directions, or the graph is a `networkx.Graph`. If edges have an attribute
        "share", those with a larger value are thicker; otherwise those with a larger "effect" (in bits), a smaller
        "log_p", or a larger "gain".
    target
        A node to highlight.
    truth
        The true graph on the same nodes. An edge that is not in it is orange with a cross, a reversed one is orange
        with dashes and dots, one that is directed in one graph only is blue and dotted, a missing one is grey and
        dashed.
    title
        A line above the picture.
    ax
        Axes to draw in; the picture is scaled to fit. By default a figure of the right size is made.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `figure.savefig("graph.png")` (or .pdf, .svg). A name of more than 32 characters is broken into
        lines; with more than 150 nodes, names are not drawn.
    """
    check_matplotlib()
    names = _names(graph, "graph")
    if target is not None and target not in names:
        raise OptionError(f"the graph has no node {target!r}.{suggestion(str(target), names)}")
    index = {name: k for k, name in enumerate(names)}
    lines = _lines(graph, index)
    edges = _edges(graph, lines, truth, index)
    named = len(names) <= MAX_NAMES
    if not named:
        title = f"{title} ({len(names):,} nodes, names omitted)" if title else f"{len(names):,} nodes, names omitted"

    points = 9 + 2 * min(1.0, len(names) / 60)
    lettering = Lettering([*(names if named else []), title])
    labels = list(map(lettering.name, names)) if named else [""] * len(names)
    fonts = [lettering.font(points, "bold" if name == target else "normal") for name in names]
    boxes = [box_size(label, font) if named else (0.13, 0.13) for label, font in zip(labels, fonts, strict=True)]
    plan = lay_out(boxes, edges)

    legend = Legend(_entries(edges, lines, graph.is_directed(), truth is not None), lettering.font(points))
    title, title_font = lettering.title(title, 100), lettering.font(points + 3)
    title_width, title_height = text_size(title, title_font) if title else (0.0, 0.0)
    widest = max(plan.width, title_width, legend.width, 0.3)
    above = title_height + 0.21 if title else 0.0
    width, height = widest + 2 * MARGIN, plan.height + above + legend.fit(widest) + 2 * MARGIN

    left, top = (plan.width - widest) / 2 - MARGIN, -above - MARGIN
    ax, scale = sheet(left, top, width, height, ax)

    _draw_edges(ax, edges, plan, names, scale)
    _draw_nodes(ax, plan, names, labels, fonts, target, scale)
    if title:
        title_font.set_size((points + 3) * scale)
        ax.text(
            plan.width / 2,
            -0.21,
            title,
            fontproperties=title_font,
            color=LIGHT.ink,
            ha="center",
            va="bottom",
            parse_math=False,
        )
    legend.draw(ax, scale)
    return figure_of(ax)


# --- names, edges and sizes ------------------------------------------------------------------------------------------


def check_matplotlib() -> None:
    """Raise an error if matplotlib is not installed."""
    library_or("matplotlib.figure", "a picture needs matplotlib; install it with: pip install 'serape[plots]'")


def picture_format(path: Path) -> str:
    """Return the picture format of a file by the ending of its name."""
    format_ = path.suffix.lower().lstrip(".")
    if format_ not in ("png", "svg", "pdf"):
        raise OptionError(f"the name of a picture's file ends in .png, .svg or .pdf, not {path.name!r}")
    return format_


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file in the format of its ending. If writing fails, an old file is unchanged."""
    content = io.BytesIO()
    figure.savefig(content, format=picture_format(path))
    atomic_write(path, content.getvalue())


def _names(graph: Any, what: str) -> list[str]:
    import networkx as nx

    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise InputTypeError(f"the {what} must be a networkx.DiGraph, not a {type(graph).__name__}")
    names = [str(node) for node in graph]
    if len(set(names)) < len(names):
        raise OptionError(
            f"two nodes of the {what} are called {abbreviate({n for n in names if names.count(n) > 1})} as text; "
            f"rename one"
        )
    return names


def _edges(
    graph: nx.Graph[Any], lines: Lines[_Arc], truth: nx.Graph[Any] | None, index: Mapping[str, int]
) -> list[_Edge]:
    if truth is not None and (differing := set(_names(truth, "truth")) ^ set(index)):
        raise OptionError(
            f"graph and truth must have the same nodes; only one of them has {abbreviate(sorted(differing))}"
        )
    attributes = _arcs(graph, index)
    found = {arc: lines.width(arc, _MAX_WIDTH) for arc in sorted(attributes)}
    true = [] if truth is None else sorted(_arcs(truth, index))
    skeleton = not graph.is_directed() or (truth is not None and not truth.is_directed())
    edges = []
    for (a, b), width in found.items():
        directed = (b, a) not in found
        if not directed and a > b:
            continue
        kind = "found" if truth is None else _kind(directed, (a, b) in true, (b, a) in true, skeleton)
        marks = str(attributes[a, b].get("marks", ""))
        edges.append(_Edge(a, b, directed, kind, max(width, found.get((b, a), 0.0)), marks))
    for a, b in true:
        directed = (b, a) not in true
        if (a, b) not in found and (b, a) not in found and (directed or a < b):
            edges.append(_Edge(a, b, directed, "missing", UNKNOWN_WIDTH))
    return edges


def _kind(directed: bool, forward: bool, backward: bool, skeleton: bool) -> EdgeKind:
    """Return how an edge differs from the truth, which may have it forward, backward, or both (undirected)."""
    if not forward and not backward:
        return "extra"
    if directed == (forward != backward) or skeleton:
        return "found" if forward or not directed else "turned"
    return "half"


def _arcs(graph: nx.Graph[Any], index: Mapping[str, int]) -> dict[_Arc, dict[str, Any]]:
    """Return the arcs, in both directions where undirected, and their attributes."""
    evidence = {(index[str(a)], index[str(b)]): own for a, b, own in graph.edges(data=True)}
    for a in (a for a, b in evidence if a == b):
        raise OptionError(f"the graph has an arc from {list(index)[a]!r} to itself; remove it")
    if not graph.is_directed():
        evidence |= {(b, a): own for (a, b), own in evidence.items()}
    return evidence


def _lines(graph: nx.Graph[Any], index: Mapping[str, int]) -> Lines[_Arc]:
    evidence = _arcs(graph, index)
    return Lines({m: {arc: own.get(m, math.nan) for arc, own in evidence.items()} for m in MEASURES})


def _entries(edges: Sequence[_Edge], lines: Lines[_Arc], directed: bool, compared: bool) -> list[Any]:
    """Return the entries of the legend: how edges differ from the truth, and what their widths mean."""
    entries = []
    if compared:
        kinds = [kind for kind in _MEANING if any(edge.kind == kind for edge in edges)]
        cross = {"extra": {"marker": "x", "markersize": 6.5, "markeredgewidth": 1.8}}
        entries += [
            line_entry(_MEANING[kind], _COLOURS[kind], 1.6, _DASHES[kind], **cross.get(kind, {})) for kind in kinds
        ]
    elif any(edge.marks for edge in edges):
        signs = {"o": "o: arrowhead or none, not decided", "↔": "↔ a hidden common cause"}
        entries += [
            line_entry(text, "none", 0) for sign, text in signs.items() if any(sign in edge.marks for edge in edges)
        ]
    elif directed and not all(edge.directed for edge in edges):
        entries.append(line_entry("direction not decided", LIGHT.ink, UNKNOWN_WIDTH))
    widths = [(lines.width_of(value, _MAX_WIDTH), lines.text(value)) for value in lines.extremes]
    return [*entries, *(line_entry(text, LIGHT.ink, width) for width, text in widths)]


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw_edges(ax: Axes, edges: Sequence[_Edge], plan: Plan, names: Sequence[str], scale: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    for edge, route in zip(edges, plan.routes, strict=True):
        codes = [Path.MOVETO] + [Path.CURVE4] * (len(route) - 1)
        order = {"missing": 1.0, "found": 2.0, "half": 2.0, "turned": 2.1, "extra": 2.2}[edge.kind]
        arrow = FancyArrowPatch(
            path=Path(route, codes),
            arrowstyle="<|-|>" if edge.marks == "↔" else "-|>" if edge.directed else "-",
            mutation_scale=(8 + 1.8 * edge.width) * scale,
            linewidth=edge.width * scale,
            linestyle=_DASHES[edge.kind],
            color=_COLOURS[edge.kind],
            shrinkA=0,
            shrinkB=0,
            joinstyle="miter",
            capstyle="butt",
            zorder=order,
        )
        arrow.set_gid(f"{'arc' if edge.directed else 'edge'} {names[edge.tail]} {names[edge.head]}")
        ax.add_patch(arrow)
        circles = [route[k] for k, mark in ((0, edge.marks[:1]), (-1, edge.marks[-1:])) if mark == "o"]
        for point in circles:
            ax.plot(*point, "o", color=LIGHT.ink, markerfacecolor="white", markersize=5.5 * scale, zorder=4)
        if edge.kind == "extra":
            x, y = _middle(route)
            ax.plot(x, y, "x", color=_COLOURS["extra"], markersize=6.5 * scale, markeredgewidth=1.8 * scale, zorder=2.3)


def _middle(route: Sequence[Point]) -> Point:
    """Return the middle of the middle curve."""
    k = 3 * ((len(route) - 1) // 3 // 2)
    (a, b), (c, d), (e, f), (g, h) = route[k : k + 4]
    return (a + 3 * c + 3 * e + g) / 8, (b + 3 * d + 3 * f + h) / 8


def _draw_nodes(
    ax: Axes,
    plan: Plan,
    names: Sequence[str],
    labels: Sequence[str],
    fonts: Sequence[FontProperties],
    target: str | None,
    scale: float,
) -> None:
    for centre, size, name, label, font in zip(plan.centres, plan.boxes, names, labels, fonts, strict=True):
        style = TARGET if name == target else NODE if label else _DOT
        draw_box(ax, centre, size, name, label, font, style, scale)


def draw_box(
    ax: Axes, centre: Point, size: Point, name: str, label: str, font: FontProperties, style: BoxStyle, scale: float
) -> None:
    """Draw a node and its label; the label is not parsed as math."""
    from matplotlib.patches import FancyBboxPatch

    (x, y), (w, h) = centre, size
    box = FancyBboxPatch(
        (x - w / 2, y - h / 2),
        w,
        h,
        boxstyle=f"round,pad=0,rounding_size={min(w, h, 0.26) / 2 * style.roundness}",
        facecolor=style.face,
        edgecolor=style.line,
        linestyle=style.dashes,
        linewidth=style.width * scale,
        zorder=3,
    )
    box.set_gid(f"node {name}")
    ax.add_patch(box)
    if label:
        points = font.get_size_in_points()
        drop = 0.365 * points * POINT * ("\n" not in label)  # half the height of a capital
        font = font.copy()
        font.set_size(points * scale)
        ax.text(
            x,
            y + drop,
            label,
            fontproperties=font,
            ha="center",
            va="baseline" if drop else "center",
            linespacing=1.15,
            color=style.ink,
            parse_math=False,
            zorder=4,
        )


def sheet(left: float, top: float, width: float, height: float, ax: Axes | None) -> tuple[Axes, float]:
    """Return axes measured in inches, with y downwards, and the factor for sizes in points.

    Without axes of the caller, a figure of that size is made; in those of the caller, the picture is scaled to fit.
    """
    if ax is None:
        from serape.results.picture_axes import axes_of_size

        scale = min(1.0, _LONGEST_SIDE / max(width, height))
        ax = axes_of_size(width * scale, height * scale)
    else:
        figure = figure_of(ax)
        inches = ax.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
        scale = min(inches.width / width, inches.height / height)
    ax.set_axis_off()
    ax.set(xlim=(left, left + width), ylim=(top + height, top), aspect="equal")
    return ax, scale


def figure_of(ax: Axes) -> Figure:
    """Return the figure of axes, also of axes in a subfigure."""
    from matplotlib.figure import Figure

    figure: Any = ax.figure
    while not isinstance(figure, Figure):  # a subfigure
        figure = figure.figure
    return figure
