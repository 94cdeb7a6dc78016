"""The generalised covariance measure: values, invariance, rejection rates, refusals."""

from __future__ import annotations

import gc
import math
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from serape.data.memory import Memory
from serape.errors import DataError, InputTypeError, MissingLibraryError, OptionError

Floats = NDArray[np.float64]


def curved(random: np.random.Generator, rows: int) -> dict[str, Any]:
    """Return x ⊥ y | z, where z drives both, and levels with the same cause."""
    z = random.normal(size=rows)
    noise = random.normal(size=(4, rows))
    return {
        "x": z**2 + noise[0],
        "y": z**2 + noise[1],
        "z": z,
        "c": np.array(list("abc"))[np.digitize(z**2 + noise[2], [0.5, 1.5])],
        "d": np.array(list("uv"))[(z + noise[3] > 0).astype(int)],
    }


def plain(r: Floats, s: Floats) -> tuple[float, int, float]:
    """Return T², its degrees of freedom and p for residuals, one column each for x and for y."""
    products = np.stack([a * b for a in r.T for b in s.T])
    n, d = products.shape[1], len(products)
    mean = products.mean(axis=1)
    covariance = sum(np.outer(p - mean, p - mean) for p in products.T) / n
    t2 = n * float(mean @ np.linalg.inv(covariance) @ mean)
    return t2, d, float(stats.f.sf(t2 * (n - d) / (d * n), d, n - d))


def test_formula_given_nothing(random: np.random.Generator) -> None:
    x, y = random.normal(size=(2, 80))
    found = serape.GCM({"x": x, "y": y + 0.3 * x}, tails=None).test(0, 1)
    products = (x - x.mean()) * (y + 0.3 * x - (y + 0.3 * x).mean())
    t = math.sqrt(80) * products.mean() / products.std()
    assert found.statistic == pytest.approx(t**2, rel=1e-9)
    assert found.p == pytest.approx(stats.f.sf(t**2 * 79 / 80, 1, 79), rel=1e-9)
    assert (found.dof, found.reliable, found.rows) == (1.0, True, 80)


@pytest.mark.parametrize("regressor", [False, True])
def test_formula_given_mixed_columns(regressor: bool, random: np.random.Generator) -> None:
    from sklearn.linear_model import LinearRegression

    data = curved(random, 300)
    test = serape.GCM(data, LinearRegression() if regressor else None, folds=3, random_state=4)
    fold = np.random.default_rng(4).permutation(np.arange(300) % 3)
    for x, y, given in ((0, 1, (2, 3)), (0, 3, (2, 4)), (3, 4, (2,))):
        residuals = [test.residual(v, given) for v in (x, y)]
        if regressor:
            for v, own in zip((x, y), residuals, strict=True):
                np.testing.assert_allclose(own, _linear_residuals(test.responses(v), data, given, fold), atol=1e-9)
        found = test.test(x, y, given)
        t2, dof, p = plain(*residuals)
        assert found.statistic == pytest.approx(t2, rel=1e-7)
        assert found.dof == dof
        assert found.p == pytest.approx(p, rel=1e-7)


def _linear_residuals(columns: Floats, data: dict[str, Any], given: tuple[int, ...], fold: Floats) -> Floats:
    parts = [np.ones(len(columns))]
    for z in given:
        values = list(data.values())[z]
        parts += [values] if values.dtype.kind == "f" else [1.0 * (values == level) for level in np.unique(values)]
    design, residuals = np.stack(parts, axis=1), np.empty(columns.shape)
    for k in np.unique(fold):
        slopes = np.linalg.lstsq(design[fold != k], columns[fold != k], rcond=None)[0]
        residuals[fold == k] = columns[fold == k] - design[fold == k] @ slopes
    return residuals


def test_responses_of_a_categorical_column_are_scaled_indicators() -> None:
    levels = np.repeat(["often", "some", "rare", "none"], [60, 30, 9, 21])
    columns = serape.GCM({"c": levels, "x": np.arange(120.0)}).responses(0)
    for column, level in zip(columns.T, ("none", "some"), strict=True):  # "rare" counts with "often"
        assert np.unique(column).size == 2
        assert column[levels == level].min() > 0 > column[levels != level].max()
        assert np.abs(column.mean()) < 1e-12


def test_tails_are_drawn_in(random: np.random.Generator) -> None:
    x = random.standard_cauchy(200)
    column = serape.GCM({"x": x}).responses(0)[:, 0]
    scaled = (x - np.median(x)) / np.subtract(*np.quantile(x, [0.75, 0.25])) * 1.349
    expected = [v if abs(v) <= 3 else math.copysign(3 + math.log(abs(v) - 2), v) for v in scaled]
    assert np.abs(scaled).max() > 3
    np.testing.assert_allclose(column, np.array(expected) - np.mean(expected))


@pytest.mark.parametrize("name", ["gcm", "pcm"])
def test_same_answer_in_any_order(name: str, random: np.random.Generator) -> None:
    data = curved(random, 200)
    questions = [("x", "y", ("z", "c")), ("c", "y", ("z",)), ("c", "d", ("x", "z"))]

    def answers(columns: list[str], questions: list[tuple[str, str, tuple[str, ...]]]) -> dict[Any, Any]:
        test = (serape.GCM if name == "gcm" else serape.PCM)({c: data[c] for c in columns})
        at = test.variables.index
        return {q: test.test(at(q[0]), at(q[1]), [at(z) for z in q[2]]) for q in questions}

    one = answers(list(data), questions)
    other = answers(list(data)[::-1], [(y, x, given[::-1]) for x, y, given in questions[::-1]])
    for x, y, given in questions:
        assert other[y, x, given[::-1]] == one[x, y, given]


def test_memory_is_bounded_and_changes_nothing(random: np.random.Generator) -> None:
    data = curved(random, 150)
    plenty, scarce = serape.Table(data), serape.Table(data)
    vars(scarce)["memory"] = Memory(5000)
    questions = [(x, y, (z,)) for x in range(5) for y in range(x) for z in range(5) if z not in (x, y)] * 2
    one, other = (serape.GCM(table) for table in (plenty, scarce))
    assert [one.test(*q) for q in questions] == [other.test(*q) for q in questions]
    assert scarce.memory.nbytes <= 5000 < plenty.memory.nbytes


def test_tests_of_a_table_share_what_is_kept(random: np.random.Generator) -> None:
    from sklearn.linear_model import LinearRegression

    table = serape.Table(curved(random, 150))
    first = serape.GCM(table)
    assert serape.GCM(table).residual(0, (1,)) is first.residual(0, (1,))
    different: list[dict[str, Any]] = [
        {"random_state": 1}, {"folds": 3}, {"tails": None}, {"minimum": 20.0}, {"regressor": LinearRegression()},
        {"regressor": LinearRegression()},
    ]  # fmt: skip
    residuals = [first.residual(0, (1,)), *(serape.GCM(table, **options).residual(0, (1,)) for options in different)]
    assert len({id(residual) for residual in residuals}) == len(residuals)
    memory = weakref.ref(table.memory)
    del table, first, residuals
    gc.collect()
    assert memory() is None


def test_screens_agree_with_single_tests(random: np.random.Generator) -> None:
    test = serape.GCM(curved(random, 200))
    screen = test.screen(1, [0, 3, 4], [2])
    for k, x in enumerate((0, 3, 4)):
        assert screen.log_p[k] == test.test(x, 1, (2,)).log_p


@pytest.mark.parametrize(("x", "y"), [("x", "y"), ("c", "y"), ("c", "d")])
def test_rejection_rate_under_independence(x: str, y: str) -> None:
    p = []
    for seed in range(300):
        test = serape.GCM(curved(np.random.default_rng(seed), 300))
        p.append(test.test(test.variables.index(x), test.variables.index(y), (2,)).p)
    assert stats.binomtest(int(np.sum(np.array(p) <= 0.05)), len(p), 0.05).pvalue > 1e-3
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_partial_correlation_fails_there(random: np.random.Generator) -> None:
    assert serape.ci_test(curved(random, 300), "x", "y", "z", test="partial-correlation").p < 1e-6


def test_perfect_dependence_is_seen(random: np.random.Generator) -> None:
    x, z = random.normal(size=(2, 200))
    found = serape.GCM({"x": x, "y": 2 * x + z, "z": z}).test(0, 1, (2,))
    assert found.reliable
    assert found.log_p < -20


@pytest.mark.parametrize("name", ["gcm", "pcm"])
def test_unreliable(name: str, random: np.random.Generator) -> None:
    x, z, w = random.normal(size=(3, 100))
    data = {"x": x, "z": z, "one": np.ones(100), "copy": 3 * z + 1, "id": np.arange(100).astype(str)}
    table = serape.Table(data, kinds={"id": "categorical"})
    for columns in (("x", "one", ()), ("x", "copy", ("z",)), ("id", "x", ()), ("x", "z", ("id",))):
        found = serape.ci_test(table, *columns, test=name)
        assert not found.reliable
        assert math.isnan(found.p)
    few = serape.Table({"x": x[:49], "w": w[:49]})
    assert not serape.ci_test(few, "x", "w", test=name).reliable
    assert serape.ci_test(serape.Table({"x": x[:50], "w": w[:50]}), "x", "w", test=name).reliable


def test_refusals(random: np.random.Generator) -> None:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    data = {"x": random.normal(size=60), "y": random.normal(size=60)}
    with pytest.raises(InputTypeError, match=r"is a classifier"):
        serape.GCM(data, RandomForestClassifier())
    for wrong in (RandomForestRegressor, "forest"):
        with pytest.raises(InputTypeError, match=r"must be a scikit-learn regressor, for example Ridge\(\)"):
            serape.GCM(data, wrong)
    for option in ({"folds": 1}, {"random_state": -1}, {"tails": 0}, {"minimum": 0}):
        with pytest.raises(OptionError, match=next(iter(option)).replace("_", ".")):
            serape.GCM(data, **option)
    with pytest.raises(DataError, match="takes no weights"):
        serape.PCM(serape.Table(data, sample_weight=np.full(60, 1.5), weight_kind="survey"))
    data["x"][3] = math.nan
    with pytest.raises(DataError, match="values are missing in 'x'"):
        serape.ci_test(serape.GCM(serape.Table(data, missing="pairwise")), "x", "y")


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch, random: np.random.Generator) -> None:
    from sklearn.linear_model import Ridge

    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    data = curved(random, 100)
    assert serape.GCM(data).test(0, 1, (2,)).reliable
    with pytest.raises(MissingLibraryError, match=r"pip install 'serape\[sklearn\]'"):
        serape.GCM(data, Ridge())
