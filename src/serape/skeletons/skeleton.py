"""Skeletons: which variables are adjacent, and the tests that separate those that are not.

Pairs are separated in rounds, by sets of 1, 2, … members. For each variable of a pair the sets come from a pool of its
own. If both pools have a separating set, the one with the larger p-value counts, so that within a round the order of
the variables does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search import Search
from serape.search.many_targets import separate_each

Pair = frozenset[int]


PairTest = tuple[float, float, SubsetResult | ScreenResult, int]
"""A test of a pair: log p, the negative statistic, and the answers that hold the test, with its index there.

Larger tuples are weaker. There are many of these and few are used in the end, so they are plain tuples.
"""


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
    search: Search, asked: Mapping[int, Sequence[int]], pools: Mapping[int, Sequence[int]], size: int
) -> tuple[dict[Pair, PairTest], dict[Pair, PairTest]]:
    """Find sets of one size in the pool of each x that separate it from the variables in `asked[x]`.

    Returns the tests that separate pairs, and for the other pairs the weakest association.
    """
    separated: dict[Pair, PairTest] = {}
    weakest: dict[Pair, PairTest] = {}
    for targets, answers, is_separated in separate_each(search, asked, pools, size):
        for k, x, log_p, statistic in answers.each():
            test: PairTest = (log_p, -statistic, answers, k)
            keep_weaker(separated if is_separated[k] else weakest, frozenset((targets[k], x)), test)
    return separated, weakest


def pair_tests(target: int, answers: SubsetResult | ScreenResult) -> list[tuple[Pair, PairTest]]:
    """Return the reliable answers about a target: pair and test."""
    return [(frozenset((target, x)), (log_p, -statistic, answers, k)) for k, x, log_p, statistic in answers.each()]


def keep_weaker(store: dict[Pair, PairTest], pair: Pair, test: PairTest) -> None:
    """Store a test of a pair unless a weaker one is stored."""
    known = store.get(pair)
    if known is None or test[:2] > known[:2]:
        store[pair] = test
