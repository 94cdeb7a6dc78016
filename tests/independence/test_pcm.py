"""The projected covariance measure: values, what it sees and what it does not, searches."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import serape
from serape.independence.regression import combined
from serape.independence.spline_ridge import b_splines


def sample(kind: str, seed: int, rows: int) -> dict[str, Any]:
    random = np.random.default_rng([seed, rows])
    z, w, e, f = random.normal(size=(4, rows))
    x = np.sin(z) + e
    y = {
        "none": z**2 + f,
        "square": 0.4 * x**2 + z + f,
        "interaction": 0.5 * x * w + z + f,
        "spread": z + e * f,
        "level": z + f,
    }[kind]
    columns: dict[str, Any] = {"x": x, "y": y, "z": z, "w": w}
    if kind == "level":  # the middle of x, which has no trend in y
        columns["x"] = np.array(list("abc"))[np.digitize(f + e, [-0.7, 0.7])]
        columns["y"] = (f + 0.3 * random.normal(size=rows)) ** 2 + z
    return columns


def test_formula(random: np.random.Generator) -> None:
    from sklearn.linear_model import LinearRegression

    x, z, e = random.normal(size=(3, 200))
    y = x + z + 2 * e
    test = serape.PCM({"x": x, "y": y, "z": z}, LinearRegression(), folds=4, random_state=2, tails=None)
    fold = np.random.default_rng(2).permutation(np.arange(200) % 4)

    def fitted(columns: list[Any], response: Any, train: Any) -> Any:
        design = np.stack([np.ones(200), *columns], axis=1)
        return design @ np.linalg.lstsq(design[train], response[train], rcond=None)[0]

    tails = []
    for a, b in ((x, y), (y, x)):
        total = 0.0
        for k in range(4):
            train, out = fold != k, fold == k
            f = fitted([a, z], b, train)
            products = ((b - fitted([z], b, train)) * (f - fitted([z], f, train)))[out]
            total += math.sqrt(50) * products.mean() / products.std()
        tails.append(stats.norm.logsf(total / math.sqrt(8)))
    found = test.test(0, 1, (2,))
    assert found.log_p == pytest.approx(combined(*tails), rel=1e-8)
    assert found.statistic == pytest.approx(-2 * found.log_p)
    assert found.p == pytest.approx(min(2 * math.exp(min(tails)), math.exp(max(tails))), rel=1e-8)


def test_negative_measure_has_a_large_p() -> None:
    x = np.tile([1.0, 2.0, 3.0, 4.0], 30)
    found = serape.PCM({"x": x, "y": np.repeat([1.0, 2.0], 60)}).test(0, 1)
    assert 0.3 < found.p <= 1


def test_rejection_rate_under_independence() -> None:
    p = [serape.PCM(sample("none", seed, 300)).test(0, 1, (2,)).p for seed in range(120)]
    assert np.mean(np.array(p) <= 0.05) <= 0.09
    assert np.mean(np.array(p) <= 0.2) >= 0.03


@pytest.mark.parametrize("kind", ["square", "interaction", "level"])
def test_sees_what_gcm_does_not(kind: str) -> None:
    given = (2,) if kind != "interaction" else (2, 3)
    rates = {
        made: np.mean([made(sample(kind, seed, 400)).test(0, 1, given).p <= 0.01 for seed in range(6)])
        for made in (serape.GCM, serape.PCM)
    }
    assert rates[serape.PCM] >= 0.8
    if kind != "level":
        assert rates[serape.GCM] <= 0.2


def test_blind_to_spread_alone() -> None:
    p = [serape.PCM(sample("spread", seed, 400)).test(0, 1, (2,)).p for seed in range(20)]
    assert np.mean(np.array(p) <= 0.01) <= 0.2


def test_forest_is_reproducible() -> None:
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = sample("square", 1, 200)
    forest = RandomForestRegressor(10, min_samples_leaf=5)
    for regressor in (forest, make_pipeline(StandardScaler(), forest)):
        one, other = (serape.PCM(data, regressor, folds=2).test(*q, (2,)) for q in ((0, 1), (1, 0)))
        assert one == other
        assert one.reliable
        assert serape.PCM(data, regressor, folds=2, random_state=1).test(0, 1, (2,)) != one


def test_search_in_a_curved_network() -> None:
    random = np.random.default_rng(1)
    a, b, u, v, e, f, g = random.normal(size=(7, 400))
    target = a**2 + b + 0.7 * e
    child = np.array(["low", "high"])[(target + 0.5 * f > 1).astype(int)]
    data = {"a": a, "b": b, "u": u, "grandchild": (child == "high") + 0.4 * g, "child": child, "t": target, "v": v * a}
    for test in ("gcm", "pcm"):
        found = serape.markov_blanket(data, "t", "iamb", test=test, alpha=0.01)
        assert set(found.blanket) == ({"a", "b", "child"} if test == "pcm" else {"b", "child"})
        assert found.test == test


def test_b_splines(random: np.random.Generator) -> None:
    from scipy.interpolate import BSpline

    values = np.sort(random.normal(size=50))
    knots = np.quantile(values, [0, 0.3, 0.6, 1])
    t = np.concatenate([knots[:1].repeat(3), knots, knots[-1:].repeat(3)])
    found = b_splines(values, knots)
    np.testing.assert_allclose(found, BSpline.design_matrix(values, t, 3).toarray(), atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
