"""G² and X²: values, degrees of freedom, reliability, and the mistakes other tools have made."""

import math
import tracemalloc
from typing import Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import serape
from plain import PlainContingency, random_table
from serape.independence import G2, X2

Power = Literal["log-likelihood", "pearson"]
LAMBDA: dict[str, Power] = {"g2": "log-likelihood", "x2": "pearson"}


def scipy_sum(frame: pd.DataFrame, x: str, y: str, z: list[str], test: str) -> tuple[float, int]:
    """Sum SciPy's statistic and dof over strata; SciPy refuses empty margins, so they are left out, as it must be."""
    statistic, dof = 0.0, 0
    groups = [frame] if not z else [group for _, group in frame.groupby(z, observed=True)]
    for group in groups:
        counts = pd.crosstab(group[x], group[y]).to_numpy()
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        found = stats.chi2_contingency(counts, correction=False, lambda_=LAMBDA[test])
        statistic += found.statistic
        dof += found.dof
    return statistic, dof


@pytest.mark.parametrize("test", ["g2", "x2"])
@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 3, 17, 60, 500, 3000]),
    levels=st.lists(st.sampled_from([2, 2, 3, 4, 7, 9, 12]), min_size=6, max_size=6),
    size=st.integers(0, 4),
    dependence=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
)
@settings(max_examples=60, deadline=None)
def test_against_scipy(test: str, seed: int, rows: int, levels: list[int], size: int, dependence: float) -> None:
    table = random_table(np.random.default_rng(seed), rows, levels, dependence)
    names = list(table.names)
    x, y, z = names[0], names[1], names[2 : 2 + size]
    statistic, adjusted = scipy_sum(table.to_pandas(), x, y, z, test)
    found = serape.ci_test(table, x, y, z, test=test, dof="adjusted")
    assert found.dof == adjusted
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-8)
    full = serape.ci_test(table, x, y, z, test=test, dof="full")
    r = {name: len(v.levels) for name, v in table.variables.items()}
    assert full.dof == (r[x] - 1) * (r[y] - 1) * math.prod(r[n] for n in z)
    assert full.statistic == found.statistic
    for outcome in (found, full):
        assert outcome.rows == rows
        if outcome.dof == 0:
            assert math.isnan(outcome.p)
            assert not outcome.reliable
        else:
            expected = stats.chi2.logsf(outcome.statistic, outcome.dof)
            if math.isfinite(expected):
                assert outcome.log_p == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_published_value() -> None:
    """Snedecor and Cochran's and every textbook's two-by-two: Berkeley admissions 1973, all departments."""
    counts = {
        ("man", "admitted"): 1198,
        ("man", "rejected"): 1493,
        ("woman", "admitted"): 557,
        ("woman", "rejected"): 1278,
    }
    data = {
        "sex": [s for (s, _), n in counts.items() for _ in range(n)],
        "outcome": [o for (_, o), n in counts.items() for _ in range(n)],
    }
    assert serape.ci_test(data, "sex", "outcome", test="x2").statistic == pytest.approx(92.2053, abs=1e-4)


def test_symmetric() -> None:
    table = random_table(np.random.default_rng(1), 700, [3, 5, 2, 4])
    for test in (G2(table), X2(table)):
        assert test.test(0, 1, (2, 3)) == test.test(1, 0, (3, 2))


class TestReliability:
    table = random_table(np.random.default_rng(2), 119, [3, 3, 2, 3])

    def test_dof_rule(self) -> None:
        """5 rows for each full degree of freedom: 2·2·2·3 = 24 asks for 120."""
        assert not G2(self.table).test(0, 1, (2, 3)).reliable
        assert G2(self.table, minimum=119 / 24).test(0, 1, (2, 3)).reliable

    def test_cells_rule(self) -> None:
        """5 rows in the mean cell: 3·3·2 = 18 cells ask for 90."""
        assert G2(self.table, reliability="cells").test(0, 1, (2,)).reliable
        assert not G2(self.table, reliability="cells").test(0, 1, (3,)).reliable
        assert G2(self.table).rows_per_cell((0, 1, 2)) == pytest.approx(119 / 18)

    def test_no_rule(self) -> None:
        assert G2(self.table, reliability=None).test(0, 1, (2, 3)).reliable

    def test_rule_uses_full_dof(self) -> None:
        """Adjusting the degrees of freedom does not make a test more reliable."""
        assert not G2(self.table, dof="adjusted").test(0, 1, (2, 3)).reliable

    @pytest.mark.parametrize("reliability", ["dof", "cells", None])
    @pytest.mark.parametrize("test", ["g2", "x2"])
    def test_no_freedom_is_never_dependence(self, test: str, reliability: str | None) -> None:
        """x is constant in every stratum of z: 0 degrees of freedom, which elsewhere has been read as dependence."""
        z = np.arange(200) % 2
        data = {"x": z, "y": np.arange(200) // 100, "z": z}
        outcome = serape.ci_test(data, "x", "y", "z", test=test, dof="adjusted", reliability=reliability)  # type: ignore[arg-type]
        assert outcome.dof == 0
        assert not outcome.reliable
        assert math.isnan(outcome.p)


class TestLessonsOfOthers:
    """Each of these was wrong in some other tool."""

    def test_no_continuity_correction(self) -> None:
        data = {"x": [0] * 10 + [1] * 10, "y": [0] * 8 + [1] * 2 + [0] * 3 + [1] * 7}
        assert serape.ci_test(data, "x", "y", test="x2").statistic == pytest.approx(
            20 * (8 * 7 - 2 * 3) ** 2 / (10 * 10 * 11 * 9)
        )

    def test_strong_ties_do_not_underflow(self) -> None:
        """Both p-values are 0 as floats; the stronger association is still told from the weaker."""
        random = np.random.default_rng(3)
        t = random.integers(2, size=20_000)
        near, nearer = (np.where(random.random(20_000) < noise, 1 - t, t) for noise in (0.04, 0.02))
        data = {"near": near, "nearer": nearer, "t": t}
        one, other = (serape.ci_test(data, name, "t") for name in ("near", "nearer"))
        assert one.p == other.p == 0.0
        assert other.log_p < one.log_p < -700
        assert serape.markov_blanket(data, "t", max_conditioning=0).explain("nearer").log_p == other.log_p

    @pytest.mark.parametrize("test", ["g2", "x2"])
    def test_margins_do_not_overflow(self, test: str) -> None:
        """Products of margins pass 2^31 beyond 46,340 rows and 2^63 nowhere below our limit."""
        rows = 10_000_000
        data = np.zeros((rows, 2), np.uint8)
        data[: rows // 2, 0] = 1
        data[: rows // 4, 1] = 1
        data[rows // 2 : rows // 2 + rows // 5, 1] = 1
        table = serape.Table(data)
        found = serape.ci_test(table, 0, 1, test=test)
        counts = np.array([[rows // 2 - rows // 5, rows // 5], [rows // 4, rows // 4]])
        expected = stats.chi2_contingency(counts, correction=False, lambda_=LAMBDA[test])
        assert found.statistic == pytest.approx(expected.statistic, rel=1e-9)
        assert found.reliable

    def test_thirty_conditioning_variables(self) -> None:
        """2^30 combinations, but only as many strata as rows."""
        random = np.random.default_rng(4)
        table = serape.Table(random.integers(2, size=(2000, 32)))
        tracemalloc.start()
        found = serape.ci_test(table, 0, 1, list(range(2, 32)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 1_000_000
        assert found.dof == 2.0**30
        assert not found.reliable

    def test_hundreds_of_conditioning_variables(self) -> None:
        table = serape.Table(np.random.default_rng(5).integers(4, size=(300, 702)))
        found = serape.ci_test(table, 0, 1, list(range(2, 702)), dof="adjusted")
        assert found.dof == 0
        assert math.isinf(serape.ci_test(table, 0, 1, list(range(2, 702))).dof)

    def test_many_levels_stay_bounded_by_rows(self) -> None:
        """Two identifiers: 60,000 × 60,000 cells if the table were dense."""
        rows = 60_000
        random = np.random.default_rng(6)
        data = {"a": random.permutation(rows), "b": random.permutation(rows), "c": random.integers(3, size=rows)}
        table = serape.Table(data, kinds="categorical")
        for test in ("g2", "x2"):
            found = serape.ci_test(table, "a", "b", "c", test=test, dof="adjusted")
            assert not found.reliable
            # Every row is alone in its cell: G² = 2 Σ n_z ln n_z, X² = Σ n_z (n_z − 1).
            sizes = np.bincount(data["c"]).astype(float)
            expected = 2 * (sizes * np.log(sizes)).sum() if test == "g2" else (sizes * (sizes - 1)).sum()
            assert found.statistic == pytest.approx(expected, rel=1e-9)
            assert found.dof == ((sizes - 1) ** 2).sum()

    def test_declared_levels_count(self) -> None:
        column = pd.Categorical(["a", "b"] * 50, categories=["a", "b", "never"])
        frame = pd.DataFrame({"x": column, "y": [0, 1] * 50})
        assert serape.ci_test(frame, "x", "y").dof == 2
        assert serape.ci_test(frame, "x", "y", dof="adjusted").dof == 1


class TestBadQuestions:
    table = random_table(np.random.default_rng(7), 50, [2, 2, 3])

    def test_unknown_column(self) -> None:
        with pytest.raises(serape.OptionError, match="no column 'c9'"):
            serape.ci_test(self.table, "c0", "c9")

    def test_variable_twice(self) -> None:
        with pytest.raises(serape.OptionError, match="'c0' occurs twice"):
            serape.ci_test(self.table, "c0", "c1", ["c0"])

    def test_unknown_test(self) -> None:
        with pytest.raises(serape.OptionError, match=r"test 'g3' is not known\. Use one of 'auto', 'g2', 'x2'"):
            serape.ci_test(self.table, 0, 1, test="g3")

    @pytest.mark.parametrize("option", [{"dof": "many"}, {"reliability": "hope"}, {"minimum": 0}])
    def test_unknown_rule(self, option: dict[str, object]) -> None:
        with pytest.raises(serape.OptionError):
            G2(self.table, **option)  # type: ignore[arg-type]

    def test_continuous_column(self) -> None:
        with pytest.raises(serape.DataError, match=r"'b' is continuous \(real numbers\)"):
            serape.ci_test({"a": [0, 1, 0], "b": [0.5, 1.5, 2.5]}, "a", "b", test="g2")

    def test_position_out_of_range(self) -> None:
        with pytest.raises(serape.OptionError, match="positions go from 0 to 2"):
            serape.ci_test(self.table, 0, 3)
        with pytest.raises(IndexError):
            G2(self.table).test(0, 99)


def test_plain_twin_agrees() -> None:
    """The twin used in other tests is itself checked against the values above."""
    table = random_table(np.random.default_rng(8), 400, [3, 4, 2, 2])
    for statistic in ("g2", "x2"):
        for dof in ("full", "adjusted"):
            plain = PlainContingency(table, statistic, dof).test(0, 1, (2, 3))
            native = serape.ci_test(table, 0, 1, (2, 3), test=statistic, dof=dof)
            assert native.statistic == pytest.approx(plain.statistic, rel=1e-9)
            assert (native.dof, native.reliable) == (plain.dof, plain.reliable)
