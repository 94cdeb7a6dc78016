"""Steps that are remembered between searches for one target after another, on one table with the same settings.

hiton-pc asks for the candidate sets of all neighbours of its target. A program that asks about one target after another
would compute each of these sets once for every neighbour. Remembered, it is computed once; what its record tells is
recorded again, so the answers, the numbers of tests and the evidence are those of a search on its own.
"""

from __future__ import annotations

from typing import Any

from serape.search.record import Step

_MOST = 1 << 20
"""Remembered steps times variables: a step keeps some bytes for each variable."""
STEP_BYTES = 16 * _MOST
"""The size of all remembered steps, at most."""


class StepMemory:
    """The steps that earlier searches computed. A step about the subject is computed again, for its evidence."""

    def __init__(self) -> None:
        self._known: dict[Any, Step[Any]] = {}

    def recall(self, key: tuple[Any, ...]) -> Step[Any] | None:
        """Return a step as another search computed it, or None if none did."""
        return self._known.get(key)

    def keep(self, key: tuple[Any, ...], step: Step[Any], variables: int) -> None:
        """Remember a step, unless it asked for others, which a later search would have to ask for too."""
        if step.record.told is None:
            return
        if len(self._known) * variables >= _MOST:
            self._known.clear()
        self._known[key] = step
