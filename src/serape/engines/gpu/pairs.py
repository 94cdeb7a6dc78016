"""All pairs of columns given nothing, by G², on a device: the answers of the core's functions of the same names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.device import Device
from serape.engines.gpu.planes import WORDS, ColumnGroup, DevicePlanes

MAX_STRONGEST = 32
_PLANES = (1, 2, 3, 7)  # for which kernels are compiled
_TILE = 128
_MAX_KEPT_STEPS = 2  # of planes in shared memory
_THREADS = 256
_BLOCKS = 8192  # that keep a device busy
_MARGIN, _RELATIVE = 0.02, 1e-4  # of bounds, whose terms are rounded
NO_PARTNER = 0xFFFFFFFF
ListedPairs = tuple[Any, Any, Any]
"""Pairs, each once: x, y, and the sum of its test."""
FoundPairs = tuple[bool, NDArray[np.uint64], NDArray[np.uint32], NDArray[np.float64], NDArray[np.uint8]]


class DeviceRules(NamedTuple):
    """When a test of two columns is reliable, and its degrees of freedom."""

    dof: str
    reliability: str | None
    minimum: float

    def enough_rows(self, rows: int, x_levels: float, y_levels: float, strata: float = 1.0) -> bool:
        """Return whether a table of these levels has rows enough to be tested."""
        dof = (x_levels - 1.0) * (y_levels - 1.0) * strata
        if not dof > 0.0:
            return False
        cells = {"dof": dof, "cells": x_levels * y_levels * strata}.get(self.reliability or "", 0.0)
        return self.reliability is None or rows >= self.minimum * cells


@dataclass(frozen=True)
class LevelKind:
    """Columns of as many levels of which as many occur."""

    levels: int
    freedom: int
    columns: NDArray[np.uint32]

    @property
    def n_planes(self) -> int:
        """The planes that a kernel takes of each column."""
        return next(n for n in _PLANES if n >= self.levels - 1)


DeviceStrongest = tuple[LevelKind, NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]
"""Columns of a kind; by row, how many depend on it, and the sums and positions of the strongest."""


class DevicePairs:
    """Tests of pairs of some columns, which have planes."""

    def __init__(self, planes: DevicePlanes, rules: DeviceRules, columns: NDArray[np.uint32], log_alpha: float) -> None:
        self.planes = planes
        self.rules = rules
        self.log_alpha = log_alpha
        self.columns = columns
        self._groups: dict[tuple[int, int, bytes], ColumnGroup] = {}
        at = columns.astype(np.int64)
        occurring = planes.occurring[at]
        self.freedom = np.zeros(len(planes.levels), np.int64)
        self.freedom[at] = (occurring if rules.dof == "adjusted" else planes.levels[at]) - 1
        self.kinds = self.kinds_of(columns)

    def kinds_of(self, columns: NDArray[np.uint32]) -> list[LevelKind]:
        """Return the columns that vary (others depend on nothing) by their levels and those that occur."""
        columns = columns[self.planes.occurring[columns] > 1]
        at = columns.astype(np.int64)
        keys = self.planes.levels[at] << 8 | self.freedom[at]
        return [
            LevelKind(key >> 8, key & 0xFF, columns[keys == key]) for key in np.flatnonzero(np.bincount(keys)).tolist()
        ]

    # --- which pairs are dependent ----------------------------------------------------------------------------------

    def dependent(self, most: int) -> FoundPairs:
        """Return the dependent pairs, from both sides, by target; none if there are more than `most`."""
        found = self.list_among(most)
        if found is None:
            return nothing()
        xp = self.planes.device.xp
        x, y, sums = found
        sides = xp.concatenate((x, y)), xp.concatenate((y, x)), xp.concatenate((sums, sums))
        return by_target(self.planes.device, self.freedom, self.planes.unit, *sides, len(self.planes.levels))

    def list_among(self, most: int) -> ListedPairs | None:
        """Return the dependent pairs on the device; None if they are more than `most`."""
        return self._list([(a, b) for k, a in enumerate(self.kinds) for b in self.kinds[k:]], most, later=True)

    def list_between(self, some: NDArray[np.uint32], others: NDArray[np.uint32], most: int) -> ListedPairs | None:
        """Return the dependent pairs of some columns with others on the device; None if they are more than `most`."""
        return self._list([(a, b) for a in self.kinds_of(some) for b in self.kinds_of(others)], most, later=False)

    def dependent_on(self, targets: NDArray[np.uint32], most: int) -> FoundPairs:
        """Return the columns that depend on some targets, by target; none if there are more than `most`."""
        found = self.list_between(np.sort(targets), self.columns, most)
        if found is None:
            return nothing()
        xp = self.planes.device.xp
        place = np.zeros(len(self.planes.levels), np.uint32)
        place[targets] = np.arange(len(targets))
        x, y, sums = found
        return by_target(
            self.planes.device, self.freedom, self.planes.unit, xp.asarray(place)[x], y, sums, len(targets), targets
        )

    def _list(self, asked: Sequence[tuple[LevelKind, LevelKind]], most: int, *, later: bool) -> ListedPairs | None:
        """Return the dependent pairs of kinds on the device; None if they are more than `most`."""
        xp = self.planes.device.xp
        n_found = xp.zeros(1, xp.uint64)
        found = xp.empty(2 * max(most, 1), xp.uint64)
        nothing = xp.zeros(1, xp.int64)
        for rows, columns in asked:
            one_sided = later and rows is columns
            self._launch(rows, columns, 0, one_sided, [nothing, nothing, nothing, n_found, np.uint64(most), found])
        count = int(n_found[0])
        if count > most:
            return None
        positions = found[: 2 * count : 2]
        return (
            (positions & xp.uint64(NO_PARTNER)).astype(xp.uint32),
            (positions >> xp.uint64(32)).astype(xp.uint32),
            found[1 : 2 * count : 2].view(xp.int64),
        )

    # --- the strongest ----------------------------------------------------------------------------------------------

    def strongest(
        self, strongest: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]:
        """Return, by variable, how many depend on it; its strongest partners, their statistics and dof."""
        variables = len(self.planes.levels)
        if len(self.kinds) == 1 and self.kinds[0].levels == 2:
            return self._strongest_binary(self.kinds[0].columns, strongest)
        dependents = np.zeros(variables, np.uint32)
        shape = variables, strongest
        partners = np.full(shape, NO_PARTNER, np.uint32)
        statistic, dof = np.full(shape, math.nan), np.ones(shape)
        for rows in self.kinds:
            lists = [(columns, *self.strongest_of(rows, columns, strongest)) for columns in self.kinds]
            at = rows.columns.astype(np.int64)
            for _, count, _, _ in lists:
                dependents[at] += count
            partners[at], statistic[at], dof[at] = merged(self.planes.unit, rows, lists, strongest)
        return dependents, partners.ravel(), statistic.ravel(), dof.ravel()

    def _strongest_binary(
        self, columns: NDArray[np.uint32], strongest: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]:
        """Do as `strongest` for binary columns, in the order of their ones."""
        planes = self.planes
        device, variables = planes.device, len(planes.levels)
        xp = device.xp
        plane = planes.first_plane[columns]
        order = planes.totals[plane].astype(np.uint16).argsort(kind="stable")
        at, ones = columns[order].astype(np.int64), planes.totals[plane][order]
        partners = xp.full((variables, strongest), NO_PARTNER, xp.uint32)
        statistic = xp.full((variables, strongest), math.nan)
        counted = xp.zeros(variables, xp.uint32)
        if self.rules.enough_rows(planes.rows, 2, 2):
            count, sums, ids = self._count_binary(at, plane[order], ones, strongest)
            there = xp.asarray(at)
            counted[there], partners[there] = count, ids
            statistic[there] = xp.where(
                ids == NO_PARTNER, math.nan, xp.maximum(sums.astype(xp.float64) * (2.0 * planes.unit), 0.0)
            )
        dof = np.broadcast_to(np.ones(1), variables * strongest)
        return device.to_host(counted), device.to_host(partners.ravel()), device.to_host(statistic.ravel()), dof

    def _count_binary(
        self, at: NDArray[np.int64], plane: NDArray[np.int64], ones: NDArray[np.int64], strongest: int
    ) -> tuple[Any, Any, Any]:
        """Return, on the device, how many depend on each column, the sums and positions of the strongest."""
        planes, n = self.planes, len(at)
        device = planes.device
        xp = device.xp
        of = np.concatenate(([0], np.cumsum(np.diff(ones) > 0)))
        classes = ones[np.concatenate(([True], np.diff(ones) > 0))]
        critical = int(_core.critical_sums(planes.rows, np.ones(1), self.log_alpha)[0])
        keep = _power_of_two(strongest)
        steps = planes.words // WORDS
        kept = steps if steps <= _MAX_KEPT_STEPS else 0
        macros = {"KEEP": keep, "KEPT_STEPS": kept}
        step_bytes, count_bytes = _TILE * WORDS * 4, _TILE * (_TILE + 2) * 2
        limits = xp.empty(len(classes) ** 2, xp.uint32)
        device.launch(
            "binary_pairs.cu", macros, "pair_limits", (-(-(len(classes) ** 2) // _THREADS), 1), _THREADS,
            [
                xp.asarray(classes.astype(np.uint32)), np.uint32(len(classes)), planes.log_table,
                np.uint32(planes.rows), np.int64(critical), limits,
            ],
        )  # fmt: skip
        tiles = -(-n // _TILE)
        shares = max(1, min(-(-_BLOCKS // tiles), tiles))
        sums = xp.full(n * shares * 2 * keep, -1, xp.int64)
        ids = xp.full(n * shares * 2 * keep, NO_PARTNER, xp.uint32)
        dependents = xp.zeros(n, xp.uint32)
        scale = np.sqrt(2.0) * planes.rows**1.5 / (ones * (planes.rows - ones))
        device.launch(
            "binary_pairs.cu", macros, "binary_pairs", (tiles, shares), _THREADS,
            [
                planes.planes, np.uint32(planes.words), xp.asarray(at.astype(np.uint32)),
                xp.asarray(plane.astype(np.uint32)), xp.asarray(ones.astype(np.float32)),
                xp.asarray(scale.astype(np.float32)),
                xp.asarray(planes.log_terms[ones] + planes.log_terms[planes.rows - ones]),
                xp.asarray(of.astype(np.uint32)), np.uint32(n), limits,
                np.uint32(len(classes)), planes.log_table, np.uint32(planes.rows), np.float64(2.0 * planes.unit),
                np.float32(_MARGIN + 1e-6 * planes.rows * math.log(planes.rows)), xp.full(n, critical, xp.int64),
                dependents, sums, ids,
            ],
            count_bytes + 2 * kept * step_bytes,
        )  # fmt: skip
        return dependents, *self._best(sums, ids, shares * 2, n, strongest, "binary_pairs.cu", macros)

    def _best(
        self, sums: Any, ids: Any, lists: int, n: int, strongest: int, file: str, macros: dict[str, int]
    ) -> tuple[Any, Any]:
        """Return, on the device, the sums and positions of the strongest of several lists for each of n rows."""
        device = self.planes.device
        xp = device.xp
        best_sum, best_id = xp.empty(n * strongest, xp.int64), xp.empty(n * strongest, xp.uint32)
        if strongest:
            device.launch(
                file, macros, "merge_best", (-(-n // 64), 1), 64,
                [sums, ids, np.uint32(lists), np.uint32(n), np.uint32(strongest), best_sum, best_id],
            )  # fmt: skip
        return best_sum.reshape(n, strongest), best_id.reshape(n, strongest)

    def strongest_of(
        self, rows: LevelKind, columns: LevelKind, strongest: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32]]:
        """Return, by row, how many columns depend on it, and the sums and positions of the strongest."""
        device = self.planes.device
        xp = device.xp
        n = len(rows.columns)
        count = xp.zeros(n, xp.uint32)
        keep = _power_of_two(strongest)
        row_tiles = -(-n // (_TILE // rows.n_planes))
        shares = self._shares(columns, row_tiles)
        parts = min(_THREADS // (_TILE // rows.n_planes), _TILE // columns.n_planes)
        lists = shares * parts
        sums = xp.full(n * lists * keep, -1, xp.int64)
        ids = xp.full(n * lists * keep, NO_PARTNER, xp.uint32)
        nothing = xp.zeros(2, xp.uint64)
        self._launch(rows, columns, keep, False, [count, sums, ids, nothing, np.uint64(0), nothing])
        best = self._best(sums, ids, lists, n, strongest, "pairs.cu", _macros(rows, columns, keep))
        return device.to_host(count), *map(device.to_host, best)

    # --- kernels ----------------------------------------------------------------------------------------------------

    def _shares(self, columns: LevelKind, row_tiles: int) -> int:
        """Return into how many shares the columns are divided."""
        column_tiles = -(-len(columns.columns) // (_TILE // columns.n_planes))
        return max(1, min(-(-_BLOCKS // row_tiles), column_tiles))

    def _launch(self, rows: LevelKind, columns: LevelKind, keep: int, later: bool, out: Sequence[Any]) -> None:
        planes = self.planes
        if not self.rules.enough_rows(planes.rows, rows.levels, columns.levels):
            return
        dof = np.array([rows.freedom * columns.freedom], float)
        critical = int(_core.critical_sums(planes.rows, dof, self.log_alpha)[0])
        statistic = float(critical) * 2.0 * planes.unit
        row_tiles = -(-len(rows.columns) // (_TILE // rows.n_planes))
        grid = row_tiles, self._shares(columns, row_tiles)
        planes.device.launch(
            "pairs.cu", _macros(rows, columns, keep), "pairs", grid, _THREADS,
            [
                planes.planes, np.uint32(planes.words), *self._group(rows).arguments, *self._group(columns).arguments,
                planes.log_table, np.uint32(planes.rows), np.float64(2.0 * planes.unit), np.int64(critical),
                np.float32(statistic * (1.0 - _RELATIVE) - _MARGIN),
                np.float32(statistic * (1.0 + _RELATIVE) + _MARGIN),
                np.float32(_MARGIN), np.uint32(later), *out,
            ],
        )  # fmt: skip

    def _group(self, kind: LevelKind) -> ColumnGroup:
        key = kind.levels, kind.freedom, kind.columns.tobytes()
        if key not in self._groups:
            self._groups[key] = self.planes.group(kind.columns, kind.n_planes)
        return self._groups[key]


def merged(
    unit: float, rows: LevelKind, lists: Sequence[DeviceStrongest], strongest: int
) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]:
    """Return the strongest of several lists for each row: by log p, then by statistic, then by position."""
    sums = np.concatenate([one[2] for one in lists], axis=1)
    ids = np.concatenate([one[3] for one in lists], axis=1)
    freedom = np.concatenate([np.full(strongest, float(rows.freedom * one[0].freedom)) for one in lists])
    dof = np.broadcast_to(freedom, sums.shape)
    known = ids != NO_PARTNER
    statistic = np.where(known, np.maximum(sums.astype(np.float64) * (2.0 * unit), 0.0), math.nan)
    if len(lists) > 1:
        log_p = np.full(sums.shape, math.inf)
        log_p[known] = _core.chi_square_log_sf(statistic[known], np.ascontiguousarray(dof[known]))
        order = np.lexsort((ids, -statistic, log_p), axis=1)[:, :strongest]
        ids, statistic, dof, known = (np.take_along_axis(one, order, axis=1) for one in (ids, statistic, dof, known))
    return ids, statistic, np.where(known, dof, 1.0)


def by_target(
    device: Device,
    freedom: NDArray[np.int64],
    unit: float,
    place: Any,
    y: Any,
    sums: Any,
    count: int,
    targets: NDArray[np.uint32] | None = None,
) -> FoundPairs:
    """Return pairs by the place of the target, then by the other column.

    `freedom` has the levels − 1 of each column; `targets`, if given, has the target at each place.
    """
    xp = device.xp
    place, y, sums = xp.asarray(place), xp.asarray(y), xp.asarray(sums)
    order = (place.astype(xp.uint64) << xp.uint64(32) | y).argsort()
    place, y, sums = place[order], y[order], sums[order]
    start = np.concatenate(([0], np.cumsum(device.to_host(xp.bincount(place, minlength=count)))))
    own = xp.asarray(freedom if targets is None else freedom[targets])
    dof = (own[place] * xp.asarray(freedom)[y]).astype(xp.uint8)
    statistic = xp.maximum(sums.astype(xp.float64) * (2.0 * unit), 0.0)
    return True, start.astype(np.uint64), device.to_host(y), device.to_host(statistic), device.to_host(dof)


def _macros(rows: LevelKind, columns: LevelKind, keep: int) -> dict[str, int]:
    return {"ROW_PLANES": rows.n_planes, "COLUMN_PLANES": columns.n_planes, "KEEP": keep}


def _power_of_two(at_least: int) -> int:
    return 1 << max(at_least - 1, 0).bit_length()


def nothing() -> FoundPairs:
    """Return the answer that there are too many pairs."""
    return False, np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0), np.zeros(0, np.uint8)
