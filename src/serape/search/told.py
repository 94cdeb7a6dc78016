"""What a step about one variable tells searches about another: its latest tests with that other one as candidate.

Answers are put by as they come, and looked through where somebody asks, or when there are many. Then two tests of each
candidate are left: the latest that showed dependence, and the latest that showed independence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from serape.independence.outcomes import Outcome
from serape.independence.subsets import SubsetResult
from serape.search.associations import DecidingTest

Test = tuple[Outcome, tuple[int, ...]]
Sides = dict[bool, Test]
"""The latest reliable tests of a candidate, by whether they show dependence."""

_NONE: Mapping[bool, DecidingTest] = {}
_MANY = 8  # answers per variable that are put by
_MIN_VARIABLES = 1000  # fewer variables count as so many


class Told:
    """The latest tests of each candidate with one target, by verdict."""

    def __init__(self, log_alpha: float, variables: int) -> None:
        self._log_alpha = log_alpha
        self._most = _MANY * max(variables, _MIN_VARIABLES)
        self._known: dict[int, dict[bool, DecidingTest]] = {}
        self._put_by: list[SubsetResult | tuple[int, Test]] = []  # later than the others
        self._answers = 0

    def add(self, x: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Tell one test; it counts if it is reliable."""
        if outcome.reliable:
            self._put(1, (x, (outcome, given)))

    def add_found(self, found: SubsetResult) -> None:
        """Tell the answers of a search through conditioning sets."""
        self._put(len(found), found)

    def of(self, x: int) -> Sides:
        """Return the latest tests of a candidate."""
        sides = {verdict: (test.outcome, test.given) for verdict, test in self._known.get(x, _NONE).items()}
        for one in self._put_by:
            if not isinstance(one, tuple):
                for k in one.indices_of(x):
                    self._tell(sides, one.outcome(k), one.given_of(k))
            elif one[0] == x:
                self._tell(sides, *one[1])
        return sides

    def _put(self, count: int, one: Any) -> None:
        self._put_by.append(one)
        self._answers += count
        if self._answers > self._most:
            self._look_through()

    def _look_through(self) -> None:
        """Keep the latest tests of each candidate, and let the answers go."""
        for one in self._put_by:
            if isinstance(one, tuple):
                x, test = one
                self._known.setdefault(x, {})[test[0].log_p <= self._log_alpha] = DecidingTest.of(*test)
                continue
            indices, xs, _, _ = one.columns()
            rows = one.outcome(int(indices[0])).rows if len(indices) else None
            tests = one.tests_at(indices)
            columns = (column.tolist() for column in (xs, tests.log_p, tests.statistic, tests.dof))
            for x, log_p, statistic, dof, given in zip(*columns, tests.given, strict=True):
                found = DecidingTest(log_p, statistic, dof, True, rows, given)
                self._known.setdefault(x, {})[log_p <= self._log_alpha] = found
        self._put_by, self._answers = [], 0

    def _tell(self, sides: Sides, outcome: Outcome, given: tuple[int, ...]) -> None:
        sides[outcome.log_p <= self._log_alpha] = outcome, given
