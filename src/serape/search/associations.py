"""The weakest association of each pair of variables that a search has found.

It is one test: its outcome and its conditioning set stay together. What a rate judges, what evidence shows and what an
explanation says are read from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.independence.given_tests import GivenTests, VariableSets
from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_FEW = 100  # answers of a screen that are kept whole
_MANY = 64  # answers about one target that are put by
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


Answers = ScreenResult | SubsetResult
Found = tuple[float, DecidingTest] | tuple[float, Answers, int]
"""The log p that counts for a test, 0 if it separates, and the test; or the answers that have it, and where."""


class Associations:
    """By target and candidate, the weakest test that showed dependence, or one that separates the two afterwards.

    Answers are put by as they come, and looked through where a pair is asked for: most pairs never are.
    """

    def __init__(self) -> None:
        self._found: dict[int, dict[int, Found]] = {}
        self._separated: dict[int, dict[int, Found]] = {}  # by target, before any test showed dependence
        self._put_by: dict[int, list[tuple[Answers, float]]] = {}  # with log alpha, later than the others

    def note(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Note a test that showed dependence."""
        self._look_through(target)
        self._keep_weaker(target, x, (outcome.log_p, DecidingTest.of(outcome, given)))

    def note_screen(self, screen: ScreenResult, target: int, log_alpha: float) -> None:
        """Note the tests of candidates that show dependence."""
        if len(screen) > _FEW:  # the answers that show independence need not be kept, or have a p-value
            screen = screen.that_depend(log_alpha)
        self._put(screen, target, log_alpha)

    def note_subsets(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Note the weakest associations that a search through conditioning sets found, and what it separated."""
        self._put(found, target, log_alpha)

    def merge(self, other: Associations) -> None:
        """Note what another store has noted, as if it were noted now."""
        for target in {*other._separated, *other._found, *other._put_by}:
            if other._separated.get(target) or other._found.get(target):
                self._look_through(target)
            for x, one in other._separated.get(target, _NONE).items():
                self._note_separated(x, target, one)
            for x, one in other._found.get(target, _NONE).items():
                self._keep_weaker(target, x, one)
            for answers, log_alpha in other._put_by.get(target, ()):
                self._put(answers, target, log_alpha)

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the deciding test of a candidate and a target, or None if no test showed dependence."""
        found = self._found.get(target, _NONE).get(x)
        for answers, log_alpha in self._put_by.get(target, ()):
            for one in _shown(answers, x, log_alpha):
                if one[0] > found[0] if found is not None else not _separates(one):
                    found = one
        return None if found is None else _looked_up(found)

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: the tests themselves."""
        for target in list(self._put_by):
            self._look_through(target)
        return {
            name: {target: {x: (one[0], _looked_up(one)) for x, one in its.items()} for target, its in store.items()}
            for name, store in self.__dict__.items()
        }

    def _put(self, answers: Answers, target: int, log_alpha: float) -> None:
        waiting = self._put_by.setdefault(target, [])
        waiting.append((answers, log_alpha))
        if len(waiting) > _MANY:
            self._look_through(target)

    def _look_through(self, target: int) -> None:
        """Look at all answers about a target that were put by."""
        for answers, log_alpha in self._put_by.pop(target, ()):
            for x, one in _all_shown(answers, log_alpha):
                if _separates(one):
                    self._note_separated(x, target, one)
                else:
                    self._keep_weaker(target, x, one)

    def _keep_weaker(self, target: int, x: int, one: Found) -> None:
        known = self._found.setdefault(target, {})
        if x not in known or one[0] > known[x][0]:
            known[x] = one

    def _note_separated(self, x: int, target: int, one: Found) -> None:
        if x in self._found.get(target, _NONE):
            self._keep_weaker(target, x, one)
        else:
            self._separated.setdefault(target, {}).setdefault(x, one)


def _all_shown(answers: Answers, log_alpha: float) -> Iterator[tuple[int, Found]]:
    """Return the tests that show dependence, and then those that separate, each with its candidate."""
    for k, x, log_p, _ in answers.each():
        if log_p <= log_alpha:
            yield x, (log_p, answers, k)
    if isinstance(answers, SubsetResult):
        at = np.flatnonzero(answers.separated_each())
        last = dict(zip(answers.xs[at].tolist(), at.tolist(), strict=True))
        for x, k in last.items():
            yield x, (0.0, answers, k)


def _shown(answers: Answers, x: int, log_alpha: float) -> Iterator[Found]:
    """Return the tests of one candidate that show dependence, and then one that separates it."""
    if isinstance(answers, ScreenResult):
        for k in np.flatnonzero(answers.xs == x).tolist():
            outcome = answers.outcome(k)
            if outcome.reliable and outcome.log_p <= log_alpha:
                yield outcome.log_p, answers, k
        return
    for log_p, k in answers.shown(x, log_alpha):
        yield log_p, answers, k


def _separates(one: Found) -> bool:
    """Return whether a test separates its pair."""
    return one[0] == 0.0


_POOL_ARRAYS = ("_targets", "_pools", "_tests", "_rows")


class PoolAssociations:
    """The weakest association of each member of the pools of many targets, in arrays."""

    def __init__(
        self, targets: NDArray[np.uint32], pools: VariableSets, tests: GivenTests, rows: int | None = None
    ) -> None:
        self._targets, self._pools, self._tests, self._rows = targets, pools, tests, rows

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: the arrays."""
        return {name: value for name, value in self.__dict__.items() if name in _POOL_ARRAYS}

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the weakest association of a member of the pool of a target, or None if it is not a member."""
        at = self._place.get(target << 32 | x)
        return None if at is None else self._test(at)

    def of(self, target: int) -> Associations:
        """Return those of one target."""
        found = Associations()
        for x in self._members[target]:
            test = self._test(self._place[target << 32 | x])
            found.note(x, target, test.outcome, test.given)
        return found

    def _test(self, at: int) -> DecidingTest:
        log_p, statistic, dof, given = self._columns
        rows = self._rows if given[at] else None  # as screens and searches have it
        return DecidingTest(log_p[at], statistic[at], dof[at], True, rows, given[at])

    @cached_property
    def _members(self) -> dict[int, tuple[int, ...]]:
        return dict(zip(self._targets.tolist(), self._pools, strict=True))

    @cached_property
    def _place(self) -> dict[int, int]:
        """Where the test of a target and a member stands, by their number together."""
        keys = self._targets.astype(np.int64).repeat(self._pools.sizes) << 32 | self._pools.members
        return {key: k for k, key in enumerate(keys.tolist())}

    @cached_property
    def _columns(self) -> tuple[list[float], list[float], list[float], list[tuple[int, ...]]]:
        tests = self._tests
        return tests.log_p.tolist(), tests.statistic.tolist(), tests.dof.tolist(), list(tests.given)


def weaker(tests: Iterable[DecidingTest | None]) -> DecidingTest | None:
    """Return the weakest of several tests, as far as there are any."""
    known = [test for test in tests if test is not None]
    return max(known, key=lambda test: test.counted, default=None)


def _looked_up(found: Found) -> DecidingTest:
    if len(found) == 2:
        return found[1]
    _, answers, at = found
    return DecidingTest.of(answers.outcome(at), answers.given_of(at), separated=_separates(found))
