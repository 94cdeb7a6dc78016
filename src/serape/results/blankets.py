"""The result of `blankets`: the blankets of many targets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from serape.data.provenance import Provenance
from serape.errors import OptionError, abbreviate, embedded, first_few, suggestion, worded
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_membership
from serape.results.displayed import rate_text
from serape.results.kind import ResultKind
from serape.results.result import Result
from serape.results.saved import number, texts
from serape.search.budget import STOPPED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NAMED = 20  # variables in a text
_SEVERAL, _ONE = "in several blankets", "in one blanket"


class Blankets(ResultKind, dict[str, Result], file="serape-many-blankets-1"):
    """The results by target: a dict, with what all results have.

    Examples
    --------
    >>> found = serape.blankets(patients, ["HeartDisease", "ECG", "ChestPain"], alpha=0.01)
    >>> found["ChestPain"].blanket
    ('Anxiety', 'HeartDisease')
    >>> print(found.explain("Anxiety"))
    Anxiety is in the blanket of HeartDisease, ChestPain: 2 of 3.
    """

    def __init__(
        self,
        results: Mapping[str, Result] | Iterable[tuple[str, Result]] = (),
        *,
        targets: Iterable[str] | None = None,
        seconds: float = 0.0,
    ) -> None:
        super().__init__(results)
        self.targets = tuple(self if targets is None else targets)
        """The targets asked for; after Ctrl-C, some have no result."""
        self.seconds = seconds
        """The time that all searches together took."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C left some of the targets undone."""
        return len(self) < len(self.targets)

    @property
    def complete(self) -> bool:
        """False if the search was interrupted, or a budget ended one of the searches."""
        return not self.interrupted and all(one.complete for one in self.values())

    @property
    def tests(self) -> int:
        """The number of tests performed, by all searches together."""
        return sum(one.tests for one in self.values())

    @property
    def tests_by_size(self) -> dict[int, int]:
        """The number of tests performed, by size of the conditioning set."""
        total: Counter[int] = Counter()
        for one in self.values():
            total.update(one.tests_by_size)
        return dict(sorted(total.items()))

    @property
    def skipped(self) -> int:
        """The number of tests skipped."""
        return sum(one.skipped for one in self.values())

    @property
    def data(self) -> Provenance | None:
        """The data: rows, columns, fingerprint; None for an independence test without data."""
        return next((one.data for one in self.values()), None)

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]  # what the results have in common
        """The notes that every result has, and those about limits that ended the search for some of the targets."""
        having: dict[str, list[str]] = {}
        for target, one in self.items():
            for note in one.notes:
                having.setdefault(note, []).append(target)
        return tuple(
            note if len(targets) == len(self) else self._of_some(note, targets)
            for note, targets in having.items()
            if len(targets) == len(self) or note.startswith(STOPPED)
        )

    def _of_some(self, note: str, targets: Sequence[str]) -> str:
        """Return a note about a limit that names the targets whose search it ended."""
        limit, _, so_far = embedded(note).partition(":")
        return worded(f"{limit} for {len(targets):,} of {len(self):,} targets ({abbreviate(targets)}):{so_far}")

    @property
    def serves(self) -> dict[str, tuple[str, ...]]:
        """By member, the targets whose blanket has it; those of most blankets first."""
        found: dict[str, list[str]] = {}
        for target, one in self.items():
            for name in one.blanket:
                found.setdefault(name, []).append(target)
        return {name: tuple(found[name]) for name in sorted(found, key=lambda name: -len(found[name]))}

    @property
    def records(self) -> Records:
        """For every target, its blanket and the number of tests: a table for any dataframe library."""
        columns: dict[str, list[Any]] = {"target": list(self)}
        columns["size"] = [len(one.blanket) for one in self.values()]
        columns["blanket"] = [", ".join(one.blanket) for one in self.values()]
        for name in ("tests", "skipped", "complete"):
            columns[name] = [getattr(one, name) for one in self.values()]
        return Records(columns)

    def explain(self, variable: str) -> str:
        """Return in whose blanket a variable is; `found[target].explain` says why."""
        names = next((one.trace.names for one in self.values()), ())
        if variable not in names:
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), names)}")
        targets = self.serves.get(variable, ())
        if not targets:
            return plain(f"{variable} is in the blanket of no target.")
        of = first_few(targets, max_items=_NAMED)
        return plain(f"{variable} is in the blanket of {of}: {len(targets):,} of {len(self):,}.")

    # --- output ------------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Markov blankets of {len(self.targets):,} target{'' if len(self.targets) == 1 else 's'}"

    def _heading(self) -> str:
        mean = sum(len(one.blanket) for one in self.values()) / max(len(self), 1)
        return f"{self.title}: {mean:.3g} members on average"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [
            [target, f"{len(one.blanket):,}", first_few(one.blanket, max_items=_NAMED)]
            for target, one in list(self.items())[:max_rows]
        ]
        return ("target", "size", "blanket"), rows, len(self)

    def __str__(self) -> str:
        lines = [self._heading()]
        one = next(iter(self.values()), None)
        if one is not None:
            lines.append(
                f"  by {one.algorithm} with {one.test} at alpha {one.alpha:g}{rate_text(one.fdr)}: "
                f"{self.tests:,} tests, {self.skipped:,} skipped, {self.seconds:.3g} s"
            )
        return self._whole_text(lines)

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which variables are in which blankets: a row for each variable, a column for each target.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        columns = {target: set(one.blanket) for target, one in self.items()}
        serves = self.serves
        status = {name: _SEVERAL if len(targets) > 1 else _ONE for name, targets in serves.items()}
        return self._drawn(
            path,
            lambda: draw_membership(list(serves), columns, status, (_SEVERAL, _ONE), self.title, "", "target", ax),
        )

    _kicker = "Markov blankets"

    @property
    def _asked(self) -> Any:
        return next(iter(self.values()), self)

    def _calls(self) -> dict[str, str]:
        from serape.results.report.calls import many_calls

        return many_calls(self)

    # --- files -------------------------------------------------------------------------------------------------------

    _entries = ("targets", "complete", "tests", "skipped", "seconds", "blankets")

    def _entry(self, name: str) -> Any:
        return dict(self) if name == "blankets" else super()._entry(name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the blankets that `to_dict` wrote."""
        del made
        results = {str(target): Result.from_dict(one) for target, one in content["blankets"].items()}
        targets = texts(content["targets"])
        for target, one in results.items():
            if one.target != target or target not in targets:
                raise ValueError(f"the result about {target!r} is about another target")
        return cls(results, targets=targets, seconds=number(content["seconds"]))

    def __eq__(self, other: object) -> bool:
        return dict.__eq__(self, other)
