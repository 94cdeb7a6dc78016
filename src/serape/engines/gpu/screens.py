"""Screens of groups of candidates, by G², given the set of each group and each of several variables, on a device."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import Rules
from serape.engines.gpu.planes import DevicePlanes

MAX_CELLS = 32
MAX_GIVEN = 3
_CELLS = (4, 8, 16, 32)  # for which kernels are compiled
_THREADS = 256
_ROOM = 1 << 22  # dependent candidates
_FOUND = np.dtype(
    [("also", np.uint32), ("candidate", np.uint32), ("sum", np.int64), ("dof", np.uint32), ("unused", np.uint32)]
)


class Dependents(NamedTuple):
    """The candidates that depend on the target given their set and one more variable."""

    candidates: NDArray[np.uint32]
    statistic: NDArray[np.float64]
    dof: NDArray[np.float64]
    performed: NDArray[np.int64]
    """By group, the number of tests."""


class DeviceGroups:
    """Groups of candidates on a device."""

    def __init__(self, planes: DevicePlanes, groups: Sequence[tuple[Any, Sequence[int]]]) -> None:
        xp = planes.device.xp
        self.planes = planes
        self.sizes = np.array([len(xs) for xs, _ in groups], np.int64)
        self.n_given = np.array([len(given) for _, given in groups], np.int64)
        self.sets = [tuple(given) for _, given in groups]
        everyone = [np.asarray(xs, np.uint32) for xs, _ in groups]
        self.candidates = np.concatenate(everyone) if everyone else np.zeros(0, np.uint32)
        ends = np.cumsum(self.sizes)
        blocks = -(-self.sizes // _THREADS)
        of = np.repeat(np.arange(len(groups)), blocks)
        number = np.arange(int(blocks.sum())) - np.repeat(np.cumsum(blocks) - blocks, blocks)
        given = np.zeros((max(len(groups), 1), MAX_GIVEN), np.uint32)
        for k, members in enumerate(self.sets):
            given[k, : len(members)] = members[:MAX_GIVEN]
        self.blocks = len(of)
        self.arguments = [
            xp.asarray(self.candidates),
            xp.asarray(of.astype(np.uint32)),
            xp.asarray(((ends - self.sizes)[of] + number * _THREADS).astype(np.uint32)),
            xp.asarray(ends.astype(np.uint32)),
            xp.asarray(given),
            xp.asarray(self.n_given.astype(np.uint32)),
            np.uint32(len(groups)),
        ]

    def can_screen(self, target: int, also: Sequence[int]) -> bool:
        """Return whether the device can answer: its columns have few levels, and there are few cells."""
        planes = self.planes
        members = np.array([target, *also, *(z for given in self.sets for z in given)], np.int64)
        if self.blocks == 0 or self.n_given.max() > MAX_GIVEN or not planes.has_planes[members].all():
            return False
        strata = max(math.prod(planes.levels[z] for z in given) for given in self.sets)
        cells = strata * planes.levels[target] * max(planes.levels[list(also)].max(), 1)
        return cells <= MAX_CELLS and bool(planes.has_planes[self.candidates].all())

    def dependents(self, target: int, also: Sequence[int], rules: Rules, log_alpha: float) -> list[Dependents] | None:
        """Return, for each variable of `also`, the dependent candidates of all groups; None if they are too many.

        Groups whose set contains the variable are left out.
        """
        planes = self.planes
        xp = planes.device.xp
        strata = max(math.prod(planes.levels[z] for z in given) for given in self.sets)
        cells = strata * planes.levels[target] * planes.levels[list(also)].max()
        n_found = xp.zeros(1, xp.uint64)
        found = xp.empty(3 * _ROOM, xp.uint64)
        performed = xp.zeros(len(also) * len(self.sets), xp.uint32)
        planes.device.launch(
            "screens.cu", {"CELLS": next(c for c in _CELLS if c >= cells), "GIVEN": MAX_GIVEN}, "screens",
            (self.blocks, len(also)), _THREADS,
            [
                planes.planes, planes.zero, np.uint32(planes.words), planes.first_on_device, planes.levels_on_device,
                planes.log_table, np.uint32(target), *self.arguments, xp.asarray(np.array(also, np.uint32)),
                planes.critical(log_alpha), np.float64(planes.rows),
                np.float64(rules.minimum), np.uint32({None: 0, "dof": 1, "cells": 2}[rules.reliability]),
                np.uint32(rules.dof == "adjusted"), n_found, np.uint64(_ROOM), found, performed,
            ],
        )  # fmt: skip
        count = int(n_found[0])
        if count > _ROOM:
            return None
        listed = planes.device.to_host(found[: 3 * count]).view(_FOUND)
        listed = listed[np.lexsort((listed["candidate"], listed["also"]))]
        ends = np.searchsorted(listed["also"], np.arange(len(also) + 1))
        tested = planes.device.to_host(performed).reshape(len(also), len(self.sets)).astype(np.int64)
        return [
            Dependents(
                self.candidates[one["candidate"]],
                planes.statistic(one["sum"]),
                one["dof"].astype(np.float64),
                tested[k],
            )
            for k, one in enumerate(listed[ends[k] : ends[k + 1]] for k in range(len(also)))
        ]
