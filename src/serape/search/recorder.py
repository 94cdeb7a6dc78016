"""Which tests are evidence: the tests of the subject of a search, as target or as candidate."""

from __future__ import annotations

from collections.abc import Collection

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search.evidence import EvidenceLog
from serape.search.record import Record


class Recorder:
    """Records the test that decides on each variable: in the logs of the search, or in the record of a step."""

    def __init__(
        self, variables: int, subject: int | None, log_alpha: float, *, enabled: bool, weighs: bool = False
    ) -> None:
        self._variables = variables
        self._subject = subject
        self._log_alpha = log_alpha
        self._weighs = weighs
        self.enabled = enabled
        self._logs: dict[int, EvidenceLog] = {}

    def log(self, target: int) -> EvidenceLog:
        """Return the evidence gathered about a target."""
        if target not in self._logs:
            self._logs[target] = EvidenceLog(self._variables, target, self._log_alpha if self._weighs else None)
        return self._logs[target]

    def keeps(self, target: int, record: Record) -> bool:
        """Return whether tests of a target are evidence; those within a step about another target are not."""
        return (
            self.enabled
            and (self._subject is None or target == self._subject)
            and (record.about is None or record.about == target)
        )

    def note_screen(self, target: int, screen: ScreenResult, record: Record) -> None:
        """Record the tests of many candidates."""
        if self.keeps(target, record):
            self.log(target).note_batch(screen)

    def note_subsets(self, target: int, found: SubsetResult, record: Record) -> None:
        """Record the answers of a search through conditioning sets."""
        if record.told is not None:
            record.told.append((target, found))
        if self.keeps(target, record):
            self.log(target).note_batch(found)
        elif self._subject is not None and self.enabled:
            for k in found.indices_of(self._subject):
                self.note(self._subject, target, found.outcome(k), found.given_of(k), record)

    def note(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...], record: Record) -> None:
        """Record a test as the one that decides on x, until a later one is recorded."""
        if record.told is not None:
            record.told.append((x, target, outcome, given))
        if self.keeps(target, record):
            if outcome.reliable or not self._is_separated(x, target):  # a skipped test does not override a separation
                self.log(target).note(x, outcome, given)
        elif x == self._subject and outcome.reliable and record.about in (None, self._subject, target):
            # the same test, with x as the target
            record.other_side[target, outcome.log_p <= self._log_alpha] = (outcome, given)

    def retold(self, known: Record) -> Record:
        """Return what a step counts for this search that was computed by a search with another subject."""
        record = Record(known.about, known.tally, known.notes)
        for told in known.told or ():
            if len(told) == 2:
                self.note_subsets(*told, record)
            else:
                self.note(*told, record)
        return record

    def _is_separated(self, x: int, target: int) -> bool:
        latest = self.log(target).latest(x)
        return latest is not None and latest.outcome.reliable and latest.outcome.log_p > self._log_alpha

    def reconcile(self, members: Collection[int], record: Record) -> None:
        """Record tests with the subject as candidate where the latest test with it as target contradicts the answer.

        Algorithms that test a pair from both sides may remove or add a variable by the tests of one side alone.
        """
        if self._subject is None or not self.enabled:
            return
        for (x, dependent), (outcome, given) in record.other_side.items():
            latest = self.log(self._subject).latest(x)
            shown = latest is not None and latest.outcome.reliable and latest.outcome.log_p <= self._log_alpha
            if dependent == (x in members) and dependent != shown:
                self.note(x, self._subject, outcome, given, record)
