"""Which tests are evidence: the tests of the subject of a search, as target or as candidate."""

from __future__ import annotations

from collections.abc import Collection

from serape.independence.outcomes import Outcome
from serape.independence.screens import ScreenResult
from serape.independence.subsets import SubsetResult
from serape.search.evidence import EvidenceLog


class Tape(list[tuple[int, SubsetResult] | tuple[int, int, Outcome, tuple[int, ...]]]):
    """What a recorder was told during a step: the arguments of `note_subsets` and of `record`."""


class Recorder:
    """Records the test that decides on each variable."""

    def __init__(
        self, variables: int, subject: int | None, log_alpha: float, *, enabled: bool, weighs: bool = False
    ) -> None:
        self.step_of: int | None = None
        """The target of the step being computed."""
        self._variables = variables
        self._subject = subject
        self._log_alpha = log_alpha
        self._weighs = weighs
        self.enabled = enabled
        self._logs: dict[int, EvidenceLog] = {}
        self.other_side: dict[tuple[int, bool], tuple[Outcome, tuple[int, ...]]] = {}
        """The latest tests with the subject as candidate, by target and verdict."""
        self.tape: Tape | None = None
        """What is told, if a step is to be remembered: see `StepMemory`."""

    def log(self, target: int) -> EvidenceLog:
        """Return the evidence gathered about a target."""
        if target not in self._logs:
            self._logs[target] = EvidenceLog(self._variables, target, self._log_alpha if self._weighs else None)
        return self._logs[target]

    def keeps(self, target: int) -> bool:
        """Return whether tests of a target are evidence; those within a step about another target are not."""
        return (
            self.enabled
            and (self._subject is None or target == self._subject)
            and (self.step_of is None or self.step_of == target)
        )

    def note_screen(self, target: int, screen: ScreenResult) -> None:
        """Record the tests of many candidates."""
        if self.keeps(target):
            self.log(target).note_batch(screen)

    def note_subsets(self, target: int, found: SubsetResult) -> None:
        """Record the answers of a search through conditioning sets."""
        if self.tape is not None:
            self.tape.append((target, found))
        if self.keeps(target):
            self.log(target).note_batch(found)
        elif self._subject is not None and self.enabled:
            for k in found.indices_of(self._subject):
                self.record(self._subject, target, found.outcome(k), found.given_of(k))

    def record(self, x: int, target: int, outcome: Outcome, given: tuple[int, ...]) -> None:
        """Record a test as the one that decides on x, until a later one is recorded."""
        if self.tape is not None:
            self.tape.append((x, target, outcome, given))
        if self.keeps(target):
            if outcome.reliable or not self._is_separated(x, target):  # a skipped test does not override a separation
                self.log(target).note(x, outcome, given)
        elif x == self._subject and outcome.reliable and self.step_of in (None, self._subject, target):
            # the same test, with x as the target
            self.other_side[target, outcome.log_p <= self._log_alpha] = (outcome, given)

    def replay(self, tape: Tape, step_of: int) -> None:
        """Record what a recorder with another subject was told during a step about a variable."""
        outside, self.step_of = self.step_of, step_of
        for told in tape:
            if len(told) == 2:
                self.note_subsets(*told)
            else:
                self.record(*told)
        self.step_of = outside

    def _is_separated(self, x: int, target: int) -> bool:
        latest = self.log(target).latest(x)
        return latest is not None and latest.outcome.reliable and latest.outcome.log_p > self._log_alpha

    def reconcile(self, members: Collection[int]) -> None:
        """Record tests with the subject as candidate where the latest test with it as target contradicts the answer.

        Algorithms that test a pair from both sides may remove or add a variable by the tests of one side alone.
        """
        if self._subject is None or not self.enabled:
            return
        for (x, dependent), (outcome, given) in self.other_side.items():
            latest = self.log(self._subject).latest(x)
            shown = latest is not None and latest.outcome.reliable and latest.outcome.log_p <= self._log_alpha
            if dependent == (x in members) and dependent != shown:
                self.record(x, self._subject, outcome, given)
