"""The weakest association of each pair of variables that a search has found.

It is one test: its outcome and its conditioning set stay together. What a rate judges, what evidence shows and what an
explanation says are read from here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_FEW = 100  # answers of a screen that are kept whole
_MANY = 64  # answers about one target that are put by
_SEPARATES = 0.0  # the log p that counts for a test that separates
_NONE: Mapping[int, KeptTest] = {}


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


BatchResult = ScreenResult | SubsetResult
KeptTest = tuple[float, DecidingTest] | tuple[float, BatchResult, int]
"""The log p that counts for a test, 0 if it separates, and the test; or the answers that have it, and where."""
Stores = tuple[dict[int, dict[int, KeptTest]], dict[int, dict[int, KeptTest]]]


class Associations:
    """By target and candidate, the weakest test that showed dependence, or one that separates the two afterwards.

    Answers are put by as they come, and looked through where a pair is asked for: most pairs never are.
    """

    def __init__(self) -> None:
        self._found: dict[int, dict[int, KeptTest]] = {}
        self._separated: dict[int, dict[int, KeptTest]] = {}  # by target, before any test showed dependence
        self._put_by: dict[int, list[BatchResult]] = {}  # later than the others
        self._log_alpha = 0.0

    @classmethod
    def of(cls, target: int, tests: Mapping[int, DecidingTest]) -> Associations:
        """Return a store of the deciding tests of some candidates and one target."""
        found = cls()
        found._found[target] = {x: (test.counted, test) for x, test in tests.items()}
        return found

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
            for answers in other._put_by.get(target, ()):
                self._put(answers, target, other._log_alpha)

    def about(self, target: int) -> dict[int, DecidingTest]:
        """Return the deciding tests of all candidates and a target."""
        self._look_through(target)
        return {x: _looked_up(one) for x, one in self._found.get(target, _NONE).items()}

    def get(self, x: int, target: int) -> DecidingTest | None:
        """Return the deciding test of a candidate and a target, or None if no test showed dependence."""
        if target not in self._put_by and target not in self._found:
            return None
        found = self._found.get(target, _NONE).get(x)
        for answers in self._put_by.get(target, ()):
            for log_p, at in answers.shown(x, self._log_alpha):
                if log_p > found[0] if found is not None else log_p != _SEPARATES:
                    found = log_p, answers, at
        return None if found is None else _looked_up(found)

    def keep_pairs_of(self, x: int) -> None:
        """Keep, of other targets, the deciding test of x alone: a step is asked about pairs of its own target."""
        for target in {*self._separated, *self._found, *self._put_by} - {x}:
            test = self.get(x, target)
            for store in (self._separated, self._found, self._put_by):
                store.pop(target, None)
            if test is not None:
                self._found[target] = {x: (test.counted, test)}

    def __getstate__(self) -> Stores:
        """Return the content of a pickle: the tests themselves."""
        for target in list(self._put_by):
            self._look_through(target)
        stores: list[dict[int, dict[int, KeptTest]]] = [
            {target: {x: (one[0], _looked_up(one)) for x, one in its.items()} for target, its in store.items()}
            for store in (self._found, self._separated)
        ]
        return stores[0], stores[1]

    def __setstate__(self, state: Stores) -> None:
        self.__init__()  # type: ignore[misc]
        self._found, self._separated = state

    def _put(self, answers: BatchResult, target: int, log_alpha: float) -> None:
        waiting = self._put_by.setdefault(target, [])
        waiting.append(answers)
        self._log_alpha = log_alpha  # of the search, for all
        if len(waiting) > _MANY:
            self._look_through(target)

    def _look_through(self, target: int) -> None:
        """Look at all answers about a target that were put by."""
        for answers in self._put_by.pop(target, ()):
            for x, one in _all_shown(answers, self._log_alpha):
                if _separates(one):
                    self._note_separated(x, target, one)
                else:
                    self._keep_weaker(target, x, one)

    def _keep_weaker(self, target: int, x: int, one: KeptTest) -> None:
        known = self._found.setdefault(target, {})
        if x not in known or one[0] > known[x][0]:
            known[x] = one

    def _note_separated(self, x: int, target: int, one: KeptTest) -> None:
        if x in self._found.get(target, _NONE):
            self._keep_weaker(target, x, one)
        else:
            self._separated.setdefault(target, {}).setdefault(x, one)


def _all_shown(answers: BatchResult, log_alpha: float) -> Iterator[tuple[int, KeptTest]]:
    """Return the tests that show dependence, and then those that separate, each with its candidate."""
    for k, x, log_p, _ in answers.each():
        if log_p <= log_alpha:
            yield x, (log_p, answers, k)
    if isinstance(answers, SubsetResult):
        at = np.flatnonzero(answers.separated_each())
        last = dict(zip(answers.xs[at].tolist(), at.tolist(), strict=True))
        for x, k in last.items():
            yield x, (_SEPARATES, answers, k)


def _separates(one: KeptTest) -> bool:
    """Return whether a test separates its pair."""
    return one[0] == _SEPARATES


def weakest(stores: Iterable[Associations], x: int, target: int) -> DecidingTest | None:
    """Return the weakest of the tests of a candidate and a target that several stores have."""
    found: DecidingTest | None = None
    for store in stores:
        test = store.get(x, target)
        if test is not None and (found is None or test.counted > found.counted):
            found = test
    return found


def _looked_up(found: KeptTest) -> DecidingTest:
    if len(found) == 2:
        return found[1]
    _, answers, at = found
    return DecidingTest.of(answers.outcome(at), answers.given_of(at), separated=_separates(found))
