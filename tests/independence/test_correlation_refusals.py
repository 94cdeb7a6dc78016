"""Correlations of few rows, constant, collinear and categorical columns."""

import math
from typing import Any, ClassVar

import numpy as np
import pytest

import serape
from plain_correlations import RANKS, TESTS, correlated, reference, table_of
from serape import _core
from serape.independence.partial_correlation import (
    FisherZ,
    PartialCorrelation,
)
from serape.independence.subset_query import SubsetQuery


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
def test_smallest_residual_that_is_tested(noise: float, reliable: bool) -> None:
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

    def test_a_pool_names_each_variable_once(self) -> None:
        with pytest.raises(ValueError, match="twice"):
            FisherZ(table_of(correlated(14, 20, 4))).search_subsets(SubsetQuery([0], 1, [2, 3, 2], range(2)))

    def test_sizes_by_one(self) -> None:
        with pytest.raises(serape.OptionError, match="step 1"):
            FisherZ(table_of(correlated(15, 20, 4))).search_subsets(SubsetQuery([0], 1, [2, 3], range(0, 3, 2)))

    def test_columns_of_other_lengths(self) -> None:
        native = _core.GaussianTest(5, 1, "fisher-z")
        with pytest.raises(ValueError, match="every row"):
            native.append(np.zeros(4))
