"""The test of residuals: against a plain twin, its size where models fail, what it sees, order, threads, batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from plain_residuals import plain_test
from serape import _core
from serape.independence.base import IndependenceTest
from serape.independence.g2 import G2
from serape.independence.residuals import MonotoneResiduals, Residuals
from serape.independence.subset_query import SubsetQuery

Column = NDArray[Any]


def table_of(*columns: Column) -> serape.Table:
    """Return a table of numbers (floats) and categories (integers)."""
    kinds = {f"v{k}": "continuous" if c.dtype.kind == "f" else "categorical" for k, c in enumerate(columns)}
    return serape.Table({f"v{k}": c for k, c in enumerate(columns)}, kinds=kinds)


def classes(values: Column, count: int) -> Column:
    """Cut numbers into classes of as many rows."""
    return np.searchsorted(np.quantile(values, np.arange(1, count) / count), values)


@pytest.mark.parametrize(
    ("f", "more", "rest"), [(0.3, 1, 5), (2.5, 3, 40.5), (40, 2, 1000), (1.1, 200, 3000), (900, 4, 77)]
)
def test_tail_of_f(f: float, more: float, rest: float) -> None:
    assert _core.f_log_sf(f * more / rest, 1.0, more, rest) == pytest.approx(stats.f.logsf(f, more, rest), rel=1e-10)


def test_far_tail_of_f() -> None:
    assert _core.f_log_sf(0.0, 1.0, 2, 9) == 0.0
    assert _core.f_log_sf(1.0, 0.0, 2, 9) == -math.inf
    # For two and m degrees of freedom the tail is (1 + 2 f / m)^(−m/2).
    assert _core.f_log_sf(1e8 / 2000, 1.0, 2, 4000) == pytest.approx(-2000 * math.log1p(1e8 / 2000), rel=1e-12)


def test_normal_quantiles() -> None:
    p = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 999), [1e-12, 0.5]])
    assert [_core.normal_quantile(v) for v in p] == pytest.approx(stats.norm.ppf(p), rel=1e-11, abs=1e-13)


def some_columns(random: np.random.Generator, rows: int) -> list[Column]:
    z = random.normal(size=rows)
    return [
        z,
        random.integers(0, 3, rows),
        np.where(random.random(rows) < 0.4, 0.0, np.exp(z + random.normal(size=rows))),
        classes(z + random.normal(size=rows), 4),
        random.standard_cauchy(rows) + z**2,
        random.poisson(np.exp(0.5 * z)).astype(float),
        random.integers(0, 40, rows),
        random.integers(0, 2, rows).astype(float),
    ]


@pytest.mark.parametrize("rows", [60, 200, 900])
@pytest.mark.parametrize("curved", [True, False])
def test_agrees_with_a_plain_twin(rows: int, curved: bool) -> None:
    random = np.random.default_rng(rows)
    compared = several = 0
    columns = some_columns(random, rows)
    test = (Residuals if curved else MonotoneResiduals)(table_of(*columns))
    for _ in range(60):
        x, y, *given = random.permutation(len(columns))[: random.integers(2, 6)].tolist()
        if all(columns[v].dtype.kind != "f" for v in (x, y, *given)):
            continue
        found = test.test(x, y, given)
        if found.reliable:
            log_p, dof = plain_test(columns[x], columns[y], [columns[z] for z in given], curved)
            assert found.log_p == pytest.approx(log_p, rel=1e-4, abs=1e-9), (x, y, given)
            assert found.dof == dof, (x, y, given)
            assert stats.chi2.logsf(found.statistic, dof) == pytest.approx(found.log_p, rel=1e-9)
            several += dof > 1
            compared += 1
    assert several > 5
    assert compared > 30


def test_the_statistic_of_two_numbers_is_nearly_n_r_squared() -> None:
    random = np.random.default_rng(4)
    x = random.normal(size=5000)
    y = 0.08 * x + random.normal(size=5000)
    found = MonotoneResiduals(table_of(x, y)).test(0, 1)
    scores = [stats.norm.ppf((stats.rankdata(v) - 0.375) / (len(v) + 0.25)) for v in (x, y)]
    assert found.dof == 1
    assert found.statistic == pytest.approx(5000 * stats.pearsonr(*scores).statistic ** 2, rel=0.02)


def test_no_p_is_1_because_two_questions_are_asked() -> None:
    """A product of p and the number of questions would be cut at 1; of independent columns, p is then often 1."""
    random = np.random.default_rng(5)
    p = np.array([Residuals(table_of(*random.normal(size=(2, 300)))).test(0, 1).p for _ in range(200)])
    assert p.max() < 1
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_categories_alone_are_left_to_g2() -> None:
    random = np.random.default_rng(3)
    columns = [random.integers(0, 3, 400) for _ in range(3)]
    table = table_of(*columns, random.normal(size=400))
    found = Residuals(table).test(0, 1, [2])
    expected = G2(table, "adjusted").test(0, 1, [2])
    assert (found.statistic, found.dof, found.log_p) == (expected.statistic, expected.dof, expected.log_p)


# --- size ---------------------------------------------------------------------------------------------------------


def heavy(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    return random.standard_cauchy(rows), classes(random.normal(size=rows), 3), [random.integers(0, 15, rows)]


def zeros(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    x = np.where(random.random(rows) < 0.6, 0.0, random.exponential(size=rows))
    return x, random.lognormal(sigma=1.5, size=rows), [random.integers(0, 12, rows), random.normal(size=rows)]


def curved_causes(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    z = random.normal(size=rows)
    return z**2 + 0.5 * random.normal(size=rows), classes(z**2 + 0.5 * random.normal(size=rows), 3), [z]


def spread_by_z(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    z = random.normal(size=rows)
    return np.exp(z) * random.normal(size=rows), np.exp(z) * random.normal(size=rows), [z]


def product_causes(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    z, g = random.normal(size=rows), random.integers(0, 2, rows)
    both = z * (2 * g - 1)
    return both + 0.3 * random.normal(size=rows), both + 0.3 * random.normal(size=rows), [z, g]


def steps_of_a_sum(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    z = random.normal(size=(3, rows))
    x, y = (np.digitize(z.sum(axis=0) + 0.6 * random.normal(size=rows), (-1.5, -0.5, 0.5, 1.5)) for _ in range(2))
    return x.astype(float), y.astype(float), list(z)


def many_classes_of_a_sum(random: np.random.Generator, rows: int) -> tuple[Column, Column, list[Column]]:
    z = random.normal(size=(2, rows))
    classes, noise = (7, 0.5) if rows > 200 else (3, 1.0)
    cuts = np.linspace(-2, 2, classes)
    x, y = (np.digitize(z.sum(axis=0) + noise * random.normal(size=rows), cuts) for _ in range(2))
    return x, y, list(z)


@pytest.mark.parametrize(
    "draw", [heavy, zeros, curved_causes, spread_by_z, product_causes, steps_of_a_sum, many_classes_of_a_sum]
)
@pytest.mark.parametrize("rows", [100, 400])
def test_size_where_models_fail(
    draw: Callable[[np.random.Generator, int], tuple[Column, Column, list[Column]]], rows: int
) -> None:
    random = np.random.default_rng(11)
    p = []
    for _ in range(600):
        x, y, given = draw(random, rows)
        found = Residuals(table_of(x, y, *given)).test(0, 1, range(2, 2 + len(given)))
        assert found.reliable
        p.append(math.exp(found.log_p))
    for level in (0.05, 0.01):
        allowed = 1.3 * level + 3 * math.sqrt(level / 600)
        assert np.mean(np.array(p) <= level) <= allowed


# --- rare things --------------------------------------------------------------------------------------------------


def mostly_zero(random: np.random.Generator, rows: int, rate: Column | float = 0.07) -> Column:
    return np.asarray(np.where(random.random(rows) < rate, random.lognormal(size=rows), 0))


def uneven_levels(random: np.random.Generator, rows: int, count: int) -> Column:
    shares = 1 / np.arange(1, count + 1)
    return random.choice(count, rows, p=shares / shares.sum())


def rare_zeros(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    return mostly_zero(random, len(z)), mostly_zero(random, len(z))


def rare_counts(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    return random.poisson(0.05, len(z)).astype(float), random.poisson(0.05, len(z)).astype(float)


def rare_by_z(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    """Both are rare, and in the same rows, which Z tells."""
    rate = 0.07 * np.exp(z - 0.5)
    return mostly_zero(random, len(z), rate), mostly_zero(random, len(z), rate)


def rare_levels(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    return uneven_levels(random, len(z), 30), (random.random(len(z)) < 0.05).astype(int)


def levels_of_counts(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    """Few rows carry most of both, so that squared covariances vary more than a chi-square."""
    return uneven_levels(random, len(z), 30), random.poisson(0.05, len(z)).astype(float)


def very_many_levels(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    """More than 64 products."""
    return uneven_levels(random, len(z), 40), random.poisson(0.3, len(z)).astype(float)


def many_levels_by_z(random: np.random.Generator, z: Column) -> tuple[Column, Column]:
    """More than 64 products, and Z tells in which rows levels and counts are rare."""
    rare = np.where(z > 1, uneven_levels(random, len(z), 80) + 1, 0)
    return rare, random.poisson(np.where(z > 1, 1.0, 0.01)).astype(float)


@pytest.mark.parametrize(
    ("draw", "rows", "conditional"),
    [
        (rare_zeros, 1000, False),
        (rare_counts, 400, False),
        (rare_by_z, 1000, True),
        (rare_levels, 2000, True),
        (levels_of_counts, 2000, False),
        (very_many_levels, 2000, False),
        (many_levels_by_z, 1500, True),
    ],
)
def test_size_where_things_are_rare(
    draw: Callable[[np.random.Generator, Column], tuple[Column, Column]], rows: int, conditional: bool
) -> None:
    random = np.random.default_rng(17)
    p = []
    for _ in range(300):
        z = random.normal(size=rows)
        x, y = draw(random, z)
        found = Residuals(table_of(x, y, z)).test(0, 1, [2] if conditional else [])
        assert found.reliable
        p.append(math.exp(found.log_p))
    for level in (0.05, 0.01):
        assert np.mean(np.array(p) <= level) <= 1.5 * level + 3 * math.sqrt(level / 300)
    assert np.mean(np.array(p) <= 0.5) > 0.15


@pytest.mark.parametrize("conditional", [False, True])
def test_rare_events_that_do_not_meet_are_no_evidence_and_those_that_meet_are(conditional: bool) -> None:
    random = np.random.default_rng(18)
    x, y = np.zeros(2000), np.zeros(2000)
    x[:40] = random.lognormal(size=40)
    given = [random.normal(size=2000)] if conditional else []
    apart, together = y.copy(), y.copy()
    apart[40:80] = random.lognormal(size=40)  # .8 rows are expected to have both
    together[32:72] = random.lognormal(size=40)  # 8 have
    for test in (Residuals, MonotoneResiduals):
        assert p_of(x, apart, *given, test=test) > 0.1
        assert p_of(x, together, *given, test=test) < 0.005


def test_mirror_images_scale_and_sides_change_nothing_where_things_are_rare() -> None:
    random = np.random.default_rng(19)
    z, g = mostly_zero(random, 500, 0.2), random.integers(0, 6, 500)
    x, y = mostly_zero(random, 500, 0.05 + 0.1 * (z > 0)), random.poisson(0.1 + 0.2 * (g == 1)).astype(float)
    level = uneven_levels(random, 500, 20)
    for a, b, given in ((x, y, [z]), (x, y, [g, z]), (level, y, [z]), (level, x, [z, g])):
        expected = Residuals(table_of(a, b, *given)).test(0, 1, range(2, 2 + len(given)))
        assert expected.reliable
        for first, second in ((a, -3 * b), (b, a), (-1e6 * b, a)):
            found = Residuals(table_of(first, second, *(-v if v.dtype.kind == "f" else v for v in given)))
            log_p = found.test(0, 1, range(2, 2 + len(given))).log_p
            assert log_p == pytest.approx(expected.log_p, rel=1e-6, abs=1e-9)


def test_rare_levels_of_z_moderate_nothing() -> None:
    """Effects by level are looked for at levels of at least 20 rows: no others widen the second question."""
    random = np.random.default_rng(20)
    x, z = random.normal(size=(2, 600))
    y = 0.4 * x**2 + random.normal(size=600)
    frequent, rare = np.zeros(600, int), np.repeat(np.arange(8), [593, 1, 1, 1, 1, 1, 1, 1])
    assert p_of(x, y, rare, z) == pytest.approx(p_of(x, y, frequent, z), rel=0.5)


# --- what it sees -------------------------------------------------------------------------------------------------


def p_of(x: Column, y: Column, *given: Column, test: type[IndependenceTest] = Residuals) -> float:
    table = table_of(x, y, *given)
    return math.exp(test(table).test(0, 1, range(2, 2 + len(given))).log_p)  # type: ignore[call-arg]


def test_sees_curves_spreads_and_interactions() -> None:
    random = np.random.default_rng(5)
    x, z, e = random.normal(size=(3, 600))
    assert p_of(x, x**2 + e) < 1e-6
    assert p_of(x, np.exp(x / 2) * e) < 1e-6
    assert p_of(x, x * z + e, z) < 1e-6
    assert p_of(x, (x * z + 0.5 * e > 0).astype(int), z) < 1e-6
    assert p_of(x, x**2 + e, test=MonotoneResiduals) > 0.001


def test_perfect_dependence_is_the_strongest_evidence() -> None:
    random = np.random.default_rng(6)
    g = random.integers(0, 2, 300)
    number = np.where(g == 0, 0.0, random.normal(5, 1, 300))
    table = table_of(g, number, random.normal(size=300))
    found = serape.markov_blanket(table, "v1", alpha=0.01)
    assert found.test == "residuals"
    assert found.blanket == ("v0",)
    x = random.normal(size=300)
    noisy = Residuals(table_of(x, x + 0.01 * random.normal(size=300))).test(0, 1)
    for exact in (x, -x, np.exp(x), 3 * x + 1):
        perfect = Residuals(table_of(x, exact)).test(0, 1)
        assert perfect.reliable
        assert -math.inf < perfect.log_p < noisy.log_p
    by_level = Residuals(table_of(g, g * 2.0 + 1)).test(0, 1)
    assert by_level.log_p < -1000


def test_determined_by_z_is_not_reliable() -> None:
    random = np.random.default_rng(7)
    x, y = random.normal(size=(2, 200))
    assert not Residuals(table_of(x, y, 2 * x)).test(0, 1, [2]).reliable
    assert not Residuals(table_of(np.ones(200), y)).test(0, 1).reliable


def test_few_rows_are_not_reliable() -> None:
    random = np.random.default_rng(8)
    test = Residuals(table_of(*random.normal(size=(2, 25)), random.integers(0, 12, 25) + 0, random.integers(0, 9, 25)))
    assert test.test(0, 1).reliable
    assert not test.test(0, 1, [2, 3]).reliable


# --- order, threads, batches --------------------------------------------------------------------------------------


def test_a_number_in_which_few_rows_differ_is_not_reliable() -> None:
    random = np.random.default_rng(5)
    x = np.zeros(300)
    x[:4] = [1, 2, 3, 4]
    given = list(random.normal(size=(3, 300)))
    assert not Residuals(table_of(x, random.normal(size=300), *given)).test(0, 1, [2, 3, 4]).reliable
    x[4] = 5
    assert Residuals(table_of(x, random.normal(size=300), *given)).test(0, 1, [2, 3, 4]).reliable


def test_ten_rows_for_a_number_in_z_are_needed() -> None:
    random = np.random.default_rng(5)
    test = Residuals(table_of(*random.normal(size=(9, 60))))
    assert test.test(0, 1, range(2, 8)).reliable
    assert not test.test(0, 1, range(2, 9)).reliable


def test_order_of_rows_and_sides_plays_no_part_where_classes_are_steep() -> None:
    random = np.random.default_rng(4)
    z = random.normal(size=1500)
    cuts = np.quantile(z, np.arange(1, 6) / 6)
    x, y = (np.digitize(z + 0.3 * random.normal(size=1500), cuts) for _ in range(2))
    order = random.permutation(1500)
    found = Residuals(table_of(x, y, z)).test(0, 1, [2]).log_p
    assert Residuals(table_of(x[order], y[order], z[order])).test(0, 1, [2]).log_p == pytest.approx(found, rel=1e-6)
    assert Residuals(table_of(y, x, z)).test(0, 1, [2]).log_p == pytest.approx(found, rel=1e-6)


def test_a_constant_category_in_very_few_rows() -> None:
    table = table_of(np.zeros(4, int), np.array([1.5, 2.5, 3.5, 0.5]), np.array([2.5, 1.5, 0.5, 9.5]))
    assert not Residuals(table).test(0, 1, [2]).reliable


def test_two_categories_of_very_many_levels_in_z_are_refused_at_once() -> None:
    random = np.random.default_rng(4)
    given = [random.integers(0, 2000, 20_000) for _ in range(2)]
    assert not Residuals(table_of(*random.normal(size=(2, 20_000)), *given)).test(0, 1, [2, 3]).reliable


def test_curves_are_seen_where_z_takes_half_of_the_rows() -> None:
    random = np.random.default_rng(4)
    x = random.normal(size=400)
    y = 0.7 * x**2 + random.normal(size=400)
    found = Residuals(table_of(x, y, np.repeat(np.arange(200), 2))).test(0, 1, [2])
    assert found.reliable
    assert found.log_p < math.log(0.01)


def test_order_plays_no_part() -> None:
    random = np.random.default_rng(9)
    columns = some_columns(random, 300)
    test = Residuals(table_of(*columns))
    rows, order = random.permutation(300), random.permutation(len(columns))
    other = Residuals(table_of(*(columns[k][rows] for k in order)))
    place = {int(v): k for k, v in enumerate(order)}
    for x, y, given in ((0, 1, [2, 3]), (3, 2, [0, 4, 6]), (4, 6, [0]), (1, 3, [5, 0]), (7, 2, [3, 1, 6])):
        found = test.test(x, y, given)
        again = other.test(place[y], place[x], [place[z] for z in reversed(given)])
        assert found.reliable == again.reliable
        assert found.log_p == pytest.approx(again.log_p, rel=1e-8, nan_ok=True)


def test_monotone_functions_change_nothing() -> None:
    random = np.random.default_rng(10)
    columns = some_columns(random, 200)
    test = Residuals(table_of(*columns))
    other = Residuals(table_of(*(np.cbrt(c) * 7 if c.dtype.kind == "f" else c for c in columns)))
    for x, y, given in ((0, 2, [4]), (5, 3, [0, 2]), (1, 4, [5])):
        assert test.test(x, y, given) == other.test(x, y, given)


def test_batches_are_single_tests() -> None:
    random = np.random.default_rng(12)
    columns = some_columns(random, 250)
    test = Residuals(table_of(*columns))
    for target, given in ((0, [1]), (1, []), (3, [6]), (2, [4, 5])):
        candidates = [v for v in range(len(columns)) if v not in (target, *given)]
        for threads in (1, 3):
            screen = test.screen(target, candidates, given, threads=threads)
            for k, x in enumerate(candidates):
                single = test.test(x, target, given)
                assert screen.reliable[k] == single.reliable
                if single.reliable:
                    assert screen.statistic[k] == single.statistic


@pytest.mark.parametrize("shrinking", [False, True])
@pytest.mark.parametrize("stop_above", [None, math.log(0.05)])
def test_native_subset_searches_are_the_plain_ones(shrinking: bool, stop_above: float | None) -> None:
    random = np.random.default_rng(13)
    test = Residuals(table_of(*some_columns(random, 300)))
    query = SubsetQuery(
        [2, 3, 4, 5], 0, [5, 4, 3, 2, 1], range(4), max_size=3, stop_above=stop_above, shrinking=shrinking
    )
    expected, expected_tally = IndependenceTest.search_subsets(test, query)
    for threads in (1, 3):
        found, tally = test.search_subsets(query, threads=threads)
        assert tally == expected_tally
        assert [(a.given, a.separated, a.outcome) for a in found] == [
            (a.given, a.separated, a.outcome) for a in expected
        ]


def test_pickles() -> None:
    import pickle

    random = np.random.default_rng(14)
    test = Residuals(table_of(*some_columns(random, 100)))
    assert pickle.loads(pickle.dumps(test)).test(0, 2, [3]) == test.test(0, 2, [3])


# --- weights ------------------------------------------------------------------------------------------------------


def test_frequencies_are_rows_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("serape.data.rows.MAX_BYTES", 0)  # so that rows are not repeated
    random = np.random.default_rng(15)
    columns = some_columns(random, 200)
    times = random.integers(1, 4, 200)
    names = [f"v{k}" for k in range(len(columns))]
    kinds = {
        name: "continuous" if c.dtype.kind == "f" else "categorical" for name, c in zip(names, columns, strict=True)
    }
    data = dict(zip(names, columns, strict=True))
    weighted = Residuals(serape.Table(data, kinds=kinds, sample_weight=times))
    repeated = Residuals(table_of(*(np.repeat(c, times) for c in columns)))
    assert weighted.rows == repeated.rows == times.sum()
    for x, y, given in ((0, 2, []), (0, 1, [2, 3]), (3, 2, [0, 4]), (4, 6, [0]), (5, 3, [1, 0]), (7, 2, [3, 1])):
        expected = repeated.test(x, y, given)
        assert weighted.test(x, y, given).log_p == pytest.approx(expected.log_p, rel=1e-7)


def test_size_with_survey_weights() -> None:
    random = np.random.default_rng(16)
    p = []
    for _ in range(300):
        z = random.normal(size=400)
        x, y = z + random.normal(size=400), classes(z + random.normal(size=400), 3)
        data = {"x": x, "y": y.astype(str), "z": z}
        weights = random.lognormal(size=400)
        found = serape.ci_test(data, "x", "y", ["z"], sample_weight=weights, weight_kind="survey")
        p.append(found.p)
    assert np.mean(np.array(p) <= 0.05) <= 1.3 * 0.05 + 3 * math.sqrt(0.05 / 300)
    assert np.mean(np.array(p) <= 0.5) >= 0.25
