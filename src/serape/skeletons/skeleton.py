"""Skeletons: who is joined to whom, and what separates those who are not.

Pairs are parted in rounds, by sets of 1, 2, … members. Each side of a pair looks through its own pool, and of two sets
that are found the one with the larger p-value counts: within a round nothing depends on who is looked at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search import Search

Pair = frozenset[int]


@dataclass(frozen=True, slots=True)
class Single:
    """One test given nothing."""

    only: Outcome

    def outcome(self, index: int) -> Outcome:
        """Return the answer."""
        del index
        return self.only

    def given_of(self, index: int) -> tuple[int, ...]:
        """Return the conditioning set."""
        del index
        return ()


PairTest = tuple[float, float, SubsetResult | ScreenResult | Single, int]
"""A test of a pair: log p, less the statistic, and the answers among which it is, with its place; larger is weaker.

There are many of these and few are looked at in the end, so no more is made of them than that.
"""


@dataclass
class Skeleton:
    """Who is joined to whom, and what separates those who are not but have a neighbour in common."""

    neighbours: dict[int, set[int]]
    separations: dict[Pair, PairTest] = field(default_factory=dict)
    """Tests that separate pairs."""
    weakest: dict[Pair, PairTest] = field(default_factory=dict)
    """For pairs that are joined, the weakest association met."""

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, or None if none is known."""
        seen = self.separations.get(frozenset((x, y)))
        return None if seen is None else seen[2].given_of(seen[3])

    def is_collider(self, x: int, middle: int, y: int) -> bool:
        """Return whether X – middle – Y, X and Y not joined, must be X → middle ← Y."""
        near = self.neighbours
        if middle not in near[x] or middle not in near[y] or y in near[x]:
            return False
        separating = self.separating_set(x, y)
        return separating is not None and middle not in separating

    def at_distance_two(self, x: int) -> set[int]:
        """Return those that are not joined to x, but to a neighbour of it."""
        near = self.neighbours[x]
        return {y for z in near for y in self.neighbours[z]} - near - {x}


def separate_pairs(
    search: Search, asked: Mapping[int, Sequence[int]], pools: Mapping[int, Sequence[int]], size: int
) -> tuple[dict[Pair, PairTest], dict[Pair, PairTest]]:
    """Look for sets of one size in the pool of x that separate it from those asked about, for every x.

    Returns what separates pairs, and for the others the weakest association met.
    """
    separated: dict[Pair, PairTest] = {}
    weakest: dict[Pair, PairTest] = {}
    for x, others in asked.items():
        answers = search.separate(others, x, pools[x], range(size, size + 1))
        apart = set(answers.separated_variables)
        for pair, seen in pair_tests(x, answers):
            keep_weaker(weakest if apart.isdisjoint(pair) else separated, pair, seen)
    return separated, weakest


def pair_tests(target: int, answers: SubsetResult | ScreenResult) -> list[tuple[Pair, PairTest]]:
    """Return the reliable answers about a target: pair and test."""
    return [(frozenset((target, x)), (log_p, -statistic, answers, k)) for k, x, log_p, statistic in answers.each()]


def keep_weaker(store: dict[Pair, PairTest], pair: Pair, seen: PairTest) -> None:
    """Keep a test of a pair if no weaker one is there."""
    known = store.get(pair)
    if known is None or seen[:2] > known[:2]:
        store[pair] = seen
