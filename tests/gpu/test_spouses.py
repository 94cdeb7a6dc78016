"""HPC's search for spouses on a device, against the core."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import serape
from gpu.runs import differences
from gpu.test_searches import answer, both, check_same
from serape.engines.gpu.device import Device
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.spouses import DeviceSpouses
from serape.independence import G2, answering, device_separations, elsewhere
from serape.independence.backends import Shape
from serape.independence.screens import CandidateGroups
from serape.independence.subset_query import SubsetQuery
from serape.local.hpc import de_pcs
from serape.search import Search

RULES: list[tuple[Any, Any]] = [("full", "dof"), ("adjusted", "dof"), ("adjusted", None)]


def binary(random: np.random.Generator, columns: int, rows: int) -> serape.Table:
    """Return binary columns, most of them rare, that depend on a few hidden numbers; some are copies."""
    hidden = random.normal(size=(rows, 3))
    values = hidden[:, random.integers(3, size=columns)] * random.uniform(0.0, 1.5, columns)
    limits = random.uniform(0.0, 2.0, columns)
    values[:, 0], limits[0] = hidden.sum(axis=1), 0.5  # the target
    codes = values + random.normal(size=(rows, columns)) > limits
    codes[0], codes[1] = True, False  # so that all have two levels
    codes[:, -3:] = codes[:, :3]
    return serape.Table(codes.astype(np.uint8))


def groups_of(random: np.random.Generator, columns: int) -> tuple[CandidateGroups, list[int]]:
    """Return groups given nothing and given one variable, and children."""
    children = list(range(1, 7))
    others = random.permutation(np.arange(7, columns))
    parts = np.array_split(others, [columns // 2, columns // 2 + 10, columns // 2 + 11])
    given: list[tuple[int, ...]] = [(), (2,), (5,), (9,)]
    return CandidateGroups((np.sort(part).astype(np.uint32), z) for part, z in zip(parts, given, strict=True)), children


@pytest.mark.parametrize(
    ("dof", "reliability", "rows"), [("full", "dof", 70), ("adjusted", None, 70), ("adjusted", "dof", 2500)]
)
def test_spouses_are_those_of_the_core(
    device: Device, random: np.random.Generator, dof: Any, reliability: Any, rows: int
) -> None:
    columns = 80
    core, ours = both(device, binary(random, columns, rows), dof, reliability)
    groups, children = groups_of(random, columns)
    asked: dict[str, Any] = {"as_written": False, "max_size": None}
    log_alpha = math.log(0.05)
    found = [answer(test, Shape("spouses"), 0, groups, children, log_alpha, **asked) for test in (core, ours)]
    assert max(len(dependents) for dependents, *_ in found[0]) > 20
    for a, b in zip(*found, strict=True):
        assert list(a[0]) == list(b[0])
        assert a[1] == b[1]
        if len(a[0]) > 1:
            check_same(a[2:], b[2:])
            assert sorted(a[2].separations(log_alpha)) == sorted(b[2].separations(log_alpha))
            assert a[2].survivors == b[2].survivors


def test_the_device_answers_most_children(
    device: Device, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_core: list[int] = []
    find: Callable[..., Any] = DeviceSpouses.find

    def counted(*arguments: Any) -> Any:
        found = find(*arguments)
        asked_core.append(sum(one is None for one in found))
        return found

    monkeypatch.setattr(DeviceSpouses, "find", counted)
    _, ours = both(device, binary(random, 100, 300), "adjusted", "dof")
    groups, children = groups_of(random, 100)
    answer(ours, Shape("spouses"), 0, groups, children, math.log(0.05), as_written=False, max_size=None)
    assert asked_core == [0]


@pytest.mark.parametrize(("dof", "reliability"), RULES)
def test_separations_of_a_pool_are_those_of_the_core(
    device: Device, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch, dof: Any, reliability: Any
) -> None:
    monkeypatch.setattr(elsewhere, "LARGE_POOL", 2)
    core, ours = both(device, binary(random, 60, 300), dof, reliability)
    pool = core.screen(0, range(1, 60)).dependents(math.log(0.05))
    assert len(pool) > 20
    query = SubsetQuery(pool[::-1], 0, pool, range(1, 2), stop_above=math.log(0.05), shrinking=True)
    found = [answering.search_subsets(test, query) for test in (core, ours)]
    assert isinstance(found[1][0], device_separations.DeviceSeparationResult)
    check_same(*found)
    by_set = [{given: xs.tolist() for given, xs in one.separated_by_set(math.log(0.05)).items()} for one, _ in found]
    assert list(by_set[0].items()) == list(by_set[1].items())


def test_searches_ask_the_device(device: Device, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    kernel = elsewhere.ELSEWHERE["planes", "subsets"]

    def counted(test: G2, planes: DevicePlanes, query: SubsetQuery, **options: Any) -> Any:
        asked.append(query.target)
        return kernel.answer(test, planes, query, **options)

    monkeypatch.setattr(elsewhere, "LARGE_POOL", 2)
    monkeypatch.setattr(
        elsewhere, "ELSEWHERE", {**elsewhere.ELSEWHERE, ("planes", "subsets"): replace(kernel, answer=counted)}
    )
    core, ours = both(device, binary(random, 60, 300), "adjusted", "dof")
    found = [de_pcs(Search(test, alpha=0.05), 0)[0] for test in (core, ours)]
    assert found[0] == found[1]
    assert asked == [0]


@pytest.mark.parametrize("order", ["strength", "as-written"])
@pytest.mark.usefixtures("on_device")
def test_hpc_finds_the_same(random: np.random.Generator, order: str) -> None:
    table = binary(random, 80, 400)
    settings: dict[str, Any] = {"algorithm": "hpc", "alpha": 0.05, "fdr": None, "order": order}
    found = [serape.parents_children(table, 4, engine=engine, **settings) for engine in ("cpu", "gpu")]
    assert differences(*found) == []
