"""What a search remembers of its questions, so that every answer can be explained.

For each variable the latest test against the target is kept, and for members of the growing set when they entered and
left. Batches are kept as the arrays they came in, and folded into one array per quantity now and then, so memory
stays linear in the number of variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats, Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult

_MOST_HELD = 8  # answers for each variable that are kept as they came
_FEW_VARIABLES = 1000  # for fewer, as many as for these


@dataclass(frozen=True, slots=True)
class Decision:
    """The test that settled a variable, and the conditioning set it was asked with."""

    outcome: Outcome
    given: tuple[int, ...]
    serial: int
    """Decisions are numbered in the order in which they were made."""


class Event(NamedTuple):
    """A variable that entered or left the set being built."""

    variable: int
    what: Literal["entered", "left"]


class EvidenceLog:
    """The evidence gathered about one target."""

    def __init__(self, variables: int) -> None:
        self.events: list[Event] = []
        self._variables = variables
        self._single: dict[int, Decision] = {}
        self._batches: list[tuple[int, ScreenResult | SubsetResult]] = []
        self._given: list[tuple[int, ...]] = []
        self._given_place: dict[tuple[int, ...], int] = {}
        self._held = 0
        self._serial = 0
        # Folded from screens, by variable; empty until the first folding.
        self._statistic = self._dof = self._log_p = np.empty(0)
        self._reliable = np.empty(0, bool)
        self._which = self._serials = np.empty(0, np.int64)

    def note(self, x: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Remember the outcome of one test."""
        self._serial += 1
        self._single[x] = Decision(outcome, given, self._serial)

    def note_batch(self, batch: ScreenResult | SubsetResult) -> None:
        """Remember a batch; of a search through subsets, what was reliable."""
        self._serial += 1
        self._batches.append((self._serial, batch))
        self._held += len(batch)
        if self._held > _MOST_HELD * max(self._variables, _FEW_VARIABLES):
            self._fold()

    def note_event(self, x: int, what: Literal["entered", "left"]) -> None:
        """Remember that a variable entered or left."""
        self.events.append(Event(x, what))

    def latest(self, x: int) -> Decision | None:
        """Return the latest test of a variable, if it was ever tested."""
        single = self._single.get(x)
        for serial, batch in reversed(self._batches):
            if single is not None and single.serial > serial:
                return single
            index = _place(batch, x)
            if index is not None:
                return Decision(batch.outcome(index), batch.given_of(index), serial)
        folded = self._folded(x)
        if single is None or (folded is not None and folded.serial > single.serial):
            return folded
        return single

    def columns(self) -> tuple[Floats, Floats, Floats, NDArray[np.bool_], NDArray[np.int64], list[tuple[int, ...]]]:
        """Return the latest test of every variable: statistic, dof, log p, reliable, and which conditioning set.

        The last is a place in the list that comes with it, or −1 if the variable was never tested.
        """
        self._fold()
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
                self._which[x] = self._place_of(decision.given)
        return self._statistic, self._dof, self._log_p, self._reliable, self._which, self._given

    def _place_of(self, given: tuple[int, ...]) -> int:
        if given not in self._given_place:
            self._given_place[given] = len(self._given)
            self._given.append(given)
        return self._given_place[given]

    def _folded(self, x: int) -> Decision | None:
        if len(self._which) == 0 or self._which[x] < 0:
            return None
        outcome = Outcome(
            float(self._statistic[x]), float(self._dof[x]), float(self._log_p[x]), bool(self._reliable[x])
        )
        return Decision(outcome, self._given[self._which[x]], int(self._serials[x]))

    def _fold(self) -> None:
        if len(self._which) == 0:
            self._statistic, self._dof, self._log_p = (np.full(self._variables, math.nan) for _ in range(3))
            self._reliable = np.zeros(self._variables, bool)
            self._which = np.full(self._variables, -1, np.int64)
            self._serials = np.zeros(self._variables, np.int64)
        pending = np.ones(self._variables, bool)
        for serial, batch in reversed(self._batches):  # newest first: what is newer stays
            indices = np.flatnonzero(pending[batch.xs] & _counts(batch))
            at = batch.xs[indices]
            pending[at] = False
            self._statistic[at] = batch.statistic[indices]
            self._dof[at] = batch.dof[indices]
            self._log_p[at] = batch.log_p_of(indices)
            self._reliable[at] = batch.reliable[indices]
            self._serials[at] = serial
            if isinstance(batch, ScreenResult):
                self._which[at] = self._place_of(batch.given)
            else:
                place_of = np.array([self._place_of(tuple(given)) for given in batch.sets], np.int64)
                self._which[at] = place_of[batch.which[indices]]
        self._batches = []
        self._held = 0


def _counts(batch: ScreenResult | SubsetResult) -> NDArray[np.bool_]:
    """Return which answers are worth remembering."""
    return np.ones(len(batch), bool) if isinstance(batch, ScreenResult) else batch.reliable


def _place(batch: ScreenResult | SubsetResult, x: int) -> int | None:
    found = np.flatnonzero((batch.xs == x) & _counts(batch))
    return int(found[0]) if len(found) else None
