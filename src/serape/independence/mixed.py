"""A test for any mix of categorical and continuous columns.

Likelihood ratios of the *conditional Gaussian* model (Lauritzen & Wermuth 1989, "Graphical models for associations
between variables, some of which are qualitative and some quantitative"), in which the continuous variables have a mean
and a covariance of their own in each joint level of the categorical ones. With L(S) the greatest log-likelihood of the
variables S, the statistic is 2 [L(x, y, z) − L(x, z) − L(y, z) + L(z)], as in Andrews, Ramsey & Cooper 2018, "Scoring
Bayesian networks of mixed variables". Let d be the number of continuous variables in z, a *stratum* a joint level of
the categorical ones, and k_x and k_y the levels of x and y that occur in it. Every stratum adds to the degrees of
freedom:

- x and y continuous: 1. The statistic is −n ln(1 − r²), r the partial correlation in the stratum;
- x categorical, y continuous: (k_x − 1) (d + 2), an intercept, d slopes and a variance of y for each further level;
- x and y categorical, d = 0: (k_x − 1) (k_y − 1). The statistic is G².
- x and y categorical, d > 0: (k_x − 1) (k_y − 1). Here the four models are not nested, and a likelihood ratio misses
  dependence where z has modes that lie far from each other. Instead, the test compares rows with similar values of z.
  Within each stratum, rows are halved at the median of the continuous z whose ranks spread most (if several do, whose
  values deviate most), as long as both halves have 10 + 5 d rows (a k-d tree, Bentley 1975). In each such leaf the
  indicators of the levels of x and y are regressed on z. The products of the residuals are summed over the leaves of a
  stratum and compared to their covariance under independence: the generalised Cochran–Mantel–Haenszel test (Landis,
  Heyman & Koch 1978, "Average partial association in three-way contingency tables") with leaves in place of tables. It
  assumes nothing about the distribution of z. An
  association that changes its direction with z averages out.

Small cells: a cell cannot be fitted if its rows are fewer than the continuous variables in the question plus 2, or if
its covariance is singular. Its rows are left out of all four likelihoods: the stratum if x and y are continuous, the
level of x in the stratum if one is categorical. A continuous z that others determine is left out of z. If x and y are
continuous and determine each other, 1 − r² counts as 10^−10. If x and y are categorical, pairs of levels about which no
leaf carries information take no degree of freedom, and a stratum with more than 1,000 degrees of freedom is left out.

Reliability: a test of 0 degrees of freedom is never reliable. Any other test requires `minimum` (5) of the rows used
per degree of freedom, and as many of all rows per *full* degree of freedom, which counts all levels and strata.

Cost: a question takes a pass over the rows for each pair of its continuous variables and each division of the rows by
categorical ones, then a small elimination for each cell. Divisions and moments are kept between questions, in at most
64 MiB, and at most 128 bytes per value of the table.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from serape import _core
from serape.data.origins import Standard
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects, likelihood_bits
from serape.independence.outcomes import NO_OUTCOME, Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.wording import setting

MAX_BYTES = 1 << 26
"""The most memory for what is kept between questions."""
_BYTES_PER_VALUE = 128


class ConditionalGaussian(IndependenceTest):
    """The likelihood-ratio test of the conditional Gaussian model."""

    core_answers = SCREENS
    name = "mixed"
    has_effect = True
    made_of = ("minimum",)

    def __init__(self, table: Table, minimum: float = 5.0) -> None:
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        self.table = table
        self.variables = table.names
        self.rows: int = table.rows
        self.minimum = minimum
        self._continuous = frozenset(table.continuous)
        max_bytes = min(MAX_BYTES, _BYTES_PER_VALUE * table.rows * len(table.names))
        self._categorical = _core.ContingencyTest(table.packed, "g2", "adjusted", "dof", minimum)
        self._native = _core.MixedTest(table.packed, list(table.continuous), minimum, max_bytes)
        self._handed_over: set[int] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.table, self.minimum), {"_noted": self._noted}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables that are categorical."""
        return self.rows / math.prod(self.table.levels(v) for v in variables if v not in self._continuous)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        if not self._hand_over(x, y, given):
            return Outcome(*self._categorical.test(x, y, list(given)), self.rows)
        statistic, dof, used, reliable = self._native.test(x, y, list(given))
        if not dof > 0:
            return Outcome(0.0, 0.0, math.nan, reliable=False, rows=used)
        return Outcome(statistic, dof, _core.chi_square_log_sf(statistic, dof), reliable, used)

    def answer(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given if that is reliable."""
        if not self._hand_over(x, y, given):
            return self.screen(y, [x], given).outcome(0)
        statistic, dof, used, reliable = self._native.test(x, y, list(given), thorough=False)
        if not reliable:
            return NO_OUTCOME
        return Outcome(statistic, dof, _core.chi_square_log_sf(statistic, dof), True, used)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the statistic in bits; rows that were left out count as rows without dependence."""
        del target, candidates, given, dof
        return Effects.of(likelihood_bits(statistic, self.rows))

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; categorical candidates in one call."""
        positions = as_positions(candidates)
        named = [int(z) for z in given]
        statistic, dof = np.full(len(positions), math.nan), np.full(len(positions), math.nan)
        reliable = np.zeros(len(positions), bool)
        counted = np.array([not self._hand_over(x, target, named) for x in positions.tolist()], bool)
        if counted.any():
            answers = self._categorical.screen(target, positions[counted], named, threads, poll, "automatic")
            statistic[counted], dof[counted], reliable[counted] = answers.arrays()
        for k in np.flatnonzero(~counted).tolist():
            found = self._native.test(int(positions[k]), target, named, thorough=False, remember=False)
            statistic[k], dof[k], _, reliable[k] = found
            if poll is not None:
                poll()
        statistic[~reliable] = math.nan
        return ScreenResult(positions, tuple(named), statistic, dof, reliable, _core.chi_square_log_sf)

    def _hand_over(self, x: int, y: int, given: Sequence[int]) -> bool:
        """Pass the continuous columns of a question to the core; return whether there are any."""
        numbers = [v for v in (x, y, *given) if v in self._continuous]
        for v in numbers:
            if v not in self._handed_over:
                values = self.table.numbers(v)
                self._native.set_values(v, Standard.of(values).standardised(values))
                self._handed_over.add(v)
        return bool(numbers)


def check_complete(table: Table, needed_by: str, variables: Container[int]) -> None:
    """Refuse continuous columns with missing values; `needed_by` names what needs complete columns."""
    refused = [table.names[k] for k in table.continuous if k in variables and not np.isfinite(table.numbers(k)).all()]
    if refused:
        raise DataError(
            f"{needed_by} needs complete columns, but values are missing in {abbreviate(refused)}; pass "
            f"{setting('missing', 'drop')} or {setting('missing', 'pairwise')}"
        )
