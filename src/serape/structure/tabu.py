"""Tabu search for the directed graph with the highest score.

Glover and Laguna, *Tabu Search*, 1997, as Tsamardinos, Brown and Aliferis use it in MMHC (Machine Learning 2006): the
best change of one arc (added, removed or reversed) is applied even if it lowers the score, unless it leads to one of
the last hundred graphs. More than fifteen changes in a row without a new best graph end the search. With `patience=0`
it is plain hill climbing.

See docs/papers.md: Aliferis 2008, MMHC; Gasse et al. 2014; Glover and Laguna 1997.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from serape.knowledge import BoundKnowledge
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score

Floats = NDArray[np.float64]
Candidates = Sequence[NDArray[np.uint32]]
ScoreCallback = Callable[[int, float], None]
"""Called after every change with the number of arcs and the score."""

TABU, PATIENCE = 100, 15
MIN_GAIN = 1e-9
"""The smallest gain, relative to the score, that counts; scores of equivalent graphs differ by rounding."""


@dataclass
class Dag:
    """A directed acyclic graph to which arcs are added and from which they are removed.

    The ancestors of a node are the bits of an integer.
    """

    parents: list[set[int]]
    children: list[set[int]] = field(init=False)
    ancestors: list[int] = field(init=False)
    arcs: int = field(init=False)

    def __post_init__(self) -> None:
        given, self.parents = self.parents, [set() for _ in self.parents]
        self.children = [set() for _ in given]
        self.ancestors = [0] * len(given)
        self.arcs = 0
        for y, before in enumerate(given):
            for x in before:
                self.add(x, y)

    def admits(self, x: int, y: int) -> bool:
        """Return whether x → y would close no cycle."""
        return x != y and not self.ancestors[x] >> y & 1

    def can_reverse(self, x: int, y: int) -> bool:
        """Return whether the arc x → y can be reversed: there is no other path from x to y."""
        return not any(self.ancestors[z] >> x & 1 for z in self.parents[y] if z != x)

    def add(self, x: int, y: int) -> None:
        """Add the arc x → y."""
        self.parents[y].add(x)
        self.children[x].add(y)
        self.arcs += 1
        above = self.ancestors[x] | 1 << x
        pending = [y]
        while pending:
            node = pending.pop()
            if above & ~self.ancestors[node]:
                self.ancestors[node] |= above
                pending.extend(self.children[node])

    def remove(self, x: int, y: int) -> None:
        """Remove the arc x → y."""
        self.parents[y].remove(x)
        self.children[x].remove(y)
        self.arcs -= 1
        pending = [y]
        while pending:  # a node is visited again if one of its parents changes after it
            node = pending.pop()
            above = 0
            for z in self.parents[node]:
                above |= self.ancestors[z] | 1 << z
            if above != self.ancestors[node]:
                self.ancestors[node] = above
                pending.extend(self.children[node])


@dataclass(frozen=True)
class Move:
    """A change of one arc: it is added or removed, or reversed."""

    gain: float
    x: int
    y: int
    reverse: bool = False


class Stopped(KeyboardInterrupt):
    """Ctrl-C during a search by score. `graph` is the best one so far."""

    def __init__(self, graph: PartlyDirected) -> None:
        super().__init__()
        self.graph = graph


def tabu_search(
    score: Score,
    candidates: Candidates,
    start: Sequence[Collection[int]] | None = None,
    *,
    knowledge: BoundKnowledge | None = None,
    tabu: int = TABU,
    patience: int = PATIENCE,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> list[set[int]]:
    """Return the parents of every node in the best graph found.

    `candidates` are the possible parents of each node; `start` are the parents at the start, none by default.
    """
    found = [set(before) for before in start or [()] * len(candidates)]
    for x, y in () if knowledge is None else knowledge.required:
        found[y].add(x)
    try:
        walk = _Walk(score, candidates, found, knowledge or BoundKnowledge(), max_parents, threads)
        total = best = score.total(found)
        recent = deque([walk.key], maxlen=max(tabu, 1))
        stale = 0
        while (move := walk.best_move(recent)) is not None and stale <= patience:
            walk.apply(move)
            recent.append(walk.key)
            total += move.gain
            if watch is not None:
                watch(walk.dag.arcs, total)
            stale += 1
            if total > best + MIN_GAIN * abs(best):
                best, stale = total, 0
                found = [set(before) for before in walk.dag.parents]
    except KeyboardInterrupt:
        raise Stopped(PartlyDirected.of_dag(found)) from None
    return found


class _Walk:
    """A graph, and the gain in score of every change of one arc."""

    def __init__(
        self,
        score: Score,
        candidates: Candidates,
        start: Sequence[Collection[int]],
        knowledge: BoundKnowledge,
        max_parents: int | None,
        threads: int,
    ) -> None:
        n = len(candidates)
        self.score = score
        self.candidates = candidates
        self.knowledge = knowledge
        self.max_parents = n if max_parents is None else max_parents
        self.threads = threads
        self.dag = Dag([set(before) for before in start])
        self.key = 0
        """Identifies the set of arcs: the exclusive or of their hashes."""
        for y, before in enumerate(self.dag.parents):
            for x in before:
                self.key ^= hash((x, y))
        self._index = [{int(x): k for k, x in enumerate(xs)} for xs in candidates]
        self._known: dict[tuple[int, frozenset[int]], tuple[Floats, NDArray[np.intp]]] = {}
        self.gains: list[Floats] = []
        self.order: list[NDArray[np.intp]] = []
        for y in range(n):
            gains, order = self._gains_at(y)
            self.gains.append(gains)
            self.order.append(order)
        self.tops = np.array([g[o[0]] if len(o) else -np.inf for g, o in zip(self.gains, self.order, strict=True)])

    def _gains_at(self, y: int) -> tuple[Floats, NDArray[np.intp]]:
        """Return the gain of adding each candidate to the parents of y, or of removing it, and their order by gain."""
        parents = self.dag.parents[y]
        key = (y, frozenset(parents))
        if key not in self._known:
            xs = self.candidates[y]
            before = self.score.family(y, sorted(parents))
            gains = np.full(len(xs), -np.inf)
            inside = np.isin(xs, list(parents))
            if len(parents) < self.max_parents:
                outside = np.flatnonzero(~inside)
                if len(outside):
                    after = self.score.additions(y, xs[outside], sorted(parents), threads=self.threads)
                    gains[outside] = after - before
            removable = [int(k) for k in np.flatnonzero(inside) if not self.knowledge.requires(int(xs[k]), y)]
            if removable:
                without = self.score.families(y, [sorted(parents - {int(xs[k])}) for k in removable])
                gains[removable] = without - before
            self._known[key] = gains, np.argsort(-gains, kind="stable")
        return self._known[key]

    def best_move(self, recent: Collection[int]) -> Move | None:
        """Return the change with the largest gain that closes no cycle and leads to no recent graph."""
        best: Move | None = None
        for y in np.argsort(-self.tops, kind="stable").tolist():
            if self.tops[y] == -np.inf or (best is not None and self.tops[y] <= best.gain):
                break
            for move in self._changes_at(y, recent):
                if best is None or move.gain > best.gain:
                    best = move
                break
        for y, before in enumerate(self.dag.parents):
            for x in sorted(before):
                reversal = self._reversal(x, y)
                if (
                    reversal is not None
                    and (best is None or reversal.gain > best.gain)
                    and self.dag.can_reverse(x, y)
                    and self.key ^ hash((x, y)) ^ hash((y, x)) not in recent
                ):
                    best = reversal
        return best

    def _changes_at(self, y: int, recent: Collection[int]) -> Iterator[Move]:
        """Yield arcs into y that can be added or removed, the best first."""
        gains, xs, parents = self.gains[y], self.candidates[y], self.dag.parents[y]
        for k in self.order[y].tolist():
            if gains[k] == -np.inf:
                return
            x = int(xs[k])
            if (x in parents or self.dag.admits(x, y)) and self.key ^ hash((x, y)) not in recent:
                yield Move(float(gains[k]), x, y)

    def _reversal(self, x: int, y: int) -> Move | None:
        into_y, into_x = self._index[y].get(x), self._index[x].get(y)
        if into_y is None or into_x is None:
            return None
        gain = float(self.gains[y][into_y] + self.gains[x][into_x])
        return None if gain == -np.inf else Move(gain, x, y, reverse=True)

    def apply(self, move: Move) -> None:
        """Apply a change."""
        x, y = move.x, move.y
        self.key ^= hash((x, y))
        if x in self.dag.parents[y]:
            self.dag.remove(x, y)
            if move.reverse:
                self.dag.add(y, x)
                self.key ^= hash((y, x))
        else:
            self.dag.add(x, y)
        for node in (x, y) if move.reverse else (y,):
            self.gains[node], self.order[node] = self._gains_at(node)
            self.tops[node] = self.gains[node][self.order[node][0]] if len(self.order[node]) else -np.inf


def possible_parents(n: int, knowledge: BoundKnowledge | None = None) -> list[NDArray[np.uint32]]:
    """Return, for each of n nodes, the others that knowledge allows as parents."""
    nodes = np.arange(n, dtype=np.uint32)
    return [allowed(y, nodes[nodes != y], knowledge) for y in range(n)]


def allowed(y: int, xs: NDArray[np.uint32], knowledge: BoundKnowledge | None) -> NDArray[np.uint32]:
    """Return the candidates `xs` that knowledge allows as parents of y."""
    if knowledge is None or knowledge.is_empty:
        return xs
    return xs[[knowledge.allows(int(x), y) for x in xs]]
