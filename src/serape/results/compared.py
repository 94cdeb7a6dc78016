"""What the comparison of a set and that of a graph with the true one have in common: they are a few measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from serape.records import Records, cell_text
from serape.results.kind import ResultKind


class Compared(ResultKind):
    """A comparison: its fields are measures. Two that say the same are equal, and hash alike."""

    notes: ClassVar[tuple[str, ...]] = ()  # type: ignore[misc]  # a comparison has none
    _kicker = "Comparison"

    @property
    def records(self) -> Records:
        """The measures, one a row: a table for any dataframe library."""
        measures = {name: getattr(self, name) for name in self._names()}
        return Records({"measure": list(measures), "value": list(map(_value, measures.values()))})

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [[row["measure"], cell_text(row["value"])] for row in self.records]
        return ("measure", "value"), rows[:max_rows], len(rows)


def _value(measure: Any) -> Any:
    return ", ".join(measure) if isinstance(measure, tuple) else measure
