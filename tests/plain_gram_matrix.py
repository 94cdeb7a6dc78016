"""The Gram matrix of scores again, plainly: all scores written down, with NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Matrix = NDArray[np.float64]


def standard(column: Matrix, weights: Matrix) -> Matrix:
    """Return a column centred, of mean square 1."""
    centred = column - np.average(column, weights=weights)
    return np.asarray(centred / np.sqrt(np.average(centred**2, weights=weights)))


def of_number(values: Matrix, degree: int, weights: Matrix) -> list[Matrix]:
    """Return the scores of a number: normal scores, the indicator of a common value, polynomials."""
    total = weights.sum()
    levels, code = np.unique(values, return_inverse=True)
    tied = np.bincount(code, weights)
    largest = tied.max()
    if total - largest < 5 - 1e-6:
        return []
    middle = np.cumsum(tied) - tied / 2 + 0.5  # mean ranks
    first = standard(stats.norm.ppf((middle - 0.375) / (total + 0.25))[code], weights)
    found = [first]
    if len(levels) > 2 and (tied == largest).sum() == 1 and largest > 0.1 * total:
        found.append(standard((code == tied.argmax()).astype(float), weights))
    most = min(degree, len(levels) - len(found), 12)
    basis = [np.ones(len(values)), first]
    for power in range(2, most + 1):
        hermite = np.polynomial.hermite_e.hermeval(first, np.eye(power + 1)[power])
        column = standard(hermite, weights)
        left = column
        for _ in range(3):
            for other in basis:
                left = left - np.average(left * other, weights=weights) * other
        if not np.average(left**2, weights=weights) > 1e-6:
            break
        basis.append(standard(left, weights))
        found.append(basis[-1])
    return found


def of_category(codes: NDArray[Any], weights: Matrix) -> list[Matrix]:
    """Return the indicators of the frequent levels of a category but the first."""
    levels, code = np.unique(codes, return_inverse=True)
    rows = np.bincount(code, weights)
    order = [k for k in np.argsort(-rows, kind="stable") if rows[k] >= 5 - 1e-6][:64]
    if len(order) > 1 or (order and len(levels) == 1):
        order = order[1:]
    return [standard((code == k).astype(float), weights) for k in order]


def gram_matrix(
    columns: Sequence[NDArray[Any]], degree: int, weights: Matrix | None = None
) -> tuple[Matrix, list[int]]:
    """Return the correlations of all scores, and how many scores each column has; numbers are columns of floats."""
    w = np.ones(len(columns[0])) if weights is None else weights
    blocks = [of_number(c, degree, w) if c.dtype.kind == "f" else of_category(c, w) for c in columns]
    scores = np.array([one for block in blocks for one in block]).reshape(-1, len(w))
    return (scores * w) @ scores.T / w.sum(), [len(block) for block in blocks]
