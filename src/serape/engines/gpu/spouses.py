"""The search of HPC for a superset of the spouses, for many children at once, by G² of binary columns, on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.separations import MAX_ROWS, DeviceSeparated, DeviceSeparations

_ROOM = 1 << 14  # dependent candidates of one child
_BYTES = 1 << 29  # for those of all children of one launch
_TILE = 1024  # candidates that a block screens
_MAX_CLOSE = 1 << 16  # pairs
_THREADS = 256
_NONE = 0xFFFFFFFF
Groups = Sequence[tuple[Sequence[int] | NDArray[np.uint32], Sequence[int]]]


class SpousesOfChild(NamedTuple):
    """What was found for one child."""

    separated: DeviceSeparated
    """The candidates that depend on the target given their group's set and the child, the strongest first, and what
    separates them given the child and one of the others."""
    screened: dict[int, tuple[int, int]]
    """By size of the conditioning set, the numbers of tests of the first kind that were performed and skipped."""


@dataclass(frozen=True)
class _Tiles:
    """Candidates of groups, in pieces of one group each."""

    candidates: NDArray[np.uint32]
    begin: NDArray[np.uint32]
    end: NDArray[np.uint32]
    given: NDArray[np.uint32]


class DeviceSpouses:
    """Searches for the spouses of one target."""

    def __init__(self, planes: DevicePlanes, rules: DeviceRules, target: int, groups: Groups, log_alpha: float) -> None:
        self.planes = planes
        self.rules = rules
        self.target = target
        self.log_alpha = log_alpha
        self._separations = DeviceSeparations(planes, rules, target, log_alpha)
        self._sizes = {size: _candidates_by_given(groups, size) for size in (0, 1)}
        self._tiles = _tiles(groups)

    @staticmethod
    def can_search(
        planes: DevicePlanes, rules: DeviceRules, target: int, groups: Groups, children: Sequence[int]
    ) -> bool:
        """Return whether a device finds the spouses: all variables are binary, and sets of groups have one member."""
        if planes.rows > MAX_ROWS or any(len(given) > 1 for _, given in groups) or not groups:
            return False
        met = np.concatenate([np.asarray(candidates, np.uint32) for candidates, _ in groups])
        given = [z for _, of_group in groups for z in of_group]
        seen = np.zeros(len(planes.levels), bool)
        seen[met] = True
        return (
            len(met) > 0
            and int(seen.sum()) == len(met)
            and bool((planes.levels[np.concatenate([met, given, children, [target]]).astype(np.int64)] == 2).all())
            and rules.enough_rows(planes.rows, 2, 2, 4.0)
        )

    def find(self, children: Sequence[int], poll: Callable[[], object] | None = None) -> list[SpousesOfChild | None]:
        """Return what is found for each child; None where the core must be asked."""
        room = min(len(self._tiles.candidates), _ROOM)
        together = max(1, _BYTES // (36 * room))
        found: list[SpousesOfChild | None] = []
        for begin in range(0, len(children), together):
            if poll is not None:
                poll()
            found += self._find(np.array(children[begin : begin + together], np.uint32), room)
        return found

    def _find(self, children: NDArray[np.uint32], room: int) -> list[SpousesOfChild | None]:
        planes, device = self.planes, self.planes.device
        xp = device.xp
        n, tiles = len(children), self._tiles
        asked = xp.asarray(children)
        columns = self._separations.columns
        two_units = np.float64(2.0 * planes.unit)
        count, skipped = xp.zeros(n, xp.uint32), xp.zeros(2 * n, xp.uint32)
        ids, dofs, places = (xp.empty(n * room, xp.uint32) for _ in range(3))
        sums, log_p = xp.empty(n * room, xp.int64), xp.empty(n * room, xp.float64)
        counts = xp.empty(n * room, xp.uint64)
        device.launch(
            "spouses.cu", {}, "screen_groups", (len(tiles.begin), n), _THREADS,
            [
                *columns, two_units, np.uint32(self.target), asked, xp.asarray(tiles.candidates),
                xp.asarray(tiles.begin), xp.asarray(tiles.end), xp.asarray(tiles.given), np.uint32(room),
                count, ids, dofs, sums, log_p, counts, skipped,
            ],
            32 * planes.words + self._separations.table_bytes,
        )  # fmt: skip
        found = device.to_host(count).astype(np.int64)
        fits = found <= room
        held = np.where(fits, found, 0)
        width = int(held.max())
        if width > 0:
            n_close, close = xp.zeros(1, xp.uint32), xp.empty(3 * _MAX_CLOSE, xp.uint32)
            device.launch(
                "spouses.cu", {}, "rank_dependents", (-(-width // _THREADS), n), _THREADS,
                [np.uint32(room), count, ids, dofs, sums, log_p, places, np.uint32(_MAX_CLOSE), n_close, close],
            )  # fmt: skip
            for k in self._unranked(int(device.to_host(n_close)[0]), close, sums, dofs, n, room):
                own = slice(k * room, k * room + int(held[k]))
                places[own] = xp.asarray(self._ranked(*(device.to_host(part[own]) for part in (ids, sums, dofs))))
        begin = np.concatenate(([0], np.cumsum(held)))
        in_order, their_counts = xp.empty(int(begin[-1]), xp.uint32), xp.empty(int(begin[-1]), xp.uint64)
        starts = xp.asarray(begin)
        if width > 0:
            device.launch(
                "spouses.cu", {}, "place_in_order", (-(-width // _THREADS), n), _THREADS,
                [np.uint32(room), starts, ids, counts, places, in_order, their_counts],
            )  # fmt: skip
        separated = self._separations.separate(asked, begin, in_order, their_counts)
        skips = device.to_host(skipped).reshape(n, 2)
        return [
            SpousesOfChild(one, self._screened(int(children[k]), skips[k])) if fits[k] and one is not None else None
            for k, one in enumerate(separated)
        ]

    def _screened(self, child: int, skipped: NDArray[np.uint32]) -> dict[int, tuple[int, int]]:
        screened = {}
        for size, by_given in self._sizes.items():
            asked = by_given[_NONE] - by_given.get(child, 0)
            screened[size + 1] = asked - int(skipped[size]), int(skipped[size])
        return screened

    def _unranked(self, n_close: int, close: Any, sums: Any, dofs: Any, children: int, room: int) -> list[int]:
        """Return the children, by index, whose dependent candidates the core may rank in another order.

        A pair of as many degrees of freedom is in the core's order, unless the p-values are rounded against it.
        """
        device = self.planes.device
        if n_close > _MAX_CLOSE:
            return list(range(children))
        child, stronger, weaker = device.to_host(close[: 3 * n_close]).reshape(-1, 3).astype(np.int64).T
        at = device.xp.asarray(np.concatenate([child * room + stronger, child * room + weaker]))
        dof = device.to_host(dofs[at]).astype(np.float64)
        log_p = _core.chi_square_log_sf(self.planes.statistic(device.to_host(sums[at])), dof)
        right = (dof[:n_close] == dof[n_close:]) & (log_p[:n_close] <= log_p[n_close:])
        unranked: list[int] = np.unique(child[~right]).tolist()
        return unranked

    def _ranked(self, ids: NDArray[np.uint32], sums: NDArray[np.int64], dof: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return the place of each dependent candidate, as the core ranks them."""
        statistic = self.planes.statistic(sums)
        log_p = _core.chi_square_log_sf(statistic, dof.astype(np.float64))
        order = np.lexsort((ids, -statistic, log_p))
        places = np.empty(len(ids), np.uint32)
        places[order] = np.arange(len(ids), dtype=np.uint32)
        return places


def _candidates_by_given(groups: Groups, size: int) -> dict[int, int]:
    """Return the number of candidates of groups whose sets have a size, in all (_NONE) and by the member of the set."""
    numbers = {_NONE: 0}
    for candidates, given in groups:
        if len(given) == size:
            numbers[_NONE] += len(candidates)
            for z in given:
                numbers[int(z)] = numbers.get(int(z), 0) + len(candidates)
    return numbers


def _tiles(groups: Groups) -> _Tiles:
    candidates = np.concatenate([np.asarray(of_group, np.uint32) for of_group, _ in groups])
    begin, end, given = [], [], []
    at = 0
    for of_group, its in groups:
        for first in range(at, at + len(of_group), _TILE):
            begin.append(first)
            end.append(min(first + _TILE, at + len(of_group)))
            given.append(int(its[0]) if its else _NONE)
        at += len(of_group)
    return _Tiles(candidates, *(np.array(part, np.uint32) for part in (begin, end, given)))
