"""The test for mixed columns: small cells, degenerate columns, memory."""

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import serape
from serape import Table
from serape.independence.mixed import ConditionalGaussian


class TestSmallCells:
    def test_a_level_too_small_is_left_out(self) -> None:
        """The rare level of x changes nothing; its rows are not used."""
        random = np.random.default_rng(8)
        x, y = random.integers(2, size=200), random.normal(size=200)
        before = ConditionalGaussian(Table({"x": x, "y": y})).test(0, 1)
        rare = {"x": [*x, 2, 2], "y": [*y, 100.0, -3.0]}
        after = ConditionalGaussian(Table(rare)).test(0, 1)
        assert after.statistic == pytest.approx(before.statistic, rel=1e-9)
        assert (after.dof, after.rows) == (2, 200)

    def test_a_constant_cell_is_left_out(self) -> None:
        """A likelihood would be infinite there: not evidence, however."""
        random = np.random.default_rng(9)
        x, y = np.repeat([0, 1, 2], 50), random.normal(size=150)
        y[100:] = 0.1
        found = ConditionalGaussian(Table({"x": x, "y": y})).test(0, 1)
        assert (found.dof, found.rows) == (2, 100)
        assert found.p > 0.01

    def test_a_stratum_too_small_is_left_out(self) -> None:
        random = np.random.default_rng(10)
        u, v = random.normal(size=(2, 100))
        z = np.repeat([0, 1], [97, 3])
        found = ConditionalGaussian(Table({"u": u, "v": v, "z": z})).test(0, 1, (2,))
        r = np.corrcoef(u[:97], v[:97])[0, 1]
        assert found.statistic == pytest.approx(-97 * math.log(1 - r * r), rel=1e-9)
        assert (found.dof, found.rows) == (1, 97)

    def test_a_level_that_is_never_alone_with_others_tells_nothing(self) -> None:
        """Rows of r are alike in u, and all of them k: among these y does not vary."""
        x, y = ["p", "q", "p", "q"] * 20 + ["r"] * 80, ["k", "l", "l", "l"] * 20 + ["k"] * 80
        u = np.concatenate([np.random.default_rng(11).normal(size=80), 100.0 + np.arange(80)])
        found = ConditionalGaussian(Table({"x": x, "y": y, "u": u})).test(0, 1, (2,))
        assert (found.dof, found.rows) == (1, 160)

    def test_rows_for_each_degree_of_freedom(self) -> None:
        """x of 3 levels: 4 degrees of freedom ask for 20 rows."""
        random = np.random.default_rng(12)
        for rows, reliable in [(19, False), (20, True)]:
            found = ConditionalGaussian(Table({"x": np.arange(rows) % 3, "y": random.normal(size=rows)})).test(0, 1)
            assert found.dof == 4
            assert found.reliable == reliable
        assert (
            ConditionalGaussian(Table({"x": np.arange(19) % 3, "y": random.normal(size=19)}), 4.0).test(0, 1).reliable
        )

    def test_strata_that_never_occur_count_for_reliability(self) -> None:
        """As in g2: 5 rows for each full degree of freedom."""
        random = np.random.default_rng(13)
        z = random.integers(12, size=100)
        table = Table({"u": random.normal(size=100), "v": random.normal(size=100), "z": z, "w": z})
        assert ConditionalGaussian(table).test(0, 1, (2,)).reliable
        assert not ConditionalGaussian(table).test(0, 1, (2, 3)).reliable


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
                "c": pd.Categorical(["only"] * rows, categories=["only", "never"]),
                "one": np.full(rows, 0.1),
                "id": [f"i{k}" for k in range(rows)],
                "huge": u * 1e307,
                "tiny": u * 1e-310,
            },
            kinds={"of a": "continuous", "one": "continuous"},
        )

    @pytest.mark.parametrize("rows", [2, 3, 5, 9, 30, 200])
    def test_never_raises_nor_reliable_without_a_number(self, rows: int) -> None:
        table = self.columns(rows)
        test = ConditionalGaussian(table)
        n = len(table.names)
        test.check(range(n))
        for x, y in combinations(range(n), 2):
            for z in [(), *((k,) for k in range(n)), (0, 1), (0, 3, 4), (4, 5, 6), (7, 8), (9, 3)]:
                if x in z or y in z:
                    continue
                found = test.test(x, y, z)
                assert not math.isnan(found.statistic)
                assert found.statistic >= 0
                if found.reliable:
                    assert found.dof > 0
                    assert found.log_p <= 0
                constant = {table.position("c"), table.position("one")}
                if constant & {x, y}:
                    assert not found.reliable

    def test_a_copy_is_dependent(self) -> None:
        table = self.columns(200)
        for x, y in [("u", "copy"), ("u", "line"), ("a", "same")]:
            found = ConditionalGaussian(table).test(table.position(x), table.position(y))
            assert found.reliable
            assert found.log_p < -100

    def test_what_is_determined_by_the_given_is_not_tested(self) -> None:
        table = self.columns(200)
        test = ConditionalGaussian(table)
        for x, y, z in [("u", "v", "line"), ("a", "v", "same"), ("a", "same", "u"), ("u", "a", "copy")]:
            found = test.test(table.position(x), table.position(y), (table.position(z),))
            assert found.reliable == (z == "u"), (x, y, z)

    def test_missing_values_are_refused(self) -> None:
        table = Table({"u": [0.5, 1.5, 2.5], "v": [0.5, 0.7, 0.9]})
        table.numbers(1)[2] = math.nan
        test = ConditionalGaussian(table)
        test.check([0])
        with pytest.raises(serape.DataError, match="values are missing in 'v'"):
            test.check([0, 1])

    def test_bad_minimum(self) -> None:
        with pytest.raises(serape.OptionError):
            ConditionalGaussian(self.columns(5), minimum=0)


def test_memory_is_bounded_by_the_rows() -> None:
    """20 categorical variables of 20 levels have 10^26 cells."""
    random = np.random.default_rng(15)
    data = {f"c{k}": random.integers(20, size=2000) for k in range(20)}
    table = Table(data | {"u": random.normal(size=2000), "v": random.normal(size=2000)})
    test = ConditionalGaussian(table)
    tracemalloc.start()
    outcomes = [test.test(20, 21, range(20)), test.test(0, 21, range(1, 20)), test.test(0, 1, (20, *range(2, 20)))]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert not any(o.reliable for o in outcomes)
