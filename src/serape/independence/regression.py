"""A symmetric test by regression for any mix of categorical and continuous columns.

Does x help to predict y given z, and does y help to predict x? A regression answers each question, as in Tsagris,
Borboudakis, Lagani & Tsamardinos 2018, "Constraint-based causal discovery with mixed data": the F test of a linear
regression if the response is continuous, the likelihood-ratio test of a multinomial logistic regression if it is
categorical. Categorical predictors enter as one indicator for each level but one, without interactions. The two
p-values are combined into min(2 min(p1, p2), max(p1, p2)), so x and y may change places. For two continuous variables
the two p-values are equal, and equal to that of the t test of the partial correlation.

The statistic is −2 ln p with 2 degrees of freedom, whose chi-square tail is p, because the statistics of the two
regressions cannot be compared.

Reliability: the test is not reliable if x or y is constant or determined by z, if a logistic regression does not
converge, or with fewer than `minimum` (5) rows per parameter of the larger regression, all levels counted. A regression
with as many parameters as rows, or with more than 2,000, is not fitted.

Predictors that others determine are left out. Where the predictors separate the levels without error, the likelihood
has no maximum; its least upper bound is used. If x and y are continuous and determine each other, the unexplained part
of the variance counts as 10^−10.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from serape import _core
from serape.data.origins import Standard
from serape.data.table import Table
from serape.errors import OptionError
from serape.independence.backends import SCREENS
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effects, likelihood_bits
from serape.independence.logistic import Fit, Ints, fit, grouped
from serape.independence.mixed import check_complete
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult

SINGULAR = 1e-10
"""Others determine a variable if the unexplained part of its variance is smaller."""
MAX_PARAMETERS = 2000
_CONSTANT = 1e-24  # a smaller variance, relative to that of the whole column, is rounding error
_BLOCK = 1 << 16  # values in a block of candidates


class RegressionTest(IndependenceTest):
    """Linear and multinomial logistic regressions of x on y and of y on x, combined."""

    core_answers = SCREENS
    name = "regression"
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
        self._standards: dict[int, Standard] = {}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows per cell of the table of the variables that are categorical."""
        return self.rows / math.prod(self.table.levels(v) for v in variables if v not in self._continuous)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; the statistic is computed, where possible, even if the test is not reliable."""
        parameters = self._parameters(x, y, given)
        if not self._possible(parameters):
            return self._outcome(None, enough=False)
        found = self._compare(x, y, self._base(given))
        return self._outcome(None if found is None else found.log_p, self.rows >= self.minimum * parameters)

    def effects(
        self, target: int, candidates: Candidates, given: Sequence[int], statistic: Floats, dof: Floats
    ) -> Effects:
        """Return the likelihood ratio in bits, that of the regression with the smaller one; this fits them again."""
        del statistic, dof
        base = self._base(given)
        found = [self._compare(int(x), target, base) for x in candidates]
        ratio = np.array([math.nan if one is None else one.likelihood_ratio for one in found])
        return Effects.of(likelihood_bits(ratio, self.rows))

    def _compare(self, x: int, y: int, base: _Base) -> _Comparison | None:
        # The lower position first, so that x and y may change places and give the same bits.
        first, second = (_Side(self, v, base) for v in sorted((x, y)))
        return _both_ways(first, second)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; regressions share their common part."""
        del threads
        positions = as_positions(candidates)
        log_p = np.full(len(positions), math.nan)
        side: _Side | None = None
        block_size = max(1, _BLOCK // self.rows)
        block: list[int] = []
        for k, x in enumerate(positions.tolist()):
            parameters = self._parameters(x, target, given)
            if self.rows < self.minimum * parameters or not self._possible(parameters):
                continue
            if side is None:
                side = _Side(self, target, self._base(given))
            if x in self._continuous and target in self._continuous:
                block.append(k)
                if len(block) < block_size:
                    continue
                log_p[block] = self._linear(positions[block].tolist(), side)
                block = []
            else:
                found = _both_ways(_Side(self, x, side.base), side)
                log_p[k] = math.nan if found is None else found.log_p
            if poll is not None:
                poll()
        if block and side is not None:
            log_p[block] = self._linear(positions[block].tolist(), side)
        reliable = ~np.isnan(log_p)
        return ScreenResult(positions, tuple(given), -2.0 * log_p, np.where(reliable, 2.0, math.nan), reliable, log_p)

    # --- inside --------------------------------------------------------------------------------------------------

    def _outcome(self, log_p: float | None, enough: bool) -> Outcome:
        if log_p is None:
            return Outcome(math.nan, math.nan, math.nan, reliable=False, rows=self.rows)
        return Outcome(-2.0 * log_p, 2.0, log_p, enough, self.rows)

    def _size(self, v: int) -> int:
        return 1 if v in self._continuous else self.table.levels(v) - 1

    def _parameters(self, x: int, y: int, given: Sequence[int]) -> int:
        """Return the number of parameters of the larger regression."""
        given_size = 1 + sum(map(self._size, given))
        return max(self._size(x), self._size(y), 1) * given_size + self._size(x) * self._size(y)

    def _possible(self, parameters: int) -> bool:
        return parameters < self.rows and parameters <= MAX_PARAMETERS

    def _base(self, given: Sequence[int]) -> _Base:
        basis = np.full((self.rows, 1), 1.0 / math.sqrt(self.rows))
        order = sorted(map(int, given))
        if order:
            columns = np.concatenate([self.columns(z) for z in order], axis=1)
            basis = np.concatenate([basis, _orthonormal(columns, basis)], axis=1)
        cells: tuple[Ints, int] | None = None
        if not any(z in self._continuous for z in order):
            cells = np.zeros(self.rows, np.intp), 1
            for z in order:
                cells = self.divided(cells, z)
        return _Base(basis, cells)

    def divided(self, cells: tuple[Ints, int], v: int) -> tuple[Ints, int]:
        """Divide cells by the levels of a categorical variable; only cells that occur are numbered."""
        levels = self.table.levels(v)
        return _numbered(cells[0] * levels + self.codes(v), cells[1] * levels)

    def codes(self, v: int) -> Ints:
        """Return the codes of a categorical column."""
        return self.table.packed.codes(v).astype(np.intp)

    def is_continuous(self, v: int) -> bool:
        """Return whether a column is continuous."""
        return v in self._continuous

    def columns(self, v: int) -> Floats:
        """Return a variable as centred predictors: its values, or indicators of all observed levels but one."""
        if v in self._continuous:
            columns = self.values([v]).T
        else:
            codes = self.codes(v)
            observed = np.flatnonzero(np.bincount(codes))
            columns = (codes[:, None] == observed[1:]).astype(np.float64)
        return np.asarray(columns - columns.mean(axis=0))

    def values(self, block: Sequence[int]) -> Floats:
        """Return continuous columns, one per row, centred at their medians, in units of their spread."""
        columns = np.empty((len(block), self.rows))
        for row, v in zip(columns, block, strict=True):
            values = self.table.numbers(v)
            if v not in self._standards:
                self._standards[v] = Standard.of(values)
            row[:] = self._standards[v].standardised(values)
        return columns

    def _linear(self, block: Sequence[int], side: _Side) -> Floats:
        """Return log p of many continuous variables against one, given the same set."""
        log_p = np.full(len(block), math.nan)
        rest = self.rows - side.base.basis.shape[1] - 1
        if side.residual is None or rest < 1:
            return log_p
        columns = self.values(block)
        columns -= columns.mean(axis=1, keepdims=True)
        whole = np.einsum("ij,ij->i", columns, columns)
        basis = side.base.basis
        for _ in range(2):
            columns -= (columns @ basis) @ basis.T
        left = np.einsum("ij,ij->i", columns, columns)
        direction = side.residual / math.sqrt(side.left)
        explained = np.square(columns @ direction)
        columns -= np.outer(columns @ direction, direction)
        unexplained = np.maximum(np.einsum("ij,ij->i", columns, columns), SINGULAR * left)
        for k in np.flatnonzero((left > SINGULAR * whole) & (left > _CONSTANT * self.rows)).tolist():
            log_p[k] = _core.f_log_sf(float(explained[k]), float(unexplained[k]), 1, rest)
        return log_p


@dataclass(frozen=True, slots=True)
class _Base:
    """An orthonormal basis of the predictors of z, and the cells of z if all of z is categorical."""

    basis: Floats
    cells: tuple[Ints, int] | None


class _Comparison(NamedTuple):
    """Log p of a regression with a variable against the one without, and the likelihood ratio 2 (L₁ − L₀)."""

    log_p: float
    likelihood_ratio: float


class _Side:
    """One of the two variables of a question, as predictor and as response."""

    def __init__(self, test: RegressionTest, v: int, base: _Base) -> None:
        self.test = test
        self.v = v
        self.base = base
        self.continuous = test.is_continuous(v)

    @cached_property
    def added(self) -> Floats:
        """Orthonormal columns that extend the basis of z by the variable; none if z determines it."""
        return _orthonormal(self.test.columns(self.v), self.base.basis)

    @cached_property
    def _residual(self) -> tuple[Floats | None, float]:
        column = self.test.columns(self.v)[:, 0]
        whole = float(column @ column)
        basis = self.base.basis
        for _ in range(2):
            column = column - basis @ (basis.T @ column)
        left = float(column @ column)
        if left <= max(SINGULAR * whole, _CONSTANT * len(column)):
            return None, left
        return column, left

    @property
    def residual(self) -> Floats | None:
        """The residual of a continuous variable given z; None if z determines it."""
        return self._residual[0]

    @property
    def left(self) -> float:
        """The sum of squares of the residual."""
        return self._residual[1]

    @cached_property
    def labels(self) -> tuple[Ints, int]:
        """The codes of a categorical variable, numbered by the levels that occur, and the number of these."""
        return _numbered(self.test.codes(self.v), self.test.table.levels(self.v))

    @cached_property
    def alone(self) -> Fit:
        """The logistic regression on z alone."""
        codes, levels = self.labels
        design = self.base.basis
        start = np.zeros((design.shape[1], levels - 1))
        counts = np.bincount(codes, minlength=levels)
        start[0] = np.log(counts[:-1] / counts[-1])  # the scaled design starts with a column of ones
        return fit(*grouped(design, codes, levels, self.base.cells), start)

    def compare(self, other: _Side) -> _Comparison | None:
        """Return the test of adding the other variable to the regression of this one on z; None if there is no test."""
        added = other.added
        size = added.shape[1]
        if size == 0:
            return None
        if self.continuous:
            rest = len(added) - self.base.basis.shape[1] - size
            if self.residual is None or rest < 1:
                return None
            slopes = added.T @ self.residual
            unexplained = self.residual - added @ slopes
            remaining = max(float(unexplained @ unexplained), SINGULAR * self.left)
            log_p = _core.f_log_sf(float(slopes @ slopes), remaining, size, rest)
            return _Comparison(log_p, len(added) * math.log(self.left / remaining))
        codes, levels = self.labels
        if levels < 2:
            return None
        alone = self.alone
        if not alone.converged:
            return None
        shares = np.bincount(codes) / len(codes)
        if alone.log_likelihood >= SINGULAR * len(codes) * float((shares * np.log(shares)).sum()):
            return None  # z determines the variable
        cells = self.base.cells
        if cells is not None:
            cells = None if other.continuous else self.test.divided(cells, other.v)
        design = np.concatenate([self.base.basis, added], axis=1)
        start = np.concatenate([alone.slopes, np.zeros((size, levels - 1))])
        both = fit(*grouped(design, codes, levels, cells), start)
        if not both.converged:
            return None
        statistic = max(2.0 * (both.log_likelihood - alone.log_likelihood), 0.0)
        return _Comparison(_core.chi_square_log_sf(statistic, float(size * (levels - 1))), statistic)


def _both_ways(x: _Side, y: _Side) -> _Comparison | None:
    """Return the combined log p of the two regressions, and the smaller likelihood ratio."""
    one = x.compare(y)
    if one is None:
        return None
    if x.continuous and y.continuous:
        return one  # the other p-value is equal
    other = y.compare(x)
    if other is None:
        return None
    return _Comparison(combined(one.log_p, other.log_p), min(one.likelihood_ratio, other.likelihood_ratio))


def combined(one: float, other: float) -> float:
    """Return the logarithm of min(2 min(p1, p2), max(p1, p2)) from log p1 and log p2."""
    return min(math.log(2.0) + min(one, other), max(one, other))


def _orthonormal(columns: Floats, basis: Floats) -> Floats:
    """Return orthonormal columns that extend a basis by centred columns; columns that it determines are left out."""
    whole = np.einsum("ij,ij->j", columns, columns)
    for _ in range(2):  # twice, against rounding errors
        columns = columns - basis @ (basis.T @ columns)
    gram = columns.T @ columns
    threshold = np.maximum(SINGULAR * whole, _CONSTANT * len(columns))
    keep = []
    for j in range(len(gram)):
        pivot = gram[j, j]
        if pivot > threshold[j]:
            keep.append(j)
            rest = gram[j, j + 1 :]
            gram[j + 1 :, j + 1 :] -= np.outer(rest / pivot, rest)
    if len(keep) == 1:
        column = columns[:, keep]
        return np.asarray(column / np.linalg.norm(column))
    return np.linalg.qr(columns[:, keep])[0]


def _numbered(keys: Ints, bound: int) -> tuple[Ints, int]:
    """Number the keys that occur; all keys are below the bound."""
    if bound > 4 * len(keys) + 1024:
        distinct, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(distinct)
    occurs = np.bincount(keys, minlength=bound) > 0
    count = int(np.count_nonzero(occurs))
    if count == bound:
        return keys, count
    return (np.cumsum(occurs) - 1)[keys], count
