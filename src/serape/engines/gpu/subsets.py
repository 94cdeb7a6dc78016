"""Searches through conditioning sets of one size for many pairs of variables, by G², on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import MAX_DOF, DevicePlanes

MAX_SIZE = 3
ASK_CORE = 3
NO_MEMBER = 0xFFFFFFFF
"""In a row of a set, in place of a member that it lacks."""
_TOGETHER = 1 << 20  # questions in one launch
_WIDTH = 1 << 15  # of a grid
_THREADS = 128


class SubsetAnswers(NamedTuple):
    """The answers, one for each x: as those of the core, but for questions that the core must be asked."""

    verdict: NDArray[np.int32]
    """0 if no test is reliable, 1 if no set separates, 2 if one does, 3 if the core must be asked."""
    sums: NDArray[np.int64]
    dof: NDArray[np.float64]
    sets: NDArray[np.uint32]
    performed: NDArray[np.int64]
    skipped: NDArray[np.int64]


class SetRows(Sequence[list[int]]):
    """Sets of variables in the rows of an array."""

    def __init__(self, rows: NDArray[np.uint32]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, k: int) -> list[int]: ...
    @overload
    def __getitem__(self, k: slice) -> list[list[int]]: ...
    def __getitem__(self, k: int | slice) -> list[int] | list[list[int]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return [z for z in self.rows[k].tolist() if z != NO_MEMBER]


class DeviceSubsets:
    """Searches at one level of significance."""

    def __init__(self, planes: DevicePlanes, rules: DeviceRules, log_alpha: float) -> None:
        self.planes = planes
        self.rules = rules
        self.log_alpha = log_alpha

    def search_each(
        self,
        xs: NDArray[np.uint32],
        question: NDArray[np.uint32],
        targets: NDArray[np.uint32],
        pool_ends: NDArray[np.int64],
        pools: NDArray[np.uint32],
        size: int,
        poll: Callable[[], object] | None = None,
    ) -> SubsetAnswers:
        """Search, for each x, the sets of one size in the pool of its question, without x, for one that separates it.

        Questions have a target and a pool each; the pools are one after another.
        """
        planes = self.planes
        xp = planes.device.xp
        shared = [
            planes.planes, planes.zero, np.uint32(planes.words), planes.first_on_device, planes.levels_on_device,
            planes.log_table,
        ]  # fmt: skip
        asked = [
            xp.asarray(targets.astype(np.uint32)),
            xp.asarray(np.concatenate(([0], pool_ends)).astype(np.int64)),
            xp.asarray(pools.astype(np.uint32)),
        ]
        reliability = {None: 0, "dof": 1, "cells": 2}[self.rules.reliability]
        rules = [
            planes.critical(self.log_alpha), np.uint32(MAX_DOF), np.float64(2.0 * planes.unit), np.float64(planes.rows),
            np.float64(self.rules.minimum), np.uint32(reliability), np.uint32(self.rules.dof == "adjusted"),
        ]  # fmt: skip
        parts = []
        for begin in range(0, len(xs), _TOGETHER):
            if poll is not None:
                poll()
            of = slice(begin, begin + _TOGETHER)
            parts.append(self._search(xs[of], question[of], size, shared, asked, rules))
        return SubsetAnswers(*map(np.concatenate, zip(*parts, strict=True))) if parts else _nothing(size)

    def _search(
        self,
        xs: NDArray[np.uint32],
        question: NDArray[np.uint32],
        size: int,
        shared: list[Any],
        asked: list[Any],
        rules: list[Any],
    ) -> SubsetAnswers:
        device = self.planes.device
        xp = device.xp
        n = len(xs)
        width = min(n, _WIDTH)
        height = -(-n // width)
        room = width * height  # the last row of the grid repeats the last question
        fill = np.minimum(np.arange(room), n - 1)
        verdict, dofs, performed, skipped = (xp.zeros(room, xp.uint32) for _ in range(4))
        sums, sets = xp.zeros(room, xp.int64), xp.full(room * size, NO_MEMBER, xp.uint32)
        device.launch(
            "subsets.cu", {"SIZE": size}, "search_subsets", (width, height), _THREADS,
            [
                *shared, xp.asarray(xs[fill].astype(np.uint32)), xp.asarray(question[fill].astype(np.uint32)), *asked,
                *rules, verdict, sums, dofs, sets, performed, skipped,
            ],
        )  # fmt: skip
        return SubsetAnswers(
            device.to_host(verdict[:n]).astype(np.int32),
            device.to_host(sums[:n]),
            device.to_host(dofs[:n]).astype(np.float64),
            device.to_host(sets[: n * size]).reshape(n, size),
            device.to_host(performed[:n]).astype(np.int64),
            device.to_host(skipped[:n]).astype(np.int64),
        )


def _nothing(size: int) -> SubsetAnswers:
    numbers = np.zeros(0, np.int64)
    return SubsetAnswers(np.zeros(0, np.int32), numbers, np.zeros(0), np.zeros((0, size), np.uint32), numbers, numbers)
