"""Partial correlations on a device: all pairs given nothing, and searches through conditioning sets of one size.

The device finds the pairs and sets; the core then computes the tests of these, so that their numbers have the same
bits. What rounding might decide is left to the core.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.device import Device

MAX_SIZE = 3
MAX_COLUMNS = 40_000
ASK_CORE = 3
_ROUNDING = 1e-12
_TOGETHER = 1 << 20  # questions in one launch
_WIDTH = 1 << 15
_THREADS = 128
_BLOCK = 4096  # rows of the matrix that are looked through at a time


class FoundSets(NamedTuple):
    """For each x, whether a set separates it, and which; 3 if the core must be asked."""

    verdict: NDArray[np.int32]
    sets: NDArray[np.uint32]
    performed: NDArray[np.int64]


class DeviceCorrelations:
    """The correlations of the columns of a test."""

    kind = "correlations"

    def __init__(self, device: Device, native: _core.GaussianTest, rows: int) -> None:
        self.device = device
        columns = native.standardised().reshape(-1, rows)
        self.varies = np.asarray((columns != 0.0).any(axis=1))
        self._columns = device.xp.asarray(columns)

    @property
    def here(self) -> bool:
        """Whether this process can use the device: a forked one cannot."""
        return self.device.here

    @cached_property
    def matrix(self) -> Any:
        """All correlations."""
        matrix = self._columns @ self._columns.T
        del self._columns
        return matrix

    def pairs(self, native: _core.GaussianTest, log_alpha: float) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Return the pairs that may be dependent: all that are, and those that rounding leaves open."""
        xp = self.device.xp
        _, below, _ = native.critical_correlation(log_alpha, 0)
        xs, ys = [], []
        for begin in range(0, len(self.matrix), _BLOCK):
            block = xp.abs(self.matrix[begin : begin + _BLOCK]) + _ROUNDING >= below
            x, y = (self.device.to_host(one) for one in xp.nonzero(block))
            later = y > x + begin
            xs.append((x[later] + begin).astype(np.uint32))
            ys.append(y[later].astype(np.uint32))
        return np.concatenate(xs), np.concatenate(ys)

    def search_each(
        self,
        native: _core.GaussianTest,
        log_alpha: float,
        xs: NDArray[np.uint32],
        question: NDArray[np.uint32],
        targets: NDArray[np.uint32],
        pool_ends: NDArray[np.int64],
        pools: NDArray[np.uint32],
        size: int,
        poll: Callable[[], object] | None = None,
    ) -> FoundSets:
        """Search, for each x, the sets of one size in the pool of its question, without x, for one that separates."""
        xp = self.device.xp
        _, below, above = native.critical_correlation(log_alpha, size)
        varies = xp.asarray(self.varies.astype(np.uint8))
        asked = [
            xp.asarray(targets.astype(np.uint32)),
            xp.asarray(np.concatenate(([0], pool_ends)).astype(np.int64)),
            xp.asarray(pools.astype(np.uint32)),
        ]
        parts = [FoundSets(np.zeros(0, np.int32), np.zeros((0, size), np.uint32), np.zeros(0, np.int64))]
        for begin in range(0, len(xs), _TOGETHER):
            if poll is not None:
                poll()
            some = slice(begin, begin + _TOGETHER)
            n = len(xs[some])
            width = min(n, _WIDTH)
            height = -(-n // width)
            fill = np.minimum(np.arange(width * height), n - 1)  # the last row of the grid repeats the last question
            verdict, sets = xp.zeros(width * height, xp.uint32), xp.zeros(width * height * size, xp.uint32)
            performed = xp.zeros(width * height, xp.uint64)
            self.device.launch(
                "correlations.cu", {"SIZE": size}, "search_correlations", (width, height), _THREADS,
                [
                    self.matrix, np.uint32(len(self.matrix)), varies, xp.asarray(xs[some][fill].astype(np.uint32)),
                    xp.asarray(question[some][fill].astype(np.uint32)), *asked, np.float64(below), np.float64(above),
                    verdict, sets, performed,
                ],
            )  # fmt: skip
            to_host = self.device.to_host
            parts.append(
                FoundSets(
                    to_host(verdict[:n]).astype(np.int32),
                    to_host(sets[: n * size]).reshape(n, size),
                    to_host(performed[:n]).astype(np.int64),
                )
            )
        return FoundSets(*map(np.concatenate, zip(*parts, strict=True)))
