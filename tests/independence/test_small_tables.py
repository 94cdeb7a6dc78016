"""Tests for small tables: moments of X² under permutation, fitted tails of permutation tests, shrinkage."""

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import serape
from plain import PlainContingency, random_table
from serape.independence import G2, IndependenceTest, make_test
from serape.independence import x2_moments as module
from serape.independence.permutation import Permutation
from serape.independence.semiparametric import SemiParametric, scaled_chi_square_log_sf
from serape.independence.shrinkage import ShrunkenG2
from serape.independence.x2_moments import X2Moments

Codes = NDArray[np.int64]


def table(**columns: Any) -> serape.Table:
    return serape.Table(columns, kinds="categorical")


def all_x2(x: list[int], y: list[int], z: list[int]) -> list[float]:
    """Return the X² of every order of the x within the strata of z."""
    strata = [[k for k, value in enumerate(z) if value == s] for s in sorted(set(z))]
    found: dict[tuple[int, ...], float] = {}
    values = []
    for orders in product(*(permutations(rows) for rows in strata)):
        permuted = list(x)
        for rows, order in zip(strata, orders, strict=True):
            for to, source in zip(rows, order, strict=True):
                permuted[to] = x[source]
        key = tuple(permuted)
        if key not in found:
            plain = PlainContingency(table(x=permuted, y=y, z=z), "x2", "adjusted", None)
            found[key] = plain.test(0, 1, [2]).statistic
        values.append(found[key])
    return values


class TestMoments:
    @pytest.mark.parametrize(
        ("x", "y", "z"),
        [
            ([0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1, 1], [0] * 7),
            ([0, 1, 2, 0, 1, 2, 2], [0, 1, 1, 0, 0, 1, 2], [0] * 7),
            ([0, 0, 1, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 1, 1]),
            ([0, 1, 0, 0, 1, 1, 2, 1], [0, 1, 0, 1, 1, 0, 0, 1], [0, 0, 1, 1, 1, 1, 1, 2]),
            ([0, 1, 1], [0, 1, 1], [0, 0, 0]),
        ],
    )
    def test_against_all_permutations(self, x: list[int], y: list[int], z: list[int]) -> None:
        every = np.array(all_x2(x, y, z))
        test = X2Moments(table(x=x, y=y, z=z))
        (mean,), (variance,) = test._moments(0, np.array([1], np.uint32), [2])
        assert mean == pytest.approx(every.mean(), rel=1e-12)
        assert variance == pytest.approx(every.var(), rel=1e-9)
        found = test.test(0, 1, [2])
        scale = every.var() / (2 * every.mean())
        assert found.p == pytest.approx(stats.chi2.sf(found.statistic / scale, every.mean() / scale), rel=1e-9)
        assert found.reliable

    @pytest.mark.parametrize(
        ("x", "y", "z"),
        [
            ([0, 1, 0, 1], [0, 1, 1, 0], [0, 0, 1, 1]),  # two rows per stratum
            ([0, 1, 0, 1, 1], [0, 1, 2, 3, 4], [0] * 5),  # a level of y per row
            ([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]),  # z determines x
        ],
    )
    def test_not_reliable_if_permuting_changes_nothing(self, x: list[int], y: list[int], z: list[int]) -> None:
        found = X2Moments(table(x=x, y=y, z=z)).test(0, 1, [2])
        assert len({round(value, 9) for value in all_x2(x, y, z)}) == 1
        assert not found.reliable
        assert math.isnan(found.p)

    def test_many_rows_are_chi_square(self) -> None:
        data = random_table(np.random.default_rng(1), 20_000, [3, 4, 2], 0.02)
        found, plain = (make_test(data, name).test(0, 1, [2]) for name in ("x2-moments", "x2"))
        assert found.statistic == plain.statistic
        assert found.log_p == pytest.approx(plain.log_p, rel=0.02)

    def test_order_plays_no_part(self) -> None:
        data = random_table(np.random.default_rng(2), 120, [3, 4, 2, 3], 0.3)
        frame = data.to_pandas()
        other = serape.Table(frame.iloc[::-1, ::-1])
        one = X2Moments(data).test(0, 1, [2, 3])
        assert X2Moments(data).test(1, 0, [3, 2]) == one
        assert X2Moments(other).test(2, 3, [0, 1]) == one

    def test_screens(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The same bits as single tests, in blocks of any size."""
        random = np.random.default_rng(6)
        data = random_table(random, 50, [3, 2, 9, 4, 1, 2, 17, 9, 2, 3, 40], 0.4)
        test = X2Moments(data)
        for given in ((), (1,), (1, 9)):
            candidates = np.array([k for k in random.permutation(11) if k not in (0, *given)], np.uint32)
            plain = IndependenceTest.screen(test, 0, candidates, given)
            for block in (1, 500, 1 << 20):
                monkeypatch.setattr(module, "_BLOCK", block)
                found = test.screen(0, candidates, given)
                for name in ("xs", "statistic", "dof", "reliable", "log_p"):
                    np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
            assert 0 < plain.performed < len(plain)
        assert len(test.screen(0, [], ())) == 0

    def test_refuses_numbers(self) -> None:
        numbers = serape.Table({"a": [0.5, 1.5, 2.5], "b": [0, 1, 0]})
        with pytest.raises(serape.DataError, match="'x2-moments' needs categorical columns, but 'a' is continuous"):
            X2Moments(numbers).check(range(2))


class TestSemiParametric:
    def test_counts_where_it_can_and_fits_the_rest(self) -> None:
        """The same permutations as the permutation test; below its smallest p, SciPy's chi-square of their moments."""
        random = np.random.default_rng(3)
        kinds = set()
        for share in (0.0, 0.2, 0.4, 0.9) * 5:
            data = random_table(random, 60, [3, 3, 2], share)
            found = SemiParametric(data, 100).test(0, 1, [2])
            counted = Permutation(data, permutations=100).test(0, 1, [2])
            assert (found.statistic, found.dof, found.reliable) == (counted.statistic, counted.dof, True)
            fitted = counted.p < 1.5 / 101
            kinds.add(fitted)
            if not fitted:
                assert found.p == counted.p
                continue
            test = SemiParametric(data, 100)
            draw = test._tables(test._random(0, 1, [2]), 0, 1, [2])
            drawn = found.statistic + 2 * (draw(100) - draw(0))
            scale = drawn.var() / (2 * drawn.mean())
            expected = stats.chi2.logsf(found.statistic / scale, drawn.mean() / scale)
            assert found.log_p == pytest.approx(min(expected, -math.log(101)), rel=1e-9)
        assert kinds == {True, False}

    def test_ranks_strong_associations(self) -> None:
        random = np.random.default_rng(4)
        x = random.integers(2, size=200)
        noise = random.random(200)
        data = table(x=x, near=np.where(noise < 0.02, 1 - x, x), far=np.where(noise < 0.2, 1 - x, x))
        semi, counted = SemiParametric(data), Permutation(data, permutations=200)
        assert counted.test(0, 1).p == counted.test(0, 2).p == 1 / 201
        assert semi.test(0, 1).log_p < 2 * semi.test(0, 2).log_p < math.log(1e-8)

    def test_all_permutations_alike(self) -> None:
        """One row apart from the rest in x and in y, the same row: permutations seldom put them together again."""
        apart = [1] + [0] * 9999
        found = SemiParametric(table(x=apart, y=apart), 5).test(0, 1)
        assert found.p == pytest.approx(1 / 6)

    def test_the_same_from_either_side_after_any_other(self) -> None:
        data = random_table(np.random.default_rng(5), 100, [3, 3, 2, 4], 0.5)
        one, other = SemiParametric(data), SemiParametric(data)
        answers = [one.test(0, 1, (2,)), one.test(2, 3, ()), one.test(1, 3, (0, 2))]
        assert [other.test(3, 1, (2, 0)), other.test(3, 2), other.test(1, 0, (2,))] == answers[::-1]

    @pytest.mark.parametrize("statistic", [0.0, 3.0, 40.0])
    def test_scaled_chi_square(self, statistic: float) -> None:
        """Mean 6 and variance 4 are those of a gamma distribution of shape 9 and scale 2/3."""
        expected = stats.gamma.logsf(statistic, 9, scale=2 / 3)
        found = scaled_chi_square_log_sf(*(np.array([value]) for value in (statistic, 6.0, 4.0)))
        assert float(found[0]) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def shrunken(counts: NDArray[np.float64]) -> float:
    """Return 2n times the conditional mutual information of the shrunken table; axes x, y, z."""
    n, cells = counts.sum(), counts.size
    share = counts / n
    weight = min(1.0, (1 - (share**2).sum()) / ((n - 1) * ((share - 1 / cells) ** 2).sum()))
    q = weight / cells + (1 - weight) * share
    ratio = q * q.sum(axis=(0, 1)) / (q.sum(axis=0) * q.sum(axis=1, keepdims=True))
    seen = q > 0
    return float(2 * n * (q[seen] * np.log(ratio[seen])).sum())


class TestShrinkage:
    @pytest.mark.parametrize("rows", [10, 40, 800])
    def test_against_the_formula(self, rows: int) -> None:
        data = random_table(np.random.default_rng(rows), rows, [3, 4, 2], 0.5)
        counts = np.zeros([data.levels(k) for k in range(3)])
        np.add.at(counts, tuple(data.packed.codes(k).astype(int) for k in range(3)), 1)
        found = ShrunkenG2(data).test(0, 1, [2])
        assert found.statistic == pytest.approx(shrunken(counts), rel=1e-9, abs=1e-9)
        assert found.log_p == pytest.approx(stats.chi2.logsf(found.statistic, found.dof), rel=1e-9, abs=1e-12)
        plain = G2(data).test(0, 1, [2])
        assert (found.dof, found.reliable) == (plain.dof, plain.reliable)
        assert found.statistic < plain.statistic

    def test_a_uniform_table_and_a_single_cell(self) -> None:
        even = table(x=[0, 0, 1, 1], y=[0, 1, 0, 1])
        assert ShrunkenG2(even).test(0, 1).statistic == 0
        data = serape.Table({"x": [0, 0, 0], "y": [1, 1, 1]}, kinds="categorical")
        found = ShrunkenG2(data).test(0, 1)
        assert (found.dof, found.reliable) == (0, False)
        assert math.isnan(found.p)

    def test_takes_the_rules(self) -> None:
        data = random_table(np.random.default_rng(7), 30, [4, 4, 3], 0.5)
        names = {"dof": "adjusted", "reliability": None}
        found, plain = (make_test(data, test, **names).test(0, 1, [2]) for test in ("g2-shrinkage", "g2"))  # type: ignore[arg-type]
        assert (found.dof, found.reliable) == (plain.dof, True)
        assert not make_test(data, "g2-shrinkage").test(0, 1, [2]).reliable


def rejections(name: str, levels: int, conditioning: int, tables: int = 500) -> float:
    """Return the rate at 0.05 in 40 rows of independent columns with uneven levels."""
    random = np.random.default_rng([levels, conditioning])
    hits = 0
    for _ in range(tables):
        columns = [random.choice(k, 40, p=random.dirichlet(np.ones(k))) for k in (levels, levels, 2, 3)]
        data = serape.Table(np.stack(columns, axis=1), kinds="categorical")
        found = make_test(data, name, reliability=None).test(0, 1, tuple(range(2, 2 + conditioning)))
        hits += found.p <= 0.05
    return hits / tables


@pytest.mark.parametrize(("levels", "conditioning"), [(2, 1), (3, 2), (8, 0), (8, 2)])
@pytest.mark.parametrize("name", ["x2-moments", "g2-semiparametric"])
def test_size(name: str, levels: int, conditioning: int) -> None:
    """500 tests of size 0.05 give at most 0.08 but once in a thousand times."""
    tables = 500 if name == "x2-moments" else 150
    assert rejections(name, levels, conditioning, tables) <= stats.binom.isf(0.001, tables, 0.055) / tables


def test_the_asymptotic_test_has_the_wrong_size() -> None:
    assert rejections("g2", 8, 2) == 0
    assert rejections("x2-moments", 8, 2) > 0.02
