"""A budget of time and tests: what a search may spend before it stops."""

from __future__ import annotations

import math
import time
from copy import copy
from dataclasses import dataclass, field

from serape.settings import RunSettings
from serape.wording import setting

_NO_LIMIT = (1 << 63) - 1  # for the core
STOPPED = "the search stopped at "
"""How the note begins that says which limit ended a search."""


class BudgetSpent(Exception):  # noqa: N818 (a signal, not an error)
    """A search has spent its budget; the message says which."""


@dataclass(slots=True)
class Budget:
    """Seconds from now, and a number of tests; None is no limit. Both are looked at after every batch of tests.

    Long batches look at the time every 50 ms, and searches through conditioning sets at the number of tests, too.
    """

    max_seconds: float | None = None
    max_tests: int | None = None
    spent: int = 0
    """Tests of earlier searches on the same budget."""
    _end: float = field(init=False, repr=False, default=math.inf)

    def __post_init__(self) -> None:
        if self.max_seconds is not None:
            self._end = time.perf_counter() + self.max_seconds

    @classmethod
    def of(cls, settings: RunSettings, automatic: float | None) -> Budget | None:
        """Return the budget that settings ask for, from now on, or None if there is no limit.

        `automatic` is the meaning of `max_seconds="auto"`.
        """
        seconds = automatic if settings.max_seconds == "auto" else settings.max_seconds
        if seconds is None and settings.max_tests is None:
            return None
        return cls(None if seconds is None else float(seconds), settings.max_tests)

    @property
    def of_time(self) -> Budget:
        """The same budget without a number of tests."""
        same = copy(self)
        same.max_tests = None
        return same

    def check(self, tests: int = 0) -> None:
        """Raise BudgetSpent if the time is over, or so many tests of the present search are too many."""
        if self.max_tests is not None and self.spent + tests >= self.max_tests:
            raise BudgetSpent(setting("max_tests", self.max_tests))
        if time.perf_counter() >= self._end:
            raise BudgetSpent(setting("max_seconds", self.max_seconds))

    def tests_left(self, tests: int) -> int | None:
        """Return how many more tests the present search may perform after so many."""
        return None if self.max_tests is None else min(max(self.max_tests - self.spent - tests, 1), _NO_LIMIT)


def stopped_note(how: str) -> str:
    """Return the note about a search that ended before its time."""
    return f"{how}: the members are those found so far, and neither all candidates nor all members have been tested"
