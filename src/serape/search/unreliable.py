"""Unreliable tests that are read as independence.

serape skips an unreliable test: it shows neither dependence nor independence. Some papers read it as independence, all
such tests or only those without degrees of freedom; `Search.read_as_independence` does so. Such tests are still counted
as skipped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Candidates, Outcome, Poll, Tally, TestsSpent, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery, n_subsets
from serape.independence.subsets import SubsetResult

Unreliable = Literal["zero-dof", "all"]
"""Which unreliable tests are read as independence: those with enough rows but no degrees of freedom, or all."""
READ_NOTES: Mapping[Unreliable, str] = {
    "all": "unreliable tests were read as independence; they are among the skipped ones",
    "zero-dof": "tests without degrees of freedom were read as independence; they are among the skipped ones",
}
"""What a result reports, once."""


def added_notes(notes: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return the notes of a part of a search, without those that a result reports once and that are known."""
    return [note for note in notes if note not in READ_NOTES.values() or note not in known]


_FEW = 4  # up to so many x are searched one after another


def read_outcome(which: Unreliable, outcome: Outcome) -> Outcome:
    """Return the outcome of `IndependenceTest.answer` as it is read."""
    if outcome.reliable or (which == "zero-dof" and outcome.dof != 0):
        return outcome
    return Outcome(0.0, outcome.dof, 0.0, True, outcome.rows)


def read_indices(which: Unreliable, screen: ScreenResult) -> NDArray[np.intp]:
    """Return the indices of the answers that are unreliable and read as independence."""
    return np.flatnonzero(~screen.reliable & ((screen.dof == 0) | (which == "all")))


def search_subsets(
    test: IndependenceTest, which: Unreliable, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally]:
    """Search conditioning sets as `IndependenceTest.search_subsets` does."""
    if len(query.xs) > _FEW and not query.shrinking and not query.until_survivor:
        return _SideBySide(test, which, query, threads, poll).search()
    reading = _Reading(test, which)
    found, tally = reading.search_subsets(query, poll=poll)
    return found, reading.corrected(tally)


def each_given_rest(
    test: IndependenceTest,
    which: Unreliable,
    xs: Candidates,
    target: int,
    pool: Candidates,
    stop_above: float,
    *,
    max_size: int | None = None,
    poll: Poll | None = None,
) -> tuple[SubsetResult, Tally]:
    """Test each x in turn given the rest of the pool, as `IndependenceTest.test_each_given_rest` does."""
    reading = _Reading(test, which)
    found, tally = reading.test_each_given_rest(xs, target, pool, stop_above, max_size=max_size, poll=poll)
    return found, reading.corrected(tally)


class _Reading(IndependenceTest):
    """A test whose unreliable answers are read as independence."""

    def __init__(self, test: IndependenceTest, which: Unreliable) -> None:
        self._test, self._which = test, which
        self.variables, self.rows = test.variables, test.rows
        self._read: Counter[int] = Counter()  # tests that were read, by size of the conditioning set

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        outcome = self._test.answer(x, y, given)
        read = read_outcome(self._which, outcome)
        if read is not outcome:
            self._read[len(given)] += 1
        return read

    def corrected(self, tally: Tally) -> Tally:
        """Return the tally with the tests that were read among the skipped ones."""
        performed = {size: count - self._read[size] for size, count in tally.tests_by_size.items()}
        made = Tally({size: count for size, count in performed.items() if count}, tally.skipped_by_size)
        for size, count in self._read.items():
            made.add(size, 0, count)
        return made


class _SideBySide:
    """A search for many x whose answers do not depend on each other: all are tested together given each set."""

    def __init__(
        self, test: IndependenceTest, which: Unreliable, query: SubsetQuery, threads: int, poll: Poll | None
    ) -> None:
        self._test, self._which, self._query, self._threads, self._poll = test, which, query, threads, poll
        self._xs = as_positions(query.xs)
        count = len(self._xs)
        self._index = {int(z): k for k, z in enumerate(query.pool) if z != query.target and z not in query.fixed}
        self._exhausted = np.array([query.n_exhausted_of(k) for k in range(count)], np.int64)
        self._tally = Tally()
        # For each x its separation, or its weakest association so far.
        self._verdict = np.zeros(count, np.int32)  # 1 if an association is known, 2 if x is separated
        self._numbers = np.full((3, count), math.nan)  # statistic, dof, log p
        self._which_set = np.zeros(count, np.int32)
        self._sets: list[tuple[int, ...]] = [()]

    def search(self) -> tuple[SubsetResult, Tally]:
        """Search all sizes."""
        query = self._query
        going = np.flatnonzero(~np.isin(self._xs, [query.target, *query.fixed]))
        for size in range(query.sizes.start, min(query.sizes.stop, len(self._index) + 1)):
            if query.is_too_large(size):
                self._skip(going, size)
                continue
            for subset in combinations(self._index, size):
                newest = max((self._index[z] for z in subset), default=-1)
                asks = (self._exhausted[going] < 0) | (self._exhausted[going] <= newest)
                for z in subset:
                    asks &= self._xs[going] != z
                if asks.any():
                    self._test_given((*query.fixed, *subset), going[asks])
                    going = going[self._verdict[going] != 2]
        statistic, dof, log_p = self._numbers
        return SubsetResult(
            self._xs, statistic, dof, log_p, self._verdict, self._which_set, self._sets, self._test.rows
        ), self._tally

    def _skip(self, going: NDArray[np.intp], size: int) -> None:
        for k in going.tolist():
            others = [index for z, index in self._index.items() if z != self._xs[k]]
            exhausted = None if self._exhausted[k] < 0 else sum(index < self._exhausted[k] for index in others)
            self._tally.add(len(self._query.fixed) + size, 0, n_subsets(len(others), exhausted, size))

    def _test_given(self, given: tuple[int, ...], asked: NDArray[np.intp]) -> None:
        query = self._query
        screen = self._test.screen(query.target, self._xs[asked], given, threads=self._threads, poll=self._poll)
        self._tally.add(len(given), screen.performed, len(asked) - screen.performed)
        if query.max_tests is not None and self._tally.performed >= query.max_tests:
            raise TestsSpent(self._tally)
        statistic, dof, log_p, usable = screen.statistic.copy(), screen.dof, screen.log_p.copy(), screen.reliable.copy()
        read = read_indices(self._which, screen)
        statistic[read], log_p[read], usable[read] = 0.0, 0.0, True
        separated = usable & (log_p > (math.inf if query.stop_above is None else query.stop_above))
        known_statistic, known_dof, known_log_p = self._numbers[:, asked]
        weaker = np.where(
            dof == known_dof,
            statistic < known_statistic,
            (log_p > known_log_p) | ((log_p == known_log_p) & (statistic < known_statistic)),
        )
        taken = np.flatnonzero(usable & (separated | weaker | (self._verdict[asked] == 0)))
        at = asked[taken]
        self._numbers[:, at] = statistic[taken], dof[taken], log_p[taken]
        self._verdict[at] = np.where(separated[taken], 2, 1)
        self._which_set[at] = len(self._sets)
        self._sets.append(given)
