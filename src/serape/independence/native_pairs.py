"""All pairs of columns by G² in the core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.outcomes import Floats, as_positions

if TYPE_CHECKING:
    from serape.engines.gpu.pairs import FoundPairs
    from serape.independence.contingency import ContingencyTest

MIN_ROWS = 5
"""Rows per degree of freedom, for binary columns."""
MAX_ROWS = 65_528
"""Rows of tables that are tested so: counts have 16 bits."""
Strongest = tuple[NDArray[np.uint32], NDArray[np.uint32], Floats, Floats]


class NativePairs:
    """Tests of all pairs of columns of few levels, in ascending order: what `DevicePairs` answers on a device."""

    def __init__(self, test: ContingencyTest, columns: NDArray[np.uint32], log_alpha: float, threads: int) -> None:
        self._test, self._columns, self._log_alpha, self._threads = test, columns, log_alpha, threads

    @cached_property
    def _blocks(self) -> _core.PairBlocks:
        return _core.PairBlocks(self._test.native, self._columns, self._log_alpha)

    def dependent(self, most: int) -> FoundPairs:
        """Return the dependent pairs, from both sides, by target; none if there are more than `most`."""
        return _core.dependent_pairs(self._test.native, self._columns, self._log_alpha, most, self._threads)

    def dependent_on(self, targets: NDArray[np.uint32], most: int) -> FoundPairs:
        """Return the columns that depend on some targets, by target; none if there are more than `most`."""
        return self._blocks.of(targets, most, self._threads)

    def strongest(self, strongest: int) -> Strongest:
        """Return, by variable, how many depend on it; its strongest partners, their statistics and dof."""
        test, threads = self._test, self._threads
        if are_binary(test):
            return _core.all_pairs(test.table.packed, self._log_alpha, strongest, MIN_ROWS, threads)
        return _core.strongest_pairs(test.native, self._columns, self._log_alpha, strongest, threads)


def are_binary(test: ContingencyTest) -> bool:
    """Return whether all columns of a test with the usual rules are binary: then all pairs are fastest."""
    if test.table.rows > MAX_ROWS or (test.dof, test.reliability, test.minimum) != ("full", "dof", MIN_ROWS):
        return False
    return most_levels(test, range(len(test.variables))) <= 2


def most_levels(test: ContingencyTest, variables: Sequence[int] | NDArray[np.uint32]) -> int:
    """Return the largest number of levels of these columns; 0 if they are numbers."""
    if test.table.continuous:
        return max((test.table.levels(int(k)) for k in variables), default=0)
    levels = test.table.packed.all_levels()
    return int(levels.max() if len(variables) == len(levels) else levels[as_positions(variables)].max(initial=0))
