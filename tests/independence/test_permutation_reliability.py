"""Permutation tests: which are reliable, what is refused."""

import math
from typing import Any

import numpy as np
import pytest

import serape
from serape.independence import G2
from serape.independence.permutation import Permutation


class TestReliability:
    def test_small_samples_are(self) -> None:
        table = serape.Table({"x": [0, 1, 0], "y": [0, 1, 1]})
        assert Permutation(table).test(0, 1).reliable
        assert not G2(table).test(0, 1).reliable

    def test_nothing_to_permute(self) -> None:
        z = np.arange(40) % 2
        table = serape.Table({"x": z, "y": np.arange(40) // 20, "z": z, "same": np.zeros(40, int)})
        for x, y, given in ((0, 1, [2]), (0, 3, [])):
            found = Permutation(table).test(x, y, given)
            assert (found.dof, found.reliable) == (0, False)
            assert math.isnan(found.p)

    def test_determined(self) -> None:
        data = np.random.default_rng(11).normal(size=(30, 4))
        data[:, 3] = data[:, 1] - 2 * data[:, 2]
        table = serape.Table(np.column_stack([data, np.ones(30)]), kinds="continuous")
        test = Permutation(table, "correlation")
        for x, y, given in ((0, 3, [1, 2]), (3, 0, [1, 2]), (0, 4, []), (4, 0, [1])):
            found = test.test(x, y, given)
            assert not found.reliable
            assert math.isnan(found.p)
        assert test.test(0, 3, [1]).reliable
        assert test.test(1, 3).p < 0.01

    def test_too_few_rows_for_a_correlation(self) -> None:
        test = Permutation(serape.Table(np.random.default_rng(12).normal(size=(4, 4))), "correlation")
        assert test.test(0, 1, [2]).reliable
        assert not test.test(0, 1, [2, 3]).reliable
        assert test.test(0, 1, [2, 3]).dof == 0


class TestBadUse:
    table = serape.Table({"a": [0, 1, 0], "b": [0.5, 1.5, 2.5], "c": ["u", "v", "u"]})

    def test_kinds_of_columns(self) -> None:
        with pytest.raises(serape.DataError, match="'g2-permutation' needs categorical columns, but 'b' is continuous"):
            Permutation(self.table).check(range(3))
        with pytest.raises(
            serape.DataError, match="'correlation-permutation' needs continuous columns, but 'a', 'c' are"
        ):
            Permutation(self.table, "correlation").check(range(3))
        Permutation(self.table).check((0, 2))
        Permutation(self.table, "correlation").check([1])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"statistic": "x2"}, "statistic='x2' is not known; use 'g2' or 'correlation'"),
            ({"permutations": 0}, "permutations must be a whole number from 1 on, not 0"),
            ({"permutations": 10.5}, "permutations must be"),
            ({"seed": -1}, "seed must be a whole number from 0 on, not -1"),
            ({"seed": None}, "seed must be"),
        ],
    )
    def test_options(self, options: Any, message: str) -> None:
        with pytest.raises(serape.OptionError, match=message):
            Permutation(self.table, **options)
