"""The weakest association of each pair of variables that a search has found.

It is one test: its outcome and its conditioning set stay together. What a rate judges, what evidence shows and what an
explanation says are read from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_FEW = 100  # answers that are looked at one by one
_NONE: Mapping[int, DecidingTest] = {}


class DecidingTest(NamedTuple):
    """The test of a pair that decides: the weakest association, or the test that separates the two."""

    log_p: float
    statistic: float
    dof: float
    reliable: bool
    rows: int | None
    given: tuple[int, ...]
    separated: bool = False

    @classmethod
    def of(cls, outcome: Outcome, given: tuple[int, ...], *, separated: bool = False) -> DecidingTest:
        """Return a test as one that decides."""
        return cls(outcome.log_p, outcome.statistic, outcome.dof, outcome.reliable, outcome.rows, given, separated)

    @property
    def outcome(self) -> Outcome:
        """The outcome of the test."""
        return Outcome(self.statistic, self.dof, self.log_p, self.reliable, self.rows)

    @property
    def counted(self) -> float:
        """The log p that counts for the pair: 0 if the two are separated, whatever the p of the separating test."""
        return 0.0 if self.separated or not self.reliable else self.log_p


class Associations:
    """By target and candidate, the weakest test that showed dependence, or one that separates the two afterwards."""

    def __init__(self) -> None:
        self._tests: dict[int, dict[int, DecidingTest]] = {}
        self._separated: dict[int, dict[int, DecidingTest]] = {}  # by target, before any test showed dependence

    def note(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Note a test that showed dependence."""
        self._keep_weaker(self._tests.setdefault(target, {}), x, DecidingTest.of(outcome, given))

    def note_screen(self, screen: ScreenResult, target: int, log_alpha: float) -> None:
        """Note the tests of candidates that show dependence."""
        self._note_all(screen, target, log_alpha)

    def note_subsets(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Note the weakest associations that a search through conditioning sets found, and what it separated."""
        self._note_all(found, target, log_alpha)
        separated = found.separated_variables
        if separated:
            at = {x: k for k, x in enumerate(found.xs.tolist())}
            tests = ((x, at[x]) for x in separated)
            self._note_separated({x: _test_at(found, k, separated=True) for x, k in tests}, target)

    def merge(self, other: Associations) -> None:
        """Note what another store has noted, as if it were noted now."""
        for target, separated in other._separated.items():
            self._note_separated(separated, target)
        for target, noted in other._tests.items():
            known = self._tests.setdefault(target, {})
            for x, test in noted.items():
                self._keep_weaker(known, x, test)

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the deciding test of a candidate and a target, or None if no test showed dependence."""
        return self._tests.get(target, _NONE).get(x)

    @staticmethod
    def _keep_weaker(known: dict[int, DecidingTest], x: int, test: DecidingTest) -> None:
        if x not in known or test.counted > known[x].counted:
            known[x] = test

    def _note_separated(self, tests: Mapping[int, DecidingTest], target: int) -> None:
        known = self._tests.get(target, _NONE)
        for x, test in tests.items():
            if x in known:
                self._keep_weaker(self._tests[target], x, test)
            else:
                self._separated.setdefault(target, {})[x] = test

    def _note_all(self, answers: ScreenResult | SubsetResult, target: int, log_alpha: float) -> None:
        dependent: Iterable[tuple[int, int, float]]
        if len(answers) <= _FEW:
            dependent = [(k, x, log_p) for k, x, log_p, _ in answers.each() if log_p <= log_alpha]
        else:
            indices = np.flatnonzero(answers.reliable & (answers.log_p <= log_alpha))
            dependent = zip(
                indices.tolist(), answers.xs[indices].tolist(), answers.log_p_of(indices).tolist(), strict=True
            )
        known = self._tests.setdefault(target, {})
        for k, x, log_p in dependent:
            weakest = known.get(x)
            if weakest is None or log_p > weakest.counted:
                known[x] = _test_at(answers, k)


def weaker(tests: Iterable[DecidingTest | None]) -> DecidingTest | None:
    """Return the weakest of several tests, as far as there are any."""
    known = [test for test in tests if test is not None]
    return max(known, key=lambda test: test.counted, default=None)


def _test_at(answers: ScreenResult | SubsetResult, index: int, *, separated: bool = False) -> DecidingTest:
    outcome = answers.outcome(index)
    given = answers.given if isinstance(answers, ScreenResult) else answers.given_of(index)
    return DecidingTest.of(outcome, given, separated=separated)
