"""The layout of a graph's picture: where its nodes and edges are drawn.

It is the layered layout of Sugiyama, Tagawa and Toda (1981). Nodes are put in layers such that arcs run in one
direction; an arc over several layers has a point of its own in each. Barycentres and swaps of neighbours find an order
within the layers with few crossings. Positions in a layer are found by least squares with minimum distances. Layers run
downwards or to the right, whichever gives the smaller picture. The same graph always gives the same picture. All sizes
are in inches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from serape.results.layers import depths, folded, ranks, uncrossed

if TYPE_CHECKING:
    import networkx as nx

Point = tuple[float, float]

_DISTANCE = 0.16  # between neighbouring boxes
_PORT = 0.1  # the length on a box's border for each arc


@dataclass(frozen=True)
class Edge:
    """An arc from tail to head, or an undirected edge between them, by position."""

    tail: int
    head: int
    directed: bool


@dataclass(frozen=True)
class Plan:
    """The positions of nodes and edges, in inches from the upper left corner."""

    width: float
    height: float
    centres: list[Point]
    boxes: list[Point]
    """The boxes' widths and heights, larger where many arcs meet."""
    routes: list[list[Point]]
    """For each edge, the points of cubic curves: a start, then two handles and an end for each curve."""


def lay_out(boxes: Sequence[Point], edges: Sequence[Edge]) -> Plan:
    """Lay out the connected parts of a graph side by side, and the nodes without edges below."""
    parts, isolated = _parts(len(boxes), edges)
    best: Plan | None = None
    smallest = math.inf
    for rows in (1, 2, 3):
        layered = [_Layered(part, edges, rows) for part in parts]
        if rows > 1 and not any(part.folded for part in layered):
            break
        for downwards in (True, False):
            plan = _arranged(boxes, len(edges), [part.placed(boxes, downwards) for part in layered], isolated)
            size = max(plan.width / 1.5, plan.height)
            if size < (smallest if rows == 1 else 0.85 * smallest):  # more rows must make it clearly smaller
                best, smallest = plan, size
    assert best is not None
    return best


def _parts(n: int, edges: Sequence[Edge]) -> tuple[list[list[int]], list[int]]:
    """Return the connected parts, largest first, and the nodes without edges."""
    import networkx as nx

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from((e.tail, e.head) for e in edges)
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda part: (-len(part), part[0]))
    return [part for part in parts if len(part) > 1], [part[0] for part in parts if len(part) == 1]


@dataclass(frozen=True)
class _Part:
    """The layout of a connected part."""

    width: float
    height: float
    centres: dict[int, Point]
    boxes: dict[int, Point]
    routes: dict[int, list[Point]]


def _arranged(boxes: Sequence[Point], edges: int, parts: Sequence[_Part], isolated: Sequence[int]) -> Plan:
    """Arrange the parts in rows, the highest first, and the nodes without edges in rows below."""
    between = 0.4
    area = sum((part.width + between) * (part.height + between) for part in parts)
    area += sum((boxes[k][0] + _DISTANCE) * (boxes[k][1] + _DISTANCE) for k in isolated)
    max_width = max(math.sqrt(1.5 * area), max((part.width for part in parts), default=0.0))
    centres: list[Point] = [(0.0, 0.0)] * len(boxes)
    sizes = list(boxes)
    routes: list[list[Point]] = [[] for _ in range(edges)]
    x = y = row_height = widest = 0.0
    for part in sorted(parts, key=lambda part: -part.height):
        if x > 0 and x + part.width > max_width:
            x, y, row_height = 0.0, y + row_height + between, 0.0
        for k, (a, b) in part.centres.items():
            centres[k] = x + a, y + b
            sizes[k] = part.boxes[k]
        for k, route in part.routes.items():
            routes[k] = [(x + a, y + b) for a, b in route]
        widest, row_height = max(widest, x + part.width), max(row_height, part.height)
        x += part.width + between
    y += row_height
    x, begin, row_height = 0.0, y + (between if parts else 0.0), 0.0
    for k in isolated:
        w, h = boxes[k]
        if x > 0 and x + w > max_width:
            x, begin, row_height = 0.0, begin + row_height + _DISTANCE, 0.0
        centres[k] = x + w / 2, begin + h / 2
        widest, row_height, y = max(widest, x + w), max(row_height, h), max(y, begin + h)
        x += w + _DISTANCE
    return Plan(widest, y, centres, sizes, routes)


class _Layered:
    """A connected part in layers, with an order within each layer that has few crossings.

    The items of a layer are nodes and points where an edge passes through. Items are numbered, nodes first.
    """

    def __init__(self, nodes: Sequence[int], edges: Sequence[Edge], rows: int = 1) -> None:
        self.nodes = list(nodes)
        local = {node: k for k, node in enumerate(self.nodes)}
        self.edge_indices = [k for k, e in enumerate(edges) if e.tail in local]
        arcs = [(local[edges[k].tail], local[edges[k].head]) for k in self.edge_indices]
        directed = [edges[k].directed for k in self.edge_indices]
        rank = ranks(len(self.nodes), arcs, directed)
        self.backwards = [rank[a] > rank[b] for a, b in arcs]
        forwards = [(b, a) if back else (a, b) for (a, b), back in zip(arcs, self.backwards, strict=True)]
        flat = depths(len(self.nodes), forwards, rank)
        layer = folded(flat, forwards, rows)
        self.folded = layer != flat

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
        self.layers = uncrossed(self._first_order(), self.up, self.down)

    def _first_order(self) -> list[list[int]]:
        """Fill the layers by a walk through the graph, so that connected items are near each other."""
        layers: list[list[int]] = [[] for _ in range(max(self.layer_of) + 1)]
        visited = [False] * len(self.layer_of)
        for start in sorted(range(len(self.layer_of)), key=lambda k: (self.layer_of[k], k)):
            stack = [start]
            while stack:
                at = stack.pop()
                if not visited[at]:
                    visited[at] = True
                    layers[self.layer_of[at]].append(at)
                    stack.extend(reversed(self.down[at]))
                    stack.extend(reversed(self.up[at]))
        return layers

    def placed(self, boxes: Sequence[Point], downwards: bool) -> _Part:
        """Return the layout with layers from top to bottom, or from left to right."""
        count = len(self.nodes)
        along = [0.0] * len(self.layer_of)  # the size of an item in the direction of its layer …
        across = [0.0] * len(self.layer_of)  # … and of the arcs
        for k, node in enumerate(self.nodes):
            w, h = boxes[node]
            ports = _PORT * max(len(self.up[k]), len(self.down[k])) if w > 0.2 else 0.0
            along[k], across[k] = (max(w, ports), h) if downwards else (max(h, ports), w)
        index = _positions(self.layers, self.up, self.down, along, count)
        self._straighten(index, along)
        low = min(index[k] - along[k] / 2 for k in range(len(index)))
        index = [p - low for p in index]
        begin, end = self._bands(index, across)
        middle = [(begin[self.layer_of[k]] + end[self.layer_of[k]]) / 2 for k in range(len(index))]
        turn: Callable[[Point], Point] = (lambda p: p) if downwards else (lambda p: (p[1], p[0]))
        routes = {}
        for edge, chain, back, start, stop in self._ports(index, along):
            route = [(start, middle[chain[0]] + across[chain[0]] / 2), (start, end[self.layer_of[chain[0]]])]
            for item in chain[1:-1]:
                route += [(index[item], begin[self.layer_of[item]]), (index[item], end[self.layer_of[item]])]
            route += [(stop, begin[self.layer_of[chain[-1]]]), (stop, middle[chain[-1]] - across[chain[-1]] / 2)]
            curve = _smooth(route[::-1] if back else route)
            routes[edge] = [turn(p) for p in curve]
        width, height = max(index[k] + along[k] / 2 for k in range(len(index))), end[-1]
        return _Part(
            *turn((width, height)),
            {node: turn((index[k], middle[k])) for k, node in enumerate(self.nodes)},
            {node: turn((along[k], across[k])) for k, node in enumerate(self.nodes)},
            routes,
        )

    def _straighten(self, index: list[float], along: Sequence[float]) -> None:
        """Let every edge pass as many layers as possible in a straight line."""
        order = {item: (layer, k) for layer in self.layers for k, item in enumerate(layer)}
        for chain in sorted(self.chains, key=len, reverse=True):
            passing, k = chain[1:-1], 0
            while k < len(passing):
                low, high, stop = -math.inf, math.inf, k
                while stop < len(passing):
                    lower, upper = self._room(passing[stop], order, index, along)
                    if max(low, lower) > min(high, upper):
                        break
                    low, high, stop = max(low, lower), min(high, upper), stop + 1
                run = passing[k : max(stop, k + 1)]
                if stop > k:
                    ends = [index[chain[0]]] * (k == 0) + [index[chain[-1]]] * (stop == len(passing))
                    mean = sum(index[item] for item in run) / len(run)
                    free = [end for end in ends if low <= end <= high]
                    spot = min(free, key=lambda end: abs(end - mean)) if free else min(max(mean, low), high)
                    for item in run:
                        index[item] = spot
                k += len(run)

    def _room(
        self, item: int, order: dict[int, tuple[list[int], int]], index: Sequence[float], along: Sequence[float]
    ) -> tuple[float, float]:
        """Return the lowest and highest position that an item can have between its neighbours."""
        layer, k = order[item]
        low = index[layer[k - 1]] + _gap(layer[k - 1], item, along, len(self.nodes)) if k else -math.inf
        if k + 1 == len(layer):
            return low, math.inf
        return low, index[layer[k + 1]] - _gap(item, layer[k + 1], along, len(self.nodes))

    def _bands(self, index: Sequence[float], across: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return the begin and end of each layer; the gaps between layers are larger where arcs go far sideways."""
        begin, end = [0.0], []
        for layer in self.layers:
            end.append(begin[-1] + max(across[k] for k in layer))
            spans = [abs(index[k] - index[other]) for k in layer for other in self.down[k]]
            begin.append(end[-1] + min(1.1, 0.36 + 0.012 * len(spans) + 0.11 * max(spans, default=0.0)))
        return begin[:-1], end

    def _ports(
        self, index: Sequence[float], along: Sequence[float]
    ) -> Iterable[tuple[int, list[int], bool, float, float]]:
        """Give every edge its own point on the border of a box, in the order of its other ends."""
        starts: dict[int, list[tuple[float, int]]] = {}
        stops: dict[int, list[tuple[float, int]]] = {}
        for k, chain in enumerate(self.chains):
            starts.setdefault(chain[0], []).append((index[chain[1]], k))
            stops.setdefault(chain[-1], []).append((index[chain[-2]], k))
        at: list[dict[int, float]] = [{}, {}]
        for side, ends in zip(at, (starts, stops), strict=True):
            for item, meeting in ends.items():
                step = min(0.16, max(0.0, along[item] - 0.1) / max(1, len(meeting) - 1))
                for nth, (_, k) in enumerate(sorted(meeting)):
                    side[k] = index[item] + step * (nth - (len(meeting) - 1) / 2)
        for k, chain in enumerate(self.chains):
            yield self.edge_indices[k], chain, self.backwards[k], at[0][k], at[1][k]


def _positions(
    layers: Sequence[Sequence[int]],
    up: Sequence[list[int]],
    down: Sequence[list[int]],
    along: Sequence[float],
    nodes: int,
) -> list[float]:
    """Return the positions of items in their layers: near their neighbours, by least squares, without overlap."""
    index = [0.0] * len(up)
    for layer in layers:
        at = 0.0
        for a, b in pairwise(layer):
            at += _gap(a, b, along, nodes)
            index[b] = at
        for item in layer:
            index[item] -= at / 2
    gaps = [[_gap(a, b, along, nodes) for a, b in pairwise(layer)] for layer in layers]
    heavy = [8.0 if k >= nodes else 1.0 for k in range(len(up))]  # points of passing edges stay in line
    sides = [(up, [[]] * len(up)), ([[]] * len(up), down)] * 4 + [(up, down)] * (60 if len(up) < 2000 else 10)
    for sweep, (before, after) in enumerate(sides):
        for layer, room in zip(*((layers, gaps) if sweep % 2 == 0 else (layers[::-1], gaps[::-1])), strict=True):
            wanted, weights = [], []
            for item in layer:
                neighbours = [*before[item], *after[item]]
                pulls = [heavy[item] * heavy[other] if heavy[item] * heavy[other] > 8 else 1.0 for other in neighbours]
                weight = sum(pulls)
                weights.append(weight or 0.01)
                pulled = sum(p * index[other] for p, other in zip(pulls, neighbours, strict=True))
                wanted.append(pulled / weight if weight else index[item])
            for item, spot in zip(layer, spaced(wanted, weights, room), strict=True):
                index[item] = spot
    return index


def _gap(a: int, b: int, along: Sequence[float], nodes: int) -> float:
    """Return the minimum distance between the middles of two neighbours; items after the nodes are passing edges."""
    return (along[a] + along[b]) / 2 + (_DISTANCE if max(a, b) < nodes else 0.12 if min(a, b) < nodes else 0.1)


def spaced(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the positions nearest to those wanted, by weighted least squares, that keep the order and the gaps.

    Positions that violate a gap are pooled (the pool adjacent violators algorithm).
    """
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
    """Join points by straight lines within layers and by curves between them."""
    curve = [route[0]]
    for (x0, y0), (x1, y1) in pairwise(route):
        if abs(y1 - y0) < 1e-6:  # a box as high as its layer
            continue
        bend = 0.5 * (y1 - y0)
        curve += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
    return curve
