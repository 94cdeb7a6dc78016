"""Cross-fitted regressions on splines: against solved equations, one training set and one response at a time."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from plain_splines import design, ridge
from serape.data.memory import Memory
from serape.independence import spline_ridge
from serape.independence.spline_ridge import SplineRidge

Floats = NDArray[np.float64]
FOLDS = 3
SETS = [(0,), (2,), (0, 1), (1, 2), (0, 1, 2)]


def drawn(rows: int) -> tuple[list[Floats], NDArray[np.intp]]:
    """Draw two numbers, one of them with ties, indicators of three levels, and a division into folds."""
    random = np.random.default_rng(rows)
    x = random.normal(size=rows)
    y = np.round(np.abs(x) + random.exponential(size=rows), 1)
    levels = np.digitize(x + random.normal(size=rows), [-0.5, 0.5])
    columns = [(x - x.mean())[:, None], (y - y.mean())[:, None], (levels[:, None] == np.arange(3)).astype(float)]
    return columns, random.permutation(np.arange(rows) % FOLDS)


def made(columns: list[Floats], fold: NDArray[np.intp]) -> SplineRidge:
    return SplineRidge(columns.__getitem__, lambda v: columns[v].shape[1] == 1, Memory(), "key", fold)


@pytest.mark.parametrize("rows", [36, 60, 90, 400])
def test_regressions_are_those_of_solved_equations(rows: int) -> None:
    columns, fold = drawn(rows)
    random = np.random.default_rng(1)
    curve = np.sin(3 * columns[0]) + columns[1] * columns[2][:, :1]
    response = 5 + curve + 0.2 * random.normal(size=(rows, 2))
    ridged = made(columns, fold)
    for predictors in SETS:
        held_out, everywhere = (ask(predictors, response) for ask in (ridged.held_out, ridged.everywhere))
        own = ridged.held_out(predictors, everywhere)
        for k in range(FOLDS):
            train = fold != k
            features = design([columns[v] for v in predictors], int(train.sum()))
            for j in range(2):
                expected = ridge(features, train, response[:, j])
                np.testing.assert_allclose(everywhere[k, :, j], expected, atol=1e-6)
                np.testing.assert_allclose(held_out[~train, j], expected[~train], atol=1e-6)
                again = ridge(features, train, everywhere[k, :, j])
                np.testing.assert_allclose(own[~train, j], again[~train], atol=1e-6)


def test_columns_in_small_blocks_or_not_kept_give_the_same_regressions(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, fold = drawn(400)
    response = np.sin(columns[0]) + columns[1] ** 2
    one = made(columns, fold)
    expected = [one.held_out(predictors, response) for predictors in SETS]
    monkeypatch.setattr(spline_ridge, "_BLOCK", 1000)
    monkeypatch.setattr(spline_ridge, "KEPT_BYTES", 0)
    other = made(columns, fold)
    for predictors, found in zip(SETS, expected, strict=True):
        np.testing.assert_allclose(other.held_out(predictors, response), found, atol=1e-9)


def test_what_is_made_of_predictors_serves_all_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, fold = drawn(400)
    one = made(columns, fold)
    one.held_out((0, 1), columns[2])
    monkeypatch.setattr(one, "_design", None)  # neither is called again: eigenvectors and columns are kept
    monkeypatch.setattr(one, "_made", None)
    one.everywhere((0, 1), columns[0])
