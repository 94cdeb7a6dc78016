"""Tabu search for the directed graph with the highest score.

Glover and Laguna, *Tabu Search*, 1997, as Tsamardinos, Brown and Aliferis use it in MMHC (Machine Learning 2006): the
best change of one arc (added, removed or reversed) is applied even if it lowers the score, unless it leads to one of
the last hundred graphs. More than fifteen changes in a row without a new best graph end the search. With `patience=0`
it is plain hill climbing.

See docs/papers.md: Aliferis 2008, MMHC; Gasse et al. 2014; Glover and Laguna 1997.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from serape.arrays import Floats, Positions
from serape.knowledge import BoundKnowledge
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping

CandidatesOfEach = Sequence[Positions]
Family = tuple[int, frozenset[int]]
"""A child and its parents."""

TABU, PATIENCE = 100, 15
TOGETHER = 256
"""How many children are scored in one call: enough for many threads, and little memory."""


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


def tabu_search(
    score: Score,
    candidates: CandidatesOfEach,
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
    with keeping(lambda: PartlyDirected.of_dag(found)):
        walk = _Walk(score, candidates, found, knowledge or BoundKnowledge(), max_parents, threads)
        total = score.total(found)
        since_best = 0.0  # what the score rose by since the best graph, without the digits of the whole
        recent = deque([walk.key], maxlen=min(max(int(tabu), 1), sys.maxsize))
        stale = 0
        changed: set[int] = set()  # children whose parents are not those of the best graph
        while (move := walk.best_move(recent)) is not None and stale <= patience:
            walk.apply(move)
            recent.append(walk.key)
            total += move.gain
            since_best += move.gain
            if watch is not None:
                watch(walk.dag.arcs, total)
            stale += 1
            changed |= {move.x, move.y}
            if since_best > score.rounding:
                since_best, stale = 0.0, 0
                better = found.copy()
                for y in changed:
                    better[y] = set(walk.dag.parents[y])
                found = better
                changed.clear()
    return found


class _Walk:
    """A graph, and the gain in score of every change of one arc.

    For every child, the best change that was not found to close a cycle is known. Adding an arc never makes a change
    possible that was not, so a step looks only at what it changes, and at the best changes that are impossible now.
    """

    def __init__(
        self,
        score: Score,
        candidates: CandidatesOfEach,
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
        self._known: dict[Family, Floats] = {}
        self._places: dict[tuple[int, int], int | None] = {}
        self.gains: list[Floats] = [np.empty(0)] * n
        """By child: the gain of adding each candidate to its parents, or of removing it."""
        self._tops = np.full(n, -np.inf)
        """By child: its largest gain."""
        self._closing: list[list[int]] = [[] for _ in range(n)]
        """By child: places of candidates that would close a cycle, as far as this was found."""
        self._best = np.full(n, -np.inf)
        """By child: the largest gain without the candidates found to close a cycle."""
        self._place = [0] * n
        """By child: the place of the candidate with that gain, the first one of several."""
        self._reversals: list[dict[int, float]] = [{} for _ in range(n)]
        """By child: the gain of reversing the arc from each parent, if possible at all, parents in ascending order."""
        self._best_reversal = np.full(n, -np.inf)
        """By child: the largest of them."""
        self._compute(self._family(y) for y in range(n))
        self._update(range(n))

    def _family(self, y: int) -> Family:
        return y, frozenset(self.dag.parents[y])

    def _compute(self, families: Iterable[Family]) -> None:
        """Compute the gains of children with their parents, those of adding an arc all together."""
        new = [family for family in families if family not in self._known]
        for k in range(0, len(new), TOGETHER):
            self._compute_together(new[k : k + TOGETHER])

    def _compute_together(self, new: Sequence[Family]) -> None:
        scores = [self.score.family(y, parents) for y, parents in new]
        gains = [np.full(len(self.candidates[y]), -np.inf) for y, _ in new]
        outside, queries = [], []
        for k, (y, parents) in enumerate(new):
            if len(parents) < self.max_parents and len(self.candidates[y]):
                others = np.ones(len(self.candidates[y]), bool)
                others[[place for x in parents if (place := self._place_of(x, y)) is not None]] = False
                outside.append((k, others))
                queries.append((y, self.candidates[y][others], sorted(parents)))
        for (k, others), after in zip(
            outside, self.score.additions_of_many(queries, threads=self.threads), strict=True
        ):
            gains[k][others] = after - scores[k]
        for k, (y, parents) in enumerate(new):
            removable = [x for x in sorted(parents) if not self.knowledge.requires(x, y)]
            places = {x: place for x in removable if (place := self._place_of(x, y)) is not None}
            if places:
                without = self.score.families(y, [sorted(parents - {x}) for x in places])
                gains[k][list(places.values())] = without - scores[k]
            self._known[new[k]] = gains[k]

    def _place_of(self, x: int, y: int) -> int | None:
        """Return the place of x among the candidates of y."""
        if (x, y) not in self._places:
            places = np.flatnonzero(self.candidates[y] == x)
            self._places[x, y] = int(places[0]) if len(places) else None
        return self._places[x, y]

    def _update(self, changed: Iterable[int]) -> None:
        """Update what is known about children whose parents have changed."""
        about = set(changed)
        for y in about:
            self.gains[y] = self._known[self._family(y)]
            self._tops[y] = self.gains[y].max(initial=-np.inf)
            self._find_best(y)
        for y in about.union(*(self.dag.children[x] for x in about)):
            self._find_reversals(y)

    def _find_best(self, y: int, recent: Sequence[int] = ()) -> None:
        """Find the best change of an arc into y that is not known to close a cycle or to lead to a recent graph."""
        gains = self.gains[y]
        if self._closing[y] or recent:
            gains = gains.copy()
            gains[self._closing[y]] = gains[list(recent)] = -np.inf
        if len(gains):
            self._place[y] = int(gains.argmax())
            self._best[y] = gains[self._place[y]]

    def _find_reversals(self, y: int) -> None:
        """Find what the reversal of each arc into y gains."""
        found = {}
        for x in sorted(self.dag.parents[y]):
            into_y, into_x = self._place_of(x, y), self._place_of(y, x)
            if into_y is not None and into_x is not None:
                gain = float(self.gains[y][into_y] + self.gains[x][into_x])
                if gain != -np.inf:
                    found[x] = gain
        self._reversals[y] = found
        self._best_reversal[y] = max(found.values(), default=-np.inf)

    def best_move(self, recent: Collection[int]) -> Move | None:
        """Return the change with the largest gain that closes no cycle and leads to no recent graph.

        Of several, additions and removals come before reversals. Of the former, the child with the largest gain of any
        change comes first, then the first child and the first candidate; of the latter, the first child and parent.
        """
        best = self._best_toggle(recent)
        for y in np.flatnonzero(self._best_reversal > (-np.inf if best is None else best.gain)).tolist():
            for x, gain in self._reversals[y].items():
                if (
                    (best is None or gain > best.gain)
                    and self.dag.can_reverse(x, y)
                    and self.key ^ hash((x, y)) ^ hash((y, x)) not in recent
                ):
                    best = Move(gain, x, y, reverse=True)
        return best

    def _best_toggle(self, recent: Collection[int]) -> Move | None:
        """Return the best addition or removal."""
        passed: dict[int, list[int]] = {}  # by child: places of changes that lead to a recent graph
        best = None
        while best is None:
            y = int(self._best.argmax())
            ties = np.flatnonzero(self._best == self._best[y])
            if len(ties) > 1:
                y = int(ties[self._tops[ties].argmax()])
            if self._best[y] == -np.inf:
                break
            place = self._place[y]
            x = int(self.candidates[y][place])
            if x not in self.dag.parents[y] and not self.dag.admits(x, y):
                self._closing[y].append(place)
                self._find_best(y, passed.get(y, ()))
            elif self.key ^ hash((x, y)) in recent:
                passed.setdefault(y, []).append(place)
                self._find_best(y, passed[y])
            else:
                best = Move(float(self._best[y]), x, y)
        for y in passed:
            self._find_best(y)
        return best

    def apply(self, move: Move) -> None:
        """Apply a change."""
        x, y = move.x, move.y
        self.key ^= hash((x, y))
        if x in self.dag.parents[y]:
            self.dag.remove(x, y)
            if move.reverse:
                self.dag.add(y, x)
                self.key ^= hash((y, x))
            self._reopen(x)
        else:
            self.dag.add(x, y)
        changed = (x, y) if move.reverse else (y,)
        self._compute(self._family(node) for node in changed)
        self._update(changed)

    def _reopen(self, x: int) -> None:
        """After the removal of an arc from x, find the changes that close no cycle any more."""
        for z in (x, *_bits(self.dag.ancestors[x])):
            if self._closing[z]:
                xs = self.candidates[z]
                self._closing[z] = [place for place in self._closing[z] if not self.dag.admits(int(xs[place]), z)]
                self._find_best(z)


def _bits(number: int) -> list[int]:
    """Return the places of the ones of a number."""
    held = np.frombuffer(number.to_bytes(number.bit_length() // 8 + 1, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(held, bitorder="little")).tolist()
