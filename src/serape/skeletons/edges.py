"""The evidence for the edges of a skeleton, and sets that separate the pairs that are not adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb

from serape.search import Search
from serape.skeletons.skeleton import Pair, Skeleton, keep_weaker, pair_tests, separate_pairs

MAX_SUBSETS = 100_000
"""The most subsets of one size that are searched for a separating set of a pair."""


def weigh_edges(search: Search, found: Skeleton) -> dict[int, list[int]]:
    """Find the weakest association of every adjacent pair, given nothing or one neighbour of either.

    Returns the neighbours of every variable, most strongly associated first.
    """
    pools: dict[int, list[int]] = {}
    for x, neighbours in found.neighbours.items():
        if neighbours:
            tests = search.separate(sorted(neighbours), x, sorted(neighbours), range(1))
            order = sorted(range(len(tests)), key=lambda k: (tests.log_p[k], -tests.statistic[k]))
            pools[x] = [int(tests.xs[k]) for k in order]
            for pair, test in pair_tests(x, tests):
                keep_weaker(found.weakest, pair, test)
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
