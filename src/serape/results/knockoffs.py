"""The result of `knockoff_filter`: the variables that stand out from their knockoffs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from serape.checks import check_alpha
from serape.errors import abbreviate, first_few
from serape.markup import plain
from serape.records import Records
from serape.results.displayed import variables_text
from serape.results.kind import Kind
from serape.results.saved import LEAST, known, number, rate, texts

_NAMED = 20


def knockoff_threshold(statistics: Sequence[float], rate: float, offset: int = 1) -> float:
    """Return the smallest t > 0 with (offset + #{W ≤ −t}) / max(1, #{W ≥ t}) ≤ rate, or infinity.

    With `offset=1` it is that of knockoff+, which bounds the false discovery rate; with 0 that of the knockoff filter,
    which bounds E[false / (selected + 1 / rate)] (Barber and Candès 2015).
    """
    ranked = sorted((w for w in statistics if w != 0), key=abs, reverse=True)
    above = below = 0
    threshold = math.inf
    for k, w in enumerate(ranked):
        above, below = above + (w > 0), below + (w < 0)
        last_of_ties = k + 1 == len(ranked) or abs(ranked[k + 1]) < abs(w)
        if last_of_ties and offset + below <= rate * max(1, above):
            threshold = abs(w)
    return threshold


@dataclass(frozen=True, kw_only=True, repr=False)
class KnockoffSelection(Kind, file="serape-knockoffs-1"):
    """The variables that stand out from their knockoffs, and the statistic W of every variable.

    Examples
    --------
    >>> found = serape.knockoff_filter(clinic(5000), "HeartDisease")
    >>> found.selected(0.1), round(found.threshold, 4)
    ((), 0.0136)
    """

    target: str
    members: tuple[str, ...]
    """The selected variables, in the table's order."""
    statistics: Mapping[str, float] = field(repr=False)
    """By variable, W: above 0 if the variable is more important than its knockoff, below 0 if less."""
    threshold: float
    """The smallest W that is selected; infinite if none is."""
    fdr: float
    """The bound on the false discovery rate."""
    offset: int
    """1 for knockoff+, 0 for the knockoff filter without it."""
    statistic: str
    """The name of the statistic."""
    network: str
    """The network that the knockoffs are drawn from, in words."""
    same: tuple[str, ...] = ()
    """Variables that equal their knockoff in every row, so that nothing can be discovered about them."""
    rows: int
    tests: int
    """The number of tests that the search for the network performed."""
    random_state: int
    seconds: float = field(compare=False)
    notes: tuple[str, ...] = ()
    """Remarks about the data, the network and the selection."""

    def selected(self, fdr: float) -> tuple[str, ...]:
        """Return what is selected at another rate. To look at several and choose one voids the bound."""
        check_alpha(fdr, "fdr")
        least = knockoff_threshold(tuple(self.statistics.values()), fdr, self.offset)
        return tuple(name for name, w in self.statistics.items() if w >= least)

    @cached_property
    def records(self) -> Records:
        """For every variable its statistic and whether it is selected, the largest first: a table for any library."""
        names = sorted(self.statistics, key=lambda name: -self.statistics[name])
        return Records(
            {
                "variable": names,
                "W": [self.statistics[name] for name in names],
                "selected": [name in set(self.members) for name in names],
            }
        )

    # --- output ------------------------------------------------------------------------------------------------------

    _entries = (
        "target", "members", "statistics", "threshold", "fdr", "offset", "statistic", "network", "same", "rows",
        "tests", "random_state", "seconds", "notes",
    )  # fmt: skip
    _readers: ClassVar = {
        "statistics": lambda values: {str(name): number(w) for name, w in values.items()},
        "threshold": lambda value: number(value, LEAST),
        "fdr": rate,
        "offset": int,
        "statistic": str,
        "network": str,
    }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        names = list(content["statistics"])
        if int(content["offset"]) not in (0, 1):
            raise ValueError("the offset is neither 0 nor 1")
        members, same = (known(texts(content[name]), names) for name in ("members", "same"))
        return super().from_dict(content, members=members, same=same, **made)

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Variables that stand out from their knockoffs, target {self.target}"

    def _heading(self) -> str:
        return f"{self.title}: {variables_text(len(self.members))}"

    def _brief(self) -> str:
        return f"{self._heading()}: {abbreviate(self.members, 8)}" if self.members else self._heading()

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [self.records[k] for k in range(min(max_rows, len(self.records)))]
        cells = [[row["variable"], f"{row['W']:.4g}", "yes" if row["selected"] else "no"] for row in rows]
        return ("variable", "W", "selected"), cells, len(self.records)

    def __str__(self) -> str:
        below = sum(w < 0 for w in self.statistics.values())
        above = sum(w > 0 for w in self.statistics.values())
        reached = f"W from {self.threshold:.3g}" if self.threshold < math.inf else "no threshold reaches it"
        rule = "knockoff+" if self.offset else "knockoff filter, offset 0"
        lines = [
            self._heading(),
            f"  selected: {first_few(self.members, max_items=_NAMED) or 'none'}",
            f"  false discovery rate {self.fdr:g} ({rule}): {reached}",
            f"  W by {self.statistic}: above 0 for {above:,} of {variables_text(len(self.statistics))}, below 0 for "
            f"{below:,}",
            f"  knockoffs from {self.network}: {self.rows:,} rows, {self.tests:,} tests, {self.seconds:.3g} s",
        ]
        return plain("\n".join([*lines, *(f"  note: {note}" for note in self.notes)]))
