"""A multinomial logistic model of a target with a group lasso: one group for all levels of a column.

Yuan and Lin, *Model selection and estimation in regression with grouped variables* (JRSS B 2006); Meier, van de Geer
and Bühlmann, *The group lasso for logistic regression* (JRSS B 2008). The penalty is a share of the one at which no
column enters the model of a shuffled target (Sabourin, Valdar and Nobel, *A permutation approach for selecting the
penalty parameter in penalized model selection*, Biometrics 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from serape.arrays import Floats
from serape.networks.knockoffs import Levels

SHARE = 0.25
"""The penalty, as a share of the median penalty at which no column enters the model of a shuffled target."""
_SHUFFLES = 9
_MAX_STEPS = 500
_TOLERANCE = 1e-4  # the largest change of a coefficient in the last step, beside the largest coefficient


@dataclass(frozen=True, slots=True)
class _Design:
    """Orthonormal contrasts of the levels of columns, scaled to a mean square of 1."""

    values: Floats
    """A row for every row, and successive columns for the levels of a column."""
    begins: Levels
    """Where the groups begin."""
    weights: Floats
    """The penalty of every group: the root of its size."""
    owners: Levels
    """Which column a group is of; constant columns have none."""


def importances(columns: Sequence[Levels], target: Levels, random: np.random.Generator) -> Floats:
    """Return for every column the norm of its coefficients; 0 if it is not in the model."""
    design = _design(columns)
    found = np.zeros(len(columns))
    if not len(design.begins) or not np.ptp(target):
        return found
    classes: Floats = (target[:, None] == np.unique(target)).astype(np.float64)
    residuals = classes - classes.mean(axis=0)
    entering = [np.max(_norms(design, design.values.T @ random.permutation(residuals))) for _ in range(_SHUFFLES)]
    penalty = SHARE * float(np.median(entering)) / len(target)
    found[design.owners] = _norms(design, _fitted(design, classes, penalty)[0]) * design.weights
    return found


def _design(columns: Sequence[Levels]) -> _Design:
    parts, sizes, owners = [], [], []
    for k, column in enumerate(columns):
        codes = np.unique(column, return_inverse=True)[1]
        shares = np.bincount(codes) / len(codes)
        if len(shares) < 2:
            continue
        indicators = (codes[:, None] == np.arange(1, len(shares))) - shares[1:]
        covariance = np.diag(shares[1:]) - np.outer(shares[1:], shares[1:])
        values, vectors = np.linalg.eigh(covariance)
        parts.append(indicators @ (vectors / np.sqrt(values)))
        sizes.append(len(shares) - 1)
        owners.append(k)
    begins = np.cumsum([0, *sizes[:-1]]) if sizes else np.zeros(0)
    values = np.concatenate(parts, axis=1) if parts else np.zeros((0, 0))
    return _Design(values, begins.astype(np.intp), np.sqrt(sizes), np.array(owners, np.intp))


def _norms(design: _Design, coefficients: Floats) -> Floats:
    """Return the norm of every group, divided by its weight."""
    squares = np.add.reduceat((coefficients**2).sum(axis=1), design.begins)
    norms: Floats = np.sqrt(squares) / design.weights
    return norms


def _fitted(design: _Design, classes: Floats, penalty: float) -> tuple[Floats, Floats]:
    """Return coefficients and intercepts, by accelerated proximal gradient (Beck and Teboulle 2009) with restarts."""
    rows, width = design.values.shape
    step = 2.0 / _largest_eigenvalue(design.values)  # the curvature of softmax is at most 1/2
    sizes = np.diff([*design.begins, width])
    level = np.log(classes.mean(axis=0))
    found = ahead = np.zeros((width, classes.shape[1]))
    level_ahead, momentum = level, 1.0
    for _ in range(_MAX_STEPS):
        residuals = _chances(design.values @ ahead + level_ahead) - classes
        moved = ahead - step * (design.values.T @ residuals / rows)
        norms = _norms(design, moved) * design.weights
        kept = np.maximum(1 - step * penalty * design.weights / np.maximum(norms, 1e-300), 0)
        moved *= np.repeat(kept, sizes)[:, None]
        level_moved = level_ahead - step * residuals.mean(axis=0)
        change = moved - found
        if np.sum((ahead - moved) * change) > 0:  # the step turned back
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        share = (momentum - 1) / following
        ahead, level_ahead = moved + share * change, level_moved + share * (level_moved - level)
        found, level, momentum = moved, level_moved, following
        if np.abs(change).max() <= _TOLERANCE * np.abs(found).max():
            break
    return found, level


def _chances(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances: Floats = powers / powers.sum(axis=1, keepdims=True)
    return chances


def _largest_eigenvalue(values: Floats) -> float:
    """Return an upper estimate of the largest eigenvalue of the covariance, at least 1, by the power method."""
    rows, width = values.shape
    vector = np.full(width, 1 / np.sqrt(width)) + 1e-3 * np.cos(np.arange(width))
    largest = 1.0
    for _ in range(50):
        vector = values.T @ (values @ vector) / rows
        norm = float(np.linalg.norm(vector))
        if norm <= 0:
            break
        vector /= norm
        largest = max(1.0, norm)
    return 1.1 * largest
