"""All pairs at once: the fast way against screens, and what comes of ties, copies and constants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import serape
from serape import _core
from serape.independence import G2
from serape.questions.pairs import _by_screens, _of_few_levels
from serape.questions.run import Run
from serape.results.pairs import Pairs
from serape.settings import RunSettings


def plain(table: serape.Table, alpha: float, strongest: int) -> Pairs:
    """One screen for each variable."""
    test = G2(table)
    return _by_screens(test, alpha, strongest, Run(RunSettings(progress=False), test))


def same(one: Pairs, other: Pairs) -> None:
    assert one.dependents.tolist() == other.dependents.tolist()
    assert one.indices.tolist() == other.indices.tolist()
    np.testing.assert_allclose(one.log_p, other.log_p, rtol=1e-12)
    assert one.tests == other.tests


def binary(random: np.random.Generator, rows: int, columns: int) -> serape.Table:
    """Draw columns of all densities that depend on each other, some of them copies or opposites."""
    causes = random.random((rows, 5))
    values = 0.7 * random.random((rows, columns)) + 0.3 * causes[:, random.integers(5, size=columns)]
    codes = (values < 1.1 * random.random(columns)).astype(np.uint8)
    for _ in range(columns // 5):
        a, b = random.integers(columns, size=2)
        codes[:, a] = codes[:, b] ^ random.integers(2)
    return serape.Table(codes, kinds={f"x{k}": "categorical" for k in range(columns)})


@given(
    seed=st.integers(0, 10**6),
    rows=st.sampled_from([2, 5, 30, 64, 200, 1000]),
    columns=st.sampled_from([2, 3, 40, 511, 513, 700]),
    alpha=st.sampled_from([0.9, 0.05, 1e-6]),
    strongest=st.integers(0, 6),
    threads=st.sampled_from([1, 2]),
)
@settings(max_examples=40, deadline=None)
def test_fast_way_is_a_screen_for_each(
    seed: int, rows: int, columns: int, alpha: float, strongest: int, threads: int
) -> None:
    table = binary(np.random.default_rng(seed), rows, columns)
    same(serape.all_pairs(table, alpha=alpha, strongest=strongest, n_jobs=threads), plain(table, alpha, strongest))


@pytest.mark.parametrize("name", _core.instruction_sets())
def test_instruction_sets_agree(name: str) -> None:
    table = binary(np.random.default_rng(1), 300, 600)
    before = _core.instruction_set()
    try:
        _core.use_instruction_set(name)
        same(serape.all_pairs(table), plain(table, 0.01, 10))
    finally:
        _core.use_instruction_set(before)


def test_any_kind_of_column() -> None:
    random = np.random.default_rng(2)
    x = random.normal(size=500)
    data = {"x": x, "y": x + random.normal(size=500), "far": random.normal(size=500), "sign": np.where(x > 0, "+", "-")}
    found = serape.all_pairs(data, alpha=0.001, strongest=2, n_jobs=2)
    assert found.test == "residuals"
    assert found.dependents.tolist() == [2, 2, 0, 2]
    assert found.tests == 6
    assert found.partners("x")["variable"] == ["sign", "y"]
    assert len(found.partners("far")) == 0
    rows = list(found.records)
    assert rows[0]["strongest"] == "sign"
    assert rows[2]["strongest"] == ""
    assert math.isnan(rows[2]["log_p"])


def test_log_p_is_that_of_the_test() -> None:
    table = serape.load_network("asia").sample(2000, seed=1)
    found = serape.all_pairs(table, strongest=3)
    for name in table.names:
        for partner in found.partners(name):
            assert partner["log_p"] == serape.ci_test(table, name, partner["variable"]).log_p


@pytest.mark.parametrize(
    ("options", "told"),
    [({"alpha": 0}, "alpha must be"), ({"strongest": -1}, "strongest must"), ({"n_jobs": 0}, "n_jobs must")],
)
def test_refusals(options: dict[str, Any], told: str) -> None:
    with pytest.raises(serape.OptionError, match=told):
        serape.all_pairs({"a": [0, 1], "b": [1, 0]}, **options)


def test_no_such_variable() -> None:
    with pytest.raises(serape.OptionError, match="no variable 'c'"):
        serape.all_pairs({"a": [0, 1] * 9, "b": [1, 0] * 9}).partners("c")


def of_levels(random: np.random.Generator, rows: int, columns: int, most: int) -> serape.Table:
    """Draw columns of up to so many levels, some of them rare or without rows; some columns are constant or copies."""
    causes = random.random((4 * rows, 3))
    codes = np.empty((4 * rows, columns), np.uint8)
    for k in range(columns):
        cuts = np.sort(random.random(int(random.integers(most))) ** random.integers(1, 4))
        codes[:, k] = np.searchsorted(cuts, 0.6 * random.random(4 * rows) + 0.4 * causes[:, k % 3])
    for _ in range(columns // 10):
        a, b = random.integers(columns, size=2)
        codes[:, a] = codes[:, b]
    table = serape.Table(codes, kinds={f"x{k}": "categorical" for k in range(columns)})
    return table.part(range(columns), np.arange(rows))


SHAPES = {
    "seed": st.integers(0, 10**6),
    "rows": st.sampled_from([2, 9, 30, 64, 200, 1000]),
    "columns": st.sampled_from([2, 3, 40, 165, 300]),
    "most": st.sampled_from([2, 3, 4, 8]),
    "alpha": st.sampled_from([0.9, 0.05, 1e-3, 1e-9]),
    "dof": st.sampled_from(["full", "adjusted"]),
    "reliability": st.sampled_from(["dof", "cells", None]),
    "threads": st.sampled_from([1, 3]),
}


@given(**SHAPES, strongest=st.integers(0, 6))
@settings(max_examples=60, deadline=None)
def test_few_levels_are_a_screen_for_each(
    seed: int,
    rows: int,
    columns: int,
    most: int,
    alpha: float,
    dof: Any,
    reliability: Any,
    threads: int,
    strongest: int,
) -> None:
    test = G2(of_levels(np.random.default_rng(seed), rows, columns, most), dof, reliability)
    expected = _by_screens(test, alpha, strongest, Run(RunSettings(progress=False), test))
    same(_of_few_levels(test, alpha, strongest, threads), expected)


@pytest.mark.parametrize("name", _core.instruction_sets())
def test_instruction_sets_agree_on_few_levels(name: str) -> None:
    test = G2(of_levels(np.random.default_rng(1), 300, 600, 8), "adjusted", None)
    expected = _by_screens(test, 0.01, 10, Run(RunSettings(progress=False), test))
    before = _core.instruction_set()
    try:
        _core.use_instruction_set(name)
        same(_of_few_levels(test, 0.01, 10, 2), expected)
    finally:
        _core.use_instruction_set(before)


def test_extreme_counts_of_few_levels() -> None:
    """Levels of one row, and of nearly all rows of the longest table, where single precision is weakest."""
    random = np.random.default_rng(3)
    rows = 65_528
    codes = np.zeros((rows, 24), np.uint8)
    for k in range(24):
        share = 10.0 ** -random.uniform(0, 5, size=1 + k % 4)
        codes[:, k] = (random.random((rows, len(share))) < share).sum(axis=1)
        codes[k, k] = 1
    codes[:, 1::2] = np.where(random.random((rows, 12)) < 0.98, codes[:, 1::2], codes[:, ::2])
    test = G2(serape.Table(codes, kinds={f"x{k}": "categorical" for k in range(24)}))
    for alpha in (0.5, 0.05, 1e-4):
        same(_of_few_levels(test, alpha, 5, 2), _by_screens(test, alpha, 5, Run(RunSettings(progress=False), test)))
