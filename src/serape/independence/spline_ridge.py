"""Cross-fitted regression on splines with a ridge penalty: quick where many responses share their predictors.

A continuous predictor enters as cubic B-splines with knots at quantiles, as many as the cube root of the number of rows
(6 to 20), a categorical one as indicators of its levels. Interactions of two predictors enter as products: of cubic
polynomials, of splines and indicators, or of indicators. Where the rows of a training set do not suffice for so many
columns, they are products of values and indicators, and if these are too many, there are none. Generalised
cross-validation (Golub, Heath & Wahba 1979) chooses the penalty for each response.

All regressions of a set of predictors are made of sums of products over the rows of each fold: a training set has those
of the other folds. The eigenvectors of these sums are computed once and serve all responses. Columns of splines are
kept for each predictor; those of a set are made of them in blocks of rows, and kept as long as they are small.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.data.memory import Memory
from serape.independence.outcomes import Floats

MIN_KNOTS, MAX_KNOTS = 6, 20
ROWS_PER_COLUMN = 1.25
"""Products are left out if there are fewer rows per column with them."""
PENALTIES = 10.0 ** np.arange(-6.5, 2.6, 0.75)
"""The penalties that are compared, per row of the training set."""
KEPT_BYTES = 1 << 27
"""The columns of a set of predictors are kept if they take less; otherwise each pass over the rows makes them anew."""
_BLOCK = 1 << 20  # values in a block of rows
_MAX_SHARE = 0.7  # of the rows, which the parameters of a fit may take up
_TINY = 1e-300
_NO_VARIANCE = 1e-9  # relative to the largest eigenvalue


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns that stand for one predictor, and those that enter products: one per line, in the order of folds."""

    main: Floats
    cubic: Floats
    linear: Floats
    is_continuous: bool

    @property
    def nbytes(self) -> int:
        return sum(columns.nbytes for columns in (self.main, self.cubic, self.linear))


_Pairs = list[tuple[Floats, Floats]]
"""Columns of two predictors each, all of which are multiplied."""


class _Rows(NamedTuple):
    """The columns of a set of predictors, one per line, in a block of rows of a fold."""

    fold: int
    at: slice
    columns: Floats


@dataclass(frozen=True, slots=True)
class _Design:
    """The centred predictors in each training set, by their eigenvectors. The first axis is that of the folds."""

    means: Floats
    vectors: Floats
    eigenvalues: Floats
    inverse: Floats
    """One by the eigenvalues; 0 for those that are rounding error."""
    taken: Floats
    """The share of each response along each eigenvector that a regression explains, by penalty."""
    degrees: Floats
    """The square of the degrees of freedom that are left, by penalty; 0 if there are too few."""

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.taken.nbytes


class _Fits(NamedTuple):
    """Fitted regressions: the slopes of each fold, by predictor and response, and what is added."""

    slopes: Floats
    added: Floats


class SplineRidge:
    """Ridge regression on splines; `column` returns the values of a continuous predictor, or indicators.

    `fold` says in which of the folds each row is. What is made of predictors is kept in a memory, under keys that
    begin with `key`.
    """

    def __init__(
        self,
        column: Callable[[int], Floats],
        is_continuous: Callable[[int], bool],
        memory: Memory,
        key: Hashable,
        fold: NDArray[np.integer],
    ) -> None:
        self._column = column
        self._is_continuous = is_continuous
        self._memory = memory
        self._key = key
        self._order = np.argsort(fold, kind="stable")
        ends = np.cumsum(np.bincount(fold))
        self._folds = [slice(a, b) for a, b in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
        sizes = np.bincount(fold)
        self._rows: Floats = (len(fold) - sizes).astype(np.float64)

    def held_out(self, predictors: Sequence[int], response: Floats) -> Floats:
        """Return the predictions of every row by the regression on the other folds.

        A response has a column or more; with a first axis, every fold's regression has a response of its own.
        """
        fits = self._fit(predictors, self._sorted(response))
        predicted = np.empty(response.shape[-2:])
        for fold, at, columns in self._blocks(predictors):
            predicted[at] = columns.T @ fits.slopes[fold] + fits.added[fold]
        return self._as_given(predicted)

    def everywhere(self, predictors: Sequence[int], response: Floats) -> Floats:
        """Return the predictions of all rows by the regression of every fold, which is the first axis."""
        fits = self._fit(predictors, self._sorted(response))
        folds, size, count = fits.slopes.shape
        slopes = fits.slopes.transpose(1, 0, 2).reshape(size, folds * count)
        predicted = np.empty((folds, *response.shape))
        for _, at, columns in self._blocks(predictors):
            predicted[:, at] = (columns.T @ slopes).reshape(-1, folds, count).transpose(1, 0, 2)
        return self._as_given(predicted + fits.added[:, None])

    # --- inside --------------------------------------------------------------------------------------------------

    def _sorted(self, response: Floats) -> Floats:
        return response[..., self._order, :]

    def _as_given(self, predicted: Floats) -> Floats:
        found = np.empty_like(predicted)
        found[..., self._order, :] = predicted
        return found

    def _fit(self, predictors: Sequence[int], response: Floats) -> _Fits:
        """Fit a response, the rows of which are in the order of the folds, in every training set."""
        design = self._memory.keep(
            (self._key, "design", tuple(predictors)), lambda: self._design(predictors), _nbytes_of_design
        )
        folds, size = design.means.shape
        middle = response.mean(axis=-2)
        response = response - middle[..., None, :]  # no digits are lost in sums
        count = response.shape[-1]
        sums, squares, products = np.zeros((folds, count)), np.zeros((folds, count)), np.zeros((folds, size, count))
        every = np.arange(folds)
        others = every[:, None] != every  # the rows of a fold are in the training sets of the others
        for fold, at, columns in self._blocks(predictors):
            part = response[..., at, :]
            for total, added in (
                (sums, np.asarray(part.sum(axis=-2))),
                (squares, np.asarray(np.square(part).sum(axis=-2))),
                (products, columns @ part),
            ):
                total[others[fold]] += np.broadcast_to(added, total.shape)[others[fold]]
        mean = sums / self._rows[:, None]
        products = design.vectors.transpose(0, 2, 1) @ (products - design.means[:, :, None] * sums[:, None, :])
        explained = products**2 * design.inverse[:, :, None]
        left = squares - sums * mean
        unexplained = np.maximum(left[:, None, :] - design.taken @ explained, 0.0)
        enough = np.asarray(design.degrees > 0)
        score = np.full(unexplained.shape, np.inf)
        score[enough] = unexplained[enough] / design.degrees[enough][:, None]
        best = np.where(np.any(enough, axis=1, keepdims=True), score.argmin(axis=1), len(PENALTIES) - 1)
        penalty = self._rows[:, None] * PENALTIES[best]
        kept = products * np.sign(design.inverse)[:, :, None]
        slopes = design.vectors @ (kept / (design.eigenvalues[:, :, None] + penalty[:, None, :]))
        return _Fits(slopes, middle + mean - (design.means[:, :, None] * slopes).sum(axis=1))

    def _design(self, predictors: Sequence[int]) -> _Design:
        folds = len(self._folds)
        count = self._multiplied([self._columns(v) for v in predictors])[1]
        sums, products = np.zeros((folds, count)), np.zeros((folds, count, count))
        for fold, _, columns in self._blocks(predictors):
            sums[fold] += columns.sum(axis=1)
            products[fold] += columns @ columns.T
        means = (sums.sum(axis=0) - sums) / self._rows[:, None]
        centred = products.sum(axis=0) - products
        centred -= self._rows[:, None, None] * means[:, :, None] * means[:, None, :]
        eigenvalues, vectors = np.linalg.eigh(centred)
        known = eigenvalues > _NO_VARIANCE * eigenvalues[:, -1:]
        eigenvalues = np.where(known, eigenvalues, 0.0)
        inverse = np.divide(1.0, eigenvalues, out=np.zeros_like(eigenvalues), where=known)
        kept = eigenvalues[:, None] / (eigenvalues[:, None] + self._rows[:, None, None] * PENALTIES[:, None])
        parameters = 1.0 + kept.sum(axis=2)
        rows = self._rows[:, None]
        degrees = np.where(parameters <= _MAX_SHARE * rows, (rows - parameters) ** 2, 0.0)
        return _Design(means, vectors, eigenvalues, inverse, 1.0 - (1.0 - kept) ** 2, degrees)

    # --- columns -------------------------------------------------------------------------------------------------

    def _blocks(self, predictors: Sequence[int]) -> Iterable[_Rows]:
        """Return the columns of a set of predictors in blocks of rows, fold after fold."""
        columns = [self._columns(v) for v in predictors]
        pairs, count = self._multiplied(columns)
        nbytes = 8 * len(self._order) * count
        if nbytes > KEPT_BYTES:
            return self._made(columns, pairs, count)
        key = (self._key, "blocks", tuple(predictors))
        return self._memory.keep(key, lambda: list(self._made(columns, pairs, count)), nbytes)

    def _multiplied(self, columns: list[_Columns]) -> tuple[_Pairs, int]:
        """Return what is multiplied, and the number of all columns: the rows of each training set suffice for them."""
        main = sum(len(c.main) for c in columns)
        for pairs in _curved(columns), _linear(columns):
            count = main + sum(len(a) * len(b) for a, b in pairs)
            if count * ROWS_PER_COLUMN <= self._rows.min():
                return pairs, count
        return [], main

    def _made(self, columns: list[_Columns], pairs: _Pairs, count: int) -> Iterator[_Rows]:
        step = max(1, _BLOCK // count)
        for fold, rows in enumerate(self._folds):
            for begin in range(rows.start, rows.stop, step):
                at = slice(begin, min(begin + step, rows.stop))
                made = np.empty((count, at.stop - begin))
                done = 0
                for one in columns:
                    made[done : done + len(one.main)] = one.main[:, at]
                    done += len(one.main)
                for a, b in pairs:
                    into = made[done : done + len(a) * len(b)].reshape(len(a), len(b), -1)
                    np.multiply(a[:, None, at], b[None, :, at], out=into)
                    done += len(a) * len(b)
                yield _Rows(fold, at, made)

    def _columns(self, v: int) -> _Columns:
        return self._memory.keep((self._key, "columns", v), lambda: self._columns_of(v), _nbytes_of_columns)

    def _columns_of(self, v: int) -> _Columns:
        values = self._column(v)
        if not self._is_continuous(v):
            main = self._lines(values)
            return _Columns(main, main, main, is_continuous=False)
        linear = (values - values.mean()) / max(float(values.std()), _TINY)
        knots = min(max(MIN_KNOTS, round(len(values) ** (1 / 3))), MAX_KNOTS)
        main, cubic, linear = map(self._lines, (_splines(values, knots), _splines(values, 2), linear))
        return _Columns(main, cubic, linear, is_continuous=True)

    def _lines(self, columns: Floats) -> Floats:
        """Return columns as lines, in the order of the folds."""
        return np.ascontiguousarray(columns[self._order].T)


def _nbytes_of_design(design: _Design) -> int:
    return design.nbytes


def _nbytes_of_columns(columns: _Columns) -> int:
    return columns.nbytes


def _curved(columns: list[_Columns]) -> _Pairs:
    """Return what to multiply for interactions: cubic polynomials, or indicators with splines."""
    return [
        (a.cubic, b.cubic) if a.is_continuous and b.is_continuous else (a.main, b.main)
        for a, b in combinations(columns, 2)
    ]


def _linear(columns: list[_Columns]) -> _Pairs:
    return [(a.linear, b.linear) for a, b in combinations(columns, 2)]


def _splines(values: Floats, knots: int) -> Floats:
    """Return cubic B-splines of a column, each with mean 0 and variance 1, along their principal axes.

    One of them follows from the others. None is left out, or the penalty would treat a column and its negative
    differently; along the principal axes it is the same, in one column less.
    """
    column = values[:, 0]
    at = np.unique(np.quantile(column, np.linspace(0.0, 1.0, knots)))
    if len(at) < 2:
        return values
    splines = b_splines(column, at)
    spread = splines.std(axis=0)
    varies = spread > 0
    splines = (splines - splines.mean(axis=0))[:, varies] / spread[varies]
    eigenvalues, axes = np.linalg.eigh(splines.T @ splines)
    return np.asarray(splines @ axes[:, eigenvalues > _NO_VARIANCE * eigenvalues[-1]])


def b_splines(values: Floats, knots: Floats) -> Floats:
    """Return the cubic B-splines on ascending knots, by the recursion of Cox and de Boor; each row sums to 1."""
    t = np.concatenate([knots[:1].repeat(3), knots, knots[-1:].repeat(3)])
    x = np.minimum(values, np.nextafter(knots[-1], -np.inf))[:, None]
    basis: Floats = ((t[:-1] <= x) & (x < t[1:])).astype(np.float64)
    for degree in range(1, 4):
        width = t[degree:] - t[:-degree]
        slope = np.divide(1.0, width, out=np.zeros(len(width)), where=width > 0)
        rising = (x - t[:-degree]) * slope
        basis = rising[:, :-1] * basis[:, :-1] + ((t[degree:] - x) * slope)[:, 1:] * basis[:, 1:]
    return basis
