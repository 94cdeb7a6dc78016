"""Skeletons: which variables are adjacent, and the tests that separate those that are not.

Pairs are separated in rounds, by sets of 1, 2, … members. For each variable of a pair the sets come from a pool of its
own. If both pools have a separating set, the one with the larger p-value counts, so that within a round the order of
the variables does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from serape.independence.subset_query import TargetLists
from serape.search import Search
from serape.search.many_targets import separate_each
from serape.skeletons.pair_tests import PairTest, PairTests

Pair = frozenset[int]


@dataclass
class Skeleton:
    """Which variables are adjacent, and what separates those that are not but have a common neighbour."""

    neighbours: dict[int, set[int]]
    separations: dict[Pair, PairTest] = field(default_factory=dict)
    """Tests that separate pairs."""
    weakest: dict[Pair, PairTest] = field(default_factory=dict)
    """For adjacent pairs, the weakest association found."""

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, or None if none is known."""
        test = self.separations.get(frozenset((x, y)))
        return None if test is None else test[2].given_of(test[3])

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
        tests = answers.columns()
        own = pairs[begin : begin + len(answers)][tests[0]]
        shows = is_separated[tests[0]]
        index, xs, log_p, statistic = tests
        for store, which in ((separated, shows), (weakest, ~shows)):
            if store is not None:
                store.add(own[which], (index[which], xs[which], log_p[which], statistic[which]), answers)
        begin += len(answers)
