"""All pairs on a device, against the core."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest

import serape
from gpu.tables import categorical
from serape import _core
from serape.engines.gpu import tiled
from serape.engines.gpu.device import Device
from serape.engines.gpu.pairs import DevicePairs, DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.tiled import TiledPairs, TiledPlanes
from serape.independence import G2

LOG_ALPHA = math.log(0.05)


def same(ours: Sequence[Any], core: Sequence[Any]) -> bool:
    return all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in zip(ours, core, strict=True))


@pytest.mark.parametrize("levels", [(1, 2, 2, 3), (5,)])
@pytest.mark.parametrize("dof", ["full", "adjusted"])
def test_dependent_pairs_are_those_of_the_core(
    device: Device, random: np.random.Generator, levels: tuple[int, ...], dof: Any
) -> None:
    for rows in (25, 90, 700):
        table = categorical(random, 45, rows, levels)
        test = G2(table, dof=dof)
        columns = np.arange(45, dtype=np.uint32)
        pairs = DevicePairs(DevicePlanes(device, table.packed), DeviceRules(dof, "dof", 5.0), columns, LOG_ALPHA)
        assert same(pairs.dependent(10**5), _core.dependent_pairs(test.native, columns, LOG_ALPHA, 10**5, 1))
        targets = random.permutation(45)[:9].astype(np.uint32)
        core = _core.PairBlocks(test.native, columns, LOG_ALPHA).of(targets, 10**5, 1)
        assert same(pairs.dependent_on(targets, 10**5), core)


def test_too_many_pairs_are_not_returned(device: Device, random: np.random.Generator) -> None:
    table = serape.Table(np.repeat(random.integers(0, 2, (50, 1)), 30, axis=1))
    pairs = DevicePairs(
        DevicePlanes(device, table.packed), DeviceRules("full", "dof", 5.0), np.arange(30, dtype=np.uint32), LOG_ALPHA
    )
    assert pairs.dependent(10)[0] is False
    complete, start, partners, _, _ = pairs.dependent(30 * 29 // 2)
    assert complete
    assert len(partners) == 30 * 29
    assert start.tolist() == list(range(0, 30 * 29 + 1, 29))


@pytest.mark.parametrize("strongest", [0, 3, 7])
def test_strongest_pairs_are_those_of_the_core(device: Device, random: np.random.Generator, strongest: int) -> None:
    table = categorical(random, 40, 300, (2, 2, 3))
    columns = np.arange(40, dtype=np.uint32)
    pairs = DevicePairs(DevicePlanes(device, table.packed), DeviceRules("full", "dof", 5.0), columns, LOG_ALPHA)
    core = _core.strongest_pairs(G2(table).native, columns, LOG_ALPHA, strongest, 1)
    assert same(pairs.strongest(strongest), core)


@pytest.mark.parametrize("columns_in_memory", [10, 36])
def test_a_table_larger_than_the_memory_is_tested_in_tiles(
    device: Device, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch, columns_in_memory: int
) -> None:
    there: WeakSet[DevicePlanes] = WeakSet()

    def send(*arguments: Any) -> DevicePlanes:
        assert not there, "blocks leave the device before others are sent"
        sent = DevicePlanes(*arguments)
        there.add(sent)
        return sent

    monkeypatch.setattr(tiled, "DevicePlanes", send)
    table = categorical(random, 45, 200, (1, 2, 2, 3))
    test = G2(table)
    tiles = TiledPlanes.of(device, table.packed, columns_in_memory * 3 * 32 * 4)
    assert tiles is not None
    assert tiles.block_of.max() > 0
    columns = np.delete(np.arange(45, dtype=np.uint32), [3, 30])
    pairs = TiledPairs(tiles, DeviceRules("full", "dof", 5.0), columns, LOG_ALPHA)
    assert same(pairs.dependent(10**5), _core.dependent_pairs(test.native, columns, LOG_ALPHA, 10**5, 1))
    assert pairs.dependent(3)[0] is False
    targets = random.permutation(columns)[:9]
    core = _core.PairBlocks(test.native, columns, LOG_ALPHA).of(targets, 10**5, 1)
    assert same(pairs.dependent_on(targets, 10**5), core)
    assert same(pairs.strongest(3), _core.strongest_pairs(test.native, columns, LOG_ALPHA, 3, 1))


@pytest.mark.parametrize("strongest", [1, 4])
def test_ties_of_binary_columns_are_those_of_the_core(
    device: Device, random: np.random.Generator, strongest: int
) -> None:
    for rows in (30, 60, 2500):
        base = random.random((rows, 12)) < random.choice([0.05, 0.1, 0.5], 12)
        flipped = random.random((rows, 300)) < 0.01 * random.integers(0, 2, 300)
        table = serape.Table((base[:, random.integers(12, size=300)] ^ flipped).astype(np.uint8))
        columns = np.arange(300, dtype=np.uint32)
        pairs = DevicePairs(DevicePlanes(device, table.packed), DeviceRules("full", "dof", 5.0), columns, LOG_ALPHA)
        assert same(pairs.strongest(strongest), _core.all_pairs(table.packed, LOG_ALPHA, strongest, 5, 1))
