"""Layers of a picture: the layer of each node, and the order within the layers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

_MANY_LEAVES = 6  # from this number on, the leaves of a node may be spread over several rows


def ranks(n: int, arcs: Sequence[tuple[int, int]], directed: Sequence[bool]) -> list[int]:
    """Return ranks along which arcs run forwards, as far as possible, and undirected edges lead away from hubs."""
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
    reached = [n] * n  # the rank of the first node with an undirected edge to it
    unranked = set(range(n))
    ready = [(n, -len(beside[x]), x) for x in range(n) if not waiting[x]]
    heapify(ready)
    for k in range(n):
        x = -1
        while ready and x not in unranked:  # an entry may be out of date
            x = heappop(ready)[2]
        if x not in unranked:  # the others are on cycles or below one: take the node with the fewest arcs backwards
            x = min(unranked, key=lambda x: (waiting[x] - sum(y in unranked for y in below[x]), x))
        unranked.discard(x)
        rank[x] = k
        for y in below[x]:
            waiting[y] -= 1
        for y in beside[x]:
            reached[y] = min(reached[y], k)
        for y in below[x] | beside[x]:
            if y in unranked and waiting[y] == 0:
                heappush(ready, (reached[y], -len(beside[y]), y))
    return rank


def depths(n: int, arcs: Sequence[tuple[int, int]], rank: Sequence[int]) -> list[int]:
    """Return layers such that arcs run downwards: first as high as possible, then moved to shorten arcs."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in arcs:
        above[b].append(a)
        below[a].append(b)
    order = sorted(range(n), key=rank.__getitem__)
    depth = [0] * n
    for x in order:
        depth[x] = max((depth[a] + 1 for a in above[x]), default=0)
    sizes = [0] * (max(depth) + 1)
    for d in depth:
        sizes[d] += 1
    for _ in range(20):
        moved = False
        for x in reversed(order):
            low = max((depth[a] + 1 for a in above[x]), default=0)
            high = min((depth[b] - 1 for b in below[x]), default=len(sizes) - 1)
            if len(below[x]) > len(above[x]):
                best = high
            elif len(below[x]) < len(above[x]):
                best = low
            else:
                best = min(range(low, high + 1), key=lambda d: (sizes[d] - (d == depth[x]), abs(d - depth[x])))
            if best != depth[x]:
                sizes[depth[x]] -= 1
                sizes[best] += 1
                depth[x] = best
                moved = True
        if not moved:
            break
    used = {d: k for k, d in enumerate(sorted(set(depth)))}
    return [used[d] for d in depth]


def folded(depth: list[int], arcs: Sequence[tuple[int, int]], rows: int) -> list[int]:
    """Return layers in which the leaves of a node, if they are many, are spread over a number of rows."""
    if rows == 1:
        return depth
    neighbours: list[list[int]] = [[] for _ in depth]
    for a, b in arcs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    moved = list(depth)
    for x, adjacent in enumerate(neighbours):
        for direction in (1, -1):
            leaves = [y for y in adjacent if len(neighbours[y]) == 1 and (depth[y] - depth[x]) * direction > 0]
            if len(leaves) >= _MANY_LEAVES:
                for k, y in enumerate(leaves):
                    moved[y] += direction * (k % rows)
    used = {d: k for k, d in enumerate(sorted(set(moved)))}
    return [used[d] for d in moved]


def uncrossed(layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]]) -> list[list[int]]:
    """Return an order within the layers with few crossings, by sweeps of barycentres and swaps of neighbours."""
    index = [0.0] * len(up)

    def number(layer: list[int]) -> None:
        for k, item in enumerate(layer):
            index[item] = k

    for layer in layers:
        number(layer)
    best, min_crossings = [list(layer) for layer in layers], _crossings(layers, down, index)
    sweeps = 24 if len(up) < 2000 else 6
    for sweep in range(sweeps):
        neighbours = up if sweep % 2 == 0 else down
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            centre = {
                k: sum(index[o] for o in neighbours[k]) / len(neighbours[k]) if neighbours[k] else index[k]
                for k in layer
            }
            # Every other pair of sweeps reverses ties, which helps to leave a local minimum.
            layer.sort(key=lambda k: (centre[k], -index[k] if sweep % 4 >= 2 else index[k]))
            number(layer)
        if sweep % 4 == 3 and len(up) < 2000:
            _swap_neighbours(layers, up, down, index)
        crossings = _crossings(layers, down, index)
        if crossings < min_crossings:
            best, min_crossings = [list(layer) for layer in layers], crossings
    return best


def _crossings(layers: Sequence[Sequence[int]], down: Sequence[Sequence[int]], index: Sequence[float]) -> int:
    total = 0
    for layer in layers:
        passed: list[float] = []
        for item in layer:
            ends = sorted(index[other] for other in down[item])
            total += sum(len(passed) - bisect_right(passed, end) for end in ends)
            for end in ends:
                insort(passed, end)
    return total


def _swap_neighbours(
    layers: list[list[int]], up: Sequence[list[int]], down: Sequence[list[int]], index: list[float]
) -> None:
    """Swap neighbours as long as that removes crossings."""
    for _ in range(10):
        better = False
        for layer in layers:
            for k in range(len(layer) - 1):
                a, b = layer[k], layer[k + 1]
                now, swapped = (
                    sum(_crossings_of(*pair, neighbours, index) for neighbours in (up, down))
                    for pair in ((a, b), (b, a))
                )
                if now > swapped:
                    layer[k], layer[k + 1] = b, a
                    index[a], index[b] = k + 1, k
                    better = True
        if not better:
            break


def _crossings_of(a: int, b: int, neighbours: Sequence[list[int]], index: Sequence[float]) -> int:
    """Return the number of crossings between edges of a and b if a comes before b."""
    ends = sorted(index[other] for other in neighbours[b])
    return sum(bisect_left(ends, index[other]) for other in neighbours[a])
