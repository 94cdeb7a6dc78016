"""The result of `stability`: how often each variable is found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from serape.errors import OptionError
from serape.records import Records
from serape.results.charts import draw_stability
from serape.results.pictures import figure_of, picture_format, save_picture
from serape.types import Finds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Sampling = Literal["half", "bootstrap"]
SAMPLINGS: tuple[Sampling, ...] = ("half", "bootstrap")


@dataclass(frozen=True)
class Stability:
    """How often each variable is found in resampled rows."""

    target: str
    finds: Finds
    sampling: Sampling
    draws: int
    """The number of draws searched; fewer than asked for if interrupted."""
    rows: int
    """The number of rows in a draw; if whole groups are drawn, in the first."""
    mean_size: float
    """The mean number of variables found in a draw."""
    frequencies: Mapping[str, float] = field(repr=False)
    """For every variable but the target, the share of the draws in which it is found; the most frequent first."""
    algorithm: str
    test: str
    alpha: float
    random_state: int
    seconds: float
    complete: bool
    """False if interrupted."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the search."""

    def stable(self, threshold: float = 0.5) -> tuple[str, ...]:
        """Return the variables found in at least this share of the draws, the most frequent first."""
        if not isinstance(threshold, int | float) or not 0 < threshold <= 1:
            raise OptionError(f"threshold must be above 0 and at most 1, not {threshold!r}")
        return tuple(name for name, share in self.frequencies.items() if share >= threshold)

    @cached_property
    def records(self) -> Records:
        """For every variable, the number and share of draws in which it is found: a table for any dataframe library."""
        shares = list(self.frequencies.values())
        return Records(
            {
                "variable": list(self.frequencies),
                "draws": [round(share * self.draws) for share in shares],
                "share": shares,
            }
        )

    def plot(
        self, path: str | os.PathLike[str] | None = None, *, threshold: float = 0.5, ax: Axes | None = None
    ) -> Axes:
        """Draw the shares of the 30 most frequent variables and the threshold; the number of others is written below.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        self.stable(threshold)
        if path is not None:
            picture_format(Path(path))
        ax = draw_stability(self, threshold, ax)
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    @property
    def title(self) -> str:
        """The question, in words."""
        what = "Markov blanket" if self.finds == "blanket" else "Parents and children"
        how = f"halves of {self.rows:,} rows" if self.sampling == "half" else f"bootstraps of {self.rows:,} rows"
        return f"{what} of {self.target} in {self.draws:,} {how}"

    def __str__(self) -> str:
        found = [f"{name} ({share:.0%})" for name, share in self.frequencies.items() if share >= 0.5]
        lines = [
            f"{self.title}",
            f"  found in at least half of them: {', '.join(found) or 'no variable'}",
            f"  by {self.algorithm} with {self.test} at alpha {self.alpha:g}: {self.mean_size:.3g} variables in a draw "
            f"on average, {sum(s > 0 for s in self.frequencies.values()):,} at least once, {self.seconds:.3g} s",
        ]
        if not self.complete:
            lines.append("  interrupted: this is the result so far")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])
