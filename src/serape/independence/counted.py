"""Tests in contingency tables whose counts come from an engine."""

from __future__ import annotations

import functools
import math
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines import Engine
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.contingency import ContingencyTest, check_rules
from serape.independence.native_screens import NativeScreenResult
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.types import DofRule, ReliabilityRule

_MAX_AHEAD = 64  # conditioning sets in one request to the engine


@functools.lru_cache(maxsize=4)
def _on_counts(rows: int, statistic: str, dof: str, reliability: str, minimum: float) -> _core.CountedTest:
    """Return the core's test; it has a table of logarithms, which takes milliseconds to make."""
    return _core.CountedTest(rows, statistic, dof, reliability, minimum)


class CountedTest(ContingencyTest):
    """G² or X² on the counts of any engine: the same answers, bit for bit, as on a Table."""

    core_answers = SCREENS
    statistic: Literal["g2", "x2"]  # type: ignore[misc]

    def __init__(
        self,
        engine: Engine,
        statistic: Literal["g2", "x2"] = "g2",
        dof: DofRule = "auto",
        reliability: ReliabilityRule = "dof",
        minimum: float = 5.0,
    ) -> None:
        check_rules(dof, reliability)
        self.engine = engine
        self.name = self.statistic = statistic
        self.likelihood_ratio = statistic == "g2"
        self.table = getattr(engine, "table", None)  # type: ignore[assignment]
        self.variables = engine.names
        self.rows = engine.rows
        self.dof = "full" if dof == "auto" else dof
        self.reliability = reliability
        self.minimum = minimum
        self._counted = _on_counts(engine.rows, statistic, self.dof, reliability or "none", minimum)

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.engine, self.statistic, self.dof, self.reliability, self.minimum)
        return type(self), made_of, {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        if self.table is not None:
            super().check(variables)

    def _levels(self, variable: int) -> int:
        return self.engine.levels(variable)

    def _other_statistic(self, target: int, xs: NDArray[np.uint32], given: Sequence[int]) -> Floats:
        other = _on_counts(self.engine.rows, "x2" if self.likelihood_ratio else "g2", "adjusted", "none", 1.0)
        return other.screen(self.engine.counts(target, xs, given)).arrays()[0]

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self.engine.rows / math.prod(map(self.engine.levels, variables))

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        return Outcome(*self._counted.test(self.engine.counts(y, [x], given)), self.rows)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
        strategy: str = "automatic",
    ) -> ScreenResult:
        """Test every candidate against the target given one set: one request to the engine."""
        del threads, poll, strategy
        positions = as_positions(candidates)
        if len(positions) == 0:
            return NativeScreenResult(
                positions, tuple(given), _core.ScreenAnswers(np.empty(0), np.empty(0), np.empty(0, bool))
            )
        answers = self._counted.screen(self.engine.counts(target, positions, given))
        return NativeScreenResult(positions, tuple(given), answers)

    def answers(
        self, x: int, target: int, sets: Iterator[tuple[int, ...]]
    ) -> Iterator[tuple[tuple[int, ...], Outcome]]:
        """Test X ⊥ T given each of several sets; each request to the engine has twice as many sets as the last."""
        ahead = 1
        while batch := list(islice(sets, ahead)):
            for given, counts in zip(batch, self.engine.counts_of_sets(target, [x], batch), strict=True):
                yield given, NativeScreenResult(as_positions([x]), given, self._counted.screen(counts)).outcome(0)
            ahead = min(2 * ahead, _MAX_AHEAD)

    # All other batch questions are built on these.
    working_set = IndependenceTest.working_set
    first_dependent = IndependenceTest.first_dependent
    marginals = IndependenceTest.marginals
    screens = IndependenceTest.screens
    search_subsets = IndependenceTest.search_subsets
    test_each_given_rest = IndependenceTest.test_each_given_rest
    effects_of = IndependenceTest.effects_of
