"""Partial correlation from the sums of products that an engine returns."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines import Engine
from serape.errors import DataError
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import CORRELATION, Effects, in_bits
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, Rows, as_positions
from serape.independence.partial_correlation import information_of_t
from serape.independence.screens import ScreenResult, as_screen_result

MIN_VARIANCE = 1e-10
"""A column is collinear with the conditioning set if a smaller share of its variance is unexplained."""


class SummedTest(IndependenceTest):
    """The test `partial-correlation` on the sums of any engine: the same answers, up to rounding, as on a Table.

    A screen is one request for the products of the target and the conditioning set with all candidates.
    """

    core_answers = SCREENS
    name = "partial-correlation"
    has_effect = True
    made_of = ()

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.table = getattr(engine, "table", None)
        self.variables = engine.names
        self.rows = engine.rows
        refused = [name for k, name in enumerate(engine.names) if engine.levels(k)]
        if refused:
            raise DataError(
                f"test {self.name!r} needs continuous columns, but {refused[0]!r} is categorical; leave it out"
            )

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        return self._outcomes(y, [x], given)[0]

    def information(self, statistic: Floats, dof: Floats, rows: Rows) -> Floats:
        """Return −½ ln(1 − r²), the conditional mutual information of normal variables in nats."""
        del rows
        return information_of_t(statistic, dof)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set: one request to the engine."""
        del threads, poll
        return as_screen_result(candidates, given, self._outcomes(target, as_positions(candidates).tolist(), given))

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the partial correlations with their signs, and in bits."""
        r = np.array(self._correlations(target, as_positions(candidates).tolist(), given))
        return Effects.of(in_bits(self.information(statistic, dof, None)), CORRELATION, r)

    def _outcomes(self, target: int, candidates: Sequence[int], given: Sequence[int]) -> list[Outcome]:
        rows = self.engine.rows
        dof = rows - len(given) - 2
        return [_outcome(r, dof, rows) for r in self._correlations(target, candidates, given)]

    def _correlations(self, target: int, candidates: Sequence[int], given: Sequence[int]) -> list[float]:
        rows, fixed = self.engine.rows, [*given, target]
        sums = self.engine.gram(fixed, [*fixed, *candidates])
        means = sums.other_sums / rows
        covariance = sums.products / rows - np.outer(sums.sums / rows, means)
        variance = sums.other_squares / rows - means**2
        n = len(fixed)
        return [_partial_correlation(covariance, variance, n, n + k) for k in range(len(candidates))]


def _partial_correlation(covariance: NDArray[np.float64], variance: NDArray[np.float64], n: int, x: int) -> float:
    """Return the correlation of column x with column n − 1 given the columns before; NaN if one is collinear."""
    columns = [*range(n), x]
    if min(variance[columns]) <= 0:
        return math.nan
    scale = np.sqrt(variance[columns])
    matrix = np.eye(n + 1)
    matrix[:n] = covariance[:, columns] / np.outer(scale[:n], scale)
    matrix[n, :n] = matrix[:n, n]
    for z in range(n - 1):  # sweep out the conditioning set
        if matrix[z, z] > MIN_VARIANCE:
            matrix -= np.outer(matrix[:, z], matrix[z]) / matrix[z, z]
    left = matrix[n - 1, n - 1], matrix[n, n]
    if min(left) <= MIN_VARIANCE:
        return math.nan
    return float(np.clip(matrix[n - 1, n] / math.sqrt(left[0] * left[1]), -1.0, 1.0))


def _outcome(correlation: float, dof: int, rows: int) -> Outcome:
    if math.isnan(correlation) or dof < 1:
        return Outcome(math.nan, float(dof), math.nan, reliable=False, rows=rows)
    rest = 1.0 - correlation * correlation
    statistic = abs(correlation) * math.sqrt(dof / rest) if rest > 0 else math.inf
    return Outcome(statistic, float(dof), _core.student_t_log_p(statistic, dof), reliable=True, rows=rows)
