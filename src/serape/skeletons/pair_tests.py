"""One test for each of many pairs of variables, in arrays.

Most tests of a search for a skeleton are replaced by others, so they are not made into objects before the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Floats, TestColumns
from serape.independence.subset_query import TargetLists
from serape.search.associations import BatchResult, DecidingTest

Keys = NDArray[np.int64]


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


@dataclass(frozen=True)
class PairsWithTests:
    """Pairs, each with a test."""

    keys: Keys
    """In ascending order."""
    tests: GivenTests

    @classmethod
    def none(cls) -> PairsWithTests:
        """Return no pairs."""
        return cls(np.empty(0, np.int64), GivenTests.joined([]))

    def of(self, keys: Keys) -> PairsWithTests:
        """Return the tests of those of some pairs that have one here; the keys are in ascending order."""
        keys = keys[np.isin(keys, self.keys, assume_unique=True)]
        return PairsWithTests(keys, self.tests.at(self.keys.searchsorted(keys)))

    def replaced_by(self, others: Mapping[frozenset[int], DecidingTest]) -> PairsWithTests:
        """Return the pairs with other tests in the place of their own; pairs that have none here are added."""
        if not others:
            return self
        new = {min(pair) << 32 | max(pair): test for pair, test in others.items()}
        own = np.flatnonzero(~np.isin(self.keys, np.fromiter(new, np.int64, len(new))))
        statistic, dof, log_p = (
            np.array([getattr(test, name) for test in new.values()], np.float64)
            for name in ("statistic", "dof", "log_p")
        )
        added = GivenTests(statistic, dof, log_p, VariableSets.of([test.given for test in new.values()]))
        keys = np.concatenate([self.keys[own], np.fromiter(new, np.int64, len(new))])
        order = keys.argsort()
        return PairsWithTests(keys[order], GivenTests.joined([self.tests.at(own), added]).at(order))


@dataclass(frozen=True)
class SeparatedPairs:
    """Pairs, in the order in which they were found, with the sets that separate them."""

    keys: Keys
    sets: VariableSets

    @classmethod
    def joined(cls, parts: Sequence[SeparatedPairs]) -> SeparatedPairs:
        """Return the pairs of several, one after another."""
        keys = np.concatenate([np.empty(0, np.int64), *(part.keys for part in parts)])
        return cls(keys, VariableSets.joined([part.sets for part in parts]))

    def set_of(self, x: int, y: int) -> tuple[int, ...] | None:
        """Return the set that separates two variables, or None if none is known."""
        at = self._place.get(min(x, y) << 32 | max(x, y))
        return None if at is None else self.sets[at]

    @cached_property
    def _place(self) -> dict[int, int]:
        return {key: k for k, key in enumerate(self.keys.tolist())}

    def without(self, keys: Keys) -> SeparatedPairs:
        """Return the pairs that are not among some."""
        left = np.flatnonzero(~np.isin(self.keys, keys))
        return SeparatedPairs(self.keys[left], self.sets.at(left))


class PairTests:
    """For each of several pairs, the weakest test that was added, if there is one."""

    def __init__(self, count: int) -> None:
        self.log_p: Floats = np.zeros(count)
        self.statistic: Floats = np.zeros(count)
        self._batch = np.full(count, -1, np.intp)
        self._index = np.zeros(count, np.intp)
        self._batches: list[BatchResult] = []
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

    def add(self, pairs: NDArray[np.intp], tests: TestColumns, answers: BatchResult) -> None:
        """Add tests of pairs, given by their numbers here; of tests as weak as each other, the first stays."""
        index, _, log_p, statistic = tests
        self._add(pairs, index, log_p, statistic, answers)

    def add_those(
        self, which: NDArray[np.bool_], pairs: NDArray[np.intp], log_p: Floats, statistic: Floats, answers: BatchResult
    ) -> None:
        """Add some of the answers; the arrays have a pair and the values of each answer."""
        index = np.flatnonzero(which)
        self._add(pairs[index], index, log_p[index], statistic[index], answers)

    def _add(
        self, pairs: NDArray[np.intp], index: NDArray[np.intp], log_p: Floats, statistic: Floats, answers: BatchResult
    ) -> None:
        if len(pairs) == 0:
            return
        _core.keep_weakest(
            pairs, index, log_p, statistic, len(self._batches), self._added,
            self.log_p, self.statistic, self._batch, self._index, self._since,
        )  # fmt: skip
        self._added += len(pairs)
        self._batches.append(answers)

    def tests(self, at: NDArray[np.intp]) -> GivenTests:
        """Return the tests of some pairs, which must have one."""
        batch = self._batch[at]
        order = batch.argsort(kind="stable")
        begin = np.flatnonzero(np.diff(batch[order], prepend=-1))
        parts = [
            self._batches[batch[some[0]]].tests_at(self._index[at[some]])
            for some in np.split(order, begin[1:])
            if len(some)
        ]
        place = np.empty(len(order), np.intp)
        place[order] = np.arange(len(order))
        return GivenTests.joined(parts).at(place)
