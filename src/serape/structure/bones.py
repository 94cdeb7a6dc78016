"""Skeletons: who is joined to whom, and what separates those who are not.

Pairs are parted in rounds, by sets of 1, 2, … members. Each side of a pair looks through its own pool, and of two sets
that are found the one with the larger p-value counts: within a round nothing depends on who is looked at first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from serape.independence.base import Association
from serape.search import Search

Pair = frozenset[int]


@dataclass
class Skeleton:
    """Who is joined to whom, and what separates those who are not but have a neighbour in common."""

    neighbours: dict[int, set[int]]
    separations: dict[Pair, Association] = field(default_factory=dict)
    """Tests that separate pairs."""
    weakest: dict[Pair, Association] = field(default_factory=dict)
    """For pairs that are joined, the weakest association met."""

    def separating_set(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, or None if none is known."""
        found = self.separations.get(frozenset((x, y)))
        return None if found is None else found.given

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


def part(
    search: Search, asked: Mapping[int, Sequence[int]], pools: Mapping[int, Sequence[int]], size: int
) -> tuple[dict[Pair, Association], dict[Pair, Association]]:
    """Look for sets of one size in the pool of x that separate it from those asked about, for every x.

    Returns what separates pairs, and for the others the weakest association met.
    """
    separated: dict[Pair, Association] = {}
    weakest: dict[Pair, Association] = {}
    for x, others in asked.items():
        answers = search.separate(others, x, pools[x], range(size, size + 1))
        for k, y in enumerate(others):
            if answers.reliable[k]:
                keep_weaker(separated if answers.separated[k] else weakest, frozenset((x, y)), answers[k])
    return separated, weakest


def keep_weaker(store: dict[Pair, Association], pair: Pair, association: Association) -> None:
    """Keep an association of a pair if none weaker is there."""
    if pair in store:
        one, other = association.outcome, store[pair].outcome
        if (one.log_p, -one.statistic) <= (other.log_p, -other.statistic):
            return
    store[pair] = association
