"""The result of `alpha_path`: the members at each significance level."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from serape.errors import OptionError, abbreviate, suggestion
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_alpha_path
from serape.results.kind import ResultKind
from serape.results.saved import lists, rate
from serape.types import Finds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.report import Around


@dataclass(frozen=True, repr=False)
class AlphaPath(ResultKind, file="serape-path-1"):
    """The members found at each significance level.

    Examples
    --------
    >>> path = serape.alpha_path(patients, "HeartDisease", [1e-30, 0.01], "hiton-mb")
    >>> path.records
    variable       enters  share
    ECG            1e-30   1
    ChestPain      1e-30   1
    Age            0.01    0.5
    Smoking        0.01    0.5
    BloodPressure  0.01    0.5
    Anxiety        0.01    0.5
    """

    target: str
    finds: Finds
    alphas: tuple[float, ...]
    """The significance levels, ascending; if interrupted, only those that were searched."""
    members: tuple[tuple[str, ...], ...] = field(repr=False)
    """The members at each level, in the table's order."""
    variables: int
    """The number of variables besides the target."""
    algorithm: str
    test: str
    tests: int
    """The number of tests performed, at all levels together."""
    seconds: float = field(compare=False)
    complete: bool
    """False if interrupted, or if a budget ended the search at some levels."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the search."""

    @property
    def enters(self) -> dict[str, float]:
        """By variable found at some alpha, the first alpha."""
        return dict(zip(self.records["variable"], self.records["enters"], strict=True))

    @cached_property
    def records(self) -> Records:
        """For every variable found at some alpha, the first alpha and the share of alphas at which it is found.

        They are sorted by the first alpha; of those with the same, the one found more often comes first.
        """
        enters: dict[str, float] = {}
        count: dict[str, int] = {}
        for alpha, members in zip(self.alphas, self.members, strict=True):
            for name in members:
                enters.setdefault(name, alpha)
                count[name] = count.get(name, 0) + 1
        order = sorted(enters, key=lambda name: (enters[name], -count[name]))
        return Records(
            {
                "variable": order,
                "enters": [enters[name] for name in order],
                "share": [count[name] / len(self.alphas) for name in order],
            }
        )

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the alphas at which each variable is a member, those with the smallest on top; at most 40 variables.

        A member at one alpha need not be one at a larger alpha, so a row may have gaps. `path` is a file for the
        picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        return self._drawn(path, lambda: draw_alpha_path(self, ax))

    _kicker = "Members as alpha grows"

    def _around(self) -> Around:
        from serape.results.report import Around, Member

        members = [
            Member(row["variable"], "neighbour", f"from alpha {row['enters']:.3g}", row["share"])
            for row in self.records
        ]
        return Around(
            self.target,
            members,
            {"neighbour": "found at some alpha"},
            {"found at every alpha": 1.0, "at half of them": 0.5},
        )

    def explain(self, variable: str) -> str:
        """Return from which alpha on a variable is found."""
        for row in self.records:
            if row["variable"] == variable:
                count = round(row["share"] * len(self.alphas))
                return plain(
                    f"{variable} enters at alpha {row['enters']:.3g} and is found at {count:,} of {len(self.alphas):,} "
                    f"levels."
                )
        found = list(self.enters)
        raise OptionError(
            f"{variable!r} is found at no alpha up to {self.alphas[-1]:g}; found are "
            f"{abbreviate(found) or 'no variables'}.{suggestion(str(variable), found)}"
        )

    _entries = (
        "target", "finds", "alphas", "members", "variables", "algorithm", "test", "tests", "seconds", "complete",
        "notes", "enters",
    )  # fmt: skip
    _readers: ClassVar = {
        "alphas": lambda values: tuple(map(rate, values)),
        "members": lists,
    }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the path that `to_dict` wrote."""
        if not 0 < len(content["alphas"]) == len(content["members"]):
            raise ValueError("there must be members at every alpha")
        return super().from_dict(content, **made)

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"{'Markov blanket' if self.finds == 'blanket' else 'Parents and children'} of {self.target}"

    def _heading(self) -> str:
        return f"{self.title} as alpha grows from {self.alphas[0]:g} to {self.alphas[-1]:g}"

    def _brief(self) -> str:
        return f"{self._heading()}: {abbreviate(self.records['variable'], 8) or 'no variables'}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [self.records[k] for k in range(min(max_rows, len(self.records)))]
        texts = [[row["variable"], f"{row['enters']:.3g}", f"{row['share']:.0%}"] for row in rows]
        return ("variable", "enters at alpha", "share of alphas"), texts, len(self.records)

    _nothing = "no variable is found at any of these levels"

    def _below(self) -> Sequence[str]:
        return super()._below()[len(self.records) :]

    def _how(self) -> Sequence[str]:
        return super()._how()[len(self.records) :]

    def __str__(self) -> str:
        lines = [self._heading()]
        lines += [f"  from {row['enters']:.2g}: {row['variable']}" for row in self.records]
        lines.append(f"  by {self.algorithm} with {self.test}: {self.tests:,} tests, {self.seconds:.3g} s")
        return self._whole_text(lines)
