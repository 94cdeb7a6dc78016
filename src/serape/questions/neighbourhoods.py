"""LGL, local to global learning: neighbourhoods of all variables, joined to a skeleton.

Aliferis, *Introduction to IAMB, GLL & LGL*, 2008; Aliferis, Statnikov, Tsamardinos, Mani and Koutsoukos, *Local causal
and Markov blanket induction for causal discovery and feature selection for classification, part II*, JMLR 2010.

Any learner of parents and children will do, also a user's own. Tests given nothing, and steps that a learner takes
about one variable, are shared between the targets where that changes no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Literal

from serape.independence.base import ScreenResult, Tally
from serape.parallel.map import ProgressBar, marginal_tests, parallel_map, shared_tests
from serape.parallel.precompute import precompute_steps
from serape.progress import ProgressCallback
from serape.questions.checkpoint import Checkpoint
from serape.questions.query import Query
from serape.search import Search
from serape.skeletons.skeleton import Pair, Skeleton, keep_weaker, pair_tests, separate_pairs

Rule = Literal["and", "or"]
MAX_SUBSETS = 100_000
"""A separating set of a pair is looked for among subsets of its neighbours of one size while there are no more."""


@dataclass
class Neighbourhoods:
    """Parents and children by variable, and what it took to find them."""

    of: dict[int, tuple[int, ...]] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    notes: list[str] = field(default_factory=list)
    complete: bool = False


def neighbourhoods(
    query: Query,
    targets: list[int],
    jobs: int = 1,
    progress: bool | ProgressCallback | None = None,
    checkpoint: Checkpoint | None = None,
) -> Neighbourhoods:
    """Find the parents and children of many targets; what a checkpoint has of them is taken from there.

    Interrupted, it returns what there is, and says that it is not complete.
    """
    found = Neighbourhoods()
    if checkpoint is not None:
        for target, near, tally in checkpoint.kept:
            if target not in found.of:
                found.of[target] = near
                found.tally.merge(tally)
        if found.of:
            found.notes.append(f"{len(found.of):,} neighbourhoods were taken from the checkpoint")
    rest = [target for target in targets if target not in found.of]
    show = ProgressBar("neighbourhoods", len(rest), progress)
    names = query.source.variables
    memory = query.memory(len(rest))
    known: Mapping[int, ScreenResult] = {}
    done: dict[int, tuple[tuple[int, ...], Tally, list[str]]] = {}
    ahead: dict[int, Tally] = {}

    def one(target: int, watch: ProgressCallback) -> tuple[tuple[int, ...], Tally, list[str]]:
        search = query.search(None, watch=watch, marginals=known, memory=memory)
        near = tuple(int(x) for x in query.answer(search, target).parents_children or ())
        if target in ahead:
            search.tally.merge(ahead[target])
        return near, search.tally, search.notes

    def keep(target: int, answer: tuple[tuple[int, ...], Tally, list[str]]) -> None:
        done[target] = answer
        near, tally, _ = answer
        if checkpoint is not None:
            checkpoint.add(target, near, tally)
        show.advance(names[target], tuple(names[x] for x in near), tally.performed, tally.skipped)

    try:
        known = marginal_tests(query.source, rest, query.knowledge, jobs)
        if known:
            found.tally.add(0, shared_tests(known), 0)
        taken, jobs = precompute_steps(query, rest, jobs, known, memory, progress, copies=True)
        ahead.update(taken)
        parallel_map(one, rest, jobs, keep, test=query.source)
        found.complete = True
    except KeyboardInterrupt:
        pass
    finally:
        show.close()
    noted: dict[str, int] = {}
    for target in rest:
        if target in done:
            near, tally, notes = done[target]
            found.of[target] = near
            found.tally.merge(tally)
            for note in notes:
                noted[note] = noted.get(note, 0) + 1
    found.notes += [note if count == 1 else f"{note} ({count:,} targets)" for note, count in noted.items()]
    return found


def join(near: Mapping[int, Iterable[int]], rule: Rule, query: Query) -> dict[int, set[int]]:
    """Join variables if both are (and), or one of them is (or), among the parents and children of the other.

    Who has no neighbourhood of his own (constant, or not come to) is joined to nobody under "and".
    """
    joined: dict[int, set[int]] = {x: set() for x in range(len(query.source.variables))}
    for x, others in near.items():
        for y in others:
            if rule == "or" or x in near.get(y, ()):
                joined[x].add(y)
                joined[y].add(x)
    if query.knowledge is not None:
        for x, y in query.knowledge.required:
            joined[x].add(y)
            joined[y].add(x)
    return joined


def weigh_edges(search: Search, found: Skeleton) -> dict[int, list[int]]:
    """Find the weakest association of every pair that is joined, given nothing or one neighbour of either.

    Returns everybody's neighbours, most strongly associated first.
    """
    pools: dict[int, list[int]] = {}
    for x, near in found.neighbours.items():
        if near:
            seen = search.separate(sorted(near), x, sorted(near), range(1))
            order = sorted(range(len(seen)), key=lambda k: (seen.log_p[k], -seen.statistic[k]))
            pools[x] = [int(seen.xs[k]) for k in order]
            for pair, test in pair_tests(x, seen):
                keep_weaker(found.weakest, pair, test)
    for store in separate_pairs(search, {x: pool for x, pool in pools.items() if len(pool) > 1}, pools, 1):
        for pair, test in store.items():
            keep_weaker(found.weakest, pair, test)
    return pools


def find_separations(search: Search, found: Skeleton, pools: Mapping[int, list[int]]) -> None:
    """Find what separates those that have a common neighbour but are not joined.

    It is looked for among the subsets of the neighbours of either, the smallest first. Pairs that knowledge keeps apart
    are not tested, and nothing is said of what separates them.
    """
    pending = {x: search.admissible(x, sorted(found.at_distance_two(x))) for x in pools}
    size = 0
    while pending := {x: ys for x, ys in pending.items() if ys and _worth_while(len(pools[x]), size)}:
        separated, _ = separate_pairs(search, pending, pools, size)
        found.separations.update(separated)
        pending = {x: [y for y in ys if frozenset((x, y)) not in separated] for x, ys in pending.items()}
        size += 1


def _worth_while(pool: int, size: int) -> bool:
    return size <= pool and comb(pool, size) <= MAX_SUBSETS


class Region:
    """What lies around a target, growing outward.

    Joined are pairs of which each is among the parents and children of the other. The neighbours of what lies at the
    full depth are not looked for, except to confirm an edge that leads there, and edges between two such variables are
    not part of the region.
    """

    def __init__(self, query: Query, target: int, search: Search) -> None:
        self.joined: dict[int, set[int]] = {target: set()}
        self.distance = {target: 0}
        self._task = query
        self._search = search
        self._symmetric = query.algorithm.symmetric(query.options)
        self._near: dict[int, set[int]] = {}

    def grow(self, depth: int) -> None:
        """Find everything within so many edges of the target."""
        frontier = list(self.distance)
        for step in range(1, depth + 1):
            following: list[int] = []
            for x in frontier:
                must = frozenset() if self._task.knowledge is None else self._task.knowledge.required_neighbours(x)
                for y in sorted(self._neighbours(x) | must):
                    if self._symmetric or y in must or x in self._neighbours(y):
                        self.joined[x].add(y)
                        self.joined.setdefault(y, set()).add(x)
                        if y not in self.distance:
                            self.distance[y] = step
                            following.append(y)
            frontier = following

    def _neighbours(self, x: int) -> set[int]:
        if x not in self._near:
            self._near[x] = {int(y) for y in self._task.answer(self._search, x).parents_children or ()}
        return self._near[x]


def pairs_of(neighbours: Mapping[int, Iterable[int]]) -> list[Pair]:
    """Return the pairs that are joined, in the variables' order."""
    return [frozenset((x, y)) for x in sorted(neighbours) for y in sorted(neighbours[x]) if x < y]
