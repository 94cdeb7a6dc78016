"""The result of `joint_blanket`: the blanket of several targets together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from serape.errors import OptionError, abbreviate, first_few, suggestion
from serape.markup import MAX_TEXT, plain, shown
from serape.records import Records
from serape.results.charts import draw_membership
from serape.results.displayed import rate_text, variables_text
from serape.results.kind import ResultKind
from serape.results.result import Result
from serape.results.saved import known, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.data.provenance import Provenance
    from serape.results.report import Around, Grid

SharedStatus = Literal["of all targets", "of some targets"]
OF_ALL: SharedStatus = "of all targets"
OF_SOME: SharedStatus = "of some targets"
_NAMED = 20  # variables in a text
_MOST_TARGETS = 500  # in the table of a report


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JointBlanket(ResultKind, file="serape-joint-1"):
    """The blanket of several targets together: the smallest set outside them that tells all about them.

    Examples
    --------
    >>> found = serape.joint_blanket(patients, ["ECG", "ChestPain"], alpha=0.01)
    >>> found.serves
    {'Anxiety': ('ChestPain',), 'HeartDisease': ('ECG', 'ChestPain')}
    >>> print(found.explain("Anxiety"))
    Anxiety is in the blanket of ChestPain, and not of ECG.
    """

    targets: tuple[str, ...]
    by_target: Mapping[str, Result] = field(repr=False)
    """By target, its own blanket, which may have other targets."""
    names: tuple[str, ...] = field(repr=False)
    """All variables, in the table's order."""
    tests: int
    """The number of tests performed, by all searches together, without those that they share."""
    tests_by_size: Mapping[int, int] = field(repr=False)
    skipped: int
    seconds: float
    complete: bool
    """False if the search was interrupted, or a budget ended one of the searches."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the searches."""

    @cached_property
    def blanket(self) -> tuple[str, ...]:
        """The members of the blanket of any target, without the targets, in the table's order."""
        every = {name for one in self.by_target.values() for name in one.blanket}.difference(self.targets)
        return tuple(name for name in self.names if name in every)

    @property
    def shared(self) -> tuple[str, ...]:
        """The members of the blanket of every target."""
        return tuple(name for name, served in self.serves.items() if len(served) == len(self.targets))

    @cached_property
    def serves(self) -> dict[str, tuple[str, ...]]:
        """By member, the targets whose own blanket has it."""
        return {
            name: tuple(target for target, one in self.by_target.items() if name in one.blanket)
            for name in self.blanket
        }

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """The pairs of targets of which one is in the blanket of the other, as far as either search finds it."""
        return tuple(
            (a, b)
            for k, a in enumerate(self.targets)
            for b in self.targets[k + 1 :]
            if any(x in self.by_target[y].blanket for x, y in ((a, b), (b, a)) if y in self.by_target)
        )

    @cached_property
    def status(self) -> dict[str, SharedStatus]:
        """By member, whether it is in the blanket of all targets or of some."""
        return {name: OF_ALL if name in self.shared else OF_SOME for name in self.blanket}

    @cached_property
    def records(self) -> Records:
        """For every member, the number and names of the targets that it serves: a table for any dataframe library."""
        return Records(
            {
                "variable": list(self.blanket),
                "targets": [len(self.serves[name]) for name in self.blanket],
                "serves": [", ".join(self.serves[name]) for name in self.blanket],
            }
        )

    @property
    def evidence(self) -> Records:
        """For every member and target, the deciding test."""
        rows: list[dict[str, Any]] = []
        for target, found in self.by_target.items():
            for row in found.trace.records(found, [name for name in self.blanket if name != target]):
                own = ("included", "statistic", "dof", "p", "log_p", "effect", "reliable", "rows", "given")
                rows.append({"variable": row["variable"], "target": target, **{name: row[name] for name in own}})
        rows.sort(key=lambda row: self.blanket.index(row["variable"]))
        return Records({name: [row[name] for row in rows] for name in rows[0]} if rows else {"variable": []})

    def explain(self, variable: str) -> str:
        """Return where a variable is a member: which targets it serves; `by_target[…].explain` says why."""
        if variable in self.targets:
            raise OptionError(f"{variable!r} is a target; name another variable")
        if variable not in self.names:
            others = [name for name in self.names if name not in self.targets]
            raise OptionError(f"there is no variable {variable!r}.{suggestion(str(variable), others)}")
        served = self.serves.get(variable, ())
        if not served:
            return plain(f"{variable} is in the blanket of no target.")
        rest = [target for target in self.targets if target not in served]
        but = f", and not of {first_few(rest, max_items=_NAMED)}" if rest else ": of every target"
        return plain(f"{variable} is in the blanket of {first_few(served, max_items=_NAMED)}{but}.")

    # --- output ------------------------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Joint Markov blanket of {first_few(self.targets)}"

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which members serve which targets: a row for each member, a column for each target.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        columns = {target: set(one.blanket) for target, one in self.by_target.items()}
        linked = [f"{a} and {b}" for a, b in self.links]
        sentence = f"In each other's blanket: {first_few(linked)}." if linked else ""
        return self._drawn(
            path,
            lambda: draw_membership(
                self.blanket, columns, self.status, (OF_ALL, OF_SOME), self.title, sentence, "target", ax
            ),
        )

    _kicker = "Joint Markov blanket"

    def _around(self) -> Around:
        from serape.results.report import Around, Member

        kinds = {OF_ALL: "neighbour", OF_SOME: "spouse"}
        every = len(self.targets)
        members = [
            Member(name, kinds[self.status[name]], f"{len(served):,} of {every:,} targets", len(served) / every)
            for name, served in self.serves.items()
        ]
        legend = {"neighbour": "in the blanket of every target", "spouse": "in the blanket of some targets"}
        widths = {"every target": 1.0, "half of them": 0.5}
        return Around(", ".join(self.targets), members, legend, widths, target="the targets")

    def _grids(self) -> Sequence[Grid]:
        from serape.results.report import Cell, Grid

        rows = [
            [
                Cell(shown(name), shown(name)),
                Cell(shown(first_few(one.blanket) or "none", MAX_TEXT)),
                Cell(f"{one.tests:,}", one.tests),
            ]
            for name, one in list(self.by_target.items())[:_MOST_TARGETS]
        ]
        about = "The blanket of each target by itself, which may have other targets."
        return [Grid("targets", "Targets", about, ("Target", "Blanket", "Tests"), frozenset({"Tests"}), rows)]

    def _calls(self) -> dict[str, str]:
        from serape.results.report.calls import joint_calls

        return joint_calls(self)

    @property
    def _asked(self) -> Result:
        return next(iter(self.by_target.values()))

    @property
    def data(self) -> Provenance | None:
        """The data: rows, columns, fingerprint; None for an independence test without data."""
        return self._asked.data

    _entries = (
        "targets", "blanket", "shared", "serves", "links", "by_target", "names", "tests", "tests_by_size", "skipped",
        "seconds", "complete", "notes",
    )  # fmt: skip
    _readers: ClassVar = {"names": texts}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        names = texts(content["names"])
        targets = known(texts(content["targets"]), names)
        by_target = {
            known([str(name)], targets)[0]: Result.from_dict(one) for name, one in content["by_target"].items()
        }
        if not by_target:
            raise ValueError("there is no target")
        for name, one in by_target.items():
            if one.target != name or one.trace.names != names:
                raise ValueError(f"the result about {name!r} is about another target, or other variables")
        return super().from_dict(content, targets=targets, by_target=by_target, **made)

    def _heading(self) -> str:
        return f"{self.title}: {variables_text(len(self.blanket))}"

    def _brief(self) -> str:
        return f"{self._heading()}{f': {abbreviate(self.blanket, 8)}' if self.blanket else ''}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [self.records[k] for k in range(min(max_rows, len(self.records)))]
        cells = [[row["variable"], f"{row['targets']:,}", row["serves"]] for row in rows]
        return ("variable", "targets", "serves"), cells, len(self.records)

    def __str__(self) -> str:
        lines = [
            self._heading(),
            f"  members: {first_few(self.blanket, max_items=_NAMED) or 'none'}",
            f"  in the blanket of every target: {first_few(self.shared, max_items=_NAMED) or 'none'}",
        ]
        linked = [f"{a} and {b}" for a, b in self.links]
        if linked:
            lines.append(f"  targets in each other's blanket: {first_few(linked)}")
        one = next(iter(self.by_target.values()), None)
        if one is not None:
            lines.append(
                f"  by {one.algorithm} with {one.test} at alpha {one.alpha:g}{rate_text(one.fdr)} for each target: "
                f"{self.tests:,} tests, {self.skipped:,} skipped, {self.seconds:.3g} s"
            )
        return self._whole_text(lines)
