"""The result of `knockoff_filter`: the variables that stand out from their knockoffs."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.checks import check_alpha
from serape.errors import OptionError, abbreviate, first_few, suggestion
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_values
from serape.results.displayed import variables_text
from serape.results.kind import ResultKind
from serape.results.saved import LEAST, known, number, rate, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.report import Around

_NAMED = 20
_NONE = "No variable tells more than its knockoff."


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
class KnockoffSelection(ResultKind, file="serape-knockoffs-1"):
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

    def explain(self, variable: str) -> str:
        """Return whether a variable stands out from its knockoff."""
        if variable == self.target:
            raise OptionError(f"{variable!r} is the target itself; name another variable")
        if variable not in self.statistics:
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), list(self.statistics))}")
        if variable in self.same:
            return plain(f"{variable} equals its knockoff in every row, so nothing can be discovered about it.")
        w = self.statistics[variable]
        if variable in self.members:
            return plain(f"{variable} stands out from its knockoff: W = {w:.4g}, and {self.threshold:.4g} is enough.")
        least = f"at least {self.threshold:.4g} is needed" if self.threshold < math.inf else "no W is enough"
        return plain(f"{variable} does not stand out from its knockoff: W = {w:.4g}, and {least}.")

    # --- output ------------------------------------------------------------------------------------------------------

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw W of the variables that tell more than their knockoffs, the largest first, and the threshold.

        At most 30 are drawn; the number of others is written below. `path` is a file for the picture (.png, .svg,
        .pdf), `ax` are axes to draw in.
        """
        above = [(name, w) for name, w in sorted(self.statistics.items(), key=lambda item: -item[1]) if w > 0]
        mark = (self.threshold, f"selected from {self.threshold:.3g}") if self.threshold < math.inf else None
        return self._drawn(path, lambda: draw_values(above, self.members, self.title, "W", _NONE, ax, mark=mark))

    _kicker = "Knockoffs"

    def _around(self) -> Around:
        from serape.results.report import Around, Member

        largest = max([*self.statistics.values(), 0.0])
        members = [
            Member(name, "neighbour" if name in self.members else "member", f"W = {w:.4g}", w / largest)
            for name, w in sorted(self.statistics.items(), key=lambda item: -item[1])
            if w > 0
        ]
        legend = {"neighbour": "selected", "member": "tells more than its knockoff, but not enough"}
        return Around(self.target, members, legend, {"the largest W": 1.0, "half of it": 0.5})

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
        return self._whole_text(lines)
