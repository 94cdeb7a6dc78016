"""Fisher's z, exact t and rank correlation: values, far tails, calibration, collinear columns, batches."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

import mpmath
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import random_dag, true_blanket
from serape import _core
from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Outcome
from serape.independence.partial_correlation import (
    CorrelationTest,
    FisherZ,
    NormalScores,
    PartialCorrelation,
    Spearman,
)
from serape.independence.screens import ScreenResult
from serape.independence.subset_query import SubsetQuery

TESTS: dict[str, type[CorrelationTest]] = {c.name: c for c in (FisherZ, PartialCorrelation, Spearman, NormalScores)}
RANKS = ("spearman", "normal-scores")
Floats = NDArray[np.float64]


def table_of(columns: Floats) -> serape.Table:
    return serape.Table(columns, kinds="continuous")


def linear_gaussian(random: np.random.Generator, graph: "nx.DiGraph[str]", rows: int) -> Floats:
    """Draw from a network in which every variable is a weighted sum of its parents and noise."""
    values: dict[str, Floats] = {}
    for node in nx.topological_sort(graph):
        own = random.normal(size=rows)
        for parent in graph.predecessors(node):
            own = own + random.choice([-1, 1]) * random.uniform(0.5, 1.2) * values[parent]
        values[node] = own
    return np.stack([values[node] for node in graph], axis=1)


def correlated(seed: int, rows: int, columns: int, troubled: bool = False) -> Floats:
    """Draw columns that depend on each other; troubled ones include copies, sums, near-copies and constants."""
    random = np.random.default_rng(seed)
    weights = np.triu(random.normal(size=(columns, columns)) * (random.random((columns, columns)) < 0.4), 1)
    data: Floats = random.normal(size=(rows, columns)) @ np.linalg.inv(np.eye(columns) - weights)
    for k in range(columns if troubled else 0):
        a, b = random.integers(columns, size=2)
        kind = random.choice(
            ["as it is", "copy", "image", "sum", "near", "constant"], p=[0.7, 0.1, 0.05, 0.06, 0.06, 0.03]
        )
        if kind == "copy":
            data[:, k] = data[:, a]
        elif kind == "image":
            data[:, k] = 2 - 3 * data[:, a]
        elif kind == "sum":
            data[:, k] = data[:, a] + data[:, b]
        elif kind == "near":
            data[:, k] = data[:, a] + 10.0 ** random.integers(-9, -2) * random.normal(size=rows)
        elif kind == "constant":
            data[:, k] = 7.25
    return data


def reference(data: Floats, x: int, y: int, z: list[int], name: str) -> tuple[float, float, float]:
    """Statistic, dof and log p by regression, residuals and SciPy."""
    if name in RANKS:
        data = np.apply_along_axis(stats.rankdata, 0, data)
    if name == "normal-scores":
        data = stats.norm.ppf(data / (len(data) + 1))
    design = np.column_stack([np.ones(len(data)), data[:, z]])
    residuals = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (data[:, x], data[:, y])]
    r = abs(float(residuals[0] @ residuals[1] / math.sqrt((residuals[0] ** 2).sum() * (residuals[1] ** 2).sum())))
    if name == "fisher-z":
        dof = len(data) - len(z) - 3
        statistic = math.sqrt(dof) * math.atanh(r)
        return statistic, dof, math.log(2) + float(stats.norm.logsf(statistic))
    dof = len(data) - len(z) - 2
    statistic = r * math.sqrt(dof / (1 - r * r))
    return statistic, dof, math.log(2) + float(stats.t.logsf(statistic, dof))


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


# --- degenerate questions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("rows", [2, 3, 4, 5, 6])
def test_few_rows(name: str, rows: int) -> None:
    """Reliable from one degree of freedom on, and never NaN then."""
    data = correlated(rows, rows, 6)
    test = TESTS[name](table_of(data))
    for size in range(5):
        found = test.test(0, 1, range(2, 2 + size))
        assert found.dof == rows - size - (3 if name == "fisher-z" else 2)
        if name in RANKS:  # so few ranks may be the same as those of a member of the set
            assert not found.reliable or found.dof >= 1
        else:
            assert found.reliable == (found.dof >= 1)
        assert math.isnan(found.statistic) == math.isnan(found.log_p) == (not found.reliable)
        if found.reliable and name not in RANKS:
            assert found.log_p == pytest.approx(reference(data, 0, 1, list(range(2, 2 + size)), name)[2], rel=1e-7)


@pytest.mark.parametrize("name", TESTS)
def test_constant_column(name: str) -> None:
    data = correlated(8, 30, 4)
    data[:, 2] = 0.1
    test = TESTS[name](table_of(data))
    assert not test.test(0, 2).reliable
    assert not test.test(2, 0, (3,)).reliable
    with_it, without = test.test(0, 1, (2, 3)), test.test(0, 1, (3,))
    assert with_it.reliable
    assert with_it.dof == without.dof - 1
    screen = test.screen(0, [1, 2, 3])
    assert screen.reliable.tolist() == [True, False, True]
    assert math.isnan(screen.statistic[1])
    assert not test.screen(2, [0, 1, 3]).reliable.any()


@pytest.mark.parametrize("name", TESTS)
def test_collinear_members_add_nothing_but_cost_a_degree_of_freedom(name: str) -> None:
    data = correlated(9, 40, 7)
    data[:, 4] = data[:, 2]  # a copy
    data[:, 5] = 3 - 2 * data[:, 3]  # an image
    data[:, 6] = data[:, 2] - data[:, 3] if name not in RANKS else data[:, 2]
    test = TESTS[name](table_of(data))
    plain = test.test(0, 1, (2, 3))
    assert plain.reliable
    for extra in ((4,), (5,), (6,), (4, 5, 6)):
        found = test.test(0, 1, (2, 3, *extra))
        assert found.reliable
        assert found.dof == plain.dof - len(extra)
        assert found.statistic == pytest.approx(plain.statistic * math.sqrt(found.dof / plain.dof), rel=1e-9)


@pytest.mark.parametrize("name", TESTS)
def test_nothing_is_left_to_test(name: str) -> None:
    data = correlated(10, 40, 6)
    data[:, 4] = -data[:, 2]
    data[:, 5] = data[:, 2] + data[:, 3] if name not in RANKS else data[:, 2]
    test = TESTS[name](table_of(data))
    for x, z in ((4, (2,)), (5, (2, 3)), (2, (0, 4)), (2, (2,))):
        for found in (test.test(x, 1, z), test.test(1, x, z)):
            assert not found.reliable
            assert math.isnan(found.log_p)
    assert test.test(4, 1, (3,)).reliable


@pytest.mark.parametrize(("noise", "reliable"), [(1e-4, True), (3e-5, True), (3e-6, False), (0.0, False)])
def test_how_little_is_nothing(noise: float, reliable: bool) -> None:
    """1e-10 of the variance: a hundred-thousandth of the standard deviation."""
    data = correlated(11, 2000, 4)
    data[:, 3] = data[:, 2] / data[:, 2].std() + noise * np.random.default_rng(0).normal(size=2000)
    assert FisherZ(table_of(data)).test(3, 0, (2,)).reliable == reliable


class TestRefusals:
    data: ClassVar[dict[str, Any]] = {
        "a": [0.5, 1.5, 2.5, 0.1, 0.7],
        "b": list("xyxyx"),
        "c": [1.5, 0.5, 2.5, 3.5, 1.0],
        "d": [0, 1, 0, 1, 1],
    }

    def test_categorical(self) -> None:
        test = FisherZ(serape.Table(self.data))
        expected = r"test 'fisher-z' needs continuous columns, but 'b' is categorical \(.*\); use test='mixed'"
        for ask in (
            lambda: test.check([0, 1]),
            lambda: test.test(0, 1),
            lambda: test.test(0, 2, (1,)),
            lambda: test.screen(1, [0, 2]),
            lambda: test.screen(0, [1, 2]),
            lambda: test.first_dependent(0, [2], (1,), -3.0),
            lambda: test.search_subsets(SubsetQuery([0], 2, [1], range(2))),
        ):
            with pytest.raises(serape.DataError, match=expected):
                ask()
        with pytest.raises(serape.DataError, match="'b', 'd' are categorical"):
            test.check(range(4))
        test.check([0, 2])
        assert test.test(0, 2).reliable

    def test_missing(self) -> None:
        table = table_of(correlated(12, 20, 3))
        table.numbers(1)[4] = math.nan
        for cls in TESTS.values():
            test = cls(table)
            with pytest.raises(serape.DataError, match="values are missing in 'x1'; pass missing='drop'"):
                test.test(0, 1)
            with pytest.raises(serape.DataError, match="values are missing in 'x1'"):
                test.check(range(3))
            assert test.test(0, 2).reliable

    def test_no_such_column(self) -> None:
        for table in (serape.Table(self.data), table_of(correlated(13, 20, 3))):
            with pytest.raises(IndexError):
                PartialCorrelation(table).test(0, 99)

    def test_pool_names_everyone_once(self) -> None:
        with pytest.raises(ValueError, match="twice"):
            FisherZ(table_of(correlated(14, 20, 4))).search_subsets(SubsetQuery([0], 1, [2, 3, 2], range(2)))

    def test_sizes_by_one(self) -> None:
        with pytest.raises(serape.OptionError, match="step 1"):
            FisherZ(table_of(correlated(15, 20, 4))).search_subsets(SubsetQuery([0], 1, [2, 3], range(0, 3, 2)))

    def test_columns_of_other_lengths(self) -> None:
        native = _core.GaussianTest(5, 1, "fisher-z")
        with pytest.raises(ValueError, match="every row"):
            native.append(np.zeros(4))


# --- batches -------------------------------------------------------------------------------------------------------


def bits(screen: ScreenResult) -> tuple[bytes, bytes, bytes]:
    return screen.statistic.tobytes(), screen.dof.tobytes(), screen.reliable.tobytes()


@pytest.fixture(params=_core.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    before = _core.instruction_set()
    assert _core.use_instruction_set(request.param)
    yield request.param
    _core.use_instruction_set(before)


@pytest.mark.parametrize("name", TESTS)
@given(seed=st.integers(0, 10**6), rows=st.sampled_from([3, 6, 40, 700]), size=st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_screen_is_one_test_after_another(name: str, seed: int, rows: int, size: int) -> None:
    test = TESTS[name](table_of(correlated(seed, rows, 14, troubled=True)))
    order = np.random.default_rng(seed).permutation(14).tolist()
    target, given_set, candidates = order[0], order[1 : 1 + size], order[1 + size :]
    found = test.screen(target, candidates, given_set)
    expected = IndependenceTest.screen(test, target, candidates, given_set)
    assert bits(found) == bits(expected)
    np.testing.assert_array_equal(found.log_p, expected.log_p)
    for alpha in (0.05, 0.5, 1.0):
        assert found.dependent(math.log(alpha)).tolist() == expected.dependent(math.log(alpha)).tolist()
    assert found.strongest() == expected.strongest()
    found, expected = (
        ask(target, candidates, given_set, math.log(0.05))
        for ask in (test.first_dependent, lambda *a: IndependenceTest.first_dependent(test, *a))
    )
    assert bits(found) == bits(expected)
    assert found.xs.tolist() == expected.xs.tolist()


@cache
def wide() -> Floats:
    return correlated(16, 5000, 300)


@cache
def wide_bits() -> tuple[Any, ...]:
    test = FisherZ(table_of(wide()))
    return tuple(bits(test.screen(0, list(range(10, 300)), z)) for z in ((), (1,), (1, 2), tuple(range(1, 8))))


def test_instruction_sets_agree(instruction_set: str) -> None:
    del instruction_set
    wide_bits.cache_clear()
    found = wide_bits()
    _core.use_instruction_set("plain")
    wide_bits.cache_clear()
    assert found == wide_bits()


def test_threads_and_order_do_not_matter() -> None:
    test = PartialCorrelation(table_of(wide()))
    candidates = np.arange(10, 300, dtype=np.uint32)
    for z in ((), (1, 2, 3)):
        one, two, many = (test.screen(0, candidates, z, threads=n) for n in (1, 2, 10**9))
        assert bits(one) == bits(two) == bits(many)
        backward = test.screen(0, candidates[::-1], z)
        assert backward.statistic[::-1].tobytes() == one.statistic.tobytes()
        twice = test.screen(0, [11, 11, 10], z)
        assert twice.statistic.tolist() == one.statistic[[1, 1, 0]].tolist()
    xs, pool = list(range(10, 60)), list(range(60, 69))
    alone, tally = test.search_subsets(SubsetQuery(xs, 0, pool, range(5)))
    together, other = test.search_subsets(SubsetQuery(xs, 0, pool, range(5)), threads=3)
    assert list(alone) == list(together)
    assert tally == other


def test_beside_categorical_columns() -> None:
    """Positions are those of the table."""
    data = correlated(17, 50, 5)
    columns: dict[str, Any] = {"k": ["a", "b"] * 25}
    for k in range(5):
        columns |= {f"x{k}": data[:, k], f"k{k}": [0, 1] * 25}
    mixed, plain = FisherZ(serape.Table(columns)), FisherZ(table_of(data))
    where = [1, 3, 5, 7, 9]
    assert mixed.test(1, 3, (5, 7)) == plain.test(0, 1, (2, 3))
    assert bits(mixed.screen(1, where[2:], (3,))) == bits(plain.screen(0, [2, 3, 4], (1,)))
    found, _ = mixed.search_subsets(SubsetQuery([1, 3], 9, [5, 7], range(3), fixed=()))
    expected, _ = plain.search_subsets(SubsetQuery([0, 1], 4, [2, 3], range(3), fixed=()))
    assert [a.outcome for a in found] == [a.outcome for a in expected]
    assert [a.given for a in found] == [tuple(where[z] for z in a.given) for a in expected]


@pytest.mark.parametrize("name", TESTS)
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([4, 6, 9, 15, 60, 300]),
    troubled=st.booleans(),
    fixed=st.integers(0, 3),
    sizes=st.sampled_from([range(4), range(1, 3), range(2, 3), range(7), range(0)]),
    max_size=st.sampled_from([None, None, 1, 2, 3]),
    stop_above=st.sampled_from([None, math.log(0.05), math.log(0.3), -30.0, 0.0, -math.inf]),
    shrinking=st.booleans(),
    until_survivor=st.booleans(),
)
@settings(max_examples=120, deadline=None)
def test_subsets_against_a_twin_that_goes_through_all(
    name: str, seed: int, rows: int, troubled: bool, fixed: int, sizes: range, **options: Any
) -> None:
    """The same sets, verdicts, bits and numbers of tests as asking for every subset by itself."""
    test = TESTS[name](table_of(correlated(seed, rows, 13, troubled)))
    random = np.random.default_rng(seed)
    order = random.permutation(13).tolist()
    target, xs, pool = order[0], order[3:10], order[4 : int(random.integers(5, 13))]
    options["n_exhausted"] = (
        random.integers(-1, len(pool) + 1, len(xs)).tolist() if seed % 2 else int(random.integers(-1, 3))
    )
    options["fixed"] = order[1 : 1 + fixed]
    found, tally = test.search_subsets(SubsetQuery(xs, target, pool, sizes, **options))
    expected, plain_tally = IndependenceTest.search_subsets(test, SubsetQuery(xs, target, pool, sizes, **options))
    assert repr(list(found)) == repr(list(expected))
    assert tally == plain_tally


def test_larger_sets_of_correlated_columns() -> None:
    """Pivots shrink as sets grow; what can no longer be swept is computed."""
    random = np.random.default_rng(18)
    common = random.normal(size=(200, 1))
    for noise in (1.0, 0.1, 0.003):
        test = PartialCorrelation(table_of(common + noise * random.normal(size=(200, 11))))
        for stop in (None, math.log(0.05)):
            found, tally = test.search_subsets(SubsetQuery([0, 3], 1, range(2, 11), range(10), stop_above=stop))
            expected, other = IndependenceTest.search_subsets(
                test, SubsetQuery([0, 3], 1, range(2, 11), range(10), stop_above=stop)
            )
            assert repr(list(found)) == repr(list(expected))
            assert tally == other


def test_hopeless_sizes_are_not_gone_through() -> None:
    """2^60 subsets, of which those that leave no degree of freedom are counted, not visited."""
    test = FisherZ(table_of(correlated(19, 7, 62)))
    _, tally = test.search_subsets(SubsetQuery([0], 1, range(2, 62), range(61)))
    assert tally.performed + tally.skipped == 2**60
    assert tally.tests_by_size == {0: 1, 1: 60, 2: 1770, 3: 34220}


@pytest.mark.parametrize("noise", [1.0, 1e-7])
def test_cancellation_stops_a_native_call(noise: float) -> None:
    class StopError(Exception):
        pass

    calls = 0

    def poll() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise StopError

    random = np.random.default_rng(20)
    test = FisherZ(table_of(random.normal(size=(2000, 1)) + noise * random.normal(size=(2000, 60))))
    for threads in (1, 2):
        calls = 0
        with pytest.raises(StopError):  # would take hours
            test.search_subsets(SubsetQuery([0, 1, 2], 3, range(4, 60), range(50)), threads=threads, poll=poll)
        assert calls == 2


def test_nothing_to_ask() -> None:
    test = FisherZ(table_of(correlated(21, 20, 3)))
    assert len(test.screen(0, [])) == 0
    assert test.screen(0, []).strongest() == ([], 0.0)
    assert not len(test.screen(0, []).dependent(-3.0))
    assert len(test.first_dependent(0, [], (), -3.0)) == 0
    assert test.search_subsets(SubsetQuery([], 0, [1], range(2)))[0].survivors == []


def test_memory_is_one_copy() -> None:
    assert FisherZ(table_of(wide())).nbytes == 300 * 5008 * 8


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
