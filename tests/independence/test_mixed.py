"""The test for mixed columns: against densities, other tests and published values; calibration and power."""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import serape
from plain import random_table
from serape import Table
from serape.independence import G2
from serape.independence.mixed import ConditionalGaussian


def mixed_frame(random: np.random.Generator, rows: int, dependence: float = 0.5) -> pd.DataFrame:
    """Draw four categorical and four continuous columns that depend on each other."""
    a = random.integers(3, size=rows)
    b = np.where(random.random(rows) < dependence, a % 2, random.integers(2, size=rows))
    c = random.integers(2, size=rows)
    d = np.where(random.random(rows) < dependence, b, random.integers(4, size=rows))
    u = random.normal(size=rows) + dependence * a
    v = random.normal(size=rows) * (1 + c) + dependence * u
    w = random.normal(size=rows) + dependence * (b - v)
    t = random.exponential(size=rows) + dependence * w
    frame = pd.DataFrame(
        {name: [f"{name}{k}" for k in column] for name, column in zip("abcd", (a, b, c, d), strict=True)}
    )
    return frame.assign(u=u, v=v, w=w, t=t)


class Plain:
    """The test by its definition: rows kept or not, then densities row by row."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    def log_likelihood(self, rows: pd.DataFrame, variables: Sequence[str]) -> float:
        numbers = [v for v in variables if v in "uvwt"]
        categories = [v for v in variables if v in "abcd"]
        groups = [rows] if not categories else [group for _, group in rows.groupby(categories, observed=True)]
        total = 0.0
        for group in groups:
            total += len(group) * math.log(len(group) / len(rows))
            if numbers:
                values = group[numbers].to_numpy()
                covariance = np.cov(values.T, ddof=0)
                total += float(stats.multivariate_normal(values.mean(axis=0), covariance).logpdf(values).sum())
        return total

    def kept(self, x: str, y: str, z: list[str]) -> tuple[list[pd.DataFrame], float]:
        """Return the rows of each stratum that take part, and the degrees of freedom."""
        numbers = [v for v in (x, y, *z) if v in "uvwt"]
        levels = [v for v in (x, y) if v in "abcd"]
        strata = [v for v in z if v in "abcd"]
        d = sum(v in "uvwt" for v in z)
        groups = [self.frame] if not strata else [group for _, group in self.frame.groupby(strata, observed=True)]
        kept, dof = [], 0.0
        for group in groups:
            rows = group
            while len(rows) and numbers:
                small = []
                for _, cell in rows.groupby(levels, observed=True) if levels else [((), rows)]:
                    spread = cell[numbers].to_numpy()
                    rank = np.linalg.matrix_rank(spread - spread.mean(axis=0))
                    if len(cell) < len(numbers) + 2 or rank < len(numbers):
                        small.append(cell)
                if not small:
                    break
                if not levels:
                    rows = rows[:0]
                    break
                margins = {
                    (v, cell[v].iloc[0]): int((rows[v] == cell[v].iloc[0]).sum()) for cell in small for v in levels
                }
                fewest = min(margins.values())
                for (v, level), margin in margins.items():
                    if margin == fewest:
                        rows = rows[rows[v] != level]
            if not len(rows):
                continue
            freedom = math.prod(rows[v].nunique() - 1 for v in levels)
            if freedom:
                kept.append(rows)
                dof += freedom * {0: 1, 1: d + 2, 2: 1 + d * (d + 3) / 2}[len(levels)]
        return kept, dof

    def test(self, x: str, y: str, z: list[str]) -> tuple[float, float, int]:
        if {x, y} <= set("abcd") and set(z) & set("uvwt"):
            return self.matched(x, y, z)
        kept, dof = self.kept(x, y, z)
        if not kept:
            return 0.0, 0.0, 0
        rows = pd.concat(kept)
        terms = ((1, [x, y, *z]), (-1, [x, *z]), (-1, [y, *z]), (1, z))
        statistic = 2 * sum(sign * self.log_likelihood(rows, variables) for sign, variables in terms)
        return max(statistic, 0.0), dof, len(rows)

    def matched(self, x: str, y: str, z: list[str]) -> tuple[float, float, int]:
        """Compare residuals of regressions within leaves of rows that are alike."""
        numbers = [v for v in z if v in "uvwt"]
        strata = [v for v in z if v in "abcd"]
        ranks = self.frame[numbers].rank()
        centred = self.frame[numbers] - self.frame[numbers].median()
        values = centred / np.sqrt((centred**2).mean()).replace(0, 1)
        groups = [self.frame] if not strata else [group for _, group in self.frame.groupby(strata, observed=True)]
        statistic, dof, used = 0.0, 0, 0
        for group in groups:
            levels = [np.unique(group[v])[:-1] for v in (x, y)]
            size = len(levels[0]) * len(levels[1])
            if not size:
                continue
            excess, covariance = np.zeros(size), np.zeros((size, size))
            for leaf in leaves(ranks.loc[group.index], values, 10 + 5 * len(numbers)):
                rows = group.loc[leaf.index]
                design = np.column_stack([np.ones(len(rows)), rows[numbers] - rows[numbers].mean()])
                left = []
                for v, names in zip((x, y), levels, strict=True):
                    indicators = (rows[v].to_numpy()[:, None] == names).astype(float)
                    left.append(indicators - design @ np.linalg.pinv(design) @ indicators)
                excess += (left[0].T @ left[1]).ravel()
                freedom = len(rows) - np.linalg.matrix_rank(design)
                if freedom > 0:
                    covariance += np.kron(left[0].T @ left[0], left[1].T @ left[1]) / freedom
            rank = int(np.linalg.matrix_rank(covariance, tol=1e-9 * np.abs(covariance).max()))
            if rank:
                statistic += float(excess @ np.linalg.pinv(covariance, rcond=1e-9) @ excess)
                dof, used = dof + rank, used + len(group)
        return statistic, dof, used


def leaves(ranks: pd.DataFrame, values: pd.DataFrame, fewest: int) -> list[pd.DataFrame]:
    """Halve rows at the median of what spreads most, then deviates most, as long as both halves have enough.

    The rows at the median join the smaller half; of equal halves, that whose mean is nearer, if one is.
    """
    if len(ranks) >= 2 * fewest:
        spread = pd.DataFrame({"ranks": ranks.max() - ranks.min(), "values": values.loc[ranks.index].abs().sum()})
        for v in spread.sort_values(["ranks", "values"], ascending=False, kind="stable").index:
            half = len(ranks) // 2
            median = ranks[v].sort_values().iloc[half]
            sides = below, above = ranks[v] < median, ranks[v] > median
            joined = int(below.sum()) - int(above.sum())
            if joined == 0 and below.any():
                low, high = (values.loc[ranks.index[side], v].mean() for side in sides)
                nearer = 2 * values.loc[ranks.index[ranks[v] == median], v].mean() - low - high
                if abs(nearer) <= 1e-9:
                    continue
                joined = 1 if nearer > 0 else -1
            first = below if joined > 0 else ~above
            if min(first.sum(), (~first).sum()) >= fewest:
                return leaves(ranks[first], values, fewest) + leaves(ranks[~first], values, fewest)
    return [ranks]


QUESTIONS = [
    (x, y, z) for x, y in [("a", "b"), ("a", "u"), ("u", "v")]
    for size in range(4) for z in combinations("cdwt", size)
]  # fmt: skip


@pytest.mark.parametrize("rows", [2000, 150, 40])
def test_against_densities(rows: int) -> None:
    """With 150 and 40 rows many cells are too small."""
    frame = mixed_frame(np.random.default_rng(rows), rows)
    table = Table(frame)
    test, plain = ConditionalGaussian(table), Plain(frame)
    left_out = 0
    for x, y, z in QUESTIONS:
        found = test.test(table.position(x), table.position(y), [table.position(v) for v in z])
        statistic, dof, used = plain.test(x, y, list(z))
        assert found.dof == dof, (x, y, z)
        if not set("uvwt") & {x, y, *z}:
            used = rows  # it is G²
        assert found.rows == used
        left_out += rows - used
        assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-8), (x, y, z)
        if dof:
            assert found.log_p == pytest.approx(stats.chi2.logsf(statistic, dof), rel=1e-8, abs=1e-9)
    assert (left_out == 0) == (rows == 2000)


def test_log_p_in_the_far_tail() -> None:
    random = np.random.default_rng(0)
    u = random.normal(size=20_000)
    test = ConditionalGaussian(Table({"u": u, "v": u + 0.1 * random.normal(size=20_000)}))
    found = test.test(0, 1)
    assert found.p == 0.0
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        exact = mpmath.log(mpmath.erfc(mpmath.sqrt(mpmath.mpf(found.statistic) / 2)))
    assert found.log_p < -23_026  # p below 1e-10000
    assert found.log_p == pytest.approx(float(exact), rel=1e-12)


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 17, 300, 2000]),
    levels=st.lists(st.sampled_from([2, 3, 5, 9]), min_size=5, max_size=5),
    size=st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_categorical_is_g2(seed: int, rows: int, levels: list[int], size: int) -> None:
    table = random_table(np.random.default_rng(seed), rows, levels)
    z = tuple(range(2, 2 + size))
    found, expected = ConditionalGaussian(table).test(0, 1, z), G2(table, dof="adjusted").test(0, 1, z)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert (found.dof, found.reliable, found.rows) == (expected.dof, expected.reliable, expected.rows)


def test_two_categories_given_a_constant_are_mantel_haenszel() -> None:
    """A continuous z that is constant leaves one table a stratum: Pearson's statistic times (n − 1) / n."""
    frame = random_table(np.random.default_rng(9), 800, [3, 4, 2]).to_pandas().astype(str).assign(z=2.5)
    found = ConditionalGaussian(Table(frame, kinds={"z": "continuous"})).test(0, 1, (2, 3))
    expected = 0.0
    for _, part in frame.groupby(frame.columns[2]):
        pearson = stats.chi2_contingency(pd.crosstab(part.iloc[:, 0], part.iloc[:, 1]), correction=False)
        expected += float(pearson.statistic) * (len(part) - 1) / len(part)
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found.dof == 12


def test_modes_far_apart() -> None:
    """Two categories that a z far from normal hides from each other, and two that it does not."""
    random = np.random.default_rng(4)
    cause = random.integers(2, size=4000)
    z = 50.0 * cause + random.exponential(size=4000)
    x, y = (np.where(random.random(4000) < 0.2, 1 - cause, cause) for _ in range(2))
    w = np.where(random.random(4000) < 0.4, x, random.integers(2, size=4000))
    test = ConditionalGaussian(Table({"x": x, "y": y, "w": w, "z": z}, kinds={"z": "continuous"}))
    assert test.test(0, 1).p < 1e-100
    assert test.test(0, 1, (3,)).p > 0.01
    assert test.test(0, 2, (3,)).p < 1e-50


@pytest.mark.parametrize("size", [0, 1, 3])
def test_continuous_is_the_likelihood_ratio_of_the_partial_correlation(size: int) -> None:
    random = np.random.default_rng(size)
    data = random.normal(size=(300, 5)) @ random.normal(size=(5, 5))
    precision = np.linalg.inv(np.cov(data[:, : 2 + size].T))
    r = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
    found = ConditionalGaussian(Table(data)).test(0, 1, range(2, 2 + size))
    assert found.statistic == pytest.approx(-300 * math.log(1 - r * r), rel=1e-9)
    assert (found.dof, found.reliable) == (1, True)


def test_published_anova_with_unequal_variances() -> None:
    """Against SciPy's normal likelihoods: groups with means and variances of their own, or one for all."""
    random = np.random.default_rng(4)
    groups = [random.normal(mean, spread, size) for mean, spread, size in [(0, 1, 30), (1, 2, 50), (0.5, 0.7, 40)]]
    values = np.concatenate(groups)
    labels = np.repeat(["p", "q", "r"], [30, 50, 40])

    def best(v: np.ndarray) -> float:
        return float(stats.norm(*stats.norm.fit(v)).logpdf(v).sum())

    found = ConditionalGaussian(Table({"group": labels, "value": values})).test(0, 1)
    assert found.statistic == pytest.approx(2 * (sum(map(best, groups)) - best(values)), rel=1e-9)
    assert found.dof == 4


class TestInvariance:
    frame = mixed_frame(np.random.default_rng(5), 600)

    def test_symmetric(self) -> None:
        table = Table(self.frame)
        test = ConditionalGaussian(table)
        for x, y, z in QUESTIONS:
            positions = [table.position(v) for v in z]
            one = test.test(table.position(x), table.position(y), positions)
            other = test.test(table.position(y), table.position(x), positions[::-1])
            assert repr(one) == repr(other)

    def test_scale_shift_and_names(self) -> None:
        renamed = self.frame.assign(
            a=self.frame["a"].map({"a0": "z", "a1": "m", "a2": "b"}),
            d=self.frame["d"].map({"d0": "3", "d1": "1", "d2": "0", "d3": "2"}),
            u=self.frame["u"] * -1e-6 + 40,
            v=self.frame["v"] * 1e9 - 7,
            t=self.frame["t"] + 1e5,
        )
        one, other = (ConditionalGaussian(Table(f)) for f in (self.frame, renamed))
        names = list(self.frame)
        for x, y, z in QUESTIONS:
            question = names.index(x), names.index(y), [names.index(v) for v in z]
            before, after = one.test(*question), other.test(*question)
            assert after.statistic == pytest.approx(before.statistic, rel=1e-7, abs=1e-7)
            assert (after.dof, after.rows) == (before.dof, before.rows)

    def test_order_of_rows(self) -> None:
        shuffled = self.frame.sample(frac=1, random_state=1).reset_index(drop=True)
        one, other = (ConditionalGaussian(Table(f, kinds=None)) for f in (self.frame, shuffled))
        for question in [(0, 1, (2, 6)), (0, 4, (2, 6)), (4, 5, (2, 6))]:
            assert other.test(*question).statistic == pytest.approx(one.test(*question).statistic, rel=1e-9)


def test_screen_answers_as_single_tests_do() -> None:
    calls: list[int] = []
    for rows in (40, 400):
        table = Table(mixed_frame(np.random.default_rng(6), rows))
        test = ConditionalGaussian(table)
        for target in (0, 4):
            for z in [(), (1,), (5,), (1, 5), (1, 2, 5, 6)]:
                candidates = [k for k in range(8) if k != target and k not in z]
                screen = test.screen(target, candidates, z, poll=lambda: calls.append(0))
                for index, x in enumerate(candidates):
                    alone = test.test(x, target, z)
                    assert screen.reliable[index] == alone.reliable
                    if alone.reliable:
                        assert screen.dof[index] == alone.dof
                        assert screen.statistic[index] == pytest.approx(alone.statistic, rel=1e-9, abs=1e-9)
                        assert screen.log_p[index] == pytest.approx(alone.log_p, rel=1e-9, abs=1e-9)
                    else:
                        assert math.isnan(screen.statistic[index])
                        assert math.isnan(screen.log_p[index])
    assert calls


def test_screen_in_blocks() -> None:
    random = np.random.default_rng(7)
    data = {"t": random.integers(2, size=5000), **{f"x{k}": random.normal(size=5000) for k in range(40)}}
    test = ConditionalGaussian(Table(data))
    screen = test.screen(0, range(1, 41))
    alone = [test.test(x, 0) for x in range(1, 41)]
    np.testing.assert_allclose(screen.log_p, [o.log_p for o in alone], rtol=1e-9)


def test_a_copy_in_the_given_changes_nothing() -> None:
    table = Table(mixed_frame(np.random.default_rng(14), 500).assign(again=lambda f: 2 * f["w"] + 1, one=0.5))
    again, one = table.position("again"), table.position("one")
    for x, y in [(0, 1), (0, 4), (4, 5)]:
        before = ConditionalGaussian(table).test(x, y, (2, 6))
        for more in ((again,), (one,), (again, one)):
            after = ConditionalGaussian(table).test(x, y, (2, 6, *more))
            assert after.statistic == pytest.approx(before.statistic, rel=1e-7)
            assert after.dof == before.dof


def draws(random: np.random.Generator, kinds: str, count: int, rows: int, effect: float = 0.0) -> Table:
    """Draw questions x, y, given a categorical c and a continuous w, that x and y depend on, side by side in a table.

    Two categorical variables do not depend on w, for which there is no exact test.
    """
    columns: dict[str, np.ndarray] = {}
    for k in range(count):
        c = random.integers(2, size=rows)
        w = random.normal(size=rows) * (1 + c)
        if kinds == "cat-cat":
            x = (random.random(rows) < 0.3 + 0.3 * c).astype(int)
            y = (random.random(rows) < 0.6 - 0.2 * c + effect * x).astype(int)
        else:
            noise = random.normal(size=rows)
            x = noise + w - c
            if kinds == "cat-cont":
                x = (x > 0).astype(int)
            y = random.normal(size=rows) * (1 + c) + 0.5 * w + c + effect * x
        columns |= {f"x{k}": x, f"y{k}": y, f"c{k}": c, f"w{k}": w}
    return Table(columns)


def p_values(kinds: str, count: int, rows: int, effect: float = 0.0, seed: int = 0) -> list[float]:
    table = draws(np.random.default_rng(seed), kinds, count, rows, effect)
    test = ConditionalGaussian(table)
    return [test.test(k, k + 1, (k + 2, k + 3)).p for k in range(0, 4 * count, 4)]


@pytest.mark.parametrize("kinds", ["cat-cat", "cat-cont", "cont-cont"])
def test_calibrated(kinds: str) -> None:
    p = p_values(kinds, 1000, 2000)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("kinds", ["cat-cat", "cat-cont", "cont-cont"])
def test_power_rises_with_the_effect(kinds: str) -> None:
    unit = 3 if kinds == "cat-cont" else 1
    found = [p_values(kinds, 60, 400, unit * effect, seed=1) for effect in (0.0, 0.1, 0.2, 0.4)]
    power = [float(np.mean(np.array(p) <= 0.05)) for p in found]
    assert power == sorted(power)
    assert power[0] < 0.2
    assert power[-1] > 0.9


def test_with_an_algorithm() -> None:
    """T depends on a categorical and a continuous parent; the rest is noise or further off."""
    random = np.random.default_rng(16)
    rows = 2000
    a, u = random.integers(3, size=rows), random.normal(size=rows)
    t = a + u + random.normal(size=rows)
    data = {
        "a": a,
        "u": u,
        "t": t,
        "child": (t + random.normal(size=rows) > 1).astype(int),
        "far": u + random.normal(size=rows),
        "noise": random.integers(2, size=rows),
    }
    found = serape.markov_blanket(ConditionalGaussian(Table(data)), "t", algorithm="iamb", alpha=0.001)
    assert set(found.blanket) == {"a", "u", "child"}


def test_order_of_columns_plays_no_part() -> None:
    random = np.random.default_rng(21)
    u, w, t = random.normal(size=(3, 400))
    columns = {
        "a": np.digitize(u + w + random.normal(size=400), [-0.5, 0.5]).astype(str),
        "b": np.digitize(u - t + random.normal(size=400), [0.0]).astype(str),
        "u": u,
        "w": w**3,
        "t": np.exp(t),
    }
    first = serape.ci_test(columns, "a", "b", ["u", "w", "t"], test="mixed")
    turned = dict(reversed(columns.items()))
    assert serape.ci_test(turned, "a", "b", ["t", "w", "u"], test="mixed").log_p == pytest.approx(first.log_p)
