"""Whether a variable tells less about a target in some rows than in others.

The statistic of a test of X ⊥ T | Z in N rows is about 2 N I + dof, where I is the information of X about T given Z, in
nats. For small I it has the noncentral chi-square distribution, of mean dof + λ and variance 2 (dof + 2 λ), with λ =
2 N I. So the statistic in the other rows says which λ to expect here, and how surely. The square roots of the statistic
and of its expectation are compared, because they are nearer to normal, with the variance of their difference by the
delta method. This is Cochran's test of heterogeneity for two parts of the rows, one-sided and on another scale. It is
an approximation.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from serape.independence import IndependenceTest


class Information(NamedTuple):
    """What a test says about the information of one variable about another."""

    statistic: float
    """2 N times the information in nats, as estimated from the rows."""
    dof: float
    rows: float

    @property
    def bits(self) -> float:
        """The information in bits, without the part that is due to chance."""
        return max(self.statistic - self.dof, 0.0) / (2 * self.rows * math.log(2))


def information(test: IndependenceTest, x: int, target: int, given: tuple[int, ...]) -> Information | None:
    """Return the information of x about the target given a set; None without a reliable test or an effect size."""
    outcome = test.test(x, target, given)
    if not outcome.reliable or not test.has_effect or test.rows is None:
        return None
    effect = test.effect_of(x, target, given, outcome)
    if effect is None or not math.isfinite(effect.bits):
        return None
    rows_of = getattr(test, "rows_of", None)
    rows = float(test.rows if rows_of is None else rows_of((x, target, *given)))
    dof = test.effect_dof(x, target, given, outcome)
    return Information(2 * rows * math.log(2) * effect.bits, dof, rows)


def added(parts: Iterable[Information]) -> Information:
    """Return the information in several parts of the rows together, with the part as one more condition."""
    return Information(*map(sum, zip(*parts, strict=True)))


def p_of_less(here: Information, elsewhere: Information) -> float:
    """Return the p-value of the hypothesis that the information here is no less than elsewhere."""
    share = here.rows / elsewhere.rows
    excess = max(elsewhere.statistic - elsewhere.dof, 0.0)
    expected = here.dof + share * excess
    if expected <= 0:
        return 1.0
    variance = (here.dof + 2 * share * excess + share**2 * (elsewhere.dof + 2 * excess)) / (2 * expected)
    z = (math.sqrt(here.statistic) - math.sqrt(expected)) / math.sqrt(variance)
    return 0.5 * math.erfc(-z / math.sqrt(2))
