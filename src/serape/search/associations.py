"""The weakest association of each pair of variables that a search has found.

It is one test: its outcome and its conditioning set stay together. What a rate judges, what evidence shows and what an
explanation says are read from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_FEW = 100  # answers that are looked at one by one
_NONE: Mapping[int, Found] = {}


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


Found = tuple[float, DecidingTest] | tuple[float, ScreenResult | SubsetResult, int | None]
"""The log p that counts for a test, and the test; or the answers that have it, and where, None if it separates."""


class Associations:
    """By target and candidate, the weakest test that showed dependence, or one that separates the two afterwards."""

    def __init__(self) -> None:
        self._found: dict[int, dict[int, Found]] = {}
        self._separated: dict[int, dict[int, Found]] = {}  # by target, before any test showed dependence

    def note(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Note a test that showed dependence."""
        self._keep_weaker(target, x, (outcome.log_p, DecidingTest.of(outcome, given)))

    def note_screen(self, screen: ScreenResult, target: int, log_alpha: float) -> None:
        """Note the tests of candidates that show dependence."""
        self._note_all(screen, target, log_alpha)

    def note_subsets(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Note the weakest associations that a search through conditioning sets found, and what it separated."""
        self._note_all(found, target, log_alpha)
        for x in found.separated_variables:
            one: Found = (0.0, found, None)
            self._note_separated(x, target, one if len(found) <= _FEW else (0.0, _looked_up(x, one)))

    def merge(self, other: Associations) -> None:
        """Note what another store has noted, as if it were noted now."""
        for target, separated in other._separated.items():
            for x, one in separated.items():
                self._note_separated(x, target, one)
        for target, noted in other._found.items():
            for x, one in noted.items():
                self._keep_weaker(target, x, one)

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the deciding test of a candidate and a target, or None if no test showed dependence."""
        found = self._found.get(target, _NONE).get(x)
        if found is None:
            return None
        test = _looked_up(x, found)
        self._found[target][x] = found[0], test
        return test

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: the tests themselves."""
        return {
            name: {target: {x: (one[0], _looked_up(x, one)) for x, one in its.items()} for target, its in store.items()}
            for name, store in self.__dict__.items()
        }

    def _keep_weaker(self, target: int, x: int, one: Found) -> None:
        known = self._found.setdefault(target, {})
        if x not in known or one[0] > known[x][0]:
            known[x] = one

    def _note_separated(self, x: int, target: int, one: Found) -> None:
        if x in self._found.get(target, _NONE):
            self._keep_weaker(target, x, one)
        else:
            self._separated.setdefault(target, {}).setdefault(x, one)

    def _note_all(self, answers: ScreenResult | SubsetResult, target: int, log_alpha: float) -> None:
        known = self._found.setdefault(target, {})
        if len(answers) <= _FEW:
            for k, x, log_p, _ in answers.each():
                if log_p <= log_alpha and (x not in known or log_p > known[x][0]):
                    known[x] = log_p, answers, k
            return
        if isinstance(answers, ScreenResult):  # the answers that show independence need not be kept, or have a p-value
            answers = answers.at(answers.partition(log_alpha)[0])
            at = np.arange(len(answers))
        else:
            at = np.flatnonzero(answers.reliable & (answers.log_p <= log_alpha))
        for k, x, log_p in zip(at.tolist(), answers.xs[at].tolist(), answers.log_p_of(at).tolist(), strict=True):
            if x not in known or log_p > known[x][0]:
                known[x] = log_p, answers, k


class PoolAssociations:
    """The weakest association of each member of the pools of many targets, in arrays."""

    def __init__(
        self, targets: NDArray[np.uint32], pools: VariableSets, tests: GivenTests, rows: int | None = None
    ) -> None:
        self._pools = pools
        self._tests = tests
        self._rows = rows
        self._place = {target: k for k, target in enumerate(targets.tolist())}

    def of(self, target: int) -> Associations:
        """Return those of one target."""
        k = self._place[target]
        begin, end = (int(self._pools.ends[k - 1]) if k else 0), int(self._pools.ends[k])
        tests = self._tests.at(np.arange(begin, end))
        columns = (tests.statistic.tolist(), tests.dof.tolist(), tests.log_p.tolist(), tests.given)
        found = Associations()
        for x, statistic, dof, log_p, given in zip(self._pools[k], *columns, strict=True):
            rows = self._rows if given else None  # as screens and searches have it
            found.note(x, target, Outcome(statistic, dof, log_p, reliable=True, rows=rows), given)
        return found


def weaker(tests: Iterable[DecidingTest | None]) -> DecidingTest | None:
    """Return the weakest of several tests, as far as there are any."""
    known = [test for test in tests if test is not None]
    return max(known, key=lambda test: test.counted, default=None)


def _looked_up(x: int, found: Found) -> DecidingTest:
    if isinstance(found[1], DecidingTest):
        return found[1]
    _, answers, at = found
    index = at if at is not None else int(np.flatnonzero(answers.xs == x)[-1])
    given = answers.given if isinstance(answers, ScreenResult) else answers.given_of(index)
    return DecidingTest.of(answers.outcome(index), given, separated=at is None)
