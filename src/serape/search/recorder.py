"""Which tests are evidence: the tests of the subject of a search, as target or as candidate.

A step that other searches may use records as if its target were the subject, and tells what it says about others. So a
search that uses it has the same evidence, whoever computed the step.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search.evidence import EvidenceLog
from serape.search.record import Record, Step
from serape.search.told import Told


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
        self.is_whole = enabled
        """Whether nothing is missing that a step said to another search alone."""
        self._logs: dict[int, EvidenceLog] = {}
        self._used: list[tuple[int, Told]] = []  # what steps told that is not among the tests of the other side yet

    def log(self, target: int) -> EvidenceLog:
        """Return the evidence gathered about a target."""
        if target not in self._logs:
            self._logs[target] = self._new_log(target)
        return self._logs[target]

    def log_in(self, target: int, record: Record) -> EvidenceLog:
        """Return where tests of a target are kept."""
        return self.log(target) if record.log is None else record.log

    def keeps(self, target: int, record: Record) -> bool:
        """Return whether tests of a target are evidence; those within a step about another target are not."""
        if record.log is not None:
            return target == record.about
        return (
            self.enabled
            and (self._subject is None or target == self._subject)
            and (record.about is None or record.about == target)
        )

    # --- tests -------------------------------------------------------------------------------------------------------

    def note_screen(self, target: int, screen: ScreenResult, record: Record) -> None:
        """Record the tests of many candidates."""
        if self.keeps(target, record):
            self.log_in(target, record).note_batch(screen)

    def note_subsets(self, target: int, found: SubsetResult, record: Record) -> None:
        """Record the answers of a search through conditioning sets."""
        if record.told is not None and target == record.about:
            record.told.add_found(found)
        if self.keeps(target, record):
            self.log_in(target, record).note_batch(found)
        elif (subject := self._candidate(target, record)) is not None:
            for k in found.indices_of(subject):
                self._note_other_side(target, found.outcome(k), found.given_of(k), record)

    def note(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...], record: Record) -> None:
        """Record a test as the one that decides on x, until a later one is recorded."""
        if record.told is not None and target == record.about:
            record.told.add(x, outcome, given)
        if self.keeps(target, record):
            log = self.log_in(target, record)
            if outcome.reliable or not self._is_separated(x, log):  # a skipped test does not override a separation
                log.note(x, outcome, given)
        elif outcome.reliable and x == self._candidate(target, record):
            self._note_other_side(target, outcome, given, record)

    def _candidate(self, target: int, record: Record) -> int | None:
        """Return the variable whose tests with a target are the same tests as with it as the target; None for none."""
        if record.told is not None:  # as if the step were the search
            return record.about if record.log is not None or record.about == self._subject else None
        asked = self.enabled and record.about in (None, self._subject, target)
        return self._subject if asked else None

    def _note_other_side(self, target: int, outcome: Outcome, given: tuple[int, ...], record: Record) -> None:
        if self._used and record.about is None:
            self._hear(record)
        record.other_side[target, outcome.log_p <= self._log_alpha] = (outcome, given)

    def _is_separated(self, x: int, log: EvidenceLog) -> bool:
        latest = log.latest(x)
        return latest is not None and latest.outcome.reliable and latest.outcome.log_p > self._log_alpha

    # --- steps that several searches use -----------------------------------------------------------------------------

    def for_others(self, target: int, evidence_of: Collection[int]) -> tuple[Told, EvidenceLog | None]:
        """Return what the record of a step about a target begins with, so that other searches can use the step."""
        log = self._new_log(target) if target in evidence_of else None
        return Told(self._log_alpha, self._variables), log

    def use(self, step: Step[Any], record: Record, *, recorded: bool) -> None:
        """Take over what a step says about the subject, when it is first used; `recorded` if it was computed here."""
        if not self.enabled or self._subject is None:
            return
        told, log = step.record.told, step.record.log
        if told is None:
            self.is_whole = self.is_whole and recorded
        elif step.target != self._subject:
            self._used.append((step.target, told))
            if record.about is not None:
                self._hear(record)
        else:
            self._hear(record)
            record.other_side.update(step.record.other_side)
            if log is not None:  # which goes to the only search about its target
                step.record.log = None
                recorded = self._logs.setdefault(step.target, log) is log or self._logs[step.target].take(log)
            self.is_whole = self.is_whole and recorded

    def stop_telling(self, record: Record) -> None:
        """Let a step record for the subject alone from now on."""
        told, record.told = record.told, None
        if told is None or record.about is None:
            return
        if record.log is not None:
            record.log = None
            self.is_whole = self.is_whole and record.about != self._subject
        if record.about != self._subject:
            record.other_side.clear()
            if self.enabled and self._subject is not None:
                self._used.append((record.about, told))
                self._hear(record)

    def _hear(self, record: Record) -> None:
        """Note the tests of the other side that steps told."""
        used, self._used = self._used, []
        assert self._subject is not None
        for target, told in used:
            for dependent, test in told.of(self._subject).items():
                record.other_side[target, dependent] = test

    def reconcile(self, members: Collection[int], record: Record) -> None:
        """Record tests with the subject as candidate where the latest test with it as target contradicts the answer.

        Algorithms that test a pair from both sides may remove or add a variable by the tests of one side alone.
        """
        if self._subject is None or not self.enabled:
            return
        self._hear(record)
        for (x, dependent), (outcome, given) in record.other_side.items():
            if dependent == (x in members):
                latest = self.log(self._subject).latest(x)
                shown = latest is not None and latest.outcome.reliable and latest.outcome.log_p <= self._log_alpha
                if dependent != shown:
                    self.note(x, self._subject, outcome, given, record)

    def _new_log(self, target: int) -> EvidenceLog:
        return EvidenceLog(self._variables, target, self._log_alpha if self._weighs else None)
