"""The result of `stability` about a target, and what it has in common with that about edges."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from serape.errors import OptionError, first_few, shown, suggestion
from serape.markup import plain
from serape.records import Records
from serape.results.charts import MAX_BARS, draw_stability
from serape.results.displayed import rate_text
from serape.results.false_selections import (
    ASSUMPTIONS,
    Assumption,
    FalseSelections,
    check_assumption,
    max_false_selections,
)
from serape.results.kind import ResultKind
from serape.results.saved import count, number, one_of, optional, rate, share
from serape.types import Finds
from serape.wording import setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.report import Around

Sampling = Literal["half", "bootstrap"]
SAMPLINGS: tuple[Sampling, ...] = ("half", "bootstrap")
EdgeNames = tuple[str, str]
Selected = TypeVar("Selected", str, EdgeNames)

_THRESHOLD = 0.5
_LISTED = 20
_PRINTED = (0.6, 0.75, 0.9)  # thresholds whose bounds are printed


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Resampled(ResultKind, Generic[Selected]):
    """What `Stability` and `EdgeStability` have in common: how often something is found in resampled rows."""

    sampling: Sampling
    draws: int
    """The number of draws searched; fewer than asked for if interrupted."""
    pairs: int
    """The number of pairs of draws that have no row in common; 0 for bootstraps."""
    rows: int
    """The number of rows in a draw; if whole groups are drawn, in the first."""
    mean_size: float
    """The mean number of variables, or edges, found in a draw."""
    mean_found: float
    """The mean number of candidates found in a draw, that is, without known members and required edges."""
    candidates: int
    """The number of variables, or pairs, that the data decide about. Constants, identifiers, further duplicates of a
    variable, and what is known or forbidden beforehand do not count."""
    frequencies: Mapping[Selected, float] = field(repr=False)
    """The share of the draws in which each variable, or edge, is found; the most frequent first."""
    algorithm: str
    test: str | None
    alpha: float | None
    fdr: float | None = None
    """The false discovery rate that bounds the search in each draw, or None."""
    random_state: int
    seconds: float = field(compare=False)
    complete: bool
    """False if interrupted, or if a budget ended the search in some draws."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the search."""

    def stable(
        self, threshold: float | None = None, *, max_false: float | None = None, assume: Assumption = "unimodal"
    ) -> tuple[Selected, ...]:
        """Return what is found in at least this share of the draws (by default 0.5), the most frequent first.

        With `max_false` in place of a threshold, it is the least that bounds the expected number of false selections by
        this number; see `threshold`.
        """
        least = self.resolved(threshold, max_false, assume)
        return tuple(item for item, share in self.frequencies.items() if share >= least)

    def false_selections(self, threshold: float, assume: Assumption = "unimodal") -> FalseSelections:
        """Return an upper bound on the expected number of false selections at a threshold.

        `assume` is "none", "unimodal" or "r-concave" (docs/pictures.md); print the bound to see the assumption in
        words. Only halves in pairs have a bound. A draw without its pair counts as one that found everything.
        """
        check_assumption(assume)
        _check_threshold(threshold)
        if not self.pairs:
            raise OptionError(
                "there is no bound on false selections for bootstraps, which repeat rows, nor for a single draw; use "
                f"{setting('sampling', 'half')} and at least 2 draws"
            )
        count = math.ceil(threshold * self.draws - 1e-9) - (self.draws - 2 * self.pairs)
        bound = max_false_selections(self.mean_found, self.candidates, count, self.pairs, assume)
        return FalseSelections(threshold, bound, assume, self.mean_found, self.candidates, self.pairs)

    def threshold(self, max_false: float, assume: Assumption = "unimodal") -> float:
        """Return the least threshold above 0.5 at which at most this number of false selections is expected.

        It is infinite if no threshold does; then more draws, a smaller alpha or a larger number help.
        """
        if isinstance(max_false, bool) or not isinstance(max_false, int | float) or not max_false > 0:
            raise OptionError(f"max_false must be above 0, not {shown(max_false)}")
        low, high = self.draws // 2 + 1, self.draws + 1
        while low < high:  # the bound falls as the threshold grows
            middle = (low + high) // 2
            if self.false_selections(middle / self.draws, assume).bound <= max_false:
                high = middle
            else:
                low = middle + 1
        return low / self.draws if low <= self.draws else math.inf

    def resolved(self, threshold: float | None, max_false: float | None, assume: Assumption = "unimodal") -> float:
        """Return the threshold: the given one, that for `max_false`, or 0.5."""
        if max_false is None:
            _check_threshold(_THRESHOLD if threshold is None else threshold)
            return _THRESHOLD if threshold is None else threshold
        if threshold is not None:
            raise OptionError(f"threshold={threshold!r} and max_false={max_false!r} are two ways to say one thing")
        return self.threshold(max_false, assume)

    # --- saving --------------------------------------------------------------------------------------------------

    @classmethod
    def _names(cls) -> tuple[str, ...]:
        return *super()._names(), "bounds"

    _readers: ClassVar = {
        "sampling": one_of(SAMPLINGS),
        "draws": count,
        "pairs": count,
        "mean_size": number,
        "mean_found": number,
        "frequencies": lambda values: {str(name): share(one) for name, one in values.items()},
        "test": optional(str),
        "alpha": optional(rate),
    }

    @property
    def bounds(self) -> list[dict[str, Any]]:
        """Bounds on the expected number of false selections, for some thresholds."""
        found = [self.false_selections(at, assume) for assume in ASSUMPTIONS for at in _PRINTED if self.pairs]
        return [{"assume": one.assume, "threshold": one.threshold, "expected_false": one.bound} for one in found]

    @property
    def title(self) -> str:
        """The question, in words."""
        how = f"halves of {self.rows:,} rows" if self.sampling == "half" else f"bootstraps of {self.rows:,} rows"
        return f"{self._question} in {self.draws:,} {how}"

    _noun: ClassVar[str]

    @cached_property
    def records(self) -> Records:
        """A table for any dataframe library."""
        raise NotImplementedError

    _most_rows = MAX_BARS

    def _found(self) -> list[dict[str, Any]]:
        """Return the rows of what is found in some draw."""
        return [row for row in self.records if row["draws"]]

    def _grid(
        self, max_rows: int, threshold: float | None = None
    ) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        """With a threshold, the table says what is stable, and is narrow."""
        found = self._found()
        heads: tuple[str, ...] = self.records.columns
        rows = [list(map(_cell, row.values())) for row in found[:max_rows]]
        if threshold is not None:
            heads = (*(_ARROWS.get(name, name) for name in heads), "stable")
            for cells, row in zip(rows, found, strict=False):
                cells.append("yes" if row["share"] >= threshold else "")
        return heads, rows, len(found)

    def _others(self, shown: int, total: int) -> str:
        return f"and {total - shown:,} others, each in at most {self._found()[shown]['share']:.0%} of the draws"

    def _below(self) -> Sequence[str]:
        return super()._below()[1 if self._found() else 0 :]

    @property
    def _question(self) -> str:
        raise NotImplementedError

    @staticmethod
    def _text(item: Selected) -> str:
        raise NotImplementedError

    @property
    def _method(self) -> str:
        """The algorithm, test, alpha and false discovery rate, in words."""
        tested = "" if self.alpha is None else f" with {self.test} at alpha {self.alpha:g}{rate_text(self.fdr)}"
        return f"{self.algorithm}{tested}"

    def __str__(self) -> str:
        found = [f"{self._text(item)} ({share:.0%})" for item, share in self.frequencies.items() if share >= 0.5]
        lines: list[str] = [
            self.title,
            f"  found in at least half of them: {first_few(found, max_items=_LISTED) or f'no {self._noun}'}",
            f"  by {self._method}: {self.mean_size:.3g} {self._noun}s in a draw on average, "
            f"{sum(s > 0 for s in self.frequencies.values()):,} at least once, {self.seconds:.3g} s",
        ]
        if self.pairs and not self.mean_size:
            lines.append(f"  no draw found any {self._noun}: half of the rows may be too few to find what is there")
        elif self.pairs:
            bounds = ", ".join(f"{self.false_selections(at).bound:.2g} at threshold {at:g}" for at in _PRINTED)
            lines.append(f"  expected number of false selections, if unimodal: at most {bounds}")
        return self._whole_text(lines)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Stability(Resampled[str], file="serape-stability-1"):
    """How often each variable is found in resampled rows.

    Examples
    --------
    >>> found = serape.stability(patients, "HeartDisease", draws=20, algorithm="hiton-mb", alpha=0.01)
    >>> found.frequencies["Smoking"], found.frequencies["Parking"]
    (1.0, 0.0)
    >>> found.stable(max_false=1)
    ('Age', 'Smoking', 'BloodPressure', 'ECG', 'ChestPain', 'Anxiety')
    """

    target: str
    finds: Finds

    _noun = "variable"

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
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        threshold: float | None = None,
        max_false: float | None = None,
        assume: Assumption = "unimodal",
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the shares of the 30 most frequent variables and the threshold; the number of others is written below.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in. The other arguments are those of
        `stable`. If there is a bound on the expected number of false selections, it stands beside the threshold.
        """
        least = self.resolved(threshold, max_false, assume)
        bound = self.false_selections(least, assume).bound if self.pairs and _THRESHOLD < least <= 1 else None
        return self._drawn(path, lambda: draw_stability(self, least, bound, ax))

    _kicker = "Stability"

    def _around(self) -> Around:
        from serape.results.report import Around, Member

        members = [
            Member(
                name, "neighbour" if share >= _THRESHOLD else "member", f"in {100 * share:.0f} % of the draws", share
            )
            for name, share in self.frequencies.items()
            if share > 0
        ]
        legend = {"neighbour": "in at least half of the draws", "member": "in fewer"}
        return Around(self.target, members, legend, {"in every draw": 1.0, "in half of them": 0.5})

    def explain(self, variable: str) -> str:
        """Return in how many draws a variable is found."""
        if variable == self.target:
            raise OptionError(f"{variable!r} is the target itself; name another variable")
        if variable not in self.frequencies:
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), list(self.frequencies))}")
        share = self.frequencies[variable]
        return plain(f"{variable} is found in {round(share * self.draws):,} of {self.draws:,} draws ({share:.0%}).")

    @property
    def _question(self) -> str:
        what = "Markov blanket" if self.finds == "blanket" else "Parents and children"
        return f"{what} of {self.target}"

    @staticmethod
    def _text(item: str) -> str:
        return item


_ARROWS = {"forward": "→", "backward": "←", "undirected": "–"}


def _cell(value: str | int | float) -> str:
    return value if isinstance(value, str) else f"{value:.0%}" if isinstance(value, float) else f"{value:,}"


def _check_threshold(threshold: Any) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 < threshold <= 1:
        raise OptionError(f"threshold must be above 0 and at most 1, not {shown(threshold)}")
