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
    has converged when a step gains almost nothing.
    """
    totals = counts.sum(axis=1)
    observed = counts[:, :-1]
    value, shares = _log_likelihood(design, observed, totals, slopes)
    parameters, classes = slopes.shape
    rounding = 1e-14 * (float(totals.sum()) + abs(value))
    for _ in range(_MAX_STEPS):
        gradient = design.T @ (observed - totals[:, None] * shares)
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
                return Fit(value, slopes, converged=True)
            trial, trial_shares = _log_likelihood(design, observed, totals, slopes + step)
            for _ in range(_MAX_HALVINGS):
                if trial >= value - rounding:
                    break
                step = step / 2
                trial, trial_shares = _log_likelihood(design, observed, totals, slopes + step)
            if trial >= value - rounding:
                break
        else:
            return Fit(value, slopes, converged=False)
        slopes, value, shares = slopes + step, trial, trial_shares
    return Fit(value, slopes, converged=False)


def _newton_step(hessian: Floats, gradient: Floats, ridge: float) -> Floats:
    """Return the step to the zero of the gradient, damped by a ridge where the likelihood is flat."""
    damped = hessian + np.diag(np.full(len(hessian), ridge * float(hessian.diagonal().max()) + 1e-300))
    try:
        step = np.linalg.solve(damped, gradient.T.ravel())
    except np.linalg.LinAlgError:
        step = np.full(len(hessian), math.nan)
    return np.asarray(step.reshape(gradient.T.shape).T, np.float64)


def _log_likelihood(design: Floats, observed: Floats, totals: Floats, slopes: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood and the probabilities of all levels but the last."""
    scores = design @ slopes
    highest = np.maximum(scores.max(axis=1), 0.0)
    shares = np.exp(scores - highest[:, None])
    sums = shares.sum(axis=1) + np.exp(-highest)
    shares /= sums[:, None]
    # Relative to the highest score, so that no digits are lost where the predictors separate the levels.
    value = float(np.vdot(observed, scores - highest[:, None]))
    value -= float((totals - observed.sum(axis=1)) @ highest) + float(totals @ np.log(sums))
    return value, shares
