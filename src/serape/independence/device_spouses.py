"""HPC's search for spouses on a device; children that it leaves open are answered by the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.pairs import Rules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.spouses import DeviceSpouses, SpousesOfChild
from serape.independence.outcomes import Floats, Poll, Tally
from serape.independence.screens import CandidateGroups
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest

_NONE = -1
Spouses = tuple[Sequence[int] | NDArray[np.uint32], Tally, SubsetResult, Tally]
"""What `ContingencyTest.find_spouses` returns for a child."""


def find_spouses_on_device(
    test: ContingencyTest,
    planes: DevicePlanes,
    target: int,
    groups: CandidateGroups,
    children: Sequence[int],
    log_alpha: float,
    threads: int,
    poll: Poll | None,
) -> list[Spouses] | None:
    """Do as `ContingencyTest.find_spouses`; None if the core must."""
    rules = Rules(test.dof, test.reliability, test.minimum)
    if not DeviceSpouses.can_search(planes, rules, target, groups.all, children):
        return None
    found = DeviceSpouses(planes, rules, target, groups.all, log_alpha).find(children, poll)
    left = [child for child, one in zip(children, found, strict=True) if one is None]
    core = iter(test.find_spouses_in_core(target, groups, left, log_alpha, threads=threads, poll=poll))
    return [
        next(core) if one is None else _as_core(one, int(child), planes, test.rows, log_alpha)
        for child, one in zip(children, found, strict=True)
    ]


def _as_core(one: SpousesOfChild, child: int, planes: DevicePlanes, rows: int | None, log_alpha: float) -> Spouses:
    screened, separated = Tally(), Tally()
    for size, (tests, skipped) in one.screened.items():
        screened.add(size, tests, skipped)
    separated.add(2, *one.separated)
    return one.dependents, screened, DeviceSubsetResult(one, child, planes, rows, log_alpha), separated


class ChildAndOne(Sequence[Sequence[int]]):
    """Sets of a child and one more variable; none in place of that stands for the empty set."""

    def __init__(self, child: int, others: NDArray[np.int64]) -> None:
        self._child = child
        self._others = others

    def __len__(self) -> int:
        return len(self._others)

    @overload
    def __getitem__(self, k: int) -> Sequence[int]: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[Sequence[int]]: ...
    def __getitem__(self, k: int | slice) -> Sequence[int] | Sequence[Sequence[int]]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        other = int(self._others[k])
        return [self._child, other] if other != _NONE else []


class DeviceSubsetResult(SubsetResult):
    """The answers about the dependent candidates of one child, the weakest first; most is computed when needed."""

    def __init__(
        self, one: SpousesOfChild, child: int, planes: DevicePlanes, rows: int | None, log_alpha: float
    ) -> None:
        n = len(one.dependents) if len(one.dependents) > 1 else 0
        self._pool = one.dependents
        self._child = child
        self._planes = planes
        self._rows = rows
        self._log_alpha = log_alpha
        self.xs, self._sums, self._dof, verdict, self._other = (
            part[::-1][:n] for part in (one.dependents, one.sums, one.dof, one.verdict, one.which)
        )
        self.reliable = verdict > 0
        self.separated = verdict == 2

    def __reduce__(self) -> tuple[Any, ...]:
        verdict = self.reliable.astype(np.int32) + self.separated
        numbers = self.statistic, self.dof, self.log_p
        return SubsetResult, (self.xs, *numbers, verdict, self.which, list(self.sets), self._rows)

    def __getattr__(self, name: str) -> Any:
        if name == "statistic":
            self.statistic = np.where(self.reliable, self._planes.statistic(self._sums), np.nan)
        elif name == "dof":
            self.dof = np.where(self.reliable, self._dof, np.nan)
        elif name == "log_p":
            self.log_p = np.full(len(self), np.nan)
            self.log_p[self.reliable] = self.log_p_of(np.flatnonzero(self.reliable))
        elif name in ("which", "sets"):
            self._number_sets()
        else:
            raise AttributeError(name)
        return self.__dict__[name]

    def _number_sets(self) -> None:
        """Number the conditioning sets in the order of the answers, as the core does."""
        n = len(self._pool)
        other = np.where(self.reliable, self._other, n)
        first = np.full(n + 1, len(self))
        first[other[::-1]] = np.arange(len(self))[::-1]  # the last that is written counts
        used = np.flatnonzero(first < len(self))
        used = used[first[used].argsort()]
        number = np.zeros(n + 1, np.int32)
        number[used] = np.arange(len(used))
        self.which = number[other]
        self.sets = ChildAndOne(self._child, np.append(self._pool, np.int64(_NONE))[used])

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some indices, whose answers are reliable."""
        return _core.chi_square_log_sf(self.statistic[indices], self.dof[indices])

    def above(self, log_alpha: float) -> NDArray[np.intp]:
        """Return the indices of the answers whose reliable log p is above a value."""
        return np.flatnonzero(self.separated) if log_alpha == self._log_alpha else super().above(log_alpha)
