"""Tests on rows with weights: frequencies give the bits of rows repeated, survey weights those of plain formulas."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import serape
from plain import random_table
from serape import Table
from serape.data import rows as applied
from serape.engines import Engine, NativeEngine, PlainEngine, WeightedEngine
from serape.independence import make_test
from serape.independence.summed import SummedTest

LEVELS = [2, 3, 2, 4, 2, 9, 300]
CORRELATIONS = ("fisher-z", "partial-correlation", "spearman", "normal-scores")
QUESTIONS: list[tuple[int, int, tuple[int, ...]]] = [
    (0, 1, ()), (1, 0, (2,)), (2, 3, (0, 4)), (5, 0, (1,)), (6, 0, ()), (0, 6, (1, 2)), (3, 1, (0, 2, 4, 5, 6))
]  # fmt: skip


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep frequencies, however few rows there are."""
    monkeypatch.setattr(applied, "MAX_BYTES", 0)


def categories(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    return random_table(np.random.default_rng(seed), rows, LEVELS, 0.4).to_pandas()


def numbers(rows: int = 200, seed: int = 1) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    causes = random.normal(size=(rows, 4))
    values = causes @ random.normal(size=(4, 6)) + 50 + random.normal(size=(rows, 6))
    values[:, 5] = np.round(values[:, 5])  # ties
    return pd.DataFrame(values, columns=list("abcdef"))


def frequencies(rows: int, seed: int = 2) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).integers(0, 5, rows)


def repeated(frame: pd.DataFrame, times: np.ndarray[Any, Any]) -> pd.DataFrame:
    return frame.loc[np.repeat(frame.index, times)].reset_index(drop=True)


# --- frequencies -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("keep")
@pytest.mark.parametrize("name", ["g2", "x2"])
@pytest.mark.parametrize("dof", ["full", "adjusted"])
@pytest.mark.parametrize("reliability", ["dof", "cells", None])
def test_kept_frequencies_have_the_bits_of_rows_repeated(name: str, dof: Any, reliability: Any) -> None:
    frame, times = categories(), frequencies(300)
    weighted = make_test(Table(frame, sample_weight=times), name, dof, reliability)
    written = make_test(Table(repeated(frame, times)), name, dof, reliability)
    assert weighted.table.weights is not None  # type: ignore[attr-defined]
    assert weighted.rows == written.rows == times.sum()
    for x, y, given in QUESTIONS:
        assert repr(weighted.test(x, y, given)) == repr(written.test(x, y, given))
        others = [k for k in range(len(LEVELS)) if k != y and k not in given]
        found, expected = weighted.screen(y, others, given), written.screen(y, others, given)
        for field in ("statistic", "dof", "reliable", "log_p"):
            assert getattr(found, field).tobytes() == getattr(expected, field).tobytes(), field


@pytest.mark.usefixtures("keep")
def test_counts_are_those_of_rows_repeated() -> None:
    frame, times = categories(), frequencies(300)
    engine = WeightedEngine(Table(frame, sample_weight=times))
    written = PlainEngine(Table(repeated(frame, times)))
    assert isinstance(engine, Engine)
    for target, candidates, given in ((0, [1, 5], ()), (5, [0], (1, 6)), (3, [], (0,))):
        found, expected = engine.counts(target, candidates, given), written.counts(target, candidates, given)
        assert found.rows == expected.rows
        assert found.candidate_levels == expected.candidate_levels
        own, other = (np.sort(c.cells[c.begin[-2] :, 1:], axis=0).tolist() for c in (found, expected))
        assert own == other


@pytest.mark.usefixtures("keep")
@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations_with_kept_frequencies_are_those_of_rows_repeated_up_to_rounding(name: str) -> None:
    frame, times = numbers(), frequencies(200)
    weighted = make_test(Table(frame, sample_weight=times), name)
    written = make_test(Table(repeated(frame, times)), name)
    for x, y, given in ((0, 1, ()), (2, 5, (1,)), (5, 0, (1, 2, 3)), (4, 3, (0, 1, 2, 5))):
        found, expected = weighted.test(x, y, given), written.test(x, y, given)
        assert found.dof == expected.dof
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert found.rows == expected.rows


@pytest.mark.usefixtures("keep")
def test_sums_are_those_of_rows_repeated() -> None:
    frame, times = numbers(), frequencies(200)
    weighted, written = WeightedEngine(Table(frame, sample_weight=times)), NativeEngine(Table(repeated(frame, times)))
    assert weighted.gram([0, 1], [2, 3, 4]).rows == written.rows
    for x, y, given in ((0, 1, (2,)), (3, 4, ()), (5, 0, (1, 2))):
        found, expected = SummedTest(weighted).test(x, y, given), SummedTest(written).test(x, y, given)
        assert found.reliable
        assert found.dof == expected.dof
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)


@pytest.mark.usefixtures("keep")
def test_kept_frequencies_in_pairwise_complete_rows() -> None:
    frame, times = categories(), frequencies(300)
    frame.loc[np.random.default_rng(3).random(300) < 0.3, "c1"] = None
    weighted = make_test(Table(frame, sample_weight=times, missing="pairwise"))
    written = make_test(Table(repeated(frame, times), missing="pairwise"))
    assert weighted.rows == written.rows
    for x, y, given in QUESTIONS:
        assert repr(weighted.test(x, y, given)) == repr(written.test(x, y, given))


@pytest.mark.usefixtures("keep")
def test_a_test_without_weights_says_so() -> None:
    frame = categories().assign(n=np.arange(300.0))
    assert make_test(Table(frame, sample_weight=frequencies(300))).name == "residuals"
    with pytest.raises(serape.DataError, match="'mixed' needs rows repeated .* 'residuals'"):
        make_test(Table(frame, sample_weight=frequencies(300)), "mixed")
    with pytest.raises(serape.DataError, match="'trend' needs rows repeated .*, and 615 rows are too many .* 'g2'"):
        make_test(Table(categories(), sample_weight=frequencies(300)), "trend")
    with pytest.raises(serape.DataError, match="a function takes no weights"):
        serape.FunctionTest(Table(frame, sample_weight=frequencies(300)), lambda x, y, z: 0.5)


# --- survey weights --------------------------------------------------------------------------------------------------


def plain_counts(frame: pd.DataFrame, weights: np.ndarray[Any, Any], x: str, y: str, given: list[str]) -> list[Any]:
    """Return the weighted tables of the strata, without empty margins, scaled to the effective number of rows."""
    weights = weights * weights.sum() / (weights**2).sum()
    rows = frame.assign(_w=weights)
    strata = [rows] if not given else [part for _, part in rows.groupby(given, observed=True)]
    found = []
    for part in strata:
        counts = part.pivot_table(index=x, columns=y, values="_w", aggfunc="sum", observed=True).fillna(0).to_numpy()
        found.append(counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0])
    return found


@pytest.mark.parametrize(("name", "power"), [("g2", "log-likelihood"), ("x2", "pearson")])
def test_survey_weights_against_scipy(name: str, power: Any) -> None:
    frame = categories()
    weights = np.random.default_rng(5).lognormal(0, 1, 300)
    table = Table(frame, sample_weight=weights, weight_kind="survey")
    effective = weights.sum() ** 2 / (weights**2).sum()
    for x, y, given in QUESTIONS:
        names = [table.names[k] for k in (x, y, *given)]
        expected, dof = 0.0, 0
        for counts in plain_counts(frame, weights, names[0], names[1], names[2:]):
            of_stratum = stats.chi2_contingency(counts, correction=False, lambda_=power)
            expected, dof = expected + of_stratum.statistic, dof + of_stratum.dof
        found = serape.ci_test(table, x, y, given, test=name, dof="adjusted")
        assert found.statistic == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert found.dof == dof
        full = math.prod([table.levels(x) - 1, table.levels(y) - 1, *map(table.levels, given)])
        assert found.reliable == (dof > 0 and effective >= 5 * full)
        if dof > 0:
            assert found.log_p == pytest.approx(stats.chi2.logsf(expected, dof), rel=1e-9)
        assert serape.ci_test(table, x, y, given, test=name, dof="full").dof == full
        assert found.rows == int(effective)


@pytest.mark.parametrize("name", ["g2", "x2"])
def test_survey_answers_do_not_depend_on_the_order_of_variables_or_the_batch(name: str) -> None:
    weights = np.random.default_rng(5).lognormal(0, 1, 300)
    test = make_test(Table(categories(), sample_weight=weights, weight_kind="survey"), name, "adjusted", None)
    again = pickle.loads(pickle.dumps(test))
    for x, y, given in QUESTIONS:
        found = test.test(x, y, given)
        assert repr(found) == repr(test.test(y, x, tuple(reversed(given)))) == repr(again.test(x, y, given))
        screened = test.screen(y, [x], given)
        assert screened.reliable[0] == found.reliable
        assert not found.reliable or (screened.statistic[0], screened.dof[0]) == (found.statistic, found.dof)


@pytest.mark.parametrize("reliability", ["dof", "cells", None])
def test_equal_survey_weights_are_no_weights(reliability: Any) -> None:
    frame = categories()
    weighted = Table(frame, sample_weight=np.full(300, 1 / 3), weight_kind="survey")
    for x, y, given in QUESTIONS:
        settings: dict[str, Any] = {"reliability": reliability, "dof": "adjusted"}
        found, expected = (serape.ci_test(data, x, y, given, **settings) for data in (weighted, frame))
        assert (found.dof, found.reliable, found.rows) == (expected.dof, expected.reliable, expected.rows)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    by_number = Table(numbers(), sample_weight=np.full(200, 7.7), weight_kind="survey")
    for name in CORRELATIONS:
        found, expected = (serape.ci_test(data, 0, 5, [1, 2], test=name) for data in (by_number, numbers()))
        assert found.dof == pytest.approx(expected.dof, rel=1e-12)
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert found.rows == expected.rows


def plain_ranks(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array([weights[values < v].sum() + (weights[values == v].sum() + 1) / 2 for v in values])


@pytest.mark.parametrize("name", CORRELATIONS)
@pytest.mark.parametrize("given", [(), (1,), (1, 2, 3)])
def test_weighted_correlations_against_a_plain_twin(name: str, given: tuple[int, ...]) -> None:
    frame = numbers()
    frame.insert(6, "constant", 4.25)
    weights = np.random.default_rng(7).lognormal(0, 1, len(frame))
    effective = weights.sum() ** 2 / (weights**2).sum()
    scaled = weights * effective / weights.sum()
    columns = frame.to_numpy()[:, [5, 0, *given]]
    if name in ("spearman", "normal-scores"):
        columns = np.column_stack([plain_ranks(column, scaled) for column in columns.T])
    if name == "normal-scores":
        columns = stats.norm.ppf(columns / (effective + 1))
    inverse = np.linalg.inv(np.cov(columns.T, aweights=weights))
    r = abs(inverse[0, 1]) / math.sqrt(inverse[0, 0] * inverse[1, 1])
    dof = effective - len(given) - (3 if name == "fisher-z" else 2)
    test = make_test(Table(frame, sample_weight=weights, weight_kind="survey"), name)
    found = test.test(5, 0, given)
    assert found.dof == pytest.approx(dof)
    if name == "fisher-z":
        statistic, log_p = (
            math.sqrt(dof) * math.atanh(r),
            math.log(2) + stats.norm.logsf(math.sqrt(dof) * math.atanh(r)),
        )
    else:
        statistic = r * math.sqrt(dof / (1 - r * r))
        log_p = math.log(2) + stats.t.logsf(statistic, dof)
    assert found.statistic == pytest.approx(statistic, rel=1e-8)
    assert found.log_p == pytest.approx(log_p, rel=1e-7)
    assert not test.test(6, 0, given).reliable  # constant
    screen = test.screen(0, [5, 4], given)
    assert screen.statistic[0] == found.statistic


def test_the_size_of_the_test_is_alpha_with_effective_rows_and_not_with_rows() -> None:
    """The share of p-values up to 0.05 where x and y are independent, and weights are independent of both."""
    random = np.random.default_rng(11)
    draws, rows = 600, 300
    below = {"g2": 0, "partial-correlation": 0, "naive": 0}
    for _ in range(draws):
        weights = random.lognormal(0, 1, rows)
        x, y = random.integers(0, 2, (2, rows))
        a, b = random.normal(size=(2, rows))
        weighted: dict[str, Any] = {"sample_weight": weights, "weight_kind": "survey"}
        below["g2"] += serape.ci_test({"x": x, "y": y}, 0, 1, **weighted).p <= 0.05
        below["partial-correlation"] += serape.ci_test({"a": a, "b": b}, 0, 1, **weighted).p <= 0.05
        r = np.cov(a, b, aweights=weights)
        r = r[0, 1] / math.sqrt(r[0, 0] * r[1, 1])
        below["naive"] += 2 * stats.norm.sf(math.sqrt(rows - 3) * abs(math.atanh(r))) <= 0.05
    assert 0.03 < below["g2"] / draws < 0.075
    assert 0.03 < below["partial-correlation"] / draws < 0.075
    assert below["naive"] / draws > 0.12  # what the effective number of rows is for


def test_survey_weights_in_pairwise_complete_rows() -> None:
    frame = categories()
    gaps = np.random.default_rng(3).random(300) < 0.3
    frame.loc[gaps, "c1"] = None
    weights = np.random.default_rng(5).lognormal(0, 1, 300)
    settings: dict[str, Any] = {"weight_kind": "survey", "missing": "pairwise"}
    found = serape.ci_test(frame, "c1", "c0", sample_weight=weights, **settings)
    expected = serape.ci_test(frame[~gaps], "c1", "c0", sample_weight=weights[~gaps], weight_kind="survey")
    assert repr(found) == repr(expected)


@pytest.mark.parametrize("name", ["mixed", "regression", "trend", "g2-permutation", "correlation-permutation"])
def test_other_tests_refuse_survey_weights(name: str) -> None:
    with pytest.raises(serape.DataError, match=f"test '{name}' cannot take survey weights; use one of 'g2', 'x2'"):
        serape.ci_test(categories(), 0, 1, test=name, sample_weight=np.full(300, 0.5), weight_kind="survey")
