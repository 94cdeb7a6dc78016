"""The separations of HPC, by G² of binary columns, on a device: variables given one of the others.

They are in the order of their strength. The weakest is asked about first, and conditioned on the strongest first; one
that is separated leaves the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes

MAX_ROWS = 8192
_NEAR_ROWS = 2048  # up to which n ln n is kept in shared memory
_TOGETHER = 512  # variables whose sets one block searches
_THREADS = 256
_WARPS = 8
_KINDS = 4
_NONE = 0xFFFFFFFF


class DeviceSeparated(NamedTuple):
    """Answers about variables, in the order of their strength, the strongest first."""

    pool: NDArray[np.uint32]
    sums: NDArray[np.int64]
    """The sum of the separating test, or of the weakest association."""
    dof: NDArray[np.uint32]
    verdict: NDArray[np.uint32]
    """0 if no test is reliable, 1 if no set separates, 2 if one does."""
    which: NDArray[np.uint32]
    """The place in the pool of the member of the conditioning set that is not fixed."""
    tests: tuple[int, int]
    """The numbers of tests performed and skipped."""


class DeviceSeparations:
    """Separations from one target."""

    def __init__(self, planes: DevicePlanes, rules: DeviceRules, target: int, log_alpha: float) -> None:
        self.planes = planes
        self.target = target
        self.columns = [
            planes.planes, planes.zero, np.uint32(planes.words), planes.first_on_device, planes.levels_on_device,
            planes.log_table, np.uint32(planes.rows), np.uint32(_NEAR_ROWS), planes.critical(log_alpha),
            np.uint32(rules.dof == "adjusted"),
        ]  # fmt: skip
        self.table_bytes = (planes.rows + 1) * 8 if planes.rows <= _NEAR_ROWS else 0

    @staticmethod
    def can_separate(planes: DevicePlanes, rules: DeviceRules, target: int, pool: NDArray[np.uint32]) -> bool:
        """Return whether a device separates the variables of a pool: all are binary."""
        all_binary = planes.levels[target] == 2 and bool((planes.levels[pool] == 2).all())
        return all_binary and planes.rows <= MAX_ROWS and rules.enough_rows(planes.rows, 2, 2, 2.0)

    def of_pool(self, pool: NDArray[np.uint32]) -> DeviceSeparated | None:
        """Separate the variables of one pool, given another of it; None if the core must."""
        device, xp = self.planes.device, self.planes.device.xp
        members, counts = xp.asarray(pool.astype(np.uint32)), xp.empty(len(pool), xp.uint64)
        device.launch(
            "separations.cu", {}, "count_ones", (-(-len(pool) // _THREADS), 1), _THREADS,
            [*self.columns[:5], np.uint32(self.target), np.uint32(len(pool)), members, counts], 16 * self.planes.words,
        )  # fmt: skip
        (found,) = self.separate(xp.asarray(np.array([_NONE], np.uint32)), np.array([0, len(pool)]), members, counts)
        return found

    def separate(
        self, children: Any, begin: NDArray[np.int64], pools: Any, counts: Any
    ) -> list[DeviceSeparated | None]:
        """Separate the variables of each child's pool, given the child and another of the pool.

        The pools are one after another, and so are the counts of their ones in the cells of target and child. Without a
        child (_NONE), the other alone is given. None where the core must be asked.
        """
        planes, device, xp = self.planes, self.planes.device, self.planes.device.xp
        n, total, width = len(children), int(begin[-1]), int(np.diff(begin).max())
        verdict, dof, which, live = (xp.zeros(total, xp.uint32) for _ in range(4))
        sums, kind_sum = xp.zeros(total, xp.int64), xp.empty(total * _KINDS, xp.int64)
        kind_at = xp.empty(total * _KINDS, xp.uint32)
        tests, close = xp.zeros(2 * n, xp.uint64), xp.zeros(n, xp.uint32)
        if width > 1:
            asked = [*self.columns, np.uint32(self.target), children, xp.asarray(begin.astype(np.int64)), pools, counts]
            answers = [verdict, sums, dof, which, kind_sum, kind_at, tests]
            device.launch(
                "separations.cu", {}, "separate_by_stronger", (-(-width // _TOGETHER), n), _THREADS,
                [*asked, *answers, np.uint32(_TOGETHER)], 16 * (1 + _WARPS) * planes.words + self.table_bytes,
            )  # fmt: skip
            device.launch(
                "separations.cu", {}, "separate_by_weaker", (n, 1), _THREADS,
                [*asked, np.float64(2.0 * planes.unit), live, *answers, close], 32 * planes.words + self.table_bytes,
            )  # fmt: skip
        all_found = [device.to_host(part) for part in (pools, sums, dof, verdict, which)]
        counted, unclear = device.to_host(tests).reshape(n, 2).tolist(), device.to_host(close)
        found: list[DeviceSeparated | None] = []
        for k in range(n):
            ids, own_sums, own_dof, own_verdict, own_which = (part[begin[k] : begin[k + 1]] for part in all_found)
            one = DeviceSeparated(ids, own_sums, own_dof, own_verdict, own_which, (counted[k][0], counted[k][1]))
            found.append(None if unclear[k] else one)
        return found
