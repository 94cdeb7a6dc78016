"""One test for each of many pairs of variables, in arrays.

Most tests of a search for a skeleton are replaced by others, so they are not made into objects before the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats, TestColumns
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult

Answers = SubsetResult | ScreenResult
PairTest = tuple[float, float, Answers, int]
"""A test of a pair: log p, the negative statistic, and the answers that hold the test, with its index there.

Larger tuples are weaker.
"""
Keys = NDArray[np.int64]
_MANY = 100_000


def keys_of(xs: NDArray[np.uint32], ys: NDArray[np.uint32]) -> Keys:
    """Return a number for each unordered pair; the numbers are in the order of the smaller variable, then the other."""
    small, large = np.minimum(xs, ys).astype(np.int64), np.maximum(xs, ys).astype(np.int64)
    return small << 32 | large


def numbered(lists: TargetLists) -> tuple[Keys, NDArray[np.intp]]:
    """Return the pairs of targets and members in ascending order, and by member of the lists the number of its pair."""
    return np.unique(keys_of(lists.each_target(), lists.members), return_inverse=True)


def pair_of(key: int) -> frozenset[int]:
    """Return the pair of a number."""
    return frozenset((key >> 32, key & 0xFFFFFFFF))


class PairTests:
    """For each of several pairs, the weakest test that was added, if there is one."""

    def __init__(self, count: int) -> None:
        self.log_p: Floats = np.zeros(count)
        self.statistic: Floats = np.zeros(count)
        self._batch = np.full(count, -1, np.intp)
        self._index = np.zeros(count, np.intp)
        self._batches: list[Answers] = []
        self._since = np.zeros(count, np.intp)  # when the first test of a pair was added
        self._added = 0

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which pairs have a test."""
        return self._batch >= 0

    def in_order(self) -> NDArray[np.intp]:
        """Return the pairs that have a test, in the order of their first tests."""
        known = np.flatnonzero(self.known)
        return known[self._since[known].argsort()]

    def add(self, pairs: NDArray[np.intp], tests: TestColumns, answers: Answers) -> None:
        """Add tests of pairs, given by their numbers here; of tests as weak as each other, the first stays."""
        index, _, log_p, statistic = tests
        if len(pairs) == 0:
            return
        first, weakest = grouped_tests(pairs, log_p, statistic)
        at, log_p, statistic = pairs[weakest], log_p[weakest], statistic[weakest]
        is_first = self._batch[at] < 0
        self._since[at[is_first]] = self._added + first[is_first]
        self._added += len(pairs)
        weaker = (log_p > self.log_p[at]) | ((log_p == self.log_p[at]) & (statistic < self.statistic[at]))
        new = np.flatnonzero(weaker | is_first)
        at = at[new]
        self.log_p[at], self.statistic[at] = log_p[new], statistic[new]
        self._batch[at], self._index[at] = len(self._batches), index[weakest[new]]
        self._batches.append(answers)

    def tests(self, at: NDArray[np.intp]) -> Iterable[PairTest]:
        """Return the tests of some pairs, which must have one."""
        columns = (self.log_p[at], -self.statistic[at], self._batch[at], self._index[at])
        batches = self._batches
        for log_p, negative, batch, index in zip(*(column.tolist() for column in columns), strict=True):
            yield log_p, negative, batches[batch], index


def stable_order(keys: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    """Return `keys.argsort(kind="stable")` of keys below 2³¹; of many, values are sorted, which takes less time."""
    if len(keys) < _MANY:
        return keys.argsort(kind="stable")
    joined = keys.astype(np.int64) << 32 | np.arange(len(keys))
    joined.sort()
    return (joined & 0xFFFFFFFF).astype(np.intp, copy=False)


def strength_ranks(log_p: Floats, statistic: Floats) -> NDArray[np.int64]:
    """Return the rank of each test: by log p, then the larger statistic first, then by place; all ranks differ."""
    order = log_p.argsort()
    sorted_p, sorted_statistic = log_p[order], statistic[order]
    differs = (sorted_p[1:] != sorted_p[:-1]) | (sorted_statistic[1:] != sorted_statistic[:-1])
    if (differs & (sorted_p[1:] == sorted_p[:-1])).any():  # as likely as each other, with other statistics
        order = np.lexsort((-statistic, log_p))
    else:
        run = np.concatenate((np.zeros(1, np.int64), np.cumsum(differs)))[: len(order)]
        order = np.sort(run << 32 | order) & 0xFFFFFFFF
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def grouped_tests(
    pairs: NDArray[np.intp], log_p: Floats, statistic: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the index of the first test of each pair, and of its weakest; of tests as weak as each other, the first's.

    The pairs are in ascending order.
    """
    order = stable_order(pairs)
    grouped = pairs[order]
    begin = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
    if len(begin) == len(pairs):
        return order, order
    sizes = np.diff(begin, append=len(pairs))
    log_p, statistic = log_p[order], statistic[order]
    weakest = log_p == np.maximum.reduceat(log_p, begin).repeat(sizes)
    statistic = np.where(weakest, statistic, np.inf)
    weakest &= statistic == np.minimum.reduceat(statistic, begin).repeat(sizes)
    places = np.where(weakest, np.arange(len(pairs)), len(pairs))
    return order[begin], order[np.minimum.reduceat(places, begin)]
