"""A budget of time and tests: what a search may spend before it stops."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field, replace

from serape.errors import worded
from serape.settings import RunSettings
from serape.wording import setting

BY_THE_CLOCK = 10.0
"""A call may take so many times its seconds by the clock, however little of the processor it gets."""
_NO_LIMIT = (1 << 63) - 1  # for the core
STOPPED = "the search stopped at "
"""How the note begins that says which limit ended a search."""


class BudgetSpent(Exception):  # noqa: N818 (a signal, not an error)
    """A search has spent its budget; the message says which, and carries the settings that it names."""

    def __init__(self, which: str) -> None:
        super().__init__(worded(which))


class Stopwatch:
    """The processor time of a piece of work, on its longest way: of the thread that searches, not of its helpers.

    On a machine with nothing else to do, this is about the time by the clock. On a busy machine the clock runs on and
    this does not, so what a search finds in so much time is the same. Threads and processes that continue the work go
    on from what was used when it was handed over.
    """

    def __init__(self, used: float = 0.0) -> None:
        self._handed_over = used
        self._places: dict[tuple[int, int], list[float]] = {}
        """By process and thread: what was used when it began, and its own time then."""
        self._place()

    def _place(self) -> tuple[list[float], float]:
        """Return the entry of this thread, and its time now."""
        now, place = time.thread_time(), (os.getpid(), threading.get_ident())
        entry = self._places.get(place)
        if entry is None or entry[1] > now:  # new, or of an earlier thread with this number
            entry = self._places[place] = [self._handed_over, now]
        return entry, now

    @property
    def used(self) -> float:
        """The seconds that were used so far, as this thread knows."""
        (before, began), now = self._place()
        return before + now - began

    def hand_over(self) -> None:
        """Let threads and processes that begin from now on go on from what was used so far."""
        self._handed_over = self.used

    def add(self, seconds: float) -> None:
        """Add what others used while this thread waited for them."""
        self._place()[0][0] += seconds

    def __getstate__(self) -> float:
        return self.used

    def __setstate__(self, used: float) -> None:
        self.__init__(used)  # type: ignore[misc]


@dataclass(slots=True)
class Budget:
    """Seconds from now, and a number of tests; None is no limit. Both are looked at after every batch of tests.

    Seconds are those of a `Stopwatch`; by the clock, there may be `BY_THE_CLOCK` times as many, or, if the work is done
    elsewhere (`waits`), as many. Long batches look at the time every 50 ms, and searches through conditioning sets at
    the number of tests, too.
    """

    max_seconds: float | None = None
    max_tests: int | None = None
    spent: int = 0
    """Tests of earlier searches on the same budget."""
    waits: bool = False
    watch: Stopwatch = field(default_factory=Stopwatch)
    _started: float = field(repr=False, default_factory=time.monotonic)

    @classmethod
    def of(cls, settings: RunSettings, automatic: float | None, *, waits: bool = False) -> Budget | None:
        """Return the budget that settings ask for, from now on, or None if there is no limit.

        `automatic` is the meaning of `max_seconds="auto"`; `waits` if the processors of others do the work.
        """
        seconds = automatic if settings.max_seconds == "auto" else settings.max_seconds
        if seconds is None and settings.max_tests is None:
            return None
        return cls(None if seconds is None else float(seconds), settings.max_tests, waits=waits)

    @property
    def of_time(self) -> Budget:
        """The same budget without a number of tests."""
        return replace(self, max_tests=None)

    def check(self, tests: int = 0) -> None:
        """Raise BudgetSpent if the time is over, or so many tests of the present search are too many."""
        if self.max_tests is not None and self.spent + tests >= self.max_tests:
            raise BudgetSpent(setting("max_tests", self.max_tests))
        if self.max_seconds is None:
            return
        by_clock = time.monotonic() - self._started
        if by_clock < self.max_seconds:  # then less of the processor, too, which is slower to ask
            return
        if self.waits or self.watch.used >= self.max_seconds:
            raise BudgetSpent(setting("max_seconds", self.max_seconds))
        if by_clock >= BY_THE_CLOCK * self.max_seconds:
            raise BudgetSpent(f"{BY_THE_CLOCK:g} times {setting('max_seconds', self.max_seconds)} by the clock")

    def tests_left(self, tests: int) -> int | None:
        """Return how many more tests the present search may perform after so many."""
        return None if self.max_tests is None else min(max(self.max_tests - self.spent - tests, 1), _NO_LIMIT)


def stopped_note(how: str) -> str:
    """Return the note about a search that ended before its time."""
    return f"{how}: the members are those found so far, and neither all candidates nor all members have been tested"
