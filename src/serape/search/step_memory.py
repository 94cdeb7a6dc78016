"""Steps that are remembered between searches for one target after another, on one table with the same settings.

hiton-pc asks for the candidate sets of all neighbours of its target. A program that asks about one target after another
would compute each of these sets once for every neighbour. Remembered, it is computed once; what the search recorded
meanwhile is recorded again, so the answers, the numbers of tests and the evidence are those of a search on its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from serape.independence.outcomes import Tally
from serape.search.memo import CachedStep
from serape.search.recorder import Recorder, Tape
from serape.search.unreliable import added_notes

if TYPE_CHECKING:
    from serape.search.state import SearchState

Value = TypeVar("Value")

_MOST = 1 << 20
"""Remembered steps times variables: a step keeps some bytes for each variable."""
STEP_BYTES = 16 * _MOST
"""The size of all remembered steps, at most."""


class _Remembered(NamedTuple):
    """A step, and what a search recorded while it was computed."""

    step: CachedStep[Any]
    tally: Tally
    notes: list[str]
    tape: Tape


class StepMemory:
    """The steps that earlier searches computed. A step about the subject is computed again, for its evidence."""

    def __init__(self) -> None:
        self._known: dict[Any, _Remembered] = {}

    def recall(
        self,
        search: SearchState,
        recorder: Recorder,
        key: tuple[Any, ...],
        target: int,
        compute: Callable[[], CachedStep[Value]],
    ) -> CachedStep[Value]:
        """Return a step as another search computed it; compute and remember it if none did."""
        known = None if target == search.subject else self._known.get(key)
        if known is not None:
            search.tally.merge(known.tally)
            search.notes += added_notes(known.notes, search.notes)
            recorder.tape = None
            recorder.replay(known.tape, target)
            return known.step
        before = Tally(dict(search.tally.tests_by_size), dict(search.tally.skipped_by_size))
        notes, search.notes = search.notes, []
        tape = recorder.tape = Tape()
        try:
            step = compute()
            if recorder.tape is tape:  # a step that asked for other steps is not remembered
                if len(self._known) * len(search.variables) >= _MOST:
                    self._known.clear()
                self._known[key] = _Remembered(step, search.tally.since(before), search.notes, tape)
        finally:
            recorder.tape = None
            search.notes = notes + added_notes(search.notes, notes)
        return step
