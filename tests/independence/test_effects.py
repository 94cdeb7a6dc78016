"""Effect sizes against scikit-learn, SciPy, NumPy and plain versions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import rankdata
from scipy.stats.contingency import association
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, mutual_info_score

import serape
from plain_residuals import plain_lambda, residuals_of
from serape.engines import NativeEngine
from serape.independence.base import IndependenceTest
from serape.independence.counted import CountedTest
from serape.independence.effects import Effect
from serape.independence.registry import TESTS, make_test
from serape.independence.summed import SummedTest

ROWS = 600
QUESTIONS = [(0, 1, ()), (1, 0, (2,)), (0, 1, (3, 2))]


def categories() -> dict[str, NDArray[Any]]:
    draw = np.random.default_rng(1)
    c, d = draw.integers(0, 2, ROWS), draw.integers(0, 3, ROWS)
    a = (c + draw.integers(0, 3, ROWS)) % 3
    b = np.where(draw.random(ROWS) < 0.4, a, draw.integers(0, 4, ROWS))
    return {"a": a, "b": b, "c": c, "d": d}


def numbers() -> dict[str, NDArray[Any]]:
    draw = np.random.default_rng(2)
    c, d = draw.normal(size=(2, ROWS))
    a = draw.normal(size=ROWS) + c
    return {"a": a, "b": draw.normal(size=ROWS) - 0.5 * a + 0.4 * c - d, "c": c, "d": d}


def mixture() -> dict[str, NDArray[Any]]:
    draw = np.random.default_rng(3)
    c = draw.normal(size=ROWS)
    a = np.searchsorted([-0.5, 0.7], c + draw.normal(size=ROWS))
    return {"a": a, "b": draw.normal(size=ROWS) + 0.4 * a + c, "c": c, "d": draw.integers(0, 2, ROWS)}


def table_of(columns: dict[str, NDArray[Any]], **settings: Any) -> serape.Table:
    kinds = {name: "continuous" if c.dtype.kind == "f" else "categorical" for name, c in columns.items()}
    return serape.Table(columns, kinds=kinds, **settings)


def strata(columns: dict[str, NDArray[Any]], given: Sequence[int]) -> list[NDArray[np.bool_]]:
    names = list(columns)
    if not given:
        return [np.ones(ROWS, bool)]
    label = pd.DataFrame({names[z]: columns[names[z]] for z in given}).groupby([names[z] for z in given]).ngroup()
    return [np.asarray(label == k) for k in range(label.max() + 1)]


def plain_information(columns: dict[str, NDArray[Any]], x: int, y: int, given: Sequence[int]) -> float:
    one, other = (list(columns.values())[v] for v in (x, y))
    nats = sum(s.mean() * mutual_info_score(one[s], other[s]) for s in strata(columns, given))
    return float(nats / math.log(2))


def plain_correlation(matrix: NDArray[np.float64], x: int, y: int, given: Sequence[int]) -> float:
    precision = np.linalg.inv(np.corrcoef(matrix[:, [x, y, *given]], rowvar=False))
    return float(-precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1]))


def bits_of(r: float) -> float:
    return -0.5 * math.log2(1 - r * r)


def effect_of(test: IndependenceTest, x: int, y: int, given: Sequence[int]) -> Effect:
    effect = test.effect(x, y, given)
    assert effect is not None
    return effect


@pytest.mark.parametrize("name", ["g2", "x2", "x2-moments", "g2-permutation", "g2-semiparametric"])
@pytest.mark.parametrize(("x", "y", "given"), QUESTIONS)
def test_categories_have_mutual_information(name: str, x: int, y: int, given: Sequence[int]) -> None:
    columns = categories()
    effect = effect_of(make_test(table_of(columns), name, "adjusted", None), x, y, given)
    assert effect.bits == pytest.approx(plain_information(columns, x, y, given), rel=1e-9)
    assert effect.name == "Cramér's V"
    one, other = (list(columns.values())[v] for v in (x, y))
    squared = 0.0
    for s in strata(columns, given):
        counts = pd.crosstab(one[s], other[s]).to_numpy()
        v = association(counts, method="cramer")
        squared += s.mean() * v * v * (min(counts.shape) - 1)
    assert effect.value == pytest.approx(math.sqrt(squared / 2), rel=1e-9)  # a has the fewest levels: 3


def test_given_nothing_it_is_scipys_v() -> None:
    columns = categories()
    expected = association(pd.crosstab(columns["a"], columns["b"]).to_numpy(), method="cramer")
    assert effect_of(make_test(table_of(columns), "g2"), 0, 1, ()).value == pytest.approx(expected, rel=1e-12)


def test_shrinkage_has_its_own_statistic() -> None:
    test = make_test(table_of(categories()), "g2-shrinkage", "adjusted", None)
    expected = test.test(0, 1, (2,)).statistic / (2 * ROWS * math.log(2))
    assert effect_of(test, 0, 1, (2,)).bits == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["fisher-z", "partial-correlation", "spearman", "normal-scores"])
@pytest.mark.parametrize(("x", "y", "given"), QUESTIONS)
def test_numbers_have_a_signed_correlation(name: str, x: int, y: int, given: Sequence[int]) -> None:
    matrix = np.column_stack(list(numbers().values()))
    effect = effect_of(make_test(table_of(numbers()), name), x, y, given)
    if name in ("spearman", "normal-scores"):
        matrix = rankdata(matrix, axis=0)
    if name == "normal-scores":
        matrix = pd.DataFrame(matrix / (ROWS + 1)).map(NormalDist().inv_cdf).to_numpy()
    r = plain_correlation(matrix, x, y, given)
    assert r < 0
    assert effect.value == pytest.approx(r, rel=1e-9)
    assert effect.bits == pytest.approx(bits_of(r), rel=1e-9)
    assert effect.name == ("partial rank correlation" if name == "spearman" else "partial correlation")


def test_a_permutation_test_and_an_engine_have_the_same_correlation() -> None:
    table = table_of(numbers())
    r = plain_correlation(np.column_stack(list(numbers().values())), 0, 1, (2,))
    for test in (make_test(table, "correlation-permutation"), SummedTest(NativeEngine(table))):
        effect = effect_of(test, 0, 1, (2,))
        assert (effect.value, effect.bits) == pytest.approx((r, bits_of(r)), rel=1e-8)


def test_gcm_has_wilks_lambda_of_its_residuals() -> None:
    test = serape.GCM(table_of(mixture()))
    left_x, left_y = test.residual(0, (2,)), test.residual(1, (2,))
    within, across = left_x.T @ left_x, left_x.T @ left_y
    explained = across.T @ np.linalg.solve(within, across) / (left_y.T @ left_y)
    assert effect_of(test, 0, 1, (2,)).bits == pytest.approx(-0.5 * math.log2(1 - explained.item()), rel=1e-9)
    test = serape.GCM(table_of(numbers()))
    one, other = test.residual(0, (2,))[:, 0], test.residual(1, (2,))[:, 0]
    r = float(one @ other / math.sqrt((one @ one) * (other @ other)))
    assert effect_of(test, 0, 1, (2,)).value == pytest.approx(r, rel=1e-9)
    assert r < 0


def test_nearly_perfect_correlations_keep_their_size() -> None:
    a = np.random.default_rng(4).normal(size=200)
    noise = np.random.default_rng(5).normal(size=200)
    noise -= a * (noise @ a) / (a @ a)
    b = a / a.std() + 1e-9 * noise / noise.std()
    for name in ("partial-correlation", "fisher-z"):
        bits = effect_of(make_test(table_of({"a": a, "b": b}), name), 0, 1, ()).bits
        assert bits == pytest.approx(math.log2(1e9), rel=1e-3)  # 1 − r² is 1e-18, below the precision of r


@pytest.mark.parametrize(
    ("columns", "x", "y", "given"),
    [
        (numbers(), 0, 1, ()),
        (numbers(), 0, 1, (2,)),
        (numbers(), 1, 0, (3, 2)),
        (mixture(), 0, 1, ()),
        (mixture(), 0, 1, (2,)),
        (mixture(), 0, 1, (3, 2)),
        (mixture(), 0, 3, (2,)),
    ],
)
def test_residuals_have_wilks_lambda(columns: dict[str, Any], x: int, y: int, given: Sequence[int]) -> None:
    values = list(columns.values())
    (left_x, left_y), *_ = residuals_of(values[x], values[y], [values[z] for z in given])
    effect = effect_of(make_test(table_of(columns), "residuals"), x, y, given)
    assert effect.bits == pytest.approx(-0.5 * math.log2(plain_lambda(left_x, left_y)), rel=1e-6)
    if values[x].dtype.kind == values[y].dtype.kind == "f":
        r = np.corrcoef(left_x[:, 0], left_y[:, 0])[0, 1]
        assert effect.name == "partial correlation"
        assert effect.value == pytest.approx(r, rel=1e-6)
    else:
        assert effect.name is None


def test_residuals_of_many_levels() -> None:
    draw = np.random.default_rng(6)
    a = draw.integers(0, 12, 2000)
    columns = {"a": a, "b": (a + draw.integers(0, 9, 2000)) % 9, "c": draw.normal(size=2000) + a}
    (left_x, left_y), *_ = residuals_of(columns["a"], columns["b"], [columns["c"]])
    effect = effect_of(make_test(table_of(columns), "residuals"), 0, 1, (2,))
    assert effect.bits == pytest.approx(-0.5 * math.log2(plain_lambda(left_x, left_y)), rel=1e-6)


def test_residuals_of_categories_have_mutual_information() -> None:
    columns = {**categories(), "e": np.random.default_rng(7).normal(size=ROWS)}
    effect = effect_of(make_test(table_of(columns), "residuals"), 0, 1, (2,))
    plain = effect_of(make_test(table_of(categories()), "g2"), 0, 1, (2,))
    assert (effect.bits, effect.name, effect.value) == (plain.bits, plain.name, plain.value)


def test_likelihood_ratios() -> None:
    columns = mixture()
    test = make_test(table_of(columns), "mixed")
    expected = test.test(0, 1, (3,)).statistic / (2 * ROWS * math.log(2))
    assert effect_of(test, 0, 1, (3,)).bits == pytest.approx(expected, rel=1e-12)
    a, b = columns["a"], columns["b"]
    explained = sum((a == k).mean() * b[a == k].var() for k in range(3)) / b.var()
    model = LogisticRegression(C=1e12, tol=1e-10, max_iter=10_000).fit(b[:, None], a)
    shares = np.bincount(a) / ROWS
    nats = -float(shares @ np.log(shares)) - log_loss(a, model.predict_proba(b[:, None]))
    expected = min(-0.5 * math.log2(explained), nats / math.log(2))
    assert effect_of(make_test(table_of(columns), "regression"), 0, 1, ()).bits == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("given", [(), (2,)])
def test_trend_has_the_correlation_within_strata(given: Sequence[int]) -> None:
    columns = categories()
    a, b = columns["a"].astype(float), columns["b"].astype(float)
    for s in strata(columns, given):
        a[s] -= a[s].mean()
        b[s] -= b[s].mean()
    r = float(a @ b / math.sqrt((a @ a) * (b @ b)))
    effect = effect_of(make_test(table_of(columns), "trend"), 0, 1, given)
    assert (effect.value, effect.bits) == pytest.approx((r, bits_of(r)), rel=1e-9)


@pytest.mark.parametrize("name", sorted(TESTS))
def test_batches_have_the_effects_of_single_tests(name: str) -> None:
    columns = numbers() if "correlation" in name or name in ("fisher-z", "spearman", "normal-scores") else categories()
    columns = columns if name not in ("residuals", "mixed", "regression", "gcm", "monotone-residuals") else mixture()
    test = make_test(table_of(columns), name)
    screen = test.screen(1, [0, 3], (2,))
    effects = test.effects(1, [0, 3], (2,), screen.statistic, screen.dof)
    for k, x in enumerate([0, 3]):
        single, batch = test.effect(x, 1, (2,)), effects[k]
        assert test.has_effect == (name != "pcm")
        if single is None or batch is None:
            assert single is batch is None
            assert name == "pcm"
        else:
            assert (batch.bits, batch.value) == pytest.approx((single.bits, single.value), rel=1e-9, nan_ok=True)
            assert batch.name == single.name


@pytest.mark.parametrize("name", ["g2", "x2"])
def test_weights_and_engines(name: str) -> None:
    columns, twice = categories(), np.full(ROWS, 2)
    plain = effect_of(make_test(table_of(columns), name, "adjusted", None), 0, 1, (2,))
    repeated = make_test(table_of(columns, sample_weight=twice), name, "adjusted", None)
    survey = make_test(table_of(columns, sample_weight=0.3 * twice, weight_kind="survey"), name, "adjusted", None)
    counted = CountedTest(NativeEngine(table_of(columns)), "g2" if name == "g2" else "x2")
    for test in (repeated, survey, counted):
        effect = effect_of(test, 0, 1, (2,))
        assert (effect.bits, effect.value) == pytest.approx((plain.bits, plain.value), rel=1e-9)


def test_missing_values() -> None:
    columns = numbers()
    columns["a"][:100] = math.nan
    test = make_test(table_of(columns, missing="pairwise"), "partial-correlation")
    r = plain_correlation(np.column_stack(list(columns.values()))[100:], 0, 1, (2,))
    assert effect_of(test, 0, 1, (2,)).value == pytest.approx(r, rel=1e-9)
    screen = test.screen(1, [0, 3], (2,))
    effects = test.effects(1, [0, 3], (2,), screen.statistic, screen.dof)
    assert [effects[0], effects[1]] == [test.effect(0, 1, (2,)), test.effect(3, 1, (2,))]


def test_one_test_reports_its_effect() -> None:
    outcome = serape.ci_test(numbers(), "a", "b", "c", test="partial-correlation")
    assert outcome.effect is not None
    assert str(outcome.effect).startswith("0.")
    assert "bits, partial correlation −0." in str(outcome.effect)
    few = {name: column[:8] for name, column in categories().items()}
    assert serape.ci_test(few, "a", "b", kinds="categorical").effect is None
    assert serape.ci_test(serape.DSeparation(serape.load_network("asia").graph), "tub", "asia").effect is None


def test_the_bias_is_that_of_the_documentation() -> None:
    """Independent variables show dof / (2 N ln 2) bits on average."""
    draw = np.random.default_rng(8)
    found = []
    for _ in range(200):
        columns = {"a": draw.integers(0, 4, ROWS), "b": draw.integers(0, 4, ROWS)}
        found.append(effect_of(make_test(table_of(columns), "g2"), 0, 1, ()).bits)
    expected = 9 / (2 * ROWS * math.log(2))
    assert np.mean(found) == pytest.approx(expected, abs=4 * float(np.std(found)) / math.sqrt(200))
    assert np.mean(found) > 0.8 * expected
