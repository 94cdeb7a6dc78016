"""Tests of correlations: against regression, SciPy, mpmath and published values; calibration; blankets."""

import math

import mpmath
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import serape
from plain import random_dag, true_blanket
from plain_correlations import RANKS, TESTS, Floats, correlated, reference, table_of
from serape import _core
from serape.independence.outcomes import Outcome
from serape.independence.partial_correlation import (
    FisherZ,
    PartialCorrelation,
    Spearman,
)


def linear_gaussian(random: np.random.Generator, graph: "nx.DiGraph[str]", rows: int) -> Floats:
    """Draw from a network in which every variable is a weighted sum of its parents and noise."""
    values: dict[str, Floats] = {}
    for node in nx.topological_sort(graph):
        own = random.normal(size=rows)
        for parent in graph.predecessors(node):
            own = own + random.choice([-1, 1]) * random.uniform(0.5, 1.2) * values[parent]
        values[node] = own
    return np.stack([values[node] for node in graph], axis=1)


# --- values --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TESTS)
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([12, 30, 500]), size=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_against_regression(name: str, seed: int, rows: int, size: int) -> None:
    data = correlated(seed, rows, 8)
    found = TESTS[name](table_of(data)).test(0, 1, range(2, 2 + size))
    statistic, dof, log_p = reference(data, 0, 1, list(range(2, 2 + size)), name)
    assert found.dof == dof
    assert found.rows == rows
    assert found.reliable
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-11)
    assert found.log_p == pytest.approx(log_p, rel=1e-9, abs=1e-11)


def test_against_scipy() -> None:
    random = np.random.default_rng(0)
    for rows in (5, 20, 300):
        data = np.round(correlated(int(random.integers(1000)), rows, 2), 1)  # with ties
        table = table_of(data)
        pearson, spearman = stats.pearsonr(data[:, 0], data[:, 1]), stats.spearmanr(data[:, 0], data[:, 1])
        assert PartialCorrelation(table).test(0, 1).p == pytest.approx(pearson.pvalue, rel=1e-9)
        assert Spearman(table).test(0, 1).p == pytest.approx(spearman.pvalue, rel=1e-9)
        r = abs(pearson.statistic)
        assert FisherZ(table).test(0, 1).statistic == pytest.approx(math.sqrt(rows - 3) * math.atanh(r), rel=1e-9)


def test_published_value() -> None:
    """Anscombe's first quartet (1973): r = 0.81642, and the regression's t = 4.241 with 9 degrees of freedom."""
    x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    found = PartialCorrelation(serape.Table({"x": x, "y": y}, kinds="continuous")).test(0, 1)
    assert found.statistic == pytest.approx(4.241, abs=5e-4)
    assert found.dof == 9
    assert found.p == pytest.approx(0.00217, abs=5e-6)


@pytest.mark.parametrize("name", TESTS)
def test_does_not_see_scale_shift_or_sign(name: str) -> None:
    data = correlated(3, 60, 5)
    plain = TESTS[name](table_of(data))
    for factor, shift in ((1e-300, 0.0), (-3e250, 0.0), (1e-3, 1e3), (-2.0, 1e6), (1e-312, 0.0)):
        # 1e-312 keeps some 40 bits of a value
        other = TESTS[name](table_of(data * factor + shift))
        for z in ((), (2,), (2, 3, 4)):
            assert other.test(0, 1, z).log_p == pytest.approx(plain.test(0, 1, z).log_p, rel=1e-8)


@pytest.mark.parametrize("name", TESTS)
def test_symmetric(name: str) -> None:
    test = TESTS[name](table_of(correlated(4, 40, 6)))
    assert test.test(0, 1) == test.test(1, 0)
    one, other = test.test(0, 1, (2, 3, 4)), test.test(1, 0, (4, 2, 3))
    assert one.log_p == pytest.approx(other.log_p, rel=1e-12)


@pytest.mark.parametrize("name", RANKS)
def test_ranks_see_any_rising_function(name: str) -> None:
    data = correlated(5, 80, 4)
    plain, bent = TESTS[name](table_of(data)), TESTS[name](table_of(np.exp(data)))
    assert plain.test(0, 1, (2, 3)) == bent.test(0, 1, (2, 3))


# --- far tails -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dof", [1, 2, 3, 10, 39, 40, 41, 998, 20_000])
def test_tail_of_student_against_mpmath(dof: int) -> None:
    reached = 0.0
    with mpmath.workdps(40):
        for t in (1e-9, 0.3, 1.0, 1.7, 1.75, 2.0, 5.0, 30.0, 1e3, 1e7, 1e30):
            v, square = mpmath.mpf(dof), mpmath.mpf(t) ** 2
            p = mpmath.betainc(v / 2, mpmath.mpf(1) / 2, 0, v / (v + square), regularized=True)
            expected = float(mpmath.log(p))
            assert _core.student_t_log_p(t, dof) == pytest.approx(expected, rel=1e-11, abs=1e-300)
            assert _core.student_t_log_p(-t, dof) == _core.student_t_log_p(t, dof)
            reached = min(reached, expected / math.log(10))
    assert reached < (-10_000 if dof > 900 else -25)


def test_ends_of_student() -> None:
    for t in (0.5, 3.0, 30.0):  # beyond all tables: the normal distribution, at once
        for dof in (2e12, 1e308, math.inf):
            assert _core.student_t_log_p(t, dof) == pytest.approx(_core.student_t_log_p(t, 1e9), rel=1e-6)
    assert _core.student_t_log_p(0.0, 5) == 0.0
    assert _core.student_t_log_p(math.inf, 5) == -math.inf
    assert math.isfinite(_core.student_t_log_p(1e300, 5))
    for t, dof in ((1.0, 0.0), (1.0, -1.0), (math.nan, 3.0)):
        assert math.isnan(_core.student_t_log_p(t, dof))


def exact_rest(x: Floats, y: Floats) -> mpmath.mpf:
    """1 − |r| of the numbers as they are."""
    means = [mpmath.fsum(map(mpmath.mpf, column.tolist())) / len(column) for column in (x, y)]
    a, b = ([mpmath.mpf(v) - mean for v in column.tolist()] for column, mean in zip((x, y), means, strict=True))
    product = mpmath.fsum(v * w for v, w in zip(a, b, strict=True))
    lengths = mpmath.fsum(v * v for v in a) * mpmath.fsum(v * v for v in b)
    return 1 - abs(product) / mpmath.sqrt(lengths)


@pytest.mark.parametrize("rows", [10, 400, 3000])
@pytest.mark.parametrize("noise", [0.3, 1e-3, 1e-5, 1e-8])
def test_close_to_one_against_mpmath(rows: int, noise: float) -> None:
    """r within 1e-16 of 1; p down to 1e-20000."""
    random = np.random.default_rng(rows)
    u = random.normal(size=rows)
    v = noise * random.normal(size=rows) - 5 * u
    table = table_of(np.stack([u, v], axis=1))
    with mpmath.workdps(60):
        rest = exact_rest(u, v)
        r = 1 - rest
        z = mpmath.sqrt(rows - 3) * mpmath.log((1 + r) / rest) / 2
        expected = mpmath.log(mpmath.erfc(z / mpmath.sqrt(2)))
        assert FisherZ(table).test(0, 1).log_p == pytest.approx(float(expected), rel=1e-8)
        a, half, x = mpmath.mpf(rows - 2) / 2, mpmath.mpf(1) / 2, rest * (1 + r)
        expected = (
            a * mpmath.log(x) - mpmath.log(a * mpmath.beta(a, half)) + mpmath.log(mpmath.hyp2f1(a, half, a + 1, x))
        )
        assert PartialCorrelation(table).test(0, 1).log_p == pytest.approx(float(expected), rel=1e-8)
    if rows == 3000 and noise < 1e-3:
        assert FisherZ(table).test(0, 1).log_p < -10_000 * math.log(10)


@pytest.mark.parametrize("name", TESTS)
def test_only_the_same_column_is_certain(name: str) -> None:
    random = np.random.default_rng(6)
    x = random.normal(size=50)
    table = table_of(np.stack([x, x, -4 * x, np.nextafter(x, 9) + 1e-15 * random.normal(size=50), x**3], axis=1))
    test = TESTS[name](table)
    for other in (1, 2):
        assert test.test(0, other) == Outcome(math.inf, test.test(0, 4).dof, -math.inf, reliable=True, rows=50)
    near = test.test(0, 4 if name in RANKS else 3).log_p
    assert near == -math.inf if name in RANKS else -1e5 < near < -1000


# --- calibration ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 2])
@pytest.mark.parametrize(
    ("name", "rows"), [("fisher-z", 100), ("partial-correlation", 8), ("spearman", 100), ("normal-scores", 1000)]
)
def test_uniform_if_independent(name: str, rows: int, size: int) -> None:
    """Common causes are in the conditioning set; without it p-values would crowd at 0.

    Ranks of a sum are not the sum of ranks, so common causes of rank correlations are kept weak; those of normal scores
    need not be.
    """
    random = np.random.default_rng([rows, size])
    causes = random.normal(size=(rows, 2))
    weights = random.normal(size=(2, 2001)) * (0.0 if size == 0 else 0.4 if name == "spearman" else 1.0)
    data = np.concatenate([causes, random.normal(size=(rows, 2001)) + causes @ weights], axis=1)
    test = TESTS[name](table_of(data))
    p = np.exp(test.screen(2, list(range(3, 2003)), list(range(size))).log_p)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    if size:
        p = np.exp(test.screen(2, list(range(3, 2003))).log_p)
        assert stats.kstest(p, "uniform").pvalue < 1e-10


@pytest.mark.parametrize("name", TESTS)
def test_power_rises(name: str) -> None:
    random = np.random.default_rng(7)
    power = []
    for effect in (0.0, 0.1, 0.2, 0.4):
        cause, target = random.normal(size=(2, 60))
        others = effect * target[:, None] + 0.8 * cause[:, None] + random.normal(size=(60, 500))
        test = TESTS[name](table_of(np.column_stack([cause, target + 0.8 * cause, others])))
        power.append(float(np.mean(test.screen(1, list(range(2, 502)), (0,)).dependent(math.log(0.05)))))
    assert power == sorted(power)
    assert power[0] < 0.09
    assert power[3] > 0.6


# --- algorithms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("algorithm", ["iamb", "hiton-mb", "pcmb", "ipc-mb"])
def test_algorithms_find_blankets(name: str, algorithm: str) -> None:
    random = np.random.default_rng(22)
    graph = random_dag(random, 8, 0.3)
    data = linear_gaussian(random, graph, 20_000)
    test = TESTS[name](serape.Table(dict(zip(graph, data.T, strict=True)), kinds="continuous"))
    for target in list(graph)[:4]:
        found = serape.markov_blanket(test, target, algorithm=algorithm, alpha=1e-4)
        assert set(found.blanket) == true_blanket(graph, target)
