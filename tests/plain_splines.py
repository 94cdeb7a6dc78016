"""Ridge regression on splines, one training set and one response at a time, slowly."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

Floats = NDArray[np.float64]

PENALTIES = 10.0 ** np.arange(-6.5, 2.6, 0.75)


def spline_columns(values: Floats, knots: int) -> Floats:
    """Return all B-splines on knots at quantiles, each with mean 0 and variance 1."""
    at = np.unique(np.quantile(values, np.linspace(0, 1, knots)))
    t = np.concatenate([at[:1].repeat(3), at, at[-1:].repeat(3)])
    inside = np.minimum(values, np.nextafter(at[-1], -np.inf))
    columns: Floats = BSpline.design_matrix(inside, t, 3).toarray()
    varying = columns[:, columns.std(axis=0) > 0]
    return np.asarray((varying - varying.mean(axis=0)) / varying.std(axis=0))


def design(predictors: Sequence[Floats], rows: int) -> Floats:
    """Return the columns of predictors, of one column if they are numbers, for a training set of so many rows."""
    knots = min(max(6, round(len(predictors[0]) ** (1 / 3))), 20)
    is_number = [values.shape[1] == 1 for values in predictors]
    parts = list(zip(predictors, is_number, strict=True))
    main = [spline_columns(values[:, 0], knots) if number else values for values, number in parts]
    cubic = [spline_columns(values[:, 0], 2) if number else values for values, number in parts]
    linear = [(values - values.mean()) / values.std() if number else values for values, number in parts]
    both = [
        (cubic[i], cubic[j]) if is_number[i] and is_number[j] else (main[i], main[j])
        for i, j in combinations(range(len(main)), 2)
    ]
    for pairs in both, list(combinations(linear, 2)):
        columns = sum(map(_size, main)) + sum(_size(a) * _size(b) for a, b in pairs)
        if 1.25 * columns <= rows:
            products = [(a[:, :, None] * b[:, None, :]).reshape(len(a), -1) for a, b in pairs]
            return np.concatenate([*main, *products], axis=1)
    return np.concatenate(main, axis=1)


def _size(columns: Floats) -> int:
    """Return how many columns serape has: one of the splines of a number follows from the others."""
    splines = columns.shape[1] > 1 and not set(np.unique(columns)) <= {0.0, 1.0}
    return int(columns.shape[1]) - int(splines)


def ridge(columns: Floats, train: NDArray[np.bool_], response: Floats) -> Floats:
    """Return the predictions of all rows, with the penalty of the smallest generalised cross-validation."""
    mean, middle = response[train].mean(), columns[train].mean(axis=0)
    lengths, axes = np.linalg.svd(columns[train] - middle, full_matrices=False)[1:]
    centred = (columns - middle) @ axes[lengths**2 > 1e-9 * lengths[0] ** 2].T  # the others are rounding error
    within, left = centred[train], response[train] - mean
    rows = len(within)
    found, best = np.zeros(len(columns)), np.inf
    for penalty in PENALTIES:
        solved = np.linalg.solve(within.T @ within + rows * penalty * np.eye(within.shape[1]), within.T)
        parameters = 1 + float(np.trace(within @ solved))
        score = float(np.square(left - within @ (solved @ left)).sum()) / (rows - parameters) ** 2
        if parameters <= 0.7 * rows and score < best:
            found, best = centred @ (solved @ left), score
    return np.asarray(mean + found)
