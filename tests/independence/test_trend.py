"""The trend test: values, calibration, power, and what it refuses."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import random_table, true_blanket
from serape.data.example import clinic, clinic_graph
from serape.independence import G2
from serape.independence import trend as module
from serape.independence.trend import Trend


def plain(table: serape.Table, x: int, y: int, z: list[int]) -> tuple[float, int]:
    """Return M² and Σ(n − 1) of the informative strata, by the formula, stratum by stratum, in exact fractions."""
    rows = zip(*(table.packed.codes(k).tolist() for k in (x, y, *z)), strict=True)
    groups: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for a, b, *stratum in rows:
        groups.setdefault(tuple(stratum), []).append((a, b))
    difference, variance, informative = Fraction(0), Fraction(0), 0
    for pairs in groups.values():
        n = len(pairs)
        sum_a, sum_b = sum(a for a, _ in pairs), sum(b for _, b in pairs)
        spread_a = sum(a * a for a, _ in pairs) - Fraction(sum_a * sum_a, n)
        spread_b = sum(b * b for _, b in pairs) - Fraction(sum_b * sum_b, n)
        if spread_a and spread_b:
            difference += sum(a * b for a, b in pairs) - Fraction(sum_a * sum_b, n)
            variance += spread_a * spread_b / (n - 1)
            informative += n - 1
    return float(difference**2 / variance) if informative else 0.0, informative


def from_counts(counts: dict[tuple[Any, ...], int], names: str) -> dict[str, list[Any]]:
    return {name: [cell[k] for cell, n in counts.items() for _ in range(n)] for k, name in enumerate(names)}


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 3, 17, 60, 500, 2000]),
    levels=st.lists(st.sampled_from([2, 2, 3, 4, 7, 12]), min_size=6, max_size=6),
    size=st.integers(0, 4),
    dependence=st.sampled_from([0.0, 0.3, 0.9, 1.0]),
)
@settings(max_examples=100, deadline=None)
def test_against_a_plain_reference(seed: int, rows: int, levels: list[int], size: int, dependence: float) -> None:
    table = random_table(np.random.default_rng(seed), rows, levels, dependence)
    z = list(range(2, 2 + size))
    statistic, informative = plain(table, 0, 1, z)
    found = Trend(table).test(0, 1, z)
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.reliable == (informative >= 5)
    assert found.rows == rows
    assert found.dof == (informative > 0)
    if found.dof:
        expected = stats.chi2.logsf(found.statistic, 1)
        if math.isfinite(expected):
            assert found.log_p == pytest.approx(expected, rel=1e-9, abs=1e-12)
    else:
        assert math.isnan(found.p)


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 9, 60, 700]),
    levels=st.lists(st.sampled_from([2, 3, 5, 9]), min_size=9, max_size=9),
    size=st.integers(0, 3),
    block=st.sampled_from([1, 1000, 1 << 20]),
)
@settings(max_examples=100, deadline=None)
def test_a_screen_gives_the_bits_of_single_tests(
    seed: int, rows: int, levels: list[int], size: int, block: int
) -> None:
    test = Trend(random_table(np.random.default_rng(seed), rows, levels))
    z = tuple(range(6, 6 + size))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        screen = test.screen(5, np.arange(5, dtype=np.uint32), z)
    for x in range(5):
        one = test.test(x, 5, z)
        assert repr(one) == repr(test.test(5, x, z[::-1]))  # numbers that are not there are equal, too
        assert (screen.dof[x], screen.reliable[x]) == (one.dof, one.reliable)
        if one.reliable:
            assert (screen.statistic[x], screen.log_p[x]) == (one.statistic, one.log_p)
        else:
            assert math.isnan(screen.statistic[x])
            assert math.isnan(screen.log_p[x])


class TestKnownValues:
    def test_malformations_and_alcohol(self) -> None:
        """Graubard and Korn (1987), in Agresti, Introduction to categorical data analysis: equal scores, M² = 1.83."""
        absent, present = (17066, 14464, 788, 126, 37), (48, 38, 5, 1, 1)
        counts = {(k, m): row[k] for m, row in enumerate((absent, present)) for k in range(5)}
        found = Trend(serape.Table(from_counts(counts, "am"))).test(0, 1)
        assert found.statistic == pytest.approx(1.83, abs=0.005)
        assert found.p == pytest.approx(0.18, abs=0.005)

    def test_berkeley_by_department(self) -> None:
        """Two-by-two tables are Mantel and Haenszel's test; for Berkeley's six departments 1.5246, p = 0.2169."""
        departments = {
            "A": (512, 313, 89, 19), "B": (353, 207, 17, 8), "C": (120, 205, 202, 391),
            "D": (138, 279, 131, 244), "E": (53, 138, 94, 299), "F": (22, 351, 24, 317),
        }  # fmt: skip
        counts = {(d, k // 2, k % 2): n for d, four in departments.items() for k, n in enumerate(four)}
        found = Trend(serape.Table(from_counts(counts, "dso"))).test(1, 2, [0])
        assert found.statistic == pytest.approx(1.5246, abs=5e-5)
        assert found.p == pytest.approx(0.2169, abs=5e-5)

    def test_one_stratum_is_correlation(self) -> None:
        table = random_table(np.random.default_rng(1), 300, [4, 5])
        r = stats.pearsonr(table.packed.codes(0).astype(float), table.packed.codes(1).astype(float)).statistic
        assert Trend(table).test(0, 1).statistic == pytest.approx(299 * r * r, rel=1e-9)

    def test_two_by_two_is_pearson_but_for_one_row(self) -> None:
        table = random_table(np.random.default_rng(2), 300, [2, 2])
        pearson = serape.ci_test(table, 0, 1, test="x2").statistic
        assert Trend(table).test(0, 1).statistic == pytest.approx(pearson * 299 / 300, rel=1e-9)

    def test_the_far_tail(self) -> None:
        """p is about 1e-10860."""
        x = np.arange(50_000) % 5
        found = Trend(serape.Table({"x": x, "y": x})).test(0, 1)
        assert found.statistic == pytest.approx(49_999, rel=1e-12)
        with mpmath.workdps(30):
            expected = float(mpmath.log(mpmath.erfc(mpmath.sqrt(mpmath.mpf(found.statistic) / 2))))
        assert expected < -25_000
        assert found.log_p == pytest.approx(expected, rel=1e-12)


class TestOrder:
    def test_declared_order_counts(self) -> None:
        words = ["low", "medium", "high"]
        grade = np.repeat([0, 1, 2], 40)
        y = (np.arange(120) % 10 < 2 + 2 * grade).astype(int)
        declared = pd.DataFrame({"x": pd.Categorical([words[g] for g in grade], categories=words), "y": y})
        sorted_ = pd.DataFrame({"x": [words[g] for g in grade], "y": y})  # high, low, medium
        by_number = Trend(serape.Table({"x": grade, "y": y})).test(0, 1)
        assert Trend(serape.Table(declared)).test(0, 1) == by_number
        assert Trend(serape.Table(sorted_)).test(0, 1).statistic < by_number.statistic

    def test_direction_and_names_of_strata_do_not_matter(self) -> None:
        random = np.random.default_rng(3)
        x, y, z = (random.integers(k, size=400) for k in (4, 3, 3))
        one = Trend(serape.Table({"x": x, "y": y + (x > 1), "z": z})).test(0, 1, [2])
        other = Trend(serape.Table({"x": 3 - x, "y": y + (x > 1), "z": (z + 1) % 3})).test(0, 1, [2])
        assert other.statistic == pytest.approx(one.statistic, rel=1e-12)

    def test_opposite_trends_cancel(self) -> None:
        x = np.tile([0, 1, 2], 40)
        z = np.repeat([0, 1], 60)
        y = np.where(z == 0, x, 2 - x)
        found = Trend(serape.Table({"x": x, "y": y, "z": z})).test(0, 1, [2])
        assert found.statistic == 0.0
        assert found.log_p == 0.0
        assert found.reliable


class TestReliability:
    def test_five_rows_beyond_the_means(self) -> None:
        def reliable(x: list[int], y: list[int], z: list[int], minimum: float = 5.0) -> bool:
            return Trend(serape.Table({"x": x, "y": y, "z": z}), minimum).test(0, 1, [2]).reliable

        assert reliable([0, 1] * 3, [0, 0, 1] * 2, [0] * 6)
        assert not reliable([0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0] * 5)
        assert reliable([0, 1, 0, 1, 0], [0, 0, 1, 0, 0], [0] * 5, minimum=4)
        assert not reliable([0, 1] * 4, [0, 1] * 4, [0, 0, 1, 1, 2, 2, 3, 3])  # four pairs
        assert reliable([0, 1] * 5, [0, 1] * 5, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
        # 100 rows more in which x does not vary tell nothing
        assert not reliable([0, 1] * 4 + [1] * 100, [0, 1] * 54, [0, 0, 1, 1, 2, 2, 3, 3] + [4] * 100)

    def test_nothing_to_test(self) -> None:
        z = np.arange(200) % 2
        test = Trend(serape.Table({"x": z, "y": np.arange(200) // 100, "z": z, "id": np.arange(200)}, "categorical"))
        for given_ in ([2], [3]):  # x is constant in every stratum; every row is a stratum
            found = test.test(0, 1, given_)
            assert (found.dof, found.reliable) == (0, False)
            assert math.isnan(found.p)
            assert not test.screen(1, np.array([0], np.uint32), given_).reliable.any()

    def test_large_codes_do_not_blur_constancy(self) -> None:
        """x is constant in either stratum, at codes whose squares add up to more than 2^53 in the products."""
        rows = 60_000
        z = np.arange(rows) % 2
        x = pd.Categorical.from_codes(59_998 + z, categories=pd.Index([str(k) for k in range(60_000)]))
        table = serape.Table(pd.DataFrame({"x": x, "y": np.arange(rows) % 3, "z": z}))
        assert Trend(table).test(0, 1, [2]).dof == 0

    def test_hundreds_of_conditioning_variables(self) -> None:
        table = serape.Table(np.random.default_rng(5).integers(4, size=(300, 702)))
        assert Trend(table).test(0, 1, list(range(2, 702))).dof == 0
        assert Trend(table).test(0, 1, list(range(2, 4))).reliable


def draws(seed: int, n: int, rows: int) -> NDArray[np.float64]:
    """p-values of X ⊥ Y | Z where both follow Z: given Z, and given nothing."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        z = random.integers(3, size=rows)
        x, y = (z + random.integers(4, size=rows) for _ in range(2))
        test = Trend(serape.Table(np.stack([x, y, z], axis=1)))
        found.append((test.test(0, 1, [2]).p, test.test(0, 1).p))
    return np.array(found)


def test_calibrated_under_independence() -> None:
    p = draws(0, 2000, 120)
    assert stats.kstest(p[:, 0], "uniform").pvalue > 0.01
    assert stats.kstest(p[:, 1], "uniform").pvalue < 1e-10  # the check can fail


def test_more_power_than_g2_on_a_monotone_effect() -> None:
    random = np.random.default_rng(6)
    powers = []
    for effect in (0.0, 0.15, 0.3):
        hits = np.zeros(2)
        for _ in range(200):
            x = random.integers(5, size=150)
            y = np.clip(np.round(effect * x + random.normal(size=150)), -2, 2)
            table = serape.Table(np.stack([x, y.astype(int)], axis=1))
            hits += [t.test(0, 1).p <= 0.05 for t in (Trend(table), G2(table, reliability=None))]
        powers.append(hits / 200)
    (null, _), (some, some_g2), (much, much_g2) = powers
    assert null < 0.1
    assert some > some_g2 + 0.2
    assert much > max(some, much_g2)
    assert much > 0.9


def test_finds_a_known_blanket() -> None:
    data = pd.DataFrame(clinic(20_000))
    orders = {
        "Age": ["under 40", "40 to 60", "over 60"],
        "Weight": ["normal", "over", "obese"],
        "BloodPressure": ["normal", "raised", "high"],
    }
    for name, order in orders.items():
        data[name] = pd.Categorical(data[name], categories=order)
    for algorithm in ("iamb", "fast-iamb", "hiton-mb", "pcmb"):
        found = serape.markov_blanket(Trend(serape.Table(data)), "HeartDisease", algorithm, alpha=0.01)
        assert set(found.blanket) == true_blanket(clinic_graph(), "HeartDisease")
        assert found.test == "trend"


class TestBadUse:
    def test_continuous(self) -> None:
        test = Trend(serape.Table({"a": [0, 1, 0], "b": [0.5, 1.5, 2.5]}))
        test.check([0])
        with pytest.raises(serape.DataError, match=r"test 'trend' needs categorical columns, but 'b' is continuous"):
            test.check(range(2))

    def test_missing_has_no_rank(self) -> None:
        frame = pd.DataFrame({"a": ["1", "2", None, "3"], "b": ["1", None, "1", "1"]})
        test = Trend(serape.Table(frame, missing="level"))
        test.check([1])  # two levels have no order
        with pytest.raises(serape.DataError, match="missing values are a level of 'a' and have no rank"):
            test.check(range(2))

    @pytest.mark.parametrize("minimum", [0, -1, math.nan])
    def test_minimum(self, minimum: float) -> None:
        with pytest.raises(serape.OptionError, match="minimum number of rows must be positive"):
            Trend(serape.Table({"a": [0, 1]}), minimum)
