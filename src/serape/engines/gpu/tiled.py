"""All pairs of the columns of a table that is larger than the memory of a device.

The columns are divided into blocks, of which two fit into the memory. The pairs of two blocks are tested on the device,
one after another; the rest of the table stays here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.arrays import Positions
from serape.engines.gpu.device import Device
from serape.engines.gpu.pairs import (
    NO_PARTNER,
    DevicePairs,
    DeviceRules,
    DeviceStrongest,
    FoundPairs,
    LevelKind,
    ListedPairs,
    by_target,
    merged,
    nothing,
)
from serape.engines.gpu.planes import DevicePlanes, Watch, bytes_by_column


@dataclass(frozen=True)
class TiledPlanes:
    """A table that stays here, in blocks of columns that are sent when they are needed."""

    kind = "blocks of planes"

    device: Device
    packed: _core.PackedTable
    block_of: NDArray[np.int64]
    """By column, its block."""
    watch: Watch | None = None

    @classmethod
    def of(
        cls, device: Device, packed: _core.PackedTable, memory: float, watch: Watch | None = None
    ) -> TiledPlanes | None:
        """Divide the columns so that two blocks take no more than some memory; None if two columns may take more."""
        needed = bytes_by_column(packed)
        room = memory / 2
        if needed.max(initial=0) > room:
            return None
        block_of, filled, block = np.zeros(len(needed), np.int64), 0, 0
        for column, size in enumerate(needed.tolist()):
            if filled + size > room:
                block, filled = block + 1, 0
            block_of[column], filled = block, filled + size
        return cls(device, packed, block_of, watch)

    @property
    def here(self) -> bool:
        """Whether this process can use the device: a forked one cannot."""
        return self.device.here

    def send(self, *blocks: int) -> DevicePlanes:
        """Return some blocks on the device."""
        return DevicePlanes(self.device, self.packed, np.isin(self.block_of, blocks), self.watch)


class TiledPairs:
    """Tests of pairs of some columns, which have planes: the answers of `DevicePairs`."""

    def __init__(self, planes: TiledPlanes, rules: DeviceRules, columns: Positions, log_alpha: float) -> None:
        self._planes = planes
        self._rules = rules
        self._log_alpha = log_alpha
        self._columns = columns
        self._variables = len(planes.block_of)

    def _blocks(self, columns: Positions) -> list[tuple[int, Positions]]:
        of = self._planes.block_of[columns]
        return [(block, columns[of == block]) for block in np.unique(of).tolist()]

    def _tile(self, own: Positions, others: Positions, blocks: set[int]) -> DevicePairs:
        """Return tests of the pairs of some columns. Its blocks leave the device with it, before others are sent."""
        return DevicePairs(self._planes.send(*blocks), self._rules, np.union1d(own, others), self._log_alpha)

    def dependent(self, most: int) -> FoundPairs:
        """Return the dependent pairs, from both sides, by target; none if there are more than `most`."""
        listed = _Listed(self._variables, most)
        for (one, own), (other, others) in combinations_with_replacement(self._blocks(self._columns), 2):
            if not listed.add(self._tile(own, others, {one, other}), None if one == other else (own, others)):
                return nothing()
        x, y, sums = listed.all()
        sides = np.concatenate((x, y)), np.concatenate((y, x)), np.concatenate((sums, sums))
        return by_target(self._planes.device, listed.freedom, listed.unit, *sides, self._variables)

    def dependent_on(self, targets: Positions, most: int) -> FoundPairs:
        """Return the columns that depend on some targets, by target; none if there are more than `most`."""
        listed = _Listed(self._variables, most)
        for (one, own), (other, others) in product(self._blocks(np.sort(targets)), self._blocks(self._columns)):
            if not listed.add(self._tile(own, others, {one, other}), (own, others)):
                return nothing()
        x, y, sums = listed.all()
        place = np.zeros(self._variables, np.uint32)
        place[targets] = np.arange(len(targets))
        return by_target(self._planes.device, listed.freedom, listed.unit, place[x], y, sums, len(targets), targets)

    def strongest(
        self, strongest: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64], NDArray[np.float64]]:
        """Return, by variable, how many depend on it; its strongest partners, their statistics and dof."""
        dependents = np.zeros(self._variables, np.uint32)
        shape = self._variables, strongest
        partners = np.full(shape, NO_PARTNER, np.uint32)
        statistic, dof = np.full(shape, math.nan), np.ones(shape)
        for one, own in self._blocks(self._columns):
            lists: dict[int, tuple[LevelKind, list[DeviceStrongest]]] = {}
            for other, others in self._blocks(self._columns):
                unit = _add_strongest(self._tile(own, others, {one, other}), own, others, strongest, lists)
            for rows, found in lists.values():
                at = rows.columns.astype(np.int64)
                for _, count, _, _ in found:
                    dependents[at] += count
                partners[at], statistic[at], dof[at] = merged(unit, rows, found, strongest)
        return dependents, partners.ravel(), statistic.ravel(), dof.ravel()


def _add_strongest(
    pairs: DevicePairs,
    own: Positions,
    others: Positions,
    strongest: int,
    lists: dict[int, tuple[LevelKind, list[DeviceStrongest]]],
) -> float:
    """Add the strongest partners among other columns, by kind of the own ones; return what a sum of 1 is worth."""
    for (k, rows), columns in product(enumerate(pairs.kinds_of(own)), pairs.kinds_of(others)):
        found = lists.setdefault(k, (rows, []))[1]
        found.append((columns, *pairs.strongest_of(rows, columns, strongest)))
    return pairs.planes.unit


class _Listed:
    """Dependent pairs that were found so far, and what is known of their columns."""

    def __init__(self, variables: int, most: int) -> None:
        self.freedom = np.zeros(variables, np.int64)
        self.unit = 0.0
        self.room = most
        self._parts: list[ListedPairs] = []

    def add(self, pairs: DevicePairs, between: tuple[Positions, Positions] | None) -> bool:
        """Add the dependent pairs of columns with others, or of all that are there; return whether there was room."""
        found = pairs.list_among(self.room) if between is None else pairs.list_between(*between, self.room)
        if found is None:
            return False
        to_host = pairs.planes.device.to_host
        self._parts.append((to_host(found[0]), to_host(found[1]), to_host(found[2])))
        self.freedom = np.maximum(self.freedom, pairs.freedom)
        self.unit = pairs.planes.unit
        self.room -= len(found[0])
        return True

    def all(self) -> ListedPairs:
        """Return x, y and the sums of all."""
        x, y, sums = zip(*self._parts, strict=True)
        return np.concatenate(x), np.concatenate(y), np.concatenate(sums)
