"""HITON's loop for many targets at once, by G², on a device."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import MAX_DOF, DevicePlanes

_MAX_POOL = 16
_MAX_JOINED = 32
_WARPS = 4  # of a block, one for each target
_NONE = 0xFFFFFFFF


class Ranked(NamedTuple):
    """The candidates of targets, one target after another, the strongest of a target first."""

    targets: NDArray[np.uint32]
    ends: NDArray[np.int64]
    candidates: NDArray[np.uint32]


class DevicePools(NamedTuple):
    """What became of the pools."""

    members: NDArray[np.uint32]
    """A row for each target, of which the first `sizes` count."""
    sizes: NDArray[np.int64]
    """The number of members, or −1 where the core must be asked."""
    joined: NDArray[np.uint32]
    """Those who were a member at some time, in the order in which they joined: a row for each target."""
    n_joined: NDArray[np.int64]
    """How many of a row count; a row may be too short where this is not asked for."""
    performed: NDArray[np.int64]
    """By size of the conditioning set, the number of tests of the targets that are answered."""
    skipped: NDArray[np.int64]


def grow_pools(
    planes: DevicePlanes, rules: DeviceRules, log_alpha: float, max_size: int | None, asked: Ranked, *, all_joined: bool
) -> DevicePools:
    """Search the candidates of each target in turn, from the strongest to the weakest.

    Conditioning sets of more than `max_size` members are skipped. With `all_joined`, targets are left to the core whose
    list of those who have joined would be too long.
    """
    device, xp = planes.device, planes.device.xp
    n = len(asked.targets)
    begin = np.concatenate(([0], asked.ends)).astype(np.int64)
    candidates = xp.asarray(asked.candidates.astype(np.uint32))
    members = xp.zeros((n, _MAX_POOL), xp.uint32)
    joined = xp.zeros((n, _MAX_JOINED), xp.uint32)
    sizes, n_joined = (xp.zeros(n, xp.uint32) for _ in range(2))
    performed, skipped = (xp.zeros((n, _MAX_POOL + 1), xp.uint32) for _ in range(2))
    device.launch(
        "pools.cu", {}, "grow_pools", (-(-n // _WARPS), 1), 32 * _WARPS,
        [
            planes.planes, planes.zero, np.uint32(planes.words), planes.first_on_device, planes.levels_on_device,
            planes.log_table, np.uint32(n), xp.asarray(asked.targets.astype(np.uint32)), xp.asarray(begin), candidates,
            planes.critical(log_alpha), np.uint32(MAX_DOF), np.float64(planes.rows), np.float64(rules.minimum),
            np.uint32({None: 0, "dof": 1, "cells": 2}[rules.reliability]), np.uint32(rules.dof == "adjusted"),
            np.uint32(_NONE if max_size is None else max_size), np.uint32(_MAX_JOINED), members, sizes,
            joined, n_joined, performed, skipped,
        ],
    )  # fmt: skip
    found = device.to_host(sizes).astype(np.int64)
    found[found == _NONE] = -1
    ever = device.to_host(n_joined).astype(np.int64)
    if all_joined:
        found[ever > _MAX_JOINED] = -1
    counted = [device.to_host(part).astype(np.int64)[found >= 0].sum(axis=0) for part in (performed, skipped)]
    return DevicePools(device.to_host(members), found, device.to_host(joined), ever, counted[0], counted[1])
