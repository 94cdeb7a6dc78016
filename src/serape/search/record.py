"""What a search records, and what a step of it leaves: one record.

A search writes all that it finds into its current record. A step has a record of its own, which goes where the step
goes: to other searches and processes, to later calls, and, as far as it says what was counted, to a checkpoint.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Outcome, Tally
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search.associations import Associations
from serape.search.evidence import EvidenceLog
from serape.search.separations import NO_SEPARATIONS, Separations
from serape.search.told import Test, Told
from serape.search.unreliable import added_notes

Value = TypeVar("Value")


@dataclass(slots=True)
class Record:
    """What was counted, which sets separate which variables, how weak associations are, and which tests decide."""

    about: int | None = None
    """The target of the step, if it is the record of one."""
    tally: Tally = field(default_factory=Tally)
    notes: list[str] = field(default_factory=list)
    separations: Separations = NO_SEPARATIONS
    associations: Associations | None = None
    """The weakest association of each pair, if a false discovery rate asks for it."""
    other_side: dict[tuple[int, bool], Test] = field(default_factory=dict)
    """The latest tests with the subject as candidate, by target and verdict.

    The subject is that of the search; of a step that tells others, it is the target of the step.
    """
    told: Told | None = None
    """What the step tells searches about other variables; None if nobody asks, or if other records tell it too."""
    log: EvidenceLog | None = None
    """The evidence about the target of the step, for a search about that; None if no such search wants it."""
    steps: list[str] = field(default_factory=list)
    """Of a run with a checkpoint, the steps whose tests are in the tally."""

    @property
    def keeps_separations(self) -> bool:
        """Whether separating sets are kept."""
        return self.separations is not NO_SEPARATIONS

    def of_step(self, about: int | None, *, told: Told | None = None, log: EvidenceLog | None = None) -> Record:
        """Return an empty record of a step, which keeps what this one keeps."""
        return Record(
            about,
            separations=Separations() if self.keeps_separations else NO_SEPARATIONS,
            associations=None if self.associations is None else Associations(),
            told=told,
            log=log,
        )

    def of_counts(self) -> Record:
        """Return a record of what was counted alone."""
        return Record(self.about, self.tally, self.notes, steps=self.steps)

    def close(self) -> None:
        """End the record of a step: what is left is read alone, also by several threads."""
        self.separations.look_through_screens()
        if self.associations is not None and self.about is not None:
            self.associations.keep_pairs_of(self.about)

    def to_weigh(self, targets: Collection[int], among: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the candidates whose weakest associations with targets are kept to the end.

        A step keeps those of pairs of its own variable; see `close`.
        """
        if self.associations is None:
            return among[:0]
        return among if self.about is None or self.about in targets else among[among == self.about]

    # --- writing -------------------------------------------------------------------------------------------------

    def add_test(self, x: int, target: int, given: tuple[int, ...], outcome: Outcome, log_alpha: float) -> None:
        """Keep what a reliable test shows: a separating set, or an association."""
        if outcome.log_p > log_alpha:
            self.separations.add(x, target, given)
        elif self.associations is not None:
            self.associations.note(x, target, outcome, given)

    def add_screen(self, screen: ScreenResult, target: int, log_alpha: float) -> None:
        """Keep what the tests of many candidates show."""
        self.separations.add_screen(screen, target, log_alpha)
        if self.associations is not None:
            self.associations.note_screen(screen, target, log_alpha)

    def add_found(self, found: SubsetResult, target: int, log_alpha: float) -> None:
        """Keep what a search through conditioning sets found."""
        self.separations.add_found(found, target, log_alpha)
        if self.associations is not None:
            self.associations.note_subsets(found, target, log_alpha)

    def count(self, other: Record) -> None:
        """Take over what counts of a step that keeps its own sets and associations: tests, notes, deciding tests."""
        self.tally.merge(other.tally)
        self.notes += added_notes(other.notes, self.notes)
        if (self.told is None) == (other.told is None):  # the subject is the same
            self.other_side.update(other.other_side)
        self.steps += other.steps

    def merge(self, other: Record) -> None:
        """Take over all of another record, as if it were recorded now."""
        self.count(other)
        self.separations.merge(other.separations)
        if self.associations is not None and other.associations is not None:
            self.associations.merge(other.associations)


class Step(NamedTuple, Generic[Value]):
    """The result of a step about one target, and its record."""

    target: int
    value: Value
    record: Record
