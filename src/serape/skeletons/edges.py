"""The evidence for the edges of a skeleton, and sets that separate the pairs that are not adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import comb
from operator import itemgetter

import numpy as np

from serape.independence.outcomes import Floats
from serape.independence.subset_query import TargetLists
from serape.search import Search
from serape.search.many_targets import separate_each
from serape.skeletons.pair_tests import PairsWithTests, PairTests, SeparatedPairs, keys_of, numbered
from serape.skeletons.skeleton import Pair, Skeleton, separate_pairs

MAX_SUBSETS = 100_000
"""The most subsets of one size that are searched for a separating set of a pair."""


def weigh_edges(search: Search, found: Skeleton) -> dict[int, list[int]]:
    """Find the weakest association of every adjacent pair, given nothing or one neighbour of either.

    Returns the neighbours of every variable, most strongly associated first.
    """
    asked = TargetLists.of({x: sorted(neighbours) for x, neighbours in found.neighbours.items() if neighbours})
    keys, numbers = numbered(asked)
    weakest = PairTests(len(keys))
    begin, log_p, statistic = 0, [np.empty(0)], [np.empty(0)]
    for _, answers, _ in separate_each(search, asked, asked, 0):
        tests = answers.columns()
        weakest.add(numbers[begin : begin + len(answers)][tests[0]], tests, answers)
        begin += len(answers)
        log_p.append(answers.log_p)
        statistic.append(answers.statistic)
    pools = _by_strength(asked, np.concatenate(log_p), np.concatenate(statistic))
    several = TargetLists.of({x: pool for x, pool in pools.items() if len(pool) > 1})
    numbers = keys.searchsorted(keys_of(several.each_target(), several.members))
    separate_pairs(search, several, numbers, several, 1, weakest, weakest)
    known = np.flatnonzero(weakest.known)
    found.weakest = PairsWithTests(keys[known], weakest.tests(known))
    return pools


def _by_strength(asked: TargetLists, log_p: Floats, statistic: Floats) -> dict[int, list[int]]:
    """Return the members of each list, most strongly associated first; ties in their order."""
    if np.isnan(log_p).any():  # unreliable answers compare as neither stronger nor weaker
        strength = iter(zip(log_p.tolist(), (-statistic).tolist(), strict=True))
        pairs = ((x, list(zip(ys, strength, strict=False))) for x, ys in asked.items())
        return {x: [y for y, _ in sorted(pair, key=itemgetter(1))] for x, pair in pairs}
    order = np.lexsort((-statistic, log_p, np.arange(len(asked.targets)).repeat(np.diff(asked.ends, prepend=0))))
    return dict(asked._replace(members=asked.members[order]).items())


def find_separations(search: Search, found: Skeleton, pools: Mapping[int, list[int]]) -> None:
    """Find sets that separate the pairs that have a common neighbour but are not adjacent.

    The subsets of the neighbours of either variable are searched, the smallest first. Forbidden members are not tested
    and have no separating set.
    """
    pending = {x: search.admissible(x, sorted(found.at_distance_two(x))) for x in pools}
    size = 0
    while pending := {x: ys for x, ys in pending.items() if ys and _feasible(len(pools[x]), size)}:
        asked = TargetLists.of(pending)
        keys, numbers = numbered(asked)
        separated = PairTests(len(keys))
        separate_pairs(search, asked, numbers, TargetLists.of({x: pools[x] for x in pending}), size, separated)
        new = separated.in_order()
        own = SeparatedPairs(keys[new], separated.tests(new).given)
        found.separations = SeparatedPairs.joined([found.separations, own])
        left = ~separated.known[numbers]
        ends = np.concatenate(([0], np.cumsum(left)))[asked.ends]
        pending = dict(TargetLists(asked.targets, ends, asked.members[left]).items())
        size += 1


def _feasible(pool: int, size: int) -> bool:
    return size <= pool and comb(pool, size) <= MAX_SUBSETS


def pairs_of(neighbours: Mapping[int, Iterable[int]]) -> list[Pair]:
    """Return the adjacent pairs, in the variables' order."""
    return [frozenset((x, y)) for x in sorted(neighbours) for y in sorted(neighbours[x]) if x < y]
