"""Where the nodes and edges of a picture go.

The layout is the layered one of Sugiyama, Tagawa and Toda (1981). Nodes stand in layers such that arcs run one way, an
arc over several layers passes each at a place of its own, an order within the layers with few crossings is looked for
by barycentres and by swapping neighbours, and places come from least squares under the distances that must be kept.
Layers run downwards or to the right, whichever gives the handier picture. Nothing is placed at random: the same graph
gives the same picture. All sizes are in inches.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

import networkx as nx

Point = tuple[float, float]

_APART = 0.16  # between boxes side by side
_PORT = 0.1  # room on a box for each arc
_MANY_LEAVES = 6  # so many nodes that hang on one may stand in several rows


@dataclass(frozen=True)
class Edge:
    """An arc from tail to head, or an undirected edge between them, by position."""

    tail: int
    head: int
    directed: bool


@dataclass(frozen=True)
class Plan:
    """Where everything is, in inches from the upper left corner."""

    width: float
    height: float
    centres: list[Point]
    boxes: list[Point]
    """Widths and heights, which grow where many arcs meet."""
    routes: list[list[Point]]
    """For each edge, the points of cubic curves: a start, then two handles and an end for each."""


def lay_out(boxes: Sequence[Point], edges: Sequence[Edge]) -> Plan:
    """Lay out every connected part, downwards or to the right, side by side, and those without edges beneath."""
    parts, alone = _parts(len(boxes), edges)
    best: Plan | None = None
    smallest = math.inf
    for rows in (1, 2, 3):
        layered = [_Layered(part, edges, rows) for part in parts]
        if rows > 1 and not any(part.folded for part in layered):
            break
        for downwards in (True, False):
            plan = _arranged(boxes, len(edges), [part.placed(boxes, downwards) for part in layered], alone)
            size = max(plan.width / 1.5, plan.height)
            if size < (smallest if rows == 1 else 0.85 * smallest):  # to fold must be worth it
                best, smallest = plan, size
    assert best is not None
    return best


def _parts(n: int, edges: Sequence[Edge]) -> tuple[list[list[int]], list[int]]:
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


def _arranged(boxes: Sequence[Point], edges: int, parts: Sequence[_Part], alone: Sequence[int]) -> Plan:
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
    return Plan(widest, y, centres, sizes, routes)


class _Layered:
    """A connected part in layers, whose order within each layer has few crossings.

    Its items are nodes and, where an edge passes a layer, a place for it. An item is numbered; `layers` lists them.
    """

    def __init__(self, nodes: Sequence[int], edges: Sequence[Edge], rows: int = 1) -> None:
        self.nodes = list(nodes)
        local = {node: k for k, node in enumerate(self.nodes)}
        self.own = [k for k, e in enumerate(edges) if e.tail in local]
        arcs = [(local[edges[k].tail], local[edges[k].head]) for k in self.own]
        directed = [edges[k].directed for k in self.own]
        rank = _ranks(len(self.nodes), arcs, directed)
        self.backwards = [rank[a] > rank[b] for a, b in arcs]
        forwards = [(b, a) if back else (a, b) for (a, b), back in zip(arcs, self.backwards, strict=True)]
        flat = _depths(len(self.nodes), forwards, rank)
        layer = _folded(flat, forwards, rows)
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
        index = _places(self.layers, self.up, self.down, along, count)
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
        """Let every edge pass as many layers as it can in one straight line, where nothing is in the way."""
        order = {item: (layer, k) for layer in self.layers for k, item in enumerate(layer)}
        for chain in sorted(self.chains, key=len, reverse=True):
            passing, k = chain[1:-1], 0
            while k < len(passing):
                low, high, stop = -math.inf, math.inf, k
                while stop < len(passing):
                    least, most = self._room(passing[stop], order, index, along)
                    if max(low, least) > min(high, most):
                        break
                    low, high, stop = max(low, least), min(high, most), stop + 1
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
        """Return how far to either side an item that is passed through can go."""
        layer, k = order[item]
        low = index[layer[k - 1]] + _gap(layer[k - 1], item, along, len(self.nodes)) if k else -math.inf
        if k + 1 == len(layer):
            return low, math.inf
        return low, index[layer[k + 1]] - _gap(item, layer[k + 1], along, len(self.nodes))

    def _bands(self, index: Sequence[float], across: Sequence[float]) -> tuple[list[float], list[float]]:
        """Return where each layer begins and ends; more room lies between where arcs go far to the side."""
        begin, end = [0.0], []
        for layer in self.layers:
            end.append(begin[-1] + max(across[k] for k in layer))
            spans = [abs(index[k] - index[other]) for k in layer for other in self.down[k]]
            begin.append(end[-1] + min(1.1, 0.36 + 0.012 * len(spans) + 0.11 * max(spans, default=0.0)))
        return begin[:-1], end

    def _ports(
        self, index: Sequence[float], along: Sequence[float]
    ) -> Iterable[tuple[int, list[int], bool, float, float]]:
        """Give every edge its own point on the border of a box, in the order of where the edges go."""
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


def _folded(depth: list[int], arcs: Sequence[tuple[int, int]], rows: int) -> list[int]:
    """Return layers in which nodes joined to one and the same node only, if they are many, take so many rows."""
    if rows == 1:
        return depth
    ends: list[list[int]] = [[] for _ in depth]
    for a, b in arcs:
        ends[a].append(b)
        ends[b].append(a)
    moved = list(depth)
    for x, near in enumerate(ends):
        for way in (1, -1):
            leaves = [y for y in near if len(ends[y]) == 1 and (depth[y] - depth[x]) * way > 0]
            if len(leaves) >= _MANY_LEAVES:
                for k, y in enumerate(leaves):
                    moved[y] += way * (k % rows)
    used = {d: k for k, d in enumerate(sorted(set(moved)))}
    return [used[d] for d in moved]


def uncrossed(layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]]) -> list[list[int]]:
    """Return an order within the layers with fewer crossings: barycentres up and down, then swaps of neighbours."""
    index = [0.0] * len(up)

    def number(layer: list[int]) -> None:
        for k, item in enumerate(layer):
            index[item] = k

    for layer in layers:
        number(layer)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, down, index)
    sweeps = 24 if len(up) < 2000 else 6
    for test_each_given_rest in range(sweeps):
        near = up if test_each_given_rest % 2 == 0 else down
        for layer in layers if test_each_given_rest % 2 == 0 else reversed(layers):
            centre = {k: sum(index[o] for o in near[k]) / len(near[k]) if near[k] else index[k] for k in layer}
            # On every other pair of sweeps ties turn round, which frees orders that are stuck.
            layer.sort(key=lambda k: (centre[k], -index[k] if test_each_given_rest % 4 >= 2 else index[k]))
            number(layer)
        if test_each_given_rest % 4 == 3 and len(up) < 2000:
            _swap_neighbours(layers, up, down, index)
        crossings = _crossings(layers, down, index)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best


def _crossings(layers: Sequence[Sequence[int]], down: Sequence[Sequence[int]], index: Sequence[float]) -> int:
    total = 0
    for layer in layers:
        seen: list[float] = []
        for item in layer:
            ends = sorted(index[other] for other in down[item])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


def _swap_neighbours(
    layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]], index: list[float]
) -> None:
    """Swap items side by side as long as that takes crossings away."""
    for _ in range(10):
        better = False
        for layer in layers:
            for k in range(len(layer) - 1):
                a, b = layer[k], layer[k + 1]
                if _between(a, b, up, index) + _between(a, b, down, index) > _between(b, a, up, index) + _between(
                    b, a, down, index
                ):
                    layer[k], layer[k + 1] = b, a
                    index[a], index[b] = k + 1, k
                    better = True
        if not better:
            break


def _between(a: int, b: int, near: Sequence[list[int]], index: Sequence[float]) -> int:
    """Return how many edges of a and b cross if a stands before b."""
    ends = sorted(index[other] for other in near[b])
    return sum(bisect_left(ends, index[other]) for other in near[a])


def _places(
    layers: Sequence[Sequence[int]],
    up: Sequence[list[int]],
    down: Sequence[list[int]],
    along: Sequence[float],
    nodes: int,
) -> list[float]:
    """Return where items stand in their layers: near what they are joined to, by least squares, and apart."""
    index = [0.0] * len(up)
    for layer in layers:
        at = 0.0
        for a, b in pairwise(layer):
            at += _gap(a, b, along, nodes)
            index[b] = at
        for item in layer:
            index[item] -= at / 2
    gaps = [[_gap(a, b, along, nodes) for a, b in pairwise(layer)] for layer in layers]
    heavy = [8.0 if k >= nodes else 1.0 for k in range(len(up))]  # what passes through runs straight
    sides = [(up, [[]] * len(up)), ([[]] * len(up), down)] * 4 + [(up, down)] * (60 if len(up) < 2000 else 10)
    for test_each_given_rest, (before, after) in enumerate(sides):
        for layer, room in zip(
            *((layers, gaps) if test_each_given_rest % 2 == 0 else (layers[::-1], gaps[::-1])), strict=True
        ):
            wanted, weights = [], []
            for item in layer:
                near = [*before[item], *after[item]]
                pulls = [heavy[item] * heavy[other] if heavy[item] * heavy[other] > 8 else 1.0 for other in near]
                weight = sum(pulls)
                weights.append(weight or 0.01)
                pulled = sum(p * index[other] for p, other in zip(pulls, near, strict=True))
                wanted.append(pulled / weight if weight else index[item])
            for item, spot in zip(layer, apart(wanted, weights, room), strict=True):
                index[item] = spot
    return index


def _gap(a: int, b: int, along: Sequence[float], nodes: int) -> float:
    """Return how far the middles of two items side by side must be apart; those after the nodes are places to pass."""
    return (along[a] + along[b]) / 2 + (_APART if max(a, b) < nodes else 0.12 if min(a, b) < nodes else 0.1)


def apart(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
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
