"""The evidence that a search keeps, so that every answer can be explained.

For each variable the log keeps the latest test against the target, and when the variable entered or left the set being
built. Batches are kept as the arrays they came in, and merged into one array per quantity now and then, so memory stays
linear in the number of variables. When the answer is known, the deciding tests take the place of latest ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats, Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search.associations import Associations, DecidingTest

_MAX_PENDING = 8  # answers per variable that are kept in batches before they are merged
_MIN_VARIABLES = 1000  # fewer variables count as so many
_NO_NUMBERS, _NO_VERDICTS, _NO_INDICES = np.empty(0), np.empty(0, bool), np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Decision:
    """The test that decided on a variable, and its conditioning set."""

    outcome: Outcome
    given: tuple[int, ...]
    serial: int
    """The number of the decision, in the order of decisions."""


class Event(NamedTuple):
    """The entry of a variable into the set being built, or its removal."""

    variable: int
    what: Literal["entered", "left"]


class EvidenceLog:
    """The evidence gathered about one target."""

    def __init__(self, variables: int, target: int = 0, weigh_at: float | None = None) -> None:
        """Make an empty log; up to a log p of `weigh_at`, if it is given, tests show associations to be weighed."""
        self.events: list[Event] = []
        self._variables = variables
        self._target = target
        self._weigh_at = weigh_at
        self._weakest = None if weigh_at is None else Associations()
        self._to_weigh: list[ScreenResult | SubsetResult | tuple[int, Outcome, tuple[int, ...]]] = []
        self._single: dict[int, Decision] = {}
        self._batches: list[tuple[int, ScreenResult | SubsetResult]] = []
        self._later: dict[int, tuple[int, Callable[[], Outcome], tuple[int, ...]]] = {}
        self._given: list[tuple[int, ...]] = []
        self._given_index: dict[tuple[int, ...], int] = {}
        self._pending = 0
        self._max_pending = _MAX_PENDING * max(variables, _MIN_VARIABLES)
        self._serial = 0
        self._is_merged = False  # whether answers that were not the latest are gone
        # The latest tests, by variable; empty until batches are first merged.
        self._statistic = self._dof = self._log_p = _NO_NUMBERS
        self._reliable = _NO_VERDICTS
        self._which = self._serials = _NO_INDICES

    def note(self, x: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Record the outcome of one test."""
        self._serial += 1
        self._single[x] = Decision(outcome, given, self._serial)
        if self._weigh_at is not None and outcome.reliable and outcome.log_p <= self._weigh_at:
            self._to_weigh.append((x, outcome, given))

    def note_later(self, x: int, outcome: Callable[[], Outcome], given: tuple[int, ...]) -> None:
        """Remember a test whose outcome is computed when it is first used."""
        self._serial += 1
        self._later[x] = self._serial, outcome, given

    def note_batch(self, batch: ScreenResult | SubsetResult) -> None:
        """Record a batch; of a search through subsets, the reliable answers."""
        self._serial += 1
        self._batches.append((self._serial, batch))
        if self._weigh_at is not None:
            self._to_weigh.append(batch)
        self._pending += len(batch)
        if self._pending > self._max_pending:
            self._merge()

    def note_event(self, x: int, what: Literal["entered", "left"]) -> None:
        """Record that a variable entered or left."""
        self.events.append(Event(x, what))

    def weakest(self, x: int) -> DecidingTest | None:
        """Return the weakest association that a test of a variable showed, or the test that separated it afterwards."""
        self._weigh()
        return None if self._weakest is None else self._weakest.get(x, self._target)

    def decide(self, tests: Mapping[int, DecidingTest]) -> None:
        """Put deciding tests in the place of the latest ones."""
        self._compute_later()
        for x, test in tests.items():
            self._serial += 1
            self._single[x] = Decision(test.outcome, test.given, self._serial)

    def latest(self, x: int) -> Decision | None:
        """Return the latest or deciding test of a variable, or None if it was never tested."""
        self._compute_later()
        single = self._single.get(x)
        for serial, batch in reversed(self._batches):
            if single is not None and single.serial > serial:
                return single
            indices = batch.indices_of(x)
            if indices:
                return Decision(batch.outcome(indices[-1]), batch.given_of(indices[-1]), serial)
        merged = self._merged(x)
        if single is None or (merged is not None and merged.serial > single.serial):
            return merged
        return single

    @property
    def is_settled(self) -> bool:
        """Whether no outcome is left to be computed, and all answers are kept."""
        return not self._later and not self._is_merged

    @property
    def answers(self) -> list[ScreenResult | SubsetResult]:
        """The answers that are kept in batches."""
        return [batch for _, batch in self._batches]

    def take(self, other: EvidenceLog) -> bool:
        """Take over all of another log about the target, unless this one is not empty; return whether it was."""
        if self._serial or self.events:
            return False
        self.__dict__.update(other.__dict__)
        return True

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: everything, with the outcomes that were to be computed later."""
        self._compute_later()
        return self.__dict__

    def columns(self) -> tuple[Floats, Floats, Floats, NDArray[np.bool_], NDArray[np.int64], list[tuple[int, ...]]]:
        """Return the latest or deciding test of every variable: statistic, dof, log p, reliable and which set.

        The last is an index into the list of sets that comes with it, or −1 if the variable was never tested.
        """
        self._compute_later()
        self._merge()
        for x, decision in self._single.items():
            if decision.serial > self._serials[x]:
                o = decision.outcome
                self._statistic[x], self._dof[x], self._log_p[x], self._reliable[x] = (
                    o.statistic,
                    o.dof,
                    o.log_p,
                    o.reliable,
                )
                self._serials[x] = decision.serial
                self._which[x] = self._index_of(decision.given)
        return self._statistic, self._dof, self._log_p, self._reliable, self._which, self._given

    def _compute_later(self) -> None:
        later, self._later = self._later, {}
        for x, (serial, outcome, given) in later.items():
            if x not in self._single or self._single[x].serial < serial:
                self._single[x] = Decision(outcome(), given, serial)

    def _weigh(self) -> None:
        told, self._to_weigh = self._to_weigh, []
        for one in told:
            assert self._weigh_at is not None
            assert self._weakest is not None
            if isinstance(one, ScreenResult):
                self._weakest.note_screen(one, self._target, self._weigh_at)
            elif isinstance(one, SubsetResult):
                self._weakest.note_subsets(one, self._target, self._weigh_at)
            else:
                x, outcome, given = one
                self._weakest.note(x, self._target, outcome, given)

    def _index_of(self, given: tuple[int, ...]) -> int:
        if given not in self._given_index:
            self._given_index[given] = len(self._given)
            self._given.append(given)
        return self._given_index[given]

    def _merged(self, x: int) -> Decision | None:
        if len(self._which) == 0 or self._which[x] < 0:
            return None
        outcome = Outcome(
            float(self._statistic[x]), float(self._dof[x]), float(self._log_p[x]), bool(self._reliable[x])
        )
        return Decision(outcome, self._given[self._which[x]], int(self._serials[x]))

    def _merge(self) -> None:
        """Merge the pending batches into the arrays of the latest tests."""
        self._weigh()
        if len(self._which) == 0:
            self._statistic, self._dof, self._log_p = (np.full(self._variables, math.nan) for _ in range(3))
            self._reliable = np.zeros(self._variables, bool)
            self._which = np.full(self._variables, -1, np.int64)
            self._serials = np.zeros(self._variables, np.int64)
        missing = np.ones(self._variables, bool)
        for serial, batch in reversed(self._batches):  # newest first: a later test overrides an earlier one
            indices = np.flatnonzero(missing[batch.xs] & _is_evidence(batch))
            at = batch.xs[indices]
            missing[at] = False
            self._statistic[at] = batch.statistic[indices]
            self._dof[at] = batch.dof[indices]
            self._log_p[at] = batch.log_p_of(indices)
            self._reliable[at] = batch.reliable[indices]
            self._serials[at] = serial
            if isinstance(batch, ScreenResult):
                self._which[at] = self._index_of(batch.given)
            else:
                which = batch.which[indices]
                index_of = np.zeros(len(batch.sets), np.int64)
                used = np.flatnonzero(np.bincount(which, minlength=len(index_of)))
                index_of[used] = [self._index_of(given) for given in batch.sets_at(used)]
                self._which[at] = index_of[which]
        self._is_merged = self._is_merged or bool(self._batches)
        self._batches = []
        self._pending = 0


def performed(answers: Iterable[ScreenResult | SubsetResult], x: int, given: tuple[int, ...]) -> Outcome | None:
    """Return the outcome of a reliable test of a variable given a set, if it is among the answers."""
    for batch in answers:
        if isinstance(batch, SubsetResult) or batch.given == given:
            for k in batch.indices_of(x):
                if batch.given_of(k) == given and (found := batch.outcome(k)).reliable:
                    return found
    return None


def _is_evidence(batch: ScreenResult | SubsetResult) -> NDArray[np.bool_]:
    """Return which answers are evidence: all of a screen, the reliable ones of a subset search."""
    return np.ones(len(batch), bool) if isinstance(batch, ScreenResult) else batch.reliable
