"""The categorical columns of a table on a device.

A column of r levels (2 to 8) has r − 1 planes, bitsets of the rows with a level from 1 on, as in the core. Columns of
more levels stay in the core.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.device import Device

MAX_LEVELS = 8
MAX_DOF = 1024
MAX_ROWS = 65_528  # counts have 16 bits
WORDS = 32
"""Words of 32 bits that kernels read at a time."""
_TOGETHER = 1 << 16  # columns
_PART = 256 << 20  # bytes that are sent at a time
_NONE = np.uint32(0xFFFFFFFF)
Watch = Callable[[int, int], object]
"""Called with how many bytes are sent, of how many."""


def bytes_by_column(packed: _core.PackedTable) -> NDArray[np.int64]:
    """Return how many bytes each column of a table takes on a device: a bit for each row and level."""
    levels = packed.all_levels().astype(np.int64)
    words = -(-packed.rows // (32 * WORDS)) * WORDS
    return np.where(levels <= MAX_LEVELS, levels, 1) * words * 4


class DevicePlanes:
    """Planes on a device, and what kernels need to know of each column."""

    kind = "planes"

    def __init__(
        self,
        device: Device,
        packed: _core.PackedTable,
        columns: NDArray[np.bool_] | None = None,
        watch: Watch | None = None,
    ) -> None:
        """Send columns, or those that are marked; `watch` is told how many bytes of how many are there."""
        self.device = device
        self.rows = packed.rows
        self.levels: NDArray[np.int64] = packed.all_levels().astype(np.int64)
        self.has_planes = (self.levels >= 1) & (self.levels <= MAX_LEVELS)
        n_planes = np.where(self.has_planes, np.maximum(self.levels - 1, 0), 0)
        every = int(n_planes.sum())
        words = len(packed.planes) // max(every, 1)  # of 64 bits
        self.words = -(-2 * words // WORDS) * WORDS
        chosen = slice(0, every) if columns is None else np.flatnonzero(columns.repeat(n_planes))
        if columns is not None:
            self.has_planes &= columns
            n_planes[~columns] = 0
        self.first_plane = np.concatenate(([0], np.cumsum(n_planes)[:-1])).astype(np.int64)
        self.n_planes = int(n_planes.sum())
        for column in np.flatnonzero(self.has_planes).tolist():
            packed.verify(column)
        self.planes = self._send(packed.planes[: every * words].reshape(every, words), chosen, watch)
        self._critical: dict[float, Any] = {}
        self.totals = packed.totals[:every][chosen].astype(np.int64)

    @property
    def here(self) -> bool:
        """Whether this process can use the device: a forked one cannot."""
        return self.device.here

    def _send(self, planes: NDArray[np.uint64], chosen: slice | NDArray[np.intp], watch: Watch | None) -> Any:
        """Return the chosen planes on the device, each padded to whole steps."""
        xp = self.device.xp
        sent = xp.zeros((self.n_planes, self.words), xp.uint32)
        size = 8 * planes.shape[1]
        part = max(1, _PART // max(size, 1))
        for begin in range(0, self.n_planes, part):
            end = min(begin + part, self.n_planes)
            which = slice(begin, end) if isinstance(chosen, slice) else chosen[begin:end]
            some = np.ascontiguousarray(planes[which]).view(np.uint32)
            sent[begin:end, : some.shape[1]] = xp.asarray(some)
            if watch is not None:
                watch(end * size, self.n_planes * size)
        return sent

    @cached_property
    def occurring(self) -> NDArray[np.int64]:
        """By column, how many of its levels occur; 0 for a column without planes."""
        occurring = np.zeros(len(self.levels), np.int64)
        has = np.flatnonzero(self.has_planes)
        column = np.repeat(has, self.levels[has] - 1)
        np.add.at(occurring, column, self.totals > 0)
        ones = np.bincount(column, self.totals, len(self.levels))
        occurring[has] += self.rows > ones[has]
        return occurring

    @cached_property
    def zero(self) -> Any:
        """By column, the plane of level 0 on the device; empty for a column that is not there."""
        xp = self.device.xp
        rows = np.zeros(self.words * 4, np.uint8)
        rows[: -(-self.rows // 8)] = 0xFF
        if self.rows % 8:
            rows[self.rows // 8] = (1 << self.rows % 8) - 1
        every = xp.asarray(rows.view(np.uint32))
        zero = xp.zeros((len(self.levels), self.words), xp.uint32)
        for levels in range(1, MAX_LEVELS + 1):
            columns = np.flatnonzero(self.has_planes & (self.levels == levels))
            for begin in range(0, len(columns), _TOGETHER):
                some = columns[begin : begin + _TOGETHER]
                met = xp.zeros((len(some), self.words), xp.uint32)
                for level in range(levels - 1):
                    met |= self.planes[xp.asarray(self.first_plane[some] + level)]
                zero[xp.asarray(some)] = every & ~met
        return zero

    @cached_property
    def first_on_device(self) -> Any:
        """By column, its first plane."""
        return self.device.xp.asarray(self.first_plane.astype(np.uint32))

    @cached_property
    def levels_on_device(self) -> Any:
        """By column, its levels."""
        return self.device.xp.asarray(np.minimum(self.levels, 255).astype(np.uint8))

    @cached_property
    def log_terms(self) -> NDArray[np.int64]:
        """The terms n ln n, in fixed point."""
        return _core.log_terms(self.rows)[0]

    @cached_property
    def unit(self) -> float:
        """What one of the fixed point is worth."""
        return float(_core.log_terms(self.rows)[1])

    @cached_property
    def log_table(self) -> Any:
        """The terms n ln n on the device."""
        return self.device.xp.asarray(self.log_terms)

    def critical(self, log_alpha: float) -> Any:
        """Return, by degrees of freedom up to MAX_DOF, the smallest sum that is significant, on the device."""
        if log_alpha not in self._critical:
            sums = _core.critical_sums(self.rows, np.arange(1.0, MAX_DOF + 1.0), log_alpha)
            self._critical = {log_alpha: self.device.xp.asarray(np.concatenate(([0], sums)))}
        return self._critical[log_alpha]

    def statistic(self, sums: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return G² of sums, as the core computes it."""
        return np.maximum(sums.astype(np.float64) * (2.0 * self.unit), 0.0)

    def group(self, columns: NDArray[np.uint32], n_planes: int) -> ColumnGroup:
        """Return columns for a kernel that takes so many planes of each; the columns have no more."""
        xp = self.device.xp
        at = columns.astype(np.int64)
        own = self.levels[at] - 1
        number = np.arange(n_planes)
        has = number < own[:, None]
        plane = np.where(has, self.first_plane[at][:, None] + number, 0)
        total = np.zeros((len(at), n_planes + 1), np.int64)
        total[:, 1:] = np.where(has, self.totals[plane] if len(self.totals) else 0, 0)
        total[:, 0] = self.rows - total[:, 1:].sum(axis=1)
        scale = np.sqrt(2.0) * self.rows**1.5 / np.maximum(total[:, 0] * total[:, 1], 1)
        inverse = np.divide(1.0, total, out=np.zeros(total.shape), where=total > 0)
        return ColumnGroup(
            columns,
            [
                xp.asarray(columns.astype(np.uint32)),
                xp.asarray(np.where(has, plane, _NONE).astype(np.uint32)),
                xp.asarray(total.astype(np.float32)),
                xp.asarray(inverse.astype(np.float32)),
                xp.asarray(scale.astype(np.float32)),
                xp.asarray(self.log_terms[total].sum(axis=1)),
                np.uint32(len(columns)),
            ],
        )


@dataclass(frozen=True)
class ColumnGroup:
    """Columns of as many levels, as kernels take them."""

    columns: NDArray[np.uint32]
    arguments: list[Any]
