"""The stratified linear-by-linear test, for ordered categories.

Mantel, *Chi-square tests with one degree of freedom; extensions of the Mantel-Haenszel procedure*, JASA 1963. With two
levels on one side and no conditioning set it is Cochran's (1954) and Armitage's (1955) test of a trend in proportions,
with n − 1 in place of n in the variance; with two on both, the Mantel–Haenszel test without continuity correction.

The score of a level is its index, 0, 1, 2, …, in the column's order of levels: the declared order of categories, or the
sorted order if none is declared. So declare the order of text levels: "high" sorts before "low" and "medium". In a
stratum of n rows, T = Σ x·y has expectation E = Σx·Σy / n and variance V = Σ(x − x̄)²·Σ(y − ȳ)² / (n − 1) if x and y are
independent there, and M² = (Σ(T − E))² / ΣV over the strata of Z that occur follows chi-square with one degree of
freedom, for any number of levels. The test detects an association that has the same direction everywhere, with fewer
rows than G². It may miss an association that rises and falls, or that rises in one stratum and falls in another.

Reliability: only strata in which both x and y vary carry information, and one row of each is used for its means. A test
is reliable if Σ(n − 1) over these strata is at least `minimum` (5), as G² requires 5 rows per degree of freedom. If
there is no such stratum, the test has 0 degrees of freedom and is not reliable.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import DataError, OptionError, abbreviate
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import CORRELATION, Effects, correlation_bits
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult
from serape.wording import setting

_BLOCK = 1 << 20  # scores in one block of a screen


class Trend(IndependenceTest):
    """Mantel's test of linear-by-linear association between ordered categories, within strata."""

    core_answers = SCREENS
    name = "trend"
    has_effect = True
    made_of = ("minimum",)

    def __init__(self, table: Table, minimum: float = 5.0) -> None:
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self.minimum = float(minimum)

    def check(self, variables: Container[int]) -> None:
        """Refuse continuous columns, and missing values as one of three or more levels: they have no rank."""
        self.table.check_categorical(f"test {self.name!r}", variables)
        levels = [self.table.variables[name].levels for name in self.variables]
        refused = [self.variables[k] for k, own in enumerate(levels) if k in variables and None in own and len(own) > 2]
        if refused:
            raise DataError(
                f"test {self.name!r} needs ordered levels, but missing values are a level of {abbreviate(refused)} and "
                f"have no rank; pass {setting('missing', 'drop')} or {setting('test', 'g2')}"
            )

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables."""
        return self.table.rows / math.prod(self.table.levels(v) for v in variables)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed even if the test is not reliable."""
        statistic, dof, reliable = (answer[0].item() for answer in self._answers(y, [x], given, None)[:3])
        log_p = _core.chi_square_log_sf(statistic, 1.0) if dof else math.nan
        return Outcome(statistic, dof, log_p, reliable, self.rows)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the correlation of the scores within strata, and in bits."""
        del statistic, dof
        r = self._answers(target, candidates, given, None)[3]
        return Effects.of(correlation_bits(r), CORRELATION, r)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set, in one pass over the candidates' scores."""
        del threads
        statistic, dof, reliable, _ = self._answers(target, candidates, given, poll)
        statistic[~reliable] = math.nan
        return ScreenResult(as_positions(candidates), tuple(given), statistic, dof, reliable, _core.chi_square_log_sf)

    def _answers(
        self, target: int, candidates: Candidates, given: Sequence[int], poll: Poll | None
    ) -> tuple[Floats, Floats, NDArray[np.bool_], Floats]:
        """Return statistic, dof, reliability and the correlation within strata."""
        order, starts, sizes = self._strata(given)
        count = len(candidates)
        numerator, variance, rows, squares = (np.zeros(count) for _ in range(4))
        if len(starts):
            y = self._scores([target], order)
            sum_y = np.add.reduceat(y, starts, axis=1)
            spread_y = sizes * np.add.reduceat(y * y, starts, axis=1) - sum_y * sum_y
            block = max(1, _BLOCK // y.size)
            for begin in range(0, count, block):
                part = slice(begin, begin + block)
                x = self._scores(candidates[part], order)
                # Sums of integers are exact, so a column that does not vary has a spread of exactly 0.
                sum_x = np.add.reduceat(x, starts, axis=1)
                sum_xy = np.add.reduceat(x * y, starts, axis=1)
                spread_x = sizes * np.add.reduceat(x * x, starts, axis=1) - sum_x * sum_x
                numerator[part] = ((sizes * sum_xy - sum_x * sum_y) / sizes).sum(axis=1)
                variance[part] = (spread_x * spread_y / (sizes * sizes * (sizes - 1))).sum(axis=1)
                squares[part] = (spread_x / sizes).sum(axis=1) * (spread_y / sizes).sum()
                rows[part] = ((sizes - 1) * ((spread_x > 0) & (spread_y > 0))).sum(axis=1)
                if poll is not None:
                    poll()
        varies = variance > 0
        statistic = np.divide(numerator * numerator, variance, out=np.zeros(count), where=varies)
        correlation = np.divide(numerator, np.sqrt(squares), out=np.full(count, math.nan), where=varies)
        return statistic, varies.astype(np.float64), varies & (rows >= self.minimum), correlation

    def _scores(self, variables: Candidates, order: NDArray[np.intp]) -> Floats:
        """Return the scores, one line per variable."""
        scores = np.empty((len(variables), len(order)))
        for line, k in zip(scores, variables, strict=True):
            line[:] = self.table.packed.codes(int(k))[order]
        return scores

    def _strata(self, given: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """Return the rows by stratum, the start and the size of each stratum; strata of one row are left out."""
        label = strata(self.table, given)
        size = np.bincount(label)
        order = np.argsort(label, kind="stable")
        order = order[size[label[order]] > 1]
        size = size[size > 1]
        return order, np.cumsum(size) - size, size.astype(np.float64)


def strata(table: Table, given: Sequence[int]) -> NDArray[np.int64]:
    """Return for each row the number of its stratum; the strata that occur are numbered from 0."""
    label, bound = np.zeros(table.rows, np.int64), 1
    for z in sorted(given):
        if bound > 1 << 40:  # the product with at most 2^16 levels must not overflow
            label = np.unique(label, return_inverse=True)[1]
            bound = table.rows
        label = label * table.levels(z) + table.packed.codes(z)
        bound *= table.levels(z)
    if bound <= 4 * table.rows:
        occurs = np.bincount(label, minlength=bound) > 0
        return (np.cumsum(occurs) - 1)[label]
    return np.unique(label, return_inverse=True)[1]
