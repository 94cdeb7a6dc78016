"""The test by regressions: against SciPy, other tests, calibration and power."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, special, stats

import serape
from serape import Table
from serape.independence import logistic
from serape.independence.logistic import fit
from serape.independence.regression import RegressionTest, combined

NUMBERS = "uvwt"


def mixed_frame(random: np.random.Generator, rows: int, dependence: float = 0.5) -> pd.DataFrame:
    """Draw four categorical and four continuous columns that depend on each other."""
    a = random.integers(3, size=rows)
    b = np.where(random.random(rows) < dependence, a % 2, random.integers(2, size=rows))
    c = random.integers(2, size=rows)
    d = np.where(random.random(rows) < dependence, b, random.integers(4, size=rows))
    u = random.normal(size=rows) + dependence * a
    v = random.normal(size=rows) + dependence * (u - d)
    w = random.normal(size=rows) + dependence * (b - v)
    t = random.exponential(size=rows) + dependence * w
    names = zip("abcd", (a, b, c, d), strict=True)
    frame = pd.DataFrame({name: [f"{name}{k}" for k in column] for name, column in names})
    return frame.assign(u=u, v=v, w=w, t=t)


def plain_design(frame: pd.DataFrame, predictors: Sequence[str]) -> np.ndarray:
    parts = [np.ones((len(frame), 1))]
    for name in predictors:
        column = frame[[name]] if name in NUMBERS else pd.get_dummies(frame[name]).iloc[:, :-1]
        parts.append(column.to_numpy(float))
    return np.concatenate(parts, axis=1)


def plain_linear(frame: pd.DataFrame, y: str, x: str, z: Sequence[str]) -> float:
    """The F test from residual sums of squares of numpy.linalg.lstsq."""
    sums, ranks = [], []
    for predictors in (z, [*z, x]):
        design = plain_design(frame, predictors)
        slopes, _, rank, _ = np.linalg.lstsq(design, frame[y].to_numpy(), rcond=None)
        sums.append(float(np.square(frame[y].to_numpy() - design @ slopes).sum()))
        ranks.append(int(rank))
    more, rest = ranks[1] - ranks[0], len(frame) - ranks[1]
    return float(stats.f.logsf((sums[0] - sums[1]) / more / (sums[1] / rest), more, rest))


def plain_log_likelihood(design: np.ndarray, codes: np.ndarray) -> float:
    """Maximise the multinomial likelihood with SciPy's BFGS, all levels with slopes of their own."""
    levels = codes.max() + 1
    seen = np.eye(levels)[codes]

    def loss(slopes: np.ndarray) -> tuple[float, np.ndarray]:
        scores = design @ slopes.reshape(-1, levels)
        log_p = scores - special.logsumexp(scores, axis=1, keepdims=True)
        return -float((seen * log_p).sum()), -(design.T @ (seen - np.exp(log_p))).ravel()

    found = optimize.minimize(loss, np.zeros(design.shape[1] * levels), jac=True, method="BFGS", options={"gtol": 1e-7})
    return -float(found.fun)


def plain_logistic(frame: pd.DataFrame, y: str, x: str, z: Sequence[str]) -> float:
    codes = np.unique(frame[y], return_inverse=True)[1]
    small, large = plain_design(frame, z), plain_design(frame, [*z, x])
    statistic = 2 * (plain_log_likelihood(large, codes) - plain_log_likelihood(small, codes))
    ranks = [int(np.linalg.matrix_rank(design)) for design in (small, large)]
    return float(stats.chi2.logsf(statistic, (ranks[1] - ranks[0]) * codes.max()))


def plain_log_p(frame: pd.DataFrame, x: str, y: str, z: Sequence[str]) -> float:
    one, other = (
        (plain_linear if response in NUMBERS else plain_logistic)(frame, response, added, z)
        for response, added in ((x, y), (y, x))
    )
    return math.log(min(2 * math.exp(min(one, other)), math.exp(max(one, other))))


QUESTIONS = [
    (x, y, z)
    for x, y in [("a", "b"), ("a", "u"), ("u", "v")]
    for z in ["", "c", "w", "cd", "cw", "wt", "cwt"]
]  # fmt: skip


@pytest.mark.parametrize(("x", "y", "z"), QUESTIONS)
def test_against_scipy(x: str, y: str, z: str) -> None:
    frame = mixed_frame(np.random.default_rng(1), 300, 0.2)
    table = Table(frame)
    found = RegressionTest(table).test(table.position(x), table.position(y), [table.position(v) for v in z])
    assert found.reliable
    exact = x in NUMBERS and y in NUMBERS
    assert found.log_p == pytest.approx(plain_log_p(frame, x, y, list(z)), rel=1e-9 if exact else 1e-6, abs=1e-9)
    assert found.dof == 2
    assert stats.chi2.logsf(found.statistic, 2) == pytest.approx(found.log_p, rel=1e-12)


@pytest.mark.parametrize("levels", [2, 3, 6])
def test_likelihood_against_scipy(levels: int) -> None:
    random = np.random.default_rng(levels)
    design = np.column_stack([np.ones(250), random.normal(size=(250, 3)), random.integers(2, size=250)])
    scores = design @ random.normal(size=(5, levels)) / 2
    codes = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    fitted = fit(design, np.eye(levels)[codes], np.zeros((5, levels - 1)))
    assert fitted.converged
    assert fitted.log_likelihood == pytest.approx(plain_log_likelihood(design, codes), abs=1e-6)


@pytest.mark.parametrize("levels", [2, 4])
def test_blocks_and_kept_derivatives_find_the_same_maximum(levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(levels)
    design = np.column_stack([np.ones(2000), random.normal(size=(2000, 4))])
    codes = (design @ random.normal(size=(5, levels)) + random.gumbel(size=(2000, levels))).argmax(axis=1)
    question = design, np.eye(levels)[codes], np.zeros((5, levels - 1))
    made: list[int] = []
    second_derivatives = logistic._Likelihood.second_derivatives

    def counted(*arguments: Any) -> Any:
        made.append(0)
        return second_derivatives(*arguments)

    monkeypatch.setattr(logistic._Likelihood, "second_derivatives", counted)
    kept, n_kept = fit(*question), len(made)
    monkeypatch.setattr(logistic, "_SMALL", -1.0)  # second derivatives are made at each step
    monkeypatch.setattr(logistic, "_BLOCK", 1)
    anew, n_anew = fit(*question), len(made) - n_kept
    assert kept.converged
    assert anew.converged
    assert kept.log_likelihood == pytest.approx(anew.log_likelihood, abs=1e-9)
    assert n_kept < n_anew


def test_two_categories_alone_give_g2() -> None:
    """Without z both logistic regressions are saturated: their likelihood ratio is G²."""
    frame = mixed_frame(np.random.default_rng(2), 500)
    found = RegressionTest(Table(frame)).test(0, 3)
    assert found.log_p == pytest.approx(serape.ci_test(frame[["a", "d"]], 0, 1, dof="adjusted").log_p, rel=1e-8)


def test_partial_correlation() -> None:
    """Two continuous variables: the t test of the partial correlation."""
    data = mixed_frame(np.random.default_rng(3), 80)[list(NUMBERS)].to_numpy()
    precision = np.linalg.inv(np.cov(data.T))
    r = -precision[0, 1] / math.sqrt(precision[0, 0] * precision[1, 1])
    t = abs(r) * math.sqrt((80 - 4) / (1 - r * r))
    found = RegressionTest(Table(data)).test(0, 1, (2, 3))
    assert found.p == pytest.approx(2 * stats.t.sf(t, 76), rel=1e-9)


class TestInvariance:
    frame = mixed_frame(np.random.default_rng(5), 400)

    def test_symmetric(self) -> None:
        table = Table(self.frame)
        test = RegressionTest(table)
        for x, y, z in QUESTIONS:
            positions = [table.position(v) for v in z]
            one = test.test(table.position(x), table.position(y), positions)
            assert one == test.test(table.position(y), table.position(x), positions[::-1])

    def test_scale_shift_and_names(self) -> None:
        renamed = self.frame.assign(
            a=self.frame["a"].map({"a0": "z", "a1": "m", "a2": "b"}),
            d=self.frame["d"].map({"d0": "3", "d1": "1", "d2": "0", "d3": "2"}),
            u=self.frame["u"] * -1e-6 + 40,
            v=self.frame["v"] * 1e9 - 7,
            t=self.frame["t"] + 1e5,
        )
        one, other = (RegressionTest(Table(f)) for f in (self.frame, renamed))
        names = list(self.frame)
        for x, y, z in QUESTIONS:
            question = names.index(x), names.index(y), [names.index(v) for v in z]
            assert other.test(*question).log_p == pytest.approx(one.test(*question).log_p, rel=1e-6, abs=1e-7)


def test_screen_answers_as_single_tests_do() -> None:
    calls: list[int] = []
    for rows in (60, 400):
        table = Table(mixed_frame(np.random.default_rng(6), rows))
        test = RegressionTest(table)
        for target in (0, 4):
            for z in [(), (1,), (5,), (1, 2, 5, 6)]:
                candidates = [k for k in range(8) if k != target and k not in z]
                screen = test.screen(target, candidates, z, poll=lambda: calls.append(0))
                for index, x in enumerate(candidates):
                    alone = test.test(x, target, z)
                    assert screen.reliable[index] == alone.reliable
                    if alone.reliable:
                        assert screen.log_p[index] == pytest.approx(alone.log_p, rel=1e-9, abs=1e-9)
                        assert screen.outcome(index).dof == 2
                    else:
                        assert math.isnan(screen.log_p[index])
    assert calls


def test_equal_rows_together_answer_as_apart() -> None:
    """Categorical predictors are fitted cell by cell; one continuous column that is all but constant undoes that."""
    frame = mixed_frame(np.random.default_rng(7), 400)
    table = Table(frame[["a", "b", "c", "d"]])
    apart = Table(frame[["a", "b", "c", "d"]].assign(w=0.5), kinds={"w": "continuous"})
    together = RegressionTest(table).test(0, 1, (2, 3))
    assert RegressionTest(apart).test(0, 1, (2, 3, 4)).log_p == pytest.approx(together.log_p, rel=1e-8)


class TestDegenerate:
    def columns(self, rows: int) -> Table:
        random = np.random.default_rng(rows)
        u, a = random.normal(size=rows), random.integers(3, size=rows)
        return Table(
            {
                "u": u,
                "copy": u,
                "line": 1e6 - 3 * u,
                "v": random.normal(size=rows),
                "a": [f"l{k}" for k in a],
                "same": [f"m{k}" for k in a],
                "of a": a * 1.5 + 0.1,
                "sign": np.where(u > 0, "+", "-"),
                "c": pd.Categorical(["only"] * rows, categories=["only", "never"]),
                "one": np.full(rows, 0.1),
                "id": [f"i{k}" for k in range(rows)],
                "huge": u * 1e307,
                "tiny": u * 1e-310,
            },
            kinds={"of a": "continuous", "one": "continuous"},
        )

    @pytest.mark.parametrize("rows", [2, 3, 5, 9, 40, 150])
    def test_never_raises_nor_reliable_without_a_number(self, rows: int) -> None:
        table = self.columns(rows)
        test = RegressionTest(table)
        n = len(table.names)
        test.check(range(n))
        constant = {table.position("c"), table.position("one")}
        for x, y in combinations(range(n), 2):
            for z in [(), (0,), (4,), (7,), (8,), (9,), (10,), (0, 1), (0, 3, 4), (4, 5, 6), (8, 9), (11, 12)]:
                if x in z or y in z:
                    continue
                found = test.test(x, y, z)
                if found.reliable:
                    assert -math.inf < found.log_p <= 0
                    assert found.statistic == -2 * found.log_p
                if constant & {x, y}:
                    assert not found.reliable

    def test_copies_and_separation_are_dependence(self) -> None:
        """sign tells u's half, of a tells a: the logistic regressions have no finite slopes."""
        table = self.columns(150)
        for x, y in [("u", "copy"), ("u", "line"), ("a", "same"), ("u", "sign"), ("of a", "a")]:
            found = RegressionTest(table).test(table.position(x), table.position(y))
            assert found.reliable, (x, y)
            assert found.log_p < -30

    def test_separation_reaches_the_bound(self) -> None:
        """Levels told apart without error: the likelihood's bound is 1, so the ratio is that of the shares alone."""
        table = self.columns(150)
        sign = table.column("sign")
        share = float(np.mean(sign == "+"))
        bound = -2 * 150 * (share * math.log(share) + (1 - share) * math.log(1 - share))
        fitted = fit(
            np.column_stack([np.ones(150), table.column("u")]),
            np.column_stack([sign == "+", sign == "-"]).astype(float),
            np.zeros((2, 1)),
        )
        assert fitted.converged
        assert fitted.log_likelihood == pytest.approx(0.0, abs=1e-5)
        logistic = float(stats.chi2.logsf(bound, 1))
        linear = plain_linear(pd.DataFrame({"u": table.column("u"), "sign": sign}), "u", "sign", [])
        found = RegressionTest(table).test(table.position("u"), table.position("sign"))
        assert found.log_p == pytest.approx(combined(linear, logistic), rel=1e-6)

    def test_what_is_determined_by_the_given_is_not_tested(self) -> None:
        table = self.columns(150)
        for x, y, z in [("u", "v", "line"), ("a", "v", "same"), ("u", "a", "copy"), ("v", "of a", "a")]:
            found = RegressionTest(table).test(table.position(x), table.position(y), (table.position(z),))
            assert not found.reliable, (x, y, z)

    def test_a_copy_in_the_given_changes_nothing(self) -> None:
        table = Table(mixed_frame(np.random.default_rng(14), 300).assign(again=lambda f: 2 * f["w"] + 1, one=0.5))
        again, one = table.position("again"), table.position("one")
        for x, y in [(0, 1), (0, 4), (4, 5)]:
            before = RegressionTest(table).test(x, y, (2, 6))
            for more in ((again,), (one,), (again, one)):
                after = RegressionTest(table).test(x, y, (2, 6, *more))
                assert after.log_p == pytest.approx(before.log_p, rel=1e-7)

    def test_not_converged_is_not_reliable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        table = self.columns(150)
        question = table.position("v"), table.position("sign")
        assert RegressionTest(table).test(*question).reliable
        monkeypatch.setattr("serape.independence.logistic._MAX_STEPS", 1)
        assert not RegressionTest(table).test(*question).reliable

    def test_rows_for_each_parameter(self) -> None:
        """a of 3 levels on v and an intercept: 4 parameters ask for 20 rows."""
        random = np.random.default_rng(15)
        for rows, reliable in [(19, False), (20, True)]:
            table = Table({"a": np.arange(rows) % 3, "v": random.normal(size=rows)})
            found = RegressionTest(table).test(0, 1)
            assert found.reliable == reliable
            assert not math.isnan(found.log_p)

    def test_too_large_to_try(self) -> None:
        rows = 20_000
        names = [f"i{k}" for k in range(rows)]
        random = np.random.default_rng(16)
        table = Table(
            {"id": names, "other": names[::-1], "u": random.normal(size=rows), "a": random.integers(2, size=rows)},
            kinds={"id": "categorical", "other": "categorical"},
        )
        test = RegressionTest(table)
        for x, y, z in [(0, 1, ()), (0, 2, ()), (2, 3, (0,)), (0, 3, (1, 2))]:
            assert not test.test(x, y, z).reliable
        assert not test.screen(2, [1, 3], (0,)).reliable.any()

    def test_missing_values_are_refused(self) -> None:
        table = Table({"u": [0.5, 1.5, 2.5], "v": [0.5, 0.7, 0.9]})
        table.numbers(1)[2] = math.nan
        with pytest.raises(serape.DataError, match="values are missing in 'v'"):
            RegressionTest(table).check([0, 1])

    def test_bad_minimum(self) -> None:
        with pytest.raises(serape.OptionError):
            RegressionTest(self.columns(5), minimum=0)


def p_values(kinds: str, count: int, rows: int, effect: float = 0.0, seed: int = 0) -> list[float]:
    """Draw questions x, y given a categorical c and a continuous w on which both depend."""
    random = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {}
    for k in range(count):
        c, w = random.integers(2, size=rows), random.normal(size=rows)
        x = random.logistic(size=rows) + w - c
        if kinds != "cont-cont":
            x = (x > 0).astype(int)
        y = 0.5 * w + c + effect * x
        y = (y + random.logistic(size=rows) > 0.5).astype(int) if kinds == "cat-cat" else y + random.normal(size=rows)
        columns |= {f"x{k}": x, f"y{k}": y, f"c{k}": c, f"w{k}": w}
    test = RegressionTest(Table(columns))
    return [test.test(k, k + 1, (k + 2, k + 3)).p for k in range(0, 4 * count, 4)]


@pytest.mark.parametrize("kinds", ["cat-cat", "cat-cont", "cont-cont"])
def test_calibrated(kinds: str) -> None:
    p = p_values(kinds, 1000, 500)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize("kinds", ["cat-cat", "cat-cont", "cont-cont"])
def test_power_rises_with_the_effect(kinds: str) -> None:
    unit = {"cat-cat": 4.0, "cat-cont": 2.0, "cont-cont": 1.0}[kinds]
    found = [p_values(kinds, 60, 300, unit * effect, seed=1) for effect in (0.0, 0.1, 0.2, 0.4)]
    power = [float(np.mean(np.array(p) <= 0.05)) for p in found]
    assert power == sorted(power)
    assert power[0] < 0.2
    assert power[-1] > 0.9


def test_with_an_algorithm() -> None:
    """T depends on a categorical and a continuous parent; the rest is noise or further off."""
    random = np.random.default_rng(17)
    rows = 1000
    a, u = random.integers(3, size=rows), random.normal(size=rows)
    t = 2.0 * a + u + random.normal(size=rows)
    data = {
        "a": a,
        "u": u,
        "t": t,
        "child": (t + random.normal(size=rows) > 1).astype(int),
        "far": u + random.normal(size=rows),
        "noise": random.integers(2, size=rows),
    }
    found = serape.markov_blanket(RegressionTest(Table(data)), "t", algorithm="iamb", alpha=0.001)
    assert set(found.blanket) == {"a", "u", "child"}
