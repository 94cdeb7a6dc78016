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
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Floats, Outcome
from serape.independence.semiparametric import scaled_chi_square_log_sf
from serape.independence.trend import strata
from serape.independence.x2 import X2

_ROUNDING = 1e-9  # a relative variance below this is zero


class X2Moments(IndependenceTest):
    """X² against the scaled chi-square distribution with its mean and variance under permutation within strata."""

    name = "x2-moments"

    def __init__(self, table: Table) -> None:
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self._asymptotic = X2(table, dof="adjusted", reliability=None)

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns."""
        self.table.check_categorical(f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self._asymptotic.rows_per_cell(variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given."""
        found = self._asymptotic.test(x, y, given)
        mean, variance = self._moments(x, y, given) if found.dof else (0.0, 0.0)
        if variance <= _ROUNDING * mean * mean:
            return Outcome(found.statistic, found.dof, math.nan, reliable=False, rows=self.rows)
        log_p = scaled_chi_square_log_sf(found.statistic, mean, variance)
        return Outcome(found.statistic, found.dof, log_p, reliable=True, rows=self.rows)

    def _moments(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float]:
        """Return the mean and the variance of X² over all permutations of x within strata."""
        label = strata(self.table, given)
        rows = np.bincount(label).astype(np.float64)
        levels, spread, excess = zip(*(self._margin(v, label, rows) for v in (x, y)), strict=True)
        mean = rows * (levels[0] - 1.0) * (levels[1] - 1.0) / np.maximum(rows - 1.0, 1.0)
        differ = (spread[0] - excess[0]) * (spread[1] - excess[1])  # 0 with three rows
        variance = 2.0 * rows / np.maximum(rows - 3.0, 1.0) * differ
        variance += rows * rows / np.maximum(rows - 1.0, 1.0) * (excess[0] * excess[1])
        informative = (rows > 2) & (levels[0] > 1) & (levels[1] > 1)
        # `fsum` rounds once, so that the order of the strata does not matter.
        return math.fsum(mean), math.fsum(variance[informative])

    def _margin(self, v: int, label: NDArray[np.int64], rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the number of levels of a variable in each stratum, and v and w of the formula."""
        width = self.table.levels(v)
        counts = np.bincount(label * width + self.table.packed.codes(v), minlength=len(rows) * width)
        counts = counts.reshape(len(rows), width)
        levels = np.count_nonzero(counts, axis=1).astype(np.float64)
        inverse = np.divide(1.0, counts, out=np.zeros(counts.shape), where=counts > 0).sum(axis=1)
        spread = (levels - 1.0) * (rows - levels) / np.maximum(rows - 1.0, 1.0)
        return levels, spread, (rows * inverse - levels * levels) / np.maximum(rows - 2.0, 1.0)
