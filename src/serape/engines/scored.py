"""The scores of a table's columns in the core: normal scores of numbers, indicators of levels.

The test of residuals and Gram matrices use the same ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Lock

import numpy as np

from serape import _core
from serape.data.table import Table


class Scored:
    """The core's scores of a table's columns, each made when it is first asked for."""

    def __init__(self, table: Table, *, curved: bool) -> None:
        repeated = table.weights is not None and table.weights.kind == "frequency"
        weights = np.empty(0) if table.weights is None else table.weights.scaled
        numbers = list(table.continuous)
        self.native = _core.ResidualTest(table.codes_alone, numbers, curved, weights, repeated)
        self._numbers = frozenset(numbers)
        self._made: set[int] = set()
        self._lock = Lock()

    @classmethod
    def of(cls, table: Table, *, curved: bool = True) -> Scored:
        """Return the scores that are kept with a table; `curved`: for tests that look at curved dependence."""
        size = 2 * 8 * table.rows * max(len(table.continuous), 1)
        return table.memory.keep(("scores", curved), lambda: cls(table, curved=curved), size)

    def make(self, table: Table, columns: Iterable[int]) -> None:
        """Let the core score some columns of the table, each once."""
        asked = set(map(int, columns))
        if asked <= self._made:
            return
        with self._lock:
            for k in asked - self._made:
                if k in self._numbers:
                    self.native.set_values(k, np.ascontiguousarray(table.numbers(k), np.float64))
                else:
                    self.native.set_category(k)
                self._made.add(k)
