"""Multinomial logistic regression by maximum likelihood."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import Floats

Ints = NDArray[np.intp]

_RIDGES = (1e-12, 1e-8, 1e-4)  # relative to the largest curvature; each is tried if the smaller ones fail
_CONVERGED = 1e-9  # twice the log-likelihood that a further step would gain
_MAX_STEPS = 100
_MAX_HALVINGS = 30
_SMALL = 1.0  # twice the log-likelihood that a step gains, if second derivatives may be kept for the next
_FAST = 0.01  # they are kept if that step gains less than so many times the last
_WITH_KEPT = 0.1  # a step by them must gain so much less to be the last
_BLOCK = 1 << 17  # values in a block of rows
_LEAST_ROWS = 256


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted regression."""

    log_likelihood: float
    slopes: Floats
    converged: bool


def grouped(design: Floats, codes: Ints, levels: int, cells: tuple[Ints, int] | None) -> tuple[Floats, Floats]:
    """Return the scaled predictors and the counts of each level; equal rows are merged if that halves them."""
    rows = len(design)
    if cells is None or 2 * cells[1] > rows:
        counts = np.zeros((rows, levels))
        counts[np.arange(rows), codes] = 1.0
    else:
        cell, count = cells
        row_of = np.empty(count, np.intp)
        row_of[cell] = np.arange(rows)
        design = design[row_of]
        counts = np.bincount(cell * levels + codes, minlength=count * levels).reshape(count, levels).astype(float)
    return design * math.sqrt(rows), counts


def fit(design: Floats, counts: Floats, slopes: Floats) -> Fit:
    """Fit a multinomial logistic regression by Newton's method; the last level is the reference.

    Where the predictors separate the levels, the likelihood has no maximum but gains less with every step. The fit
    has converged when a step gains almost nothing. Second derivatives, the dear part, are kept for the next step as
    long as they have hardly changed, so that the gain falls fast.
    """
    likelihood = _Likelihood(design, counts)
    value, shares, gradient = likelihood.at(slopes)
    rounding = 1e-14 * (float(likelihood.totals.sum()) + abs(value))
    hessian: Floats | None = None
    last = math.inf
    for _ in range(_MAX_STEPS):
        step, gain = (None, math.nan) if hessian is None else _newton_step(hessian, gradient, _RIDGES[0])
        kept = last <= _SMALL and 0 <= gain <= _FAST * last
        if hessian is None or not kept:
            hessian = likelihood.second_derivatives(shares)
        for ridge in _RIDGES:
            if step is None or not kept:
                step, gain = _newton_step(hessian, gradient, ridge)
            if not math.isfinite(gain):
                continue
            if 0 <= gain <= (_WITH_KEPT if kept else 1.0) * _CONVERGED + rounding:
                return Fit(value, slopes, converged=True)
            trial = likelihood.at(slopes + step)
            for _ in range(_MAX_HALVINGS):
                if trial[0] >= value - rounding:
                    break
                step = step / 2
                trial = likelihood.at(slopes + step)
            if trial[0] >= value - rounding:
                break
            kept = False
        else:
            return Fit(value, slopes, converged=False)
        slopes, last = slopes + step, gain
        value, shares, gradient = trial
    return Fit(value, slopes, converged=False)


class _Likelihood:
    """The log-likelihood of the slopes and its derivatives, summed over blocks of rows that stay in the cache.

    Predictors and levels are lines, so that what is done for each row runs along them.
    """

    def __init__(self, design: Floats, counts: Floats) -> None:
        self._predictors = np.ascontiguousarray(design.T)
        self._observed = np.ascontiguousarray(counts[:, :-1].T)
        self._last = np.ascontiguousarray(counts[:, -1])
        self.totals: Floats = counts.sum(axis=1)
        parameters, rows = self._predictors.shape
        step = max(_LEAST_ROWS, _BLOCK // (parameters * max(len(self._observed), 1)))
        self._blocks = [slice(k, k + step) for k in range(0, rows, step)]

    def at(self, slopes: Floats) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood, the probabilities of all levels but the last, which are lines, and the gradient.

        The gradient has a line for each predictor.
        """
        value, gradient = 0.0, np.zeros(slopes.shape)
        shares = np.empty(self._observed.shape)
        for rows in self._blocks:
            predictors, observed = self._predictors[:, rows], self._observed[:, rows]
            scores = slopes.T @ predictors
            highest = np.maximum(scores.max(axis=0), 0.0)
            scores -= highest
            odds = np.exp(scores)
            sums = odds.sum(axis=0) + np.exp(-highest)
            odds /= sums
            shares[:, rows] = odds
            gradient += predictors @ (observed - self.totals[rows] * odds).T
            # Relative to the highest score, so that no digits are lost where the predictors separate the levels.
            value += float(np.vdot(observed, scores))
            value -= float(self._last[rows] @ highest) + float(self.totals[rows] @ np.log(sums))
        return value, shares, gradient

    def second_derivatives(self, shares: Floats) -> Floats:
        """Return the negative second derivatives, level after level."""
        classes, parameters = len(self._observed), len(self._predictors)
        hessian = np.zeros((classes, parameters, classes, parameters))
        for rows in self._blocks:
            predictors, of_block = self._predictors[:, rows], shares[:, rows]
            expected = self.totals[rows] * of_block
            for a in range(classes):
                weights = -expected[a] * of_block[a:]
                weights[0] += expected[a]
                weighted = (weights[:, None] * predictors).reshape(-1, predictors.shape[1])
                hessian[a, :, a:] += (predictors @ weighted.T).reshape(parameters, classes - a, parameters)
        for a in range(classes):
            hessian[a + 1 :, :, a] = hessian[a, :, a + 1 :].transpose(1, 2, 0)
        return hessian.reshape(classes * parameters, classes * parameters)


def _newton_step(hessian: Floats, gradient: Floats, ridge: float) -> tuple[Floats, float]:
    """Return the step to the zero of the gradient, damped by a ridge where the likelihood is flat, and its gain."""
    damped = hessian + np.diag(np.full(len(hessian), ridge * float(hessian.diagonal().max()) + 1e-300))
    try:
        solved = np.linalg.solve(damped, gradient.T.ravel())
    except np.linalg.LinAlgError:
        solved = np.full(len(hessian), math.nan)
    step = np.asarray(solved.reshape(gradient.T.shape).T, np.float64)
    return step, float(np.vdot(step, gradient))
