"""X² against a scaled chi-square distribution with its exact moments under permutation: for small and sparse tables.

If X ⊥ Y | Z, every order of the x within a stratum of Z is equally likely, given the counts of the levels. The mean and
the variance of X² over all orders have a closed form (Haldane, *The mean and variance of χ², when used as a test of
homogeneity, when expectations are small*, Biometrika 1940; Dawson, *A simplified expression for the variance of the
χ²-function on a contingency table*, Biometrika 1954). In a stratum of n rows with r levels of x and c levels of y, of
a₁ … and b₁ … rows, they are

    mean      n / (n − 1) · (r − 1)(c − 1)
    variance  2n / (n − 3) · (v_x − w_x)(v_y − w_y) + n² / (n − 1) · w_x w_y
    with      v_x = (r − 1)(n − r) / (n − 1) and w_x = (n Σ 1/a − r²) / (n − 2), and likewise for y.

Strata add up to a mean m and a variance v. p is the tail of the chi-square distribution with 2m²/v degrees of freedom,
scaled by v/2m, above the X² of the data. There are no random numbers and no permutations: it takes little longer than
`x2`, and is close to a permutation test of X² (docs/few-rows.md).

Reliability: a test is reliable if permuting can change X². It never is if in every stratum x or y is constant, or has
one level per row.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from serape.data.table import Table
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.independence.semiparametric import scaled_chi_square_log_sf
from serape.independence.trend import strata
from serape.independence.x2 import X2

Margins = tuple[Floats, Floats, Floats]

_ROUNDING = 1e-9  # a relative variance below this is zero
_BLOCK = 1 << 20  # counts and rows in one block of a screen


class X2Moments(IndependenceTest):
    """X² against the scaled chi-square distribution with its mean and variance under permutation within strata."""

    core_answers = SCREENS
    name = "x2-moments"
    has_effect = True
    made_of = ()

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self._asymptotic = X2(table, dof="adjusted", reliability=None)

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        self.table.check_categorical(f"test {self.name!r}", variables)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return G² in bits and Cramér's V."""
        return self._asymptotic.effects(target, candidates, given, statistic, dof)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self._asymptotic.rows_per_cell(variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        found = self._asymptotic.test(x, y, given)
        moments = self._moments(y, as_positions([x]), given)
        log_p, reliable = _tails(np.array([found.statistic]), *moments)
        return Outcome(found.statistic, found.dof, float(log_p[0]), bool(reliable[0]), self.rows)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set: X² in the core, moments of all candidates at once."""
        positions = as_positions(candidates)
        found = self._asymptotic.screen(target, positions, given, threads=threads, poll=poll)
        log_p, reliable = _tails(found.statistic, *self._moments(target, positions, given))
        statistic = np.where(reliable, found.statistic, math.nan)
        return ScreenResult(positions, tuple(given), statistic, found.dof, reliable, log_p)

    def _moments(self, target: int, candidates: NDArray[np.uint32], given: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the mean and the variance of X² for each candidate, over all orders of it within strata."""
        label = strata(self.table, given)
        rows = np.bincount(label).astype(np.float64)
        of_target = self._margins([target], label, rows)
        mean, variance = np.zeros(len(candidates)), np.zeros(len(candidates))
        levels = np.array([self.table.levels(int(x)) for x in candidates], np.int64)
        for width in np.unique(levels):  # a sum over levels is then the same, whatever the other candidates are
            alike = np.flatnonzero(levels == width)
            block = max(1, _BLOCK // (len(rows) * int(width) + len(label)))
            for begin in range(0, len(alike), block):
                part = alike[begin : begin + block]
                means, variances = _by_stratum(rows, of_target, self._margins(candidates[part], label, rows))
                # `fsum` rounds once, so that the order of the strata does not matter.
                mean[part] = [math.fsum(line) for line in means.tolist()]
                variance[part] = [math.fsum(line) for line in variances.tolist()]
        return mean, variance

    def _margins(self, variables: Candidates, label: NDArray[np.int64], rows: Floats) -> Margins:
        """Return for each stratum the number of levels, v and w; all variables have the same number of levels."""
        width = self.table.levels(int(variables[0]))
        codes = np.stack([self.table.packed.codes(int(v)) for v in variables])
        cell = (np.arange(len(variables))[:, None] * len(rows) + label) * width + codes
        shape = (len(variables), len(rows), width)
        counts = np.bincount(cell.ravel(), minlength=math.prod(shape)).reshape(shape)
        levels = np.count_nonzero(counts, axis=2).astype(np.float64)
        inverse = np.divide(1.0, counts, out=np.zeros(shape), where=counts > 0).sum(axis=2)
        spread = (levels - 1.0) * (rows - levels) / np.maximum(rows - 1.0, 1.0)
        return levels, spread, (rows * inverse - levels * levels) / np.maximum(rows - 2.0, 1.0)


def _by_stratum(rows: Floats, x: Margins, y: Margins) -> tuple[Floats, Floats]:
    """Return the mean and the variance of X² in each stratum."""
    informative = (rows > 1) & (x[0] > 1) & (y[0] > 1)
    mean = rows / np.maximum(rows - 1.0, 1.0) * ((x[0] - 1.0) * (y[0] - 1.0))
    variance = 2.0 * rows / np.maximum(rows - 3.0, 1.0) * ((x[1] - x[2]) * (y[1] - y[2]))  # 0 with three rows
    variance += rows * rows / np.maximum(rows - 1.0, 1.0) * (x[2] * y[2])
    return np.where(informative, mean, 0.0), np.where(informative & (rows > 2), variance, 0.0)


def _tails(statistic: Floats, mean: Floats, variance: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return log p, NaN where X² cannot vary, and where it can."""
    varies = variance > _ROUNDING * mean * mean
    log_p = np.full(len(statistic), math.nan)
    log_p[varies] = scaled_chi_square_log_sf(statistic[varies], mean[varies], variance[varies])
    return log_p, varies
