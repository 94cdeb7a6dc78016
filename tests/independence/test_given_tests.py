"""Many tests in arrays, each with a conditioning set of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import serape
from gpu.tables import categorical
from serape.data.all_columns import all_constant, all_levels
from serape.engines import PlainEngine
from serape.independence import G2, X2
from serape.independence.counted import CountedTest
from serape.independence.effects import Effects
from serape.independence.given_tests import GivenTests, VariableSets


@pytest.mark.parametrize("kind", [G2, X2])
@pytest.mark.parametrize("threads", [1, 3])
def test_effects_in_one_call_are_those_of_groups(random: np.random.Generator, kind: Any, threads: int) -> None:
    table = categorical(random, 8, 150, (2, 3, 4, 12))
    test = kind(table, reliability=None)
    asked = [random.permutation(8)[: 2 + random.integers(0, 4)].tolist() for _ in range(40)]
    tests = [test.test(y, x, given) for x, y, *given in asked]
    kept = [k for k, outcome in enumerate(tests) if outcome.reliable]
    asked, tests = [asked[k] for k in kept], [tests[k] for k in kept]
    x, y = (np.array([one[k] for one in asked], np.uint32) for k in (0, 1))
    numbers = np.array([[outcome.statistic, outcome.dof, outcome.log_p] for outcome in tests]).T
    sets = VariableSets.of([one[2:] for one in asked])
    found = test.effects_of(
        x, y, GivenTests(numbers[0].copy(), numbers[1].copy(), numbers[2].copy(), sets), threads=threads
    )
    assert found is not None
    groups = [(a, [b], tuple(rest), [t.statistic], [t.dof]) for (a, b, *rest), t in zip(asked, tests, strict=True)]
    plain = test.effects_each(groups)
    for name in ("bits", "value", "measure"):
        assert np.array_equal(getattr(found, name), getattr(plain, name), equal_nan=name == "value"), name


class Halved(G2):
    """A test of a caller with effects of its own."""

    def effects(self, *asked: Any) -> Effects:
        found = super().effects(*asked)
        return Effects(found.bits / 2, found.value, found.measure)


def test_effects_of_a_caller_and_of_an_engine_are_asked_in_groups(random: np.random.Generator) -> None:
    table = categorical(random, 4, 150, (2, 3))
    one = np.zeros(1, np.uint32)
    tests = GivenTests(np.ones(1), np.ones(1), np.ones(1), VariableSets.of([()]))
    groups = [(0, [1, 2], (), [3.0, 4.0], [1.0, 1.0]), (1, [3], (0,), [5.0], [2.0])]
    expected = G2(table).effects_each(groups)
    for test, share in ((Halved(table), 2), (CountedTest(PlainEngine(table)), 1)):
        assert test.effects_of(one, one + 1, tests) is None
        assert np.array_equal(test.effects_each(groups).bits * share, expected.bits)


def test_sets_one_after_another() -> None:
    listed = [(7, 9), (), (1,), (2, 3, 4)]
    sets = VariableSets.of(listed)
    assert list(sets) == [sets[k] for k in range(4)] == listed
    assert list(sets[1:3]) == listed[1:3]
    assert list(sets[::-1]) == listed[::-1]
    assert list(sets.at(np.array([3, 0]))) == [listed[3], listed[0]]
    assert len(sets[4:]) == 0


def test_levels_of_all_columns(random: np.random.Generator) -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "declared": pd.Categorical(["a"] * 50, categories=["a", "b", "c"]),
            "constant": ["x"] * 50,
            "number": random.normal(size=50),
            "level": random.integers(0, 4, 50).astype(str),
        }
    )
    for table in (serape.Table(frame), categorical(random, 9, 40, (1, 2, 5))):
        every = range(len(table.names))
        assert all_levels(table).tolist() == [table.levels(k) for k in every]
        assert all_constant(table).tolist() == [table.is_constant(k) for k in every]
