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
    _details: ClassVar[frozenset[str]] = frozenset()
    """The entries that are no measures."""

    @property
    def records(self) -> Records:
        """The measures, one a row: a table for any dataframe library."""
        measures = self.measures()
        return Records({"measure": list(measures), "value": list(map(_value, measures.values()))})

    def measures(self) -> dict[str, Any]:
        """Return the measures by name."""
        return {name: getattr(self, name) for name in self._names() if name not in self._details}

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [[row["measure"].replace("_", " "), cell_text(row["value"])] for row in self.records]
        return ("measure", "value"), rows[:max_rows], len(rows)

    def _below(self) -> Sequence[str]:
        return self._how()

    def _how(self) -> Sequence[str]:
        return ()


def _value(measure: Any) -> Any:
    return ", ".join(measure) if isinstance(measure, tuple) else measure
