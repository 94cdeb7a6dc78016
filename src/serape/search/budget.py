"""A budget of time and tests: what a search may spend before it stops."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


class BudgetSpent(Exception):  # noqa: N818 (a signal, not an error)
    """A search has spent its budget; the message says which."""


@dataclass(slots=True)
class Budget:
    """Seconds from now, and a number of tests; None is no limit. Both are looked at after every batch of tests.

    Long batches look at the time every 50 ms, and searches through conditioning sets at the number of tests, too.
    """

    max_seconds: float | None = None
    max_tests: int | None = None
    _end: float = field(init=False, repr=False, default=0.0)

    def __post_init__(self) -> None:
        self._end = float("inf") if self.max_seconds is None else time.perf_counter() + self.max_seconds

    def check(self, tests: int) -> None:
        """Raise BudgetSpent if the time is over or so many tests are too many."""
        if self.max_tests is not None and tests >= self.max_tests:
            raise BudgetSpent(f"max_tests={self.max_tests:,}")
        if time.perf_counter() >= self._end:
            raise BudgetSpent(f"max_seconds={self.max_seconds:g}")

    def tests_left(self, tests: int) -> int | None:
        """Return how many more tests a search may perform after so many."""
        return None if self.max_tests is None else max(self.max_tests - tests, 1)
