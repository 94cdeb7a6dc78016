"""Separations given one variable of a pool, on a device: HPC's first step, and what its search for spouses returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.separations import DeviceSeparated, DeviceSeparations
from serape.independence.outcomes import Floats, Poll, Tally, as_positions
from serape.independence.subset_query import SubsetQuery
from serape.independence.subsets import SubsetResult

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest

_NONE = -1


def separate_on_device(
    test: ContingencyTest, planes: DevicePlanes, query: SubsetQuery, *, threads: int = 1, poll: Poll | None = None
) -> tuple[SubsetResult, Tally] | None:
    """Do as `ContingencyTest.search_subsets` for the variables of a pool, from the last to the first, given one other.

    None if the core must: a device answers for binary variables.
    """
    del threads, poll
    assert query.stop_above is not None
    rules = DeviceRules(test.dof, test.reliability, test.minimum)
    pool = as_positions(query.pool)
    in_order = len(query.xs) == len(pool) and np.array_equal(as_positions(query.xs), pool[::-1])
    if not in_order or not DeviceSeparations.can_separate(planes, rules, query.target, pool):
        return None
    found = DeviceSeparations(planes, rules, query.target, query.stop_above).of_pool(pool)
    if found is None:
        return None
    tally = Tally()
    tally.add(1, *found.tests)
    return DeviceSeparationResult(found, (), planes, test.rows, query.stop_above), tally


class FixedAndOne(Sequence[Sequence[int]]):
    """Sets of fixed variables and one more; none in place of that stands for the empty set."""

    def __init__(self, fixed: tuple[int, ...], others: NDArray[np.int64]) -> None:
        self._fixed = fixed
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
        return [*self._fixed, other] if other != _NONE else []


class DeviceSeparationResult(SubsetResult):
    """The answers about the variables of a pool, the last first; most is computed when it is needed."""

    def __init__(
        self, found: DeviceSeparated, fixed: tuple[int, ...], planes: DevicePlanes, rows: int | None, log_alpha: float
    ) -> None:
        n = len(found.pool) if len(found.pool) > 1 else 0
        self._pool = found.pool
        self._fixed = fixed
        self._planes = planes
        self._rows = rows
        self._log_alpha = log_alpha
        self.xs = found.pool[::-1][:n]
        self._sums, self._dof, self._other = found.sums[::-1][:n], found.dof[::-1][:n], found.which[::-1][:n]
        verdict = found.verdict[::-1][:n]
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
        self.sets = FixedAndOne(self._fixed, np.append(self._pool.astype(np.int64), _NONE)[used])

    def log_p_of(self, indices: NDArray[np.intp]) -> Floats:
        """Return the logarithms of the p-values at some indices, whose answers are reliable."""
        return _core.chi_square_log_sf(self.statistic[indices], self.dof[indices])

    def above(self, log_alpha: float) -> NDArray[np.intp]:
        """Return the indices of the answers whose reliable log p is above a value."""
        return np.flatnonzero(self.separated) if log_alpha == self._log_alpha else super().above(log_alpha)
