"""An independence test whose answers are written down, so that a search meets exactly what it is tested with."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.independence import IndependenceTest, Outcome, SubsetQuery
from serape.independence.outcomes import Candidates, Poll, Tally
from serape.independence.screens import CandidateGroups, ScreenResult
from serape.independence.subsets import SubsetResult

Asked = tuple[int, int, tuple[int, ...]]

DEPENDENT = 0.001
"""The p-value of a test that is not written down."""
TOO_FEW_ROWS = math.nan
"""Stands for a test that is unreliable for want of rows."""
NO_DOF = -1.0
"""Stands for a test that is unreliable for want of degrees of freedom."""


class Scripted(IndependenceTest):
    """A test of the variables a, b, c, …: "ab|cd" names the test of a and b given c and d, from either side.

    The statistic of each is −2 ln p if it is not written down too.
    """

    name = "scripted"
    rows = 100
    likelihood_ratio = True

    def __init__(
        self,
        p: Mapping[str, float] | None = None,
        variables: int = 6,
        *,
        statistic: Mapping[str, float] | None = None,
        rows_each: NDArray[np.int64] | None = None,
    ) -> None:
        """Write down p-values, statistics, and how many rows the answers of a screen rest on, by variable."""
        self.variables = tuple("abcdefghijklmnop"[:variables])
        self._p = _by_test(p)
        self._statistic = _by_test(statistic)
        self._rows_each = rows_each
        self.asked: list[Asked] = []
        """The tests in the order in which they were asked for."""
        self.called: list[tuple[str, int]] = []
        """The questions, each with the number of threads (1 if a question has none)."""
        self.polls: list[Poll | None] = []
        """What the questions call now and then."""
        self.expected: list[object] = []
        """The screens that were announced, and the targets."""

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Return the outcome that is written down."""
        self.asked.append((x, y, tuple(given)))
        pair, rest = (frozenset(self.variables[v] for v in some) for some in ((x, y), given))
        p = self._p.get((pair, rest), DEPENDENT)
        if p > 0:
            return Outcome(self._statistic.get((pair, rest), -2 * math.log(p)), 1.0, math.log(p), reliable=True)
        return Outcome(math.nan, 0.0 if p == NO_DOF else 1.0, math.nan, reliable=False)

    def expect(self, targets: Collection[int], *, threads: int = 1, poll: Poll | None = None) -> None:
        """Note what is announced."""
        self.expected.append(list(targets))
        self._note("expect", threads, poll)

    def expect_screens(self, questions: Sequence[tuple[int, Candidates, Sequence[int]]]) -> None:
        """Note what is announced."""
        self.expected += [(target, list(xs), given) for target, xs, given in questions]

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return a number that tells which variables were asked about."""
        return self.rows / (1 + sum(variables))

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Note the question, and answer it."""
        self._note("screen", threads, poll)
        found = super().screen(target, candidates, given, threads=threads, poll=poll)
        if self._rows_each is not None:
            found.rows = self._rows_each[candidates]
        return found

    def working_set(self, among: NDArray[np.uint32]) -> Callable[..., ScreenResult]:
        """Return a function that notes for which variables it is."""

        def screen(*question: Any, **how: Any) -> ScreenResult:
            self.expected.append(among.tolist())
            return self.screen(*question, **how)

        return screen

    def screens(
        self, target: int, groups: CandidateGroups, also: int, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[ScreenResult, Tally]:
        """Note the question, and answer it."""
        self._note("screens", threads, poll)
        return super().screens(target, groups, also)

    def first_dependent(
        self, target: int, candidates: Candidates, given: Sequence[int], log_alpha: float, *, poll: Poll | None = None
    ) -> ScreenResult:
        """Note the question, and answer it."""
        self._note("first_dependent", 1, poll)
        return super().first_dependent(target, candidates, given, log_alpha, poll=poll)

    def search_subsets(
        self, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
    ) -> tuple[SubsetResult, Tally]:
        """Note the question, and answer it."""
        self._note("search_subsets", threads, poll)
        return super().search_subsets(query, threads=threads, poll=poll)

    def test_each_given_rest(
        self,
        xs: Candidates,
        target: int,
        pool: Candidates,
        stop_above: float,
        *,
        max_size: int | None = None,
        poll: Poll | None = None,
    ) -> tuple[SubsetResult, Tally]:
        """Note the question, and answer it."""
        self._note("test_each_given_rest", 1, poll)
        return super().test_each_given_rest(xs, target, pool, stop_above, max_size=max_size, poll=poll)

    def _note(self, question: str, threads: int, poll: Poll | None) -> None:
        self.called.append((question, threads))
        self.polls.append(poll)


def _by_test(numbers: Mapping[str, float] | None) -> dict[tuple[frozenset[str], frozenset[str]], float]:
    """Return numbers by what is tested: a pair, and the conditioning set."""
    split = {text: text.partition("|") for text in numbers or {}}
    return {(frozenset(split[text][0]), frozenset(split[text][2])): value for text, value in (numbers or {}).items()}
