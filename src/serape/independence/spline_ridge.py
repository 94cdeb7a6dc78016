"""Regression on splines with a ridge penalty: quick where many responses share their predictors.

A continuous predictor enters as cubic B-splines with knots at quantiles, as many as the cube root of the number of rows
(6 to 20), a categorical one as indicators of its levels. Interactions of two predictors enter as products: of cubic
polynomials, of splines and indicators, or of indicators. Where the rows of the training set do not suffice for so many
columns, they are products of values and indicators, and if these are too many, there are none. Generalised
cross-validation (Golub, Heath & Wahba 1979) chooses the penalty for each response. The eigenvectors of the predictors
are computed once and serve all responses.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from serape.data.memory import Memory
from serape.independence.outcomes import Floats

RowChoice = NDArray[np.bool_] | slice
Predict = Callable[[RowChoice], Floats]
"""Returns the predictions of a fitted regression for some rows."""

MIN_KNOTS, MAX_KNOTS = 6, 20
ROWS_PER_COLUMN = 1.25
"""Products are left out if there are fewer rows per column with them."""
PENALTIES = 10.0 ** np.arange(-6.5, 2.6, 0.75)
"""The penalties that are compared, per row of the training set."""
_MAX_SHARE = 0.7  # of the rows, which the parameters of a fit may take up
_TINY = 1e-300
_NO_VARIANCE = 1e-9  # relative to the largest eigenvalue


@dataclass(frozen=True, slots=True)
class _Block:
    """The columns that stand for one predictor, and those that enter products."""

    main: Floats
    cubic: Floats
    linear: Floats
    is_continuous: bool


@dataclass(frozen=True, slots=True)
class _Design:
    """Centred predictors in a training set, by their eigenvectors."""

    columns: Floats
    """In all rows, along the eigenvectors."""
    eigenvalues: Floats


def _size_of_block(block: _Block) -> int:
    return block.main.nbytes + block.cubic.nbytes + block.linear.nbytes


def _size_of_design(design: _Design) -> int:
    return design.columns.nbytes


class SplineRidge:
    """Ridge regression on splines; `column` returns the values of a continuous predictor, or indicators.

    What it makes of the predictors is kept in a memory, under keys that begin with `key`.
    """

    def __init__(
        self, column: Callable[[int], Floats], is_continuous: Callable[[int], bool], memory: Memory, key: Hashable
    ) -> None:
        self._column = column
        self._is_continuous = is_continuous
        self._memory = memory
        self._key = key

    def fit(self, predictors: Sequence[int], fold: int, train: NDArray[np.bool_], response: Floats) -> Predict:
        """Fit a response in the rows of a training set, which is that of a fold."""
        design = self._memory.keep(
            (self._key, "design", tuple(predictors), fold), lambda: self._design(predictors, train), _size_of_design
        )
        mean = response[train].mean()
        centred = np.where(train, response - mean, 0.0)
        slopes = _slopes(design.eigenvalues, design.columns.T @ centred, float(centred @ centred), int(train.sum()))
        return lambda rows: mean + design.columns[rows] @ slopes

    def _design(self, predictors: Sequence[int], train: NDArray[np.bool_]) -> _Design:
        columns = self.features(predictors, int(train.sum()))
        columns = columns - columns[train].mean(axis=0)
        within = columns[train]
        eigenvalues, vectors = np.linalg.eigh(within.T @ within)
        keep = eigenvalues > _NO_VARIANCE * eigenvalues[-1]
        return _Design(columns @ vectors[:, keep], eigenvalues[keep])

    def features(self, predictors: Sequence[int], rows: int) -> Floats:
        """Return the columns that stand for some predictors in a training set of so many rows."""
        blocks = [self._kept_block(v) for v in predictors]
        columns = [block.main for block in blocks]
        for pairs in _curved(blocks), _linear(blocks):
            count = sum(c.shape[1] for c in columns) + sum(a.shape[1] * b.shape[1] for a, b in pairs)
            if count * ROWS_PER_COLUMN <= rows:
                columns += [(a[:, :, None] * b[:, None, :]).reshape(len(a), -1) for a, b in pairs]
                break
        return np.concatenate(columns, axis=1)

    def _kept_block(self, v: int) -> _Block:
        return self._memory.keep((self._key, "block", v), lambda: self._block(v), _size_of_block)

    def _block(self, v: int) -> _Block:
        values = self._column(v)
        if not self._is_continuous(v):
            return _Block(values, values, values, is_continuous=False)
        linear = (values - values.mean()) / max(float(values.std()), _TINY)
        knots = min(max(MIN_KNOTS, round(len(values) ** (1 / 3))), MAX_KNOTS)
        return _Block(_splines(values, knots), _splines(values, 2), linear, is_continuous=True)


def _curved(blocks: list[_Block]) -> list[tuple[Floats, Floats]]:
    """Return what to multiply for interactions: cubic polynomials, or indicators with splines."""
    return [
        (a.cubic, b.cubic) if a.is_continuous and b.is_continuous else (a.main, b.main)
        for a, b in combinations(blocks, 2)
    ]


def _linear(blocks: list[_Block]) -> list[tuple[Floats, Floats]]:
    return [(a.linear, b.linear) for a, b in combinations(blocks, 2)]


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


def _slopes(eigenvalues: Floats, products: Floats, total: float, rows: int) -> Floats:
    """Return the slopes along the eigenvectors, with the penalty of the smallest generalised cross-validation."""
    explained = products**2 / eigenvalues
    kept = eigenvalues / (eigenvalues + rows * PENALTIES[:, None])
    unexplained = np.maximum(total - (explained * (1.0 - (1.0 - kept) ** 2)).sum(axis=1), 0.0)
    parameters = 1.0 + kept.sum(axis=1)
    score = np.where(parameters <= _MAX_SHARE * rows, unexplained / (rows - parameters) ** 2, np.inf)
    best = int(np.argmin(score)) if np.isfinite(score).any() else len(PENALTIES) - 1
    return np.asarray(products / (eigenvalues + rows * PENALTIES[best]))
