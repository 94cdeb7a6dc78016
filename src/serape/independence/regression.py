"""A symmetric test by regression for any mix of categorical and continuous columns.

Does x help to foretell y once z is known, and does y help to foretell x? Both questions are put to a regression, as in
Tsagris, Borboudakis, Lagani & Tsamardinos 2018, "Constraint-based causal discovery with mixed data": the F test of a
linear regression if the response is continuous, the likelihood-ratio test of a multinomial logistic regression if it is
categorical. Categorical predictors enter as one indicator for each level but one, without interactions. The two
p-values are combined into min(2 min(p1, p2), max(p1, p2)), so x and y may change places. For two continuous variables
the two are equal, and equal to the t test of the partial correlation.

The statistic given is −2 ln p, on 2 degrees of freedom, whose chi-square tail is p: the two regressions have statistics
of their own that cannot be compared.

Rules: predictors that others determine are left out. A variable that is constant, or that z determines, leaves nothing
to test: the outcome is not reliable. Neither is it if a logistic regression does not converge, or with fewer than
`minimum` (5) rows for each parameter of the larger regression, all levels counted; a regression of as many parameters
as rows, or of more than 2,000, is not even tried. Where the levels can be told apart without error the likelihood has
no maximum but a least upper bound, which is used. If x and y are continuous and determine each other, what they leave
of each other's variance counts as 10^−10.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.table import Table
from serape.errors import OptionError
from serape.independence.base import IndependenceTest
from serape.independence.mixed import check_complete, scale
from serape.independence.outcomes import Candidates, Floats, Outcome, Poll, as_positions
from serape.independence.screens import ScreenResult

Ints = NDArray[np.intp]

SINGULAR = 1e-10
"""A variable is determined by others if they leave a smaller part of its variance."""
MOST_PARAMETERS = 2000
_CONSTANT = 1e-24  # a variance, by that of the whole column, that is nothing but rounding
_RIDGES = (1e-12, 1e-8, 1e-4)  # by the greatest curvature; a larger one where a smaller one does not help
_CONVERGED = 1e-9  # twice the log-likelihood still to be gained
_MOST_STEPS = 100
_MOST_HALVINGS = 30
_BLOCK = 1 << 16  # numbers in a block of candidates


class RegressionTest(IndependenceTest):
    """Linear and multinomial logistic regressions of x on y and of y on x, combined."""

    name = "regression"

    def __init__(self, table: Table, minimum: float = 5.0) -> None:
        if not minimum > 0:
            raise OptionError(f"the minimum number of rows must be positive, not {minimum!r}")
        self.table = table
        self.variables = table.names
        self.rows: int = table.rows
        self.minimum = minimum
        self._continuous = frozenset(table.continuous)
        self._scales: dict[int, tuple[float, float]] = {}

    def check(self, variables: Container[int]) -> None:
        """Refuse columns with missing values."""
        check_complete(self.table, f"test {self.name!r}", variables)

    def rows_per_cell(self, variables: Iterable[int]) -> float:
        """Return the mean number of rows in a cell of the table of the categorical ones of these variables."""
        return self.rows / math.prod(self.table.levels(v) for v in variables if v not in self._continuous)

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        """Test X ⊥ Y | given; performed, where that is possible, even if it is not reliable."""
        parameters = self._parameters(x, y, given)
        if not self._possible(parameters):
            return self._outcome(None, enough=False)
        base = self._base(given)
        # The lower position first, so that the answer is the same to the bit either way.
        first, second = (_Side(self, v, base) for v in sorted((x, y)))
        return self._outcome(_both_ways(first, second), self.rows >= self.minimum * parameters)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        """Test every candidate against the target given one set; what all regressions share is computed once."""
        del threads
        positions = as_positions(candidates)
        log_p = np.full(len(positions), math.nan)
        side: _Side | None = None
        many = max(1, _BLOCK // self.rows)
        block: list[int] = []
        for k, x in enumerate(positions.tolist()):
            parameters = self._parameters(x, target, given)
            if self.rows < self.minimum * parameters or not self._possible(parameters):
                continue
            if side is None:
                side = _Side(self, target, self._base(given))
            if x in self._continuous and target in self._continuous:
                block.append(k)
                if len(block) < many:
                    continue
                log_p[block] = self._linear(positions[block].tolist(), side)
                block = []
            else:
                found = _both_ways(_Side(self, x, side.base), side)
                log_p[k] = math.nan if found is None else found
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
        """Return the parameters of the larger regression."""
        given_size = 1 + sum(map(self._size, given))
        return max(self._size(x), self._size(y), 1) * given_size + self._size(x) * self._size(y)

    def _possible(self, parameters: int) -> bool:
        return parameters < self.rows and parameters <= MOST_PARAMETERS

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
        """Return a variable as predictors, centred: its values, or an indicator for each level seen but the first."""
        if v in self._continuous:
            columns = self.values([v]).T
        else:
            codes = self.codes(v)
            seen = np.flatnonzero(np.bincount(codes))
            columns = (codes[:, None] == seen[1:]).astype(np.float64)
        return np.asarray(columns - columns.mean(axis=0))

    def values(self, block: Sequence[int]) -> Floats:
        """Return continuous columns, one a row, about their medians, in units of their spread."""
        columns = np.zeros((len(block), self.rows))
        for row, v in zip(columns, block, strict=True):
            values = self.table.numbers(v)
            known = self._scales.get(v)
            if known is None:
                known = self._scales[v] = scale(values)
            middle, spread = known
            if spread > 0:
                np.divide(values - middle, spread, out=row)
        return columns

    def _linear(self, block: Sequence[int], side: _Side) -> Floats:
        """Return log p of many continuous variables against one, given the same."""
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
            log_p[k] = f_log_sf(float(explained[k]), float(unexplained[k]), 1, rest)
        return log_p


@dataclass(frozen=True, slots=True)
class _Base:
    """What z gives: an orthonormal basis of its predictors, and its cells if it is categorical throughout."""

    basis: Floats
    cells: tuple[Ints, int] | None


class _Side:
    """One of the two variables of a question, as predictor and as response."""

    def __init__(self, test: RegressionTest, v: int, base: _Base) -> None:
        self.test = test
        self.v = v
        self.base = base
        self.continuous = test.is_continuous(v)

    @cached_property
    def added(self) -> Floats:
        """What the variable adds to the basis of z: orthonormal columns, none if z determines it."""
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
        """What z leaves of a continuous variable; None for nothing."""
        return self._residual[0]

    @property
    def left(self) -> float:
        """The sum of squares of what z leaves."""
        return self._residual[1]

    @cached_property
    def labels(self) -> tuple[Ints, int]:
        """The levels of a categorical variable that occur, numbered, and their number."""
        return _numbered(self.test.codes(self.v), self.test.table.levels(self.v))

    @cached_property
    def alone(self) -> _Fit:
        """The logistic regression on z alone."""
        codes, levels = self.labels
        design = self.base.basis
        start = np.zeros((design.shape[1], levels - 1))
        counts = np.bincount(codes, minlength=levels)
        start[0] = np.log(counts[:-1] / counts[-1])  # the scaled design starts with a column of ones
        return _fit(*_grouped(design, codes, levels, self.base.cells), start)

    def log_p(self, other: _Side) -> float | None:
        """Return log p of adding the other variable to the regression of this one on z; None where it says nothing."""
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
            return f_log_sf(float(slopes @ slopes), remaining, size, rest)
        codes, levels = self.labels
        if levels < 2:
            return None
        alone = self.alone
        if not alone.converged:
            return None
        shares = np.bincount(codes) / len(codes)
        if alone.log_likelihood >= SINGULAR * len(codes) * float((shares * np.log(shares)).sum()):
            return None  # z determines it
        cells = self.base.cells
        if cells is not None:
            cells = None if other.continuous else self.test.divided(cells, other.v)
        design = np.concatenate([self.base.basis, added], axis=1)
        start = np.concatenate([alone.slopes, np.zeros((size, levels - 1))])
        both = _fit(*_grouped(design, codes, levels, cells), start)
        if not both.converged:
            return None
        statistic = max(2.0 * (both.log_likelihood - alone.log_likelihood), 0.0)
        return _core.chi_square_log_sf(statistic, float(size * (levels - 1)))


def _both_ways(x: _Side, y: _Side) -> float | None:
    """Return log p of the two regressions, combined."""
    one = x.log_p(y)
    if one is None:
        return None
    if x.continuous and y.continuous:
        return one  # the other is the same
    other = y.log_p(x)
    return None if other is None else combined(one, other)


def combined(one: float, other: float) -> float:
    """Return the logarithm of min(2 min(p1, p2), max(p1, p2)) from log p1 and log p2."""
    return min(math.log(2.0) + min(one, other), max(one, other))


# --- regression --------------------------------------------------------------------------------------------------


def _orthonormal(columns: Floats, basis: Floats) -> Floats:
    """Return an orthonormal basis of what columns, centred, add to a basis; columns that add nothing are left out."""
    whole = np.einsum("ij,ij->j", columns, columns)
    for _ in range(2):  # once more for what rounding has left
        columns = columns - basis @ (basis.T @ columns)
    gram = columns.T @ columns
    least = np.maximum(SINGULAR * whole, _CONSTANT * len(columns))
    keep = []
    for j in range(len(gram)):
        pivot = gram[j, j]
        if pivot > least[j]:
            keep.append(j)
            rest = gram[j, j + 1 :]
            gram[j + 1 :, j + 1 :] -= np.outer(rest / pivot, rest)
    if len(keep) == 1:
        column = columns[:, keep]
        return np.asarray(column / np.linalg.norm(column))
    return np.linalg.qr(columns[:, keep])[0]


@dataclass(frozen=True, slots=True)
class _Fit:
    log_likelihood: float
    slopes: Floats
    converged: bool


def _grouped(design: Floats, codes: Ints, levels: int, cells: tuple[Ints, int] | None) -> tuple[Floats, Floats]:
    """Return the predictors, scaled, and how often each level occurs with them; equal rows may come together."""
    rows = len(design)
    if cells is None or 2 * cells[1] > rows:
        counts = np.zeros((rows, levels))
        counts[np.arange(rows), codes] = 1.0
    else:
        of, count = cells
        first = np.empty(count, np.intp)
        first[of] = np.arange(rows)
        design = design[first]
        counts = np.bincount(of * levels + codes, minlength=count * levels).reshape(count, levels).astype(float)
    return design * math.sqrt(rows), counts


def _fit(design: Floats, counts: Floats, slopes: Floats) -> _Fit:
    """Fit a multinomial logistic regression by Newton's method; the last level is the one to compare with.

    Where the levels can be told apart the likelihood grows without end, but less at every step: it counts as converged
    when there is nothing more to gain.
    """
    totals = counts.sum(axis=1)
    seen = counts[:, :-1]
    value, shares = _log_likelihood(design, seen, totals, slopes)
    parameters, classes = slopes.shape
    rounding = 1e-14 * (float(totals.sum()) + abs(value))
    for _ in range(_MOST_STEPS):
        gradient = design.T @ (seen - totals[:, None] * shares)
        hessian = np.empty((classes, parameters, classes, parameters))
        for a in range(classes):
            for b in range(a, classes):
                weight = totals * shares[:, a] * ((a == b) - shares[:, b])
                hessian[a, :, b, :] = hessian[b, :, a, :] = design.T @ (weight[:, None] * design)
        flat = hessian.reshape(classes * parameters, classes * parameters)
        for ridge in _RIDGES:
            step = _newton_step(flat, gradient, ridge)
            gain = float(np.vdot(step, gradient))
            if not math.isfinite(gain):
                continue
            if 0 <= gain <= _CONVERGED + rounding:
                return _Fit(value, slopes, converged=True)
            better, there = _log_likelihood(design, seen, totals, slopes + step)
            for _ in range(_MOST_HALVINGS):
                if better >= value - rounding:
                    break
                step = step / 2
                better, there = _log_likelihood(design, seen, totals, slopes + step)
            if better >= value - rounding:
                break
        else:
            return _Fit(value, slopes, converged=False)
        slopes, value, shares = slopes + step, better, there
    return _Fit(value, slopes, converged=False)


def _newton_step(hessian: Floats, gradient: Floats, ridge: float) -> Floats:
    """Return the step to where the gradient would vanish, held back by a ridge where the likelihood is flat."""
    damped = hessian + np.diag(np.full(len(hessian), ridge * float(hessian.diagonal().max()) + 1e-300))
    try:
        step = np.linalg.solve(damped, gradient.T.ravel())
    except np.linalg.LinAlgError:
        step = np.full(len(hessian), math.nan)
    return np.asarray(step.reshape(gradient.T.shape).T, np.float64)


def _log_likelihood(design: Floats, seen: Floats, totals: Floats, slopes: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood and the probabilities of all levels but the last."""
    scores = design @ slopes
    highest = np.maximum(scores.max(axis=1), 0.0)
    shares = np.exp(scores - highest[:, None])
    sums = shares.sum(axis=1) + np.exp(-highest)
    shares /= sums[:, None]
    # Scores below the highest, so that nothing is lost where the levels are told apart.
    value = float(np.vdot(seen, scores - highest[:, None]))
    value -= float((totals - seen.sum(axis=1)) @ highest) + float(totals @ np.log(sums))
    return value, shares


# --- tails -------------------------------------------------------------------------------------------------------


def f_log_sf(explained: float, unexplained: float, more: int, rest: int) -> float:
    """Return the logarithm of the F test's p from sums of squares and their degrees of freedom, exact in the far tail.

    The tail is the regularised incomplete beta function of unexplained / (explained + unexplained), by its continued
    fraction (Abramowitz & Stegun 1964, 26.5.8).
    """
    if explained <= 0:
        return 0.0
    a, b = rest / 2, more / 2
    log_x, log_y = -math.log1p(explained / unexplained), -math.log1p(unexplained / explained)
    x = unexplained / (explained + unexplained)
    front = a * log_x + b * log_y - _log_beta(a, b)
    if x <= (a + 1) / (a + b + 2):
        return min(front + _log_fraction(a, b, x) - math.log(a), 0.0)
    lower = front + _log_fraction(b, a, explained / (explained + unexplained)) - math.log(b)
    return math.log1p(-math.exp(lower)) if lower < 0 else -math.inf


def _log_fraction(a: float, b: float, x: float) -> float:
    """Return the logarithm of the continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-16:
            break
    return math.log(value)


def _log_beta(a: float, b: float) -> float:
    """Return ln B(a, b) without losing the digits of a large a or b."""
    a, b = max(a, b), min(a, b)
    if a < 15:
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    if b < 15:
        # ln Γ(a) − ln Γ(a + b) by Stirling's series
        ratio = b - (a - 0.5) * math.log1p(b / a) - b * math.log(a + b)
        return math.lgamma(b) + ratio + _stirling(a) - _stirling(a + b)
    part = (a - 0.5) * math.log1p(b / a) + b * math.log1p(a / b) + 0.5 * math.log(b) - 0.5 * math.log(2 * math.pi)
    return -part + _stirling(a) + _stirling(b) - _stirling(a + b)


def _stirling(a: float) -> float:
    """Return what ln Γ(a) has more than Stirling's formula, for a of at least 15."""
    q = 1.0 / (a * a)
    return (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - q * (691 / 360360)))))) / a


def _numbered(keys: Ints, bound: int) -> tuple[Ints, int]:
    """Number the keys that occur; keys are below the bound."""
    if bound > 4 * len(keys) + 1024:
        distinct, numbers = np.unique(keys, return_inverse=True)
        return numbers, len(distinct)
    seen = np.bincount(keys, minlength=bound) > 0
    count = int(np.count_nonzero(seen))
    if count == bound:
        return keys, count
    return (np.cumsum(seen) - 1)[keys], count
