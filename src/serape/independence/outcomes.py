"""The outcome of one test, and the number of tests."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape.arrays import Candidates as Candidates
from serape.arrays import Floats as Floats
from serape.errors import OptionError
from serape.types import Poll as Poll

if TYPE_CHECKING:
    from serape.independence.effects import Effect

Rows = float | NDArray[np.int64] | None
"""The number of rows of one or many tests; None where there are no data."""
TestColumns = tuple[NDArray[np.intp], NDArray[np.uint32], Floats, Floats]
"""Of several answers, the index, x, log p and statistic of each."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one test. A test that is not reliable shows neither dependence nor independence.

    Examples
    --------
    >>> outcome = serape.ci_test(patients, "Smoking", "HeartDisease")
    >>> outcome.dof, outcome.reliable, outcome.p < 1e-20
    (1.0, True, True)
    """

    statistic: float
    dof: float
    log_p: float
    reliable: bool
    rows: int | None = None
    effect: Effect | None = field(default=None, repr=False, compare=False)
    """The effect size, if it was computed: `serape.ci_test` does, searches do not."""

    @property
    def p(self) -> float:
        """The p-value; 0.0 where it is too small for a float (`log_p` is not)."""
        return math.exp(self.log_p) if not math.isnan(self.log_p) else math.nan


NO_OUTCOME = Outcome(math.nan, math.nan, math.nan, reliable=False)


@dataclass(slots=True)
class Tally:
    """The number of tests performed, and of tests skipped as unreliable, by size of the conditioning set."""

    tests_by_size: dict[int, int] = field(default_factory=dict)
    skipped_by_size: dict[int, int] = field(default_factory=dict)

    @property
    def performed(self) -> int:
        """The number of tests that gave a verdict."""
        return sum(self.tests_by_size.values())

    @property
    def skipped(self) -> int:
        """The number of tests that were skipped."""
        return sum(self.skipped_by_size.values())

    def add(self, size: int, tests: int, skipped: int) -> None:
        """Count questions with a conditioning set of one size."""
        if tests:
            self.tests_by_size[size] = self.tests_by_size.get(size, 0) + tests
        if skipped:
            self.skipped_by_size[size] = self.skipped_by_size.get(size, 0) + skipped

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        for size, count in other.tests_by_size.items():
            self.tests_by_size[size] = self.tests_by_size.get(size, 0) + count
        for size, count in other.skipped_by_size.items():
            self.skipped_by_size[size] = self.skipped_by_size.get(size, 0) + count

    def since(self, before: Tally) -> Tally:
        """Return what was counted after an earlier state of this tally."""
        return Tally(
            _difference(self.tests_by_size, before.tests_by_size),
            _difference(self.skipped_by_size, before.skipped_by_size),
        )


def _difference(counts: Mapping[int, int], before: Mapping[int, int]) -> dict[int, int]:
    return {size: count - before.get(size, 0) for size, count in counts.items() if count > before.get(size, 0)}


class TestsSpent(Exception):  # noqa: N818 (a signal, not an error)
    """A search through conditioning sets has performed `max_tests`; `tally` has them."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self.tally = tally


def check_distinct(variables: Candidates) -> None:
    """Refuse a variable that occurs twice."""
    seen: set[int] = set()
    for v in map(int, variables):
        if v in seen:
            raise OptionError(f"variable {v} occurs twice in one question; name it once")
        seen.add(v)


def as_positions(variables: Candidates) -> NDArray[np.uint32]:
    """Return variables as the array of positions that the core takes."""
    if isinstance(variables, range):
        return np.arange(variables.start, variables.stop, variables.step, dtype=np.uint32)
    return np.ascontiguousarray(variables, np.uint32)


def p_text(log_p: float) -> str:
    """Return a p-value, given by its logarithm, as text, however small it is."""
    if math.isnan(log_p):
        return "–"
    if log_p == -math.inf:
        return "0"
    if log_p > math.log(1e-4):
        return f"{math.exp(log_p):.3g}"
    exponent = math.floor(log_p / math.log(10))
    return f"{math.exp(log_p - exponent * math.log(10)):.1f}e{exponent}"


def p_value_text(p: float) -> str:
    """Return a p-value as text, in the form of `p_text`."""
    return p_text(math.log(p) if p else -math.inf)
