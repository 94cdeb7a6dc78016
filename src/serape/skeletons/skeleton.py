"""Skeletons: which variables are adjacent, and the tests that separate those that are not.

Pairs are separated in rounds, by sets of 1, 2, … members. For each variable of a pair the sets come from a pool of its
own. If both pools have a separating set, the one with the larger p-value counts, so that within a round the order of
the variables does not matter.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from serape.independence.subset_query import TargetLists
from serape.search import Search
from serape.search.many_targets import separate_each
from serape.skeletons.pair_tests import Keys, PairsWithTests, PairTests, SeparatedPairs, keys_of

Pair = frozenset[int]
_PATHS = 1 << 22  # looked at together


@dataclass
class Skeleton:
    """Which variables are adjacent, and what separates those that are not but have a common neighbour."""

    neighbours: dict[int, set[int]]
    separations: SeparatedPairs = field(default_factory=lambda: SeparatedPairs.joined([]))
    """Sets that separate pairs."""
    weakest: PairsWithTests = field(default_factory=PairsWithTests.none)
    """For adjacent pairs, the weakest association found."""

    def pairs(self) -> Keys:
        """Return the adjacent pairs, in the variables' order."""
        count = np.fromiter(map(len, self.neighbours.values()), np.intp, len(self.neighbours))
        from_ = np.fromiter(self.neighbours, np.uint32, len(count)).repeat(count)
        to = np.fromiter(chain.from_iterable(self.neighbours.values()), np.uint32, len(from_))
        once = from_ < to
        return np.sort(keys_of(from_[once], to[once]))

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, or None if none is known."""
        return self.separations.set_of(x, y)

    def is_collider(self, x: int, middle: int, y: int) -> bool:
        """Return whether X – middle – Y, X and Y not adjacent, must be X → middle ← Y."""
        neighbours = self.neighbours
        if middle not in neighbours[x] or middle not in neighbours[y] or y in neighbours[x]:
            return False
        separating = self.separating_set(x, y)
        return separating is not None and middle not in separating

    def at_distance_two(self, x: int) -> set[int]:
        """Return the variables that are not adjacent to x, but to a neighbour of x."""
        adjacent = self.neighbours[x]
        return {y for z in adjacent for y in self.neighbours[z]} - adjacent - {x}

    def pairs_at_distance_two(self) -> Keys:
        """Return the pairs that are not adjacent but have a common neighbour, in the variables' order."""
        adjacent = self.pairs()
        x, y = (adjacent >> 32).astype(np.uint32), (adjacent & 0xFFFFFFFF).astype(np.uint32)
        to = np.concatenate((y, x))[np.concatenate((x, y)).argsort(kind="stable")]
        degree = np.bincount(to, minlength=int(to.max(initial=0)) + 1)
        ends = np.cumsum(degree)
        paths = np.cumsum(degree * (degree - 1))  # from one neighbour of each variable to another
        found = [np.empty(0, np.int64)]
        begin = 0
        while begin < len(degree):
            end = max(begin + 1, int(paths.searchsorted(_PATHS + (paths[begin - 1] if begin else 0), side="right")))
            found.append(_ends_of_paths(to, ends, np.arange(begin, end)))
            found = [_distinct(np.concatenate(found))]
            begin = end
        keys = found[0]
        at = adjacent.searchsorted(keys)
        return keys[adjacent.take(at, mode="clip") != keys] if len(adjacent) else keys


def _distinct(keys: Keys) -> Keys:
    """Return keys in ascending order, each once."""
    keys.sort()
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[1:] != keys[:-1]
    return keys[is_new]


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause the collector of garbage while many objects are made of which none is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _ends_of_paths(to: NDArray[np.uint32], ends: NDArray[np.int64], middle: NDArray[np.int64]) -> Keys:
    """Return the pairs that have one of some variables in common as neighbour; `to` has the neighbours of each."""
    degree = np.diff(ends, prepend=0)[middle]
    begin = ends[middle] - degree
    size = degree * degree
    of = np.arange(len(middle)).repeat(size)
    number = np.arange(len(of)) - (np.cumsum(size) - size)[of]
    one, other = to[begin[of] + number // degree[of]], to[begin[of] + number % degree[of]]
    once = one < other
    return keys_of(one[once], other[once])


def separate_pairs(
    search: Search,
    asked: TargetLists,
    pairs: NDArray[np.intp],
    pools: TargetLists,
    size: int,
    separated: PairTests,
    weakest: PairTests | None = None,
) -> None:
    """Find sets of one size in the pool of each target that separate it from the variables in `asked`.

    `pairs` has the number of each pair in `asked`. Adds the tests that separate pairs to those of `separated`, and the
    others to `weakest`, if it is given.
    """
    begin = 0
    for _, answers, is_separated in separate_each(search, asked, pools, size):
        own = pairs[begin : begin + len(answers)]
        verdicts, log_p, statistic = answers.verdicts()
        reliable = verdicts > 0
        separated.add_those(reliable & is_separated, own, log_p, statistic, answers)
        if weakest is not None:
            weakest.add_those(reliable & ~is_separated, own, log_p, statistic, answers)
        begin += len(answers)
