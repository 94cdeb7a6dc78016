"""Pictures of graphs, drawn with matplotlib alone.

The layout is the layered one of Sugiyama, Tagawa and Toda (1981). Nodes stand in layers such that arcs run one way, an
arc over several layers passes each at a place of its own, an order within the layers with few crossings is looked for
by barycentres and by swapping neighbours, and places come from least squares under the distances that must be kept.
Layers run downwards or to the right, whichever gives the handier picture. Nothing is drawn at random: the same graph
gives the same picture.
"""

from __future__ import annotations

import io
import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import networkx as nx

from serape.errors import InputTypeError, OptionError, some, suggestion
from serape.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

MOST_NAMES = 150
"""With more nodes than this, names are left out."""

Kind = Literal["found", "extra", "turned", "missing"]
Point = tuple[float, float]

# Told apart without colour too: by a cross, by dashes, by lightness.
_COLOURS: dict[Kind, str] = {"found": "#20303f", "extra": "#c8102e", "turned": "#c8102e", "missing": "#8c8c8c"}
_DASHES: dict[Kind, Any] = {"found": "-", "extra": "-", "turned": (0, (7, 2, 1.5, 2)), "missing": (0, (3.5, 3))}
_MEANING: dict[Kind, str] = {
    "found": "in the truth too",
    "extra": "not in the truth",
    "turned": "the other way in the truth",
    "missing": "in the truth only",
}
_NODE, _NODE_EDGE, _TARGET, _TARGET_EDGE = "#eef3f8", "#5b6b7a", "#ffc83d", "#000000"

# Inches.
_APART = 0.16  # between boxes side by side
_MARGIN = 0.15
_PORT = 0.1  # room on a box for each arc
_LONGEST_SIDE = 80.0
_POINT = 1 / 72


@dataclass(frozen=True)
class _Edge:
    """An arc from tail to head, or an undirected edge between them, by position."""

    tail: int
    head: int
    directed: bool
    kind: Kind
    width: float


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
        An undirected edge is present both ways, or the graph is a `networkx.Graph`. Where edges have an attribute
        "log_p", the smaller it is the thicker they are.
    target
        A node to highlight.
    truth
        The true graph, directed or partly directed, on the same nodes: what is not in it is red with a cross, what is
        there the other way round is red with dashes and dots, what it has and the graph has not is grey and dashed. An
        edge that is undirected in either of the two is not held against its direction.
    title
        A line above the picture.
    ax
        Axes to draw in; everything is made to fit. Without, a figure of the right size is made.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with `figure.savefig("graph.png")` (or .pdf, .svg). A name of more than 32 characters takes several
        lines; the names of more than 150 nodes are left out.
    """
    check_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    names = _names(graph, "graph")
    if target is not None and target not in names:
        raise OptionError(f"the graph has no node {target!r}.{suggestion(str(target), names)}")
    edges = _edges(graph, truth, names)
    named = len(names) <= MOST_NAMES
    if not named:
        title = f"{title} ({len(names):,} nodes, names left out)" if title else f"{len(names):,} nodes, names left out"

    points = 9 + 2 * min(1.0, len(names) / 60)
    labels = [_wrapped(name) for name in names] if named else [""] * len(names)
    fonts = [FontProperties(size=points, weight="bold" if name == target else "normal") for name in names]
    boxes = [_box_size(label, font) if named else (0.13, 0.13) for label, font in zip(labels, fonts, strict=True)]
    plan = _plan(boxes, edges)

    legend: list[Kind] = [kind for kind in _MEANING if any(e.kind == kind for e in edges)] if truth is not None else []
    title_font, legend_font = FontProperties(size=points + 3), FontProperties(size=points)
    entries = [_text_size(_MEANING[kind], legend_font)[0] + 0.75 for kind in legend]
    widest = max(plan.width, _text_size(title, title_font)[0] if title else 0.0, *entries, 0.3)
    columns = max(1, min(len(legend), int(widest / max(entries, default=1.0))))
    above = 0.4 if title else 0.0
    beneath = 0.1 + 0.22 * math.ceil(len(legend) / columns) if legend else 0.0
    width, height = widest + 2 * _MARGIN, plan.height + above + beneath + 2 * _MARGIN

    if ax is None:
        scale = min(1.0, _LONGEST_SIDE / max(width, height))
        figure = Figure(figsize=(width * scale, height * scale), facecolor="white")
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1))
    else:
        figure = _figure_of(ax)
        inches = ax.get_window_extent().transformed(figure.dpi_scale_trans.inverted())
        scale = min(inches.width / width, inches.height / height)
    ax.set_axis_off()
    left, top = (plan.width - widest) / 2 - _MARGIN, -above - _MARGIN
    ax.set(xlim=(left, left + width), ylim=(top + height, top), aspect="equal")

    _draw_edges(ax, edges, plan, names, scale)
    _draw_nodes(ax, plan, names, labels, fonts, target, scale)
    if title:
        title_font.set_size((points + 3) * scale)
        ax.text(
            plan.width / 2, -0.15 - 0.06, title, fontproperties=title_font, ha="center", va="bottom", parse_math=False
        )
    if legend:
        _draw_legend(ax, legend, columns, points, scale)
    return figure


# --- what there is to draw -------------------------------------------------------------------------------------------


def check_matplotlib() -> None:
    """Refuse to draw without matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise OptionError("a picture needs matplotlib; install it with: pip install 'serape[plots]'") from None


def picture_format(path: Path) -> str:
    """Return the format that a file's ending stands for."""
    format_ = path.suffix.lower().lstrip(".")
    if format_ not in ("png", "svg", "pdf"):
        raise OptionError(f"a picture goes to a file that ends in .png, .svg or .pdf, not {path.name!r}")
    return format_


def save_picture(figure: Figure, path: Path) -> None:
    """Write a figure to a file, whole or not at all; its ending tells the format."""
    content = io.BytesIO()
    figure.savefig(content, format=picture_format(path))
    write_whole(path, content.getvalue())


def _names(graph: Any, what: str) -> list[str]:
    if not isinstance(graph, nx.Graph) or graph.is_multigraph():
        raise InputTypeError(f"the {what} must be a networkx.DiGraph, not a {type(graph).__name__}")
    names = [str(node) for node in graph]
    if len(set(names)) < len(names):
        raise OptionError(
            f"two nodes of the {what} are called {some({n for n in names if names.count(n) > 1})} as text; rename one"
        )
    return names


def _edges(graph: nx.Graph[Any], truth: nx.Graph[Any] | None, names: list[str]) -> list[_Edge]:
    if truth is not None and (astray := set(_names(truth, "truth")) ^ set(names)):
        raise OptionError(f"graph and truth must have the same nodes; only one of them has {some(sorted(astray))}")
    place = {name: k for k, name in enumerate(names)}
    found, true = _arcs(graph, place), {} if truth is None else _arcs(truth, place)
    edges = []
    for (a, b), log_p in found.items():
        directed = (b, a) not in found
        if not directed and a > b:
            continue
        if truth is None or (a, b) in true or (not directed and (b, a) in true):
            kind: Kind = "found"
        else:
            kind = "turned" if (b, a) in true else "extra"
        edges.append(_Edge(a, b, directed, kind, _line_width(log_p, found.get((b, a)))))
    for a, b in true:
        directed = (b, a) not in true
        if (a, b) not in found and (b, a) not in found and (directed or a < b):
            edges.append(_Edge(a, b, directed, "missing", 1.2))
    return edges


def _arcs(graph: nx.Graph[Any], place: dict[str, int]) -> dict[tuple[int, int], float | None]:
    """Return the arcs, both ways where undirected, in an order that the order of nodes decides, with their log p."""
    arcs: dict[tuple[int, int], float | None] = {}
    for a, b in graph.edges():
        if a == b:
            raise OptionError(f"the graph has an arc from {str(a)!r} to itself; leave it out")
        log_p: float | None = graph.edges[a, b].get("log_p")
        arcs[place[str(a)], place[str(b)]] = log_p
        if not graph.is_directed():
            arcs[place[str(b)], place[str(a)]] = log_p
    return dict(sorted(arcs.items()))


def _line_width(*log_ps: float | None) -> float:
    """Return from 0.6 points for p = 1 to 2.6 for 1e-31 and less; 1.2 where p is not known."""
    known = [log_p for log_p in log_ps if log_p is not None and not math.isnan(log_p)]
    if not known:
        return 1.2
    digits = max(0.0, -min(known) / math.log(10))
    return min(2.6, 0.6 + 0.4 * math.log2(1 + digits))


def _wrapped(name: str, most: int = 32) -> str:
    """Break a name that is very long into lines, after a space or mark if there is one."""
    lines = []
    while len(name) > most:
        at = max((k + 1 for k in range(most // 2, most) if not name[k].isalnum()), default=most)
        lines.append(name[:at])
        name = name[at:]
    return "\n".join([*lines, name])


def _text_size(text: str, font: FontProperties) -> Point:
    """Return width and height of a text in inches."""
    from matplotlib.textpath import TextToPath

    width = max(TextToPath().get_text_width_height_descent(line, font, False)[0] for line in text.split("\n"))
    return width * _POINT, (text.count("\n") + 1) * font.get_size_in_points() * 1.2 * _POINT


def _box_size(label: str, font: FontProperties) -> Point:
    width, height = _text_size(label, font)
    return max(width + 0.16, 0.34), height + 0.1


# --- layout ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """Where everything is, in inches from the upper left corner."""

    width: float
    height: float
    centres: list[Point]
    boxes: list[Point]
    """Widths and heights, which grow where many arcs meet."""
    routes: list[list[Point]]
    """For each edge, the points of cubic curves: a start, then two handles and an end for each."""


def lay_out(boxes: Sequence[Point], edges: Iterable[tuple[int, int, bool]]) -> _Plan:
    """Return places for boxes of such widths and heights, and routes for edges: from, to, and whether directed."""
    return _plan(boxes, [_Edge(a, b, directed, "found", 1.0) for a, b, directed in edges])


def _plan(boxes: Sequence[Point], edges: Sequence[_Edge]) -> _Plan:
    """Lay out every connected part, downwards or to the right, side by side, and those without edges beneath."""
    parts, alone = _parts(len(boxes), edges)
    best: _Plan | None = None
    layered = [_Layered(part, edges) for part in parts]
    for downwards in (True, False):
        plan = _arranged(boxes, len(edges), [part.placed(boxes, downwards) for part in layered], alone)
        if best is None or max(plan.width / 1.5, plan.height) < max(best.width / 1.5, best.height):
            best = plan
    assert best is not None
    return best


def _parts(n: int, edges: Sequence[_Edge]) -> tuple[list[list[int]], list[int]]:
    """Return the connected parts, largest first, and the nodes without edges."""
    joined: nx.Graph[int] = nx.Graph()
    joined.add_nodes_from(range(n))
    joined.add_edges_from((e.tail, e.head) for e in edges)
    parts = sorted((sorted(part) for part in nx.connected_components(joined)), key=lambda part: (-len(part), part[0]))
    return [part for part in parts if len(part) > 1], [part[0] for part in parts if len(part) == 1]


@dataclass(frozen=True)
class _Part:
    """A connected part, laid out."""

    width: float
    height: float
    centres: dict[int, Point]
    boxes: dict[int, Point]
    routes: dict[int, list[Point]]


def _arranged(boxes: Sequence[Point], edges: int, parts: Sequence[_Part], alone: Sequence[int]) -> _Plan:
    """Put parts on shelves, as books of decreasing height, and nodes without edges in rows beneath."""
    between = 0.4
    area = sum((part.width + between) * (part.height + between) for part in parts)
    area += sum((boxes[k][0] + _APART) * (boxes[k][1] + _APART) for k in alone)
    most = max(math.sqrt(1.5 * area), max((part.width for part in parts), default=0.0))
    centres: list[Point] = [(0.0, 0.0)] * len(boxes)
    sizes = list(boxes)
    routes: list[list[Point]] = [[] for _ in range(edges)]
    x = y = high = widest = 0.0
    for part in sorted(parts, key=lambda part: -part.height):
        if x > 0 and x + part.width > most:
            x, y, high = 0.0, y + high + between, 0.0
        for k, (a, b) in part.centres.items():
            centres[k] = x + a, y + b
            sizes[k] = part.boxes[k]
        for k, route in part.routes.items():
            routes[k] = [(x + a, y + b) for a, b in route]
        widest, high = max(widest, x + part.width), max(high, part.height)
        x += part.width + between
    y += high
    x, begin, high = 0.0, y + (between if parts else 0.0), 0.0
    for k in alone:
        w, h = boxes[k]
        if x > 0 and x + w > most:
            x, begin, high = 0.0, begin + high + _APART, 0.0
        centres[k] = x + w / 2, begin + h / 2
        widest, high, y = max(widest, x + w), max(high, h), max(y, begin + h)
        x += w + _APART
    return _Plan(widest, y, centres, sizes, routes)


class _Layered:
    """A connected part in layers, whose order within each layer has few crossings.

    Its items are nodes and, where an edge passes a layer, a place for it. An item is numbered; `layers` lists them.
    """

    def __init__(self, nodes: Sequence[int], edges: Sequence[_Edge]) -> None:
        self.nodes = list(nodes)
        local = {node: k for k, node in enumerate(self.nodes)}
        self.own = [k for k, e in enumerate(edges) if e.tail in local]
        arcs = [(local[edges[k].tail], local[edges[k].head]) for k in self.own]
        directed = [edges[k].directed for k in self.own]
        rank = _ranks(len(self.nodes), arcs, directed)
        self.backwards = [rank[a] > rank[b] for a, b in arcs]
        forwards = [(b, a) if back else (a, b) for (a, b), back in zip(arcs, self.backwards, strict=True)]
        layer = _depths(len(self.nodes), forwards, rank)

        self.layer_of = list(layer)
        self.chains: list[list[int]] = []  # the items of each edge, from upper to lower end
        for a, b in forwards:
            first = len(self.layer_of)
            self.layer_of.extend(range(layer[a] + 1, layer[b]))
            self.chains.append([a, *range(first, len(self.layer_of)), b])
        self.up: list[list[int]] = [[] for _ in self.layer_of]
        self.down: list[list[int]] = [[] for _ in self.layer_of]
        for chain in self.chains:
            for a, b in pairwise(chain):
                self.down[a].append(b)
                self.up[b].append(a)
        self.layers = _uncrossed(self._first_order(), self.up, self.down)

    def _first_order(self) -> list[list[int]]:
        """Fill the layers by walking the graph, so that what hangs together stands together."""
        layers: list[list[int]] = [[] for _ in range(max(self.layer_of) + 1)]
        seen = [False] * len(self.layer_of)
        for start in sorted(range(len(self.layer_of)), key=lambda k: (self.layer_of[k], k)):
            stack = [start]
            while stack:
                at = stack.pop()
                if not seen[at]:
                    seen[at] = True
                    layers[self.layer_of[at]].append(at)
                    stack.extend(reversed(self.down[at]))
                    stack.extend(reversed(self.up[at]))
        return layers

    def placed(self, boxes: Sequence[Point], downwards: bool) -> _Part:
        """Return the part with layers from top to bottom, or from left to right."""
        count = len(self.nodes)
        along = [0.0] * len(self.layer_of)  # the size of an item in the direction of its layer …
        across = [0.0] * len(self.layer_of)  # … and of the arcs
        for k, node in enumerate(self.nodes):
            w, h = boxes[node]
            ports = _PORT * max(len(self.up[k]), len(self.down[k])) if w > 0.2 else 0.0
            along[k], across[k] = (max(w, ports), h) if downwards else (max(h, ports), w)
        place = _places(self.layers, self.up, self.down, along, count)
        self._straighten(place, along)
        low = min(place[k] - along[k] / 2 for k in range(len(place)))
        place = [p - low for p in place]
        begin, end = self._bands(place, across)
        middle = [(begin[self.layer_of[k]] + end[self.layer_of[k]]) / 2 for k in range(len(place))]
        turn: Callable[[Point], Point] = (lambda p: p) if downwards else (lambda p: (p[1], p[0]))
        routes = {}
        for edge, chain, back, start, stop in self._ports(place, along):
            route = [(start, middle[chain[0]] + across[chain[0]] / 2), (start, end[self.layer_of[chain[0]]])]
            for item in chain[1:-1]:
                route += [(place[item], begin[self.layer_of[item]]), (place[item], end[self.layer_of[item]])]
            route += [(stop, begin[self.layer_of[chain[-1]]]), (stop, middle[chain[-1]] - across[chain[-1]] / 2)]
            curve = _smooth(route[::-1] if back else route)
            routes[edge] = [turn(p) for p in curve]
        width, height = max(place[k] + along[k] / 2 for k in range(len(place))), end[-1]
        return _Part(
            *turn((width, height)),
            {node: turn((place[k], middle[k])) for k, node in enumerate(self.nodes)},
            {node: turn((along[k], across[k])) for k, node in enumerate(self.nodes)},
            routes,
        )

    def _straighten(self, place: list[float], along: Sequence[float]) -> None:
        """Let every edge pass as many layers as it can in one straight line, where nothing is in the way."""
        order = {item: (layer, k) for layer in self.layers for k, item in enumerate(layer)}
        for chain in sorted(self.chains, key=len, reverse=True):
            passing, k = chain[1:-1], 0
            while k < len(passing):
                low, high, stop = -math.inf, math.inf, k
                while stop < len(passing):
                    least, most = self._room(passing[stop], order, place, along)
                    if max(low, least) > min(high, most):
                        break
                    low, high, stop = max(low, least), min(high, most), stop + 1
                run = passing[k : max(stop, k + 1)]
                if stop > k:
                    ends = [place[chain[0]]] * (k == 0) + [place[chain[-1]]] * (stop == len(passing))
                    mean = sum(place[item] for item in run) / len(run)
                    free = [end for end in ends if low <= end <= high]
                    spot = min(free, key=lambda end: abs(end - mean)) if free else min(max(mean, low), high)
                    for item in run:
                        place[item] = spot
                k += len(run)

    def _room(
        self, item: int, order: dict[int, tuple[list[int], int]], place: Sequence[float], along: Sequence[float]
    ) -> tuple[float, float]:
        """Return how far to either side an item that is passed through can go."""
        layer, k = order[item]
        low = place[layer[k - 1]] + _gap(layer[k - 1], item, along, len(self.nodes)) if k else -math.inf
        if k + 1 == len(layer):
            return low, math.inf
        return low, place[layer[k + 1]] - _gap(item, layer[k + 1], along, len(self.nodes))

    def _bands(self, place: Sequence[float], across: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return where each layer begins and ends; more room lies between where arcs go far to the side."""
        begin, end = [0.0], []
        for layer in self.layers:
            end.append(begin[-1] + max(across[k] for k in layer))
            spans = [abs(place[k] - place[other]) for k in layer for other in self.down[k]]
            begin.append(end[-1] + min(1.1, 0.36 + 0.012 * len(spans) + 0.11 * max(spans, default=0.0)))
        return begin[:-1], end

    def _ports(
        self, place: Sequence[float], along: Sequence[float]
    ) -> Iterable[tuple[int, list[int], bool, float, float]]:
        """Give every edge its own point on the border of a box, in the order of where the edges go."""
        starts: dict[int, list[tuple[float, int]]] = {}
        stops: dict[int, list[tuple[float, int]]] = {}
        for k, chain in enumerate(self.chains):
            starts.setdefault(chain[0], []).append((place[chain[1]], k))
            stops.setdefault(chain[-1], []).append((place[chain[-2]], k))
        at: list[dict[int, float]] = [{}, {}]
        for side, ends in zip(at, (starts, stops), strict=True):
            for item, meeting in ends.items():
                step = min(0.16, max(0.0, along[item] - 0.1) / max(1, len(meeting) - 1))
                for nth, (_, k) in enumerate(sorted(meeting)):
                    side[k] = place[item] + step * (nth - (len(meeting) - 1) / 2)
        for k, chain in enumerate(self.chains):
            yield self.own[k], chain, self.backwards[k], at[0][k], at[1][k]


def _ranks(n: int, arcs: Sequence[tuple[int, int]], directed: Sequence[bool]) -> list[int]:
    """Return an order in which arcs run forwards, as far as they can, and undirected edges spread from hubs."""
    above: list[set[int]] = [set() for _ in range(n)]
    below: list[set[int]] = [set() for _ in range(n)]
    beside: list[set[int]] = [set() for _ in range(n)]
    for (a, b), arc in zip(arcs, directed, strict=True):
        if arc:
            above[b].add(a)
            below[a].add(b)
        else:
            beside[a].add(b)
            beside[b].add(a)
    waiting = [len(nodes) for nodes in above]
    rank = [-1] * n
    reached = [n] * n  # when an undirected edge first led to it
    rest = set(range(n))
    ready = [(n, -len(beside[x]), x) for x in range(n) if not waiting[x]]
    heapify(ready)
    for k in range(n):
        x = -1
        while ready and x not in rest:  # an entry may be out of date
            x = heappop(ready)[2]
        if x not in rest:  # all are on cycles, or below one: where the fewest arcs would run backwards
            x = min(rest, key=lambda x: (waiting[x] - sum(y in rest for y in below[x]), x))
        rest.discard(x)
        rank[x] = k
        for y in below[x]:
            waiting[y] -= 1
        for y in beside[x]:
            reached[y] = min(reached[y], k)
        for y in below[x] | beside[x]:
            if y in rest and waiting[y] == 0:
                heappush(ready, (reached[y], -len(beside[y]), y))
    return rank


def _depths(n: int, arcs: Sequence[tuple[int, int]], rank: Sequence[int]) -> list[int]:
    """Return layers such that arcs run downwards: as high as can be, then moved to where arcs are shorter."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in arcs:
        above[b].append(a)
        below[a].append(b)
    order = sorted(range(n), key=rank.__getitem__)
    depth = [0] * n
    for x in order:
        depth[x] = max((depth[a] + 1 for a in above[x]), default=0)
    crowd = [0] * (max(depth) + 1)
    for d in depth:
        crowd[d] += 1
    for _ in range(20):
        moved = False
        for x in reversed(order):
            low = max((depth[a] + 1 for a in above[x]), default=0)
            high = min((depth[b] - 1 for b in below[x]), default=len(crowd) - 1)
            if len(below[x]) > len(above[x]):
                to = high
            elif len(below[x]) < len(above[x]):
                to = low
            else:
                to = min(range(low, high + 1), key=lambda d: (crowd[d] - (d == depth[x]), abs(d - depth[x])))
            if to != depth[x]:
                crowd[depth[x]] -= 1
                crowd[to] += 1
                depth[x] = to
                moved = True
        if not moved:
            break
    used = {d: k for k, d in enumerate(sorted(set(depth)))}
    return [used[d] for d in depth]


def _uncrossed(layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]]) -> list[list[int]]:
    """Return an order within the layers with fewer crossings: barycentres up and down, then swaps of neighbours."""
    place = [0.0] * len(up)

    def number(layer: list[int]) -> None:
        for k, item in enumerate(layer):
            place[item] = k

    for layer in layers:
        number(layer)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, down, place)
    sweeps = 24 if len(up) < 2000 else 6
    for sweep in range(sweeps):
        near = up if sweep % 2 == 0 else down
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            centre = {k: sum(place[o] for o in near[k]) / len(near[k]) if near[k] else place[k] for k in layer}
            # On every other pair of sweeps ties turn round, which frees orders that are stuck.
            layer.sort(key=lambda k: (centre[k], -place[k] if sweep % 4 >= 2 else place[k]))
            number(layer)
        if sweep % 4 == 3 and len(up) < 2000:
            _swap_neighbours(layers, up, down, place)
        crossings = _crossings(layers, down, place)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _crossings(layers: Sequence[Sequence[int]], down: Sequence[Sequence[int]], place: Sequence[float]) -> int:
    total = 0
    for layer in layers:
        seen: list[float] = []
        for item in layer:
            ends = sorted(place[other] for other in down[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _swap_neighbours(
    layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]], place: list[float]
) -> None:
    """Swap items side by side as long as that takes crossings away."""
    for _ in range(10):
        better = False
        for layer in layers:
            for k in range(len(layer) - 1):
                a, b = layer[k], layer[k + 1]
                if _between(a, b, up, place) + _between(a, b, down, place) > _between(b, a, up, place) + _between(
                    b, a, down, place
                ):
                    layer[k], layer[k + 1] = b, a
                    place[a], place[b] = k + 1, k
                    better = True
        if not better:
            break


def _between(a: int, b: int, near: Sequence[list[int]], place: Sequence[float]) -> int:
    """Return how many edges of a and b cross if a stands before b."""
    ends = sorted(place[other] for other in near[b])
    return sum(bisect_left(ends, place[other]) for other in near[a])


def _places(
    layers: Sequence[Sequence[int]],
    up: Sequence[list[int]],
    down: Sequence[list[int]],
    along: Sequence[float],
    nodes: int,
) -> list[float]:
    """Return where items stand in their layers: near what they are joined to, by least squares, and apart."""
    place = [0.0] * len(up)
    for layer in layers:
        at = 0.0
        for a, b in pairwise(layer):
            at += _gap(a, b, along, nodes)
            place[b] = at
        for item in layer:
            place[item] -= at / 2
    gaps = [[_gap(a, b, along, nodes) for a, b in pairwise(layer)] for layer in layers]
    heavy = [8.0 if k >= nodes else 1.0 for k in range(len(up))]  # what passes through runs straight
    sides = [(up, [[]] * len(up)), ([[]] * len(up), down)] * 4 + [(up, down)] * (60 if len(up) < 2000 else 10)
    for sweep, (before, after) in enumerate(sides):
        for layer, room in zip(*((layers, gaps) if sweep % 2 == 0 else (layers[::-1], gaps[::-1])), strict=True):
            wanted, weights = [], []
            for item in layer:
                near = [*before[item], *after[item]]
                pulls = [heavy[item] * heavy[other] if heavy[item] * heavy[other] > 8 else 1.0 for other in near]
                weight = sum(pulls)
                weights.append(weight or 0.01)
                pulled = sum(p * place[other] for p, other in zip(pulls, near, strict=True))
                wanted.append(pulled / weight if weight else place[item])
            for item, spot in zip(layer, _apart(wanted, weights, room), strict=True):
                place[item] = spot
    return place


def _gap(a: int, b: int, along: Sequence[float], nodes: int) -> float:
    """Return how far the middles of two items side by side must be apart; those after the nodes are places to pass."""
    return (along[a] + along[b]) / 2 + (_APART if max(a, b) < nodes else 0.12 if min(a, b) < nodes else 0.1)


def _apart(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the places nearest to those wanted, by weighted squares, that keep order and gaps: pool the violators."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks: list[tuple[float, float, int]] = []  # mean, weight, items
    for spot, weight, offset in zip(wanted, weights, offsets, strict=True):
        mean, total, count = spot - offset, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, more, items = blocks.pop()
            mean = (mean * total + other * more) / (total + more)
            total, count = total + more, count + items
        blocks.append((mean, total, count))
    means = [mean for mean, _, count in blocks for _ in range(count)]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _smooth(route: Sequence[Point]) -> list[Point]:
    """Join points by straight lines across layers and, between layers, by curves that leave and arrive straight."""
    curve = [route[0]]
    for (x0, y0), (x1, y1) in pairwise(route):
        if abs(y1 - y0) < 1e-6:  # a box as deep as its layer
            continue
        bend = 0.5 * (y1 - y0)
        curve += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
    return curve


# --- drawing ---------------------------------------------------------------------------------------------------------


def _draw_edges(ax: Axes, edges: Sequence[_Edge], plan: _Plan, names: Sequence[str], scale: float) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    for edge, route in zip(edges, plan.routes, strict=True):
        codes = [Path.MOVETO] + [Path.CURVE4] * (len(route) - 1)
        order = {"missing": 1.0, "found": 2.0, "turned": 2.1, "extra": 2.2}[edge.kind]
        arrow = FancyArrowPatch(
            path=Path(route, codes),
            arrowstyle="-|>" if edge.directed else "-",
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
        if edge.kind == "extra":
            x, y = _middle(route)
            ax.plot(x, y, "x", color=_COLOURS["extra"], markersize=6.5 * scale, markeredgewidth=1.8 * scale, zorder=2.3)


def _middle(route: Sequence[Point]) -> Point:
    """Return the middle of the curve that is in the middle."""
    k = 3 * ((len(route) - 1) // 3 // 2)
    (a, b), (c, d), (e, f), (g, h) = route[k : k + 4]
    return (a + 3 * c + 3 * e + g) / 8, (b + 3 * d + 3 * f + h) / 8


def _draw_nodes(
    ax: Axes,
    plan: _Plan,
    names: Sequence[str],
    labels: Sequence[str],
    fonts: Sequence[FontProperties],
    target: str | None,
    scale: float,
) -> None:
    from matplotlib.patches import FancyBboxPatch

    for (x, y), (w, h), name, label, font in zip(plan.centres, plan.boxes, names, labels, fonts, strict=True):
        chosen = name == target
        box = FancyBboxPatch(
            (x - w / 2, y - h / 2),
            w,
            h,
            boxstyle=f"round,pad=0,rounding_size={min(w, h, 0.26) / 2}",
            facecolor=_TARGET if chosen else _NODE if label else _NODE_EDGE,
            edgecolor=_TARGET_EDGE if chosen else _NODE_EDGE,
            linewidth=(2.2 if chosen else 0.9) * scale,
            zorder=3,
        )
        box.set_gid(f"node {name}")
        ax.add_patch(box)
        if label:
            points = font.get_size_in_points()
            drop = 0.365 * points * _POINT * ("\n" not in label)  # half the height of a capital
            font.set_size(points * scale)
            ax.text(
                x,
                y + drop,
                label,
                fontproperties=font,
                ha="center",
                va="baseline" if drop else "center",
                linespacing=1.15,
                color="black",
                parse_math=False,
                zorder=4,
            )


def _draw_legend(ax: Axes, kinds: Sequence[Kind], columns: int, points: float, scale: float) -> None:
    from matplotlib.lines import Line2D

    lines = [
        Line2D(
            [],
            [],
            color=_COLOURS[kind],
            linestyle=_DASHES[kind],
            linewidth=1.6 * scale,
            marker="x" if kind == "extra" else "",
            markersize=6.5 * scale,
            markeredgewidth=1.8 * scale,
            label=_MEANING[kind],
        )
        for kind in kinds
    ]
    ax.legend(
        handles=lines,
        loc="lower center",
        ncols=columns,
        fontsize=points * scale,
        frameon=False,
        borderaxespad=0.3,
        borderpad=0,
        handlelength=3,
        columnspacing=1.2,
    )


def _figure_of(ax: Axes) -> Figure:
    from matplotlib.figure import Figure

    figure: Any = ax.figure
    while not isinstance(figure, Figure):  # axes in part of a figure
        figure = figure.figure
    return figure
