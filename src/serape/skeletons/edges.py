"""The evidence for the edges of a skeleton, and sets that separate the pairs that are not adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from math import comb
from operator import itemgetter

from serape.search import Search
from serape.search.many_targets import separate_each
from serape.skeletons.skeleton import Pair, Skeleton, keep_weaker, separate_pairs

MAX_SUBSETS = 100_000
"""The most subsets of one size that are searched for a separating set of a pair."""


def weigh_edges(search: Search, found: Skeleton) -> dict[int, list[int]]:
    """Find the weakest association of every adjacent pair, given nothing or one neighbour of either.

    Returns the neighbours of every variable, most strongly associated first.
    """
    pools: dict[int, list[int]] = {}
    asked = {x: sorted(neighbours) for x, neighbours in found.neighbours.items() if neighbours}
    for targets, tests, _ in separate_each(search, asked, asked, 0):
        for k, y, log_p, statistic in tests.each():
            keep_weaker(found.weakest, frozenset((targets[k], y)), (log_p, -statistic, tests, k))
        strength = list(zip(tests.log_p.tolist(), (-tests.statistic).tolist(), tests.xs.tolist(), strict=True))
        for x, of_x in groupby(zip(targets, strength, strict=True), key=itemgetter(0)):
            pools[x] = [y for _, (_, _, y) in sorted(of_x, key=lambda test: test[1][:2])]
    for store in separate_pairs(search, {x: pool for x, pool in pools.items() if len(pool) > 1}, pools, 1):
        for pair, test in store.items():
            keep_weaker(found.weakest, pair, test)
    return pools


def find_separations(search: Search, found: Skeleton, pools: Mapping[int, list[int]]) -> None:
    """Find sets that separate the pairs that have a common neighbour but are not adjacent.

    The subsets of the neighbours of either variable are searched, the smallest first. Pairs that knowledge forbids are
    not tested and have no separating set.
    """
    pending = {x: search.admissible(x, sorted(found.at_distance_two(x))) for x in pools}
    size = 0
    while pending := {x: ys for x, ys in pending.items() if ys and _feasible(len(pools[x]), size)}:
        separated, _ = separate_pairs(search, pending, pools, size)
        found.separations.update(separated)
        pending = {x: [y for y in ys if frozenset((x, y)) not in separated] for x, ys in pending.items()}
        size += 1


def _feasible(pool: int, size: int) -> bool:
    return size <= pool and comb(pool, size) <= MAX_SUBSETS


def pairs_of(neighbours: Mapping[int, Iterable[int]]) -> list[Pair]:
    """Return the adjacent pairs, in the variables' order."""
    return [frozenset((x, y)) for x in sorted(neighbours) for y in sorted(neighbours[x]) if x < y]
