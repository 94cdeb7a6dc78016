"""Subset searches on a device, against the core."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gpu.tables import categorical
from serape.engines.gpu.device import Device
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.subsets import DeviceSubsets
from serape.independence import G2
from serape.independence.answering import at_once, who_answers
from serape.independence.backends import Shape
from serape.independence.outcomes import Tally
from serape.independence.subset_query import TargetLists
from serape.independence.subsets import SubsetResult

RULES: list[tuple[Any, Any]] = [("full", "dof"), ("adjusted", "dof"), ("full", None), ("adjusted", "cells")]


def both(device: Device, table: Any, dof: Any, reliability: Any) -> tuple[G2, G2]:
    """Return the test in the core, and on the device."""
    core, ours = (G2(table, dof=dof, reliability=reliability) for _ in range(2))
    ours.keep_on_device(DevicePlanes(device, table.packed))
    return core, ours


def answer(test: G2, shape: Shape, *asked: Any, **options: Any) -> Any:
    """Return the answer of whoever is chosen."""
    assert who_answers(test, shape) == ("core" if test.device_columns is None else "device")
    ask = at_once(test, shape)
    assert ask is not None
    return ask(*asked, **options)


def check_same(core: tuple[SubsetResult, Tally], ours: tuple[SubsetResult, Tally]) -> None:
    assert core[1] == ours[1]
    for name in ("xs", "statistic", "dof", "log_p", "reliable", "separated"):
        a, b = getattr(core[0], name), getattr(ours[0], name)
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), name
    assert [core[0].given_of(k) for k in range(len(core[0]))] == [ours[0].given_of(k) for k in range(len(ours[0]))]


def ask(random: np.random.Generator, columns: int) -> tuple[TargetLists, TargetLists]:
    asked, pools = {}, {}
    for x in range(columns):
        others = [y for y in random.permutation(columns).tolist() if y != x]
        pools[x], asked[x] = others[: random.integers(0, 6)], others[-3:]
    return TargetLists.of(asked), TargetLists.of(pools)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize(("dof", "reliability"), RULES)
def test_subset_searches_are_those_of_the_core(
    device: Device, random: np.random.Generator, size: int, dof: Any, reliability: Any
) -> None:
    for rows in (40, 150, 1500):
        core, ours = both(device, categorical(random, 9, rows, (1, 2, 2, 3, 4, 8)), dof, reliability)
        lists = ask(random, 9)
        arguments: dict[str, Any] = {"max_size": None, "stop_above": math.log(0.05)}
        shape = Shape("subsets of many", sizes=range(size, size + 1))
        check_same(*(answer(test, shape, *lists, size, **arguments) for test in (core, ours)))


def test_the_device_answers_most_searches(
    device: Device, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_core: list[int] = []
    search: Callable[..., Any] = DeviceSubsets.search_each

    def counted(*arguments: Any) -> Any:
        found = search(*arguments)
        asked_core.append(int((found.verdict == 3).sum()))
        return found

    monkeypatch.setattr(DeviceSubsets, "search_each", counted)
    _, ours = both(device, categorical(random, 12, 500, (2, 3)), "full", "dof")
    lists = ask(random, 12)
    found, _ = answer(ours, Shape("subsets of many"), *lists, 1, max_size=None, stop_above=math.log(0.05))
    assert asked_core == [0]
    assert len(found) == 36
