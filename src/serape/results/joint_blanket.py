"""The result of `joint_blanket`: the blanket of several targets together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from serape.errors import OptionError, abbreviate, first_few, suggestion
from serape.files import atomic_write
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_membership
from serape.results.displayed import Displayed, rate_text, variables_text
from serape.results.pictures import figure_of, picture_format, save_picture
from serape.results.result import Result, finite, json_text, said

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "serape-joint-1"
Status = Literal["of all targets", "of some targets"]
OF_ALL: Status = "of all targets"
OF_SOME: Status = "of some targets"
_NAMED = 20  # variables in a text


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JointBlanket(Displayed):
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointBlanket) and said(self.to_dict()) == said(other.to_dict())

    __hash__ = None  # type: ignore[assignment]  # it holds dicts

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
    def status(self) -> dict[str, Status]:
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
        """Return which targets a variable serves; `by_target[…].explain` says why."""
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
        if path is not None:
            picture_format(Path(path))
        columns = {target: set(one.blanket) for target, one in self.by_target.items()}
        linked = [f"{a} and {b}" for a, b in self.links]
        sentence = f"In each other's blanket: {first_few(linked)}." if linked else ""
        ax = draw_membership(self.blanket, columns, self.status, (OF_ALL, OF_SOME), self.title, sentence, "target", ax)
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report to an HTML file: the members, which targets they serve, and how to reproduce the result."""
        from serape.results.report import check_name, joint_page, page_text

        check_name(Path(path))
        atomic_write(Path(path), page_text(joint_page(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON, which `serape.load_result` reads. If writing fails, an old file is unchanged."""
        atomic_write(Path(path), json_text(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts, lists, text and numbers, fit for JSON: NaN is None, infinities are text."""
        content = {
            "format": FORMAT,
            "targets": list(self.targets),
            "blanket": list(self.blanket),
            "shared": list(self.shared),
            "serves": {name: list(served) for name, served in self.serves.items()},
            "links": [list(pair) for pair in self.links],
            "by_target": {name: one.to_dict() for name, one in self.by_target.items()},
            "names": list(self.names),
            "tests": self.tests,
            "tests_by_size": {str(size): count for size, count in self.tests_by_size.items()},
            "skipped": self.skipped,
            "seconds": self.seconds,
            "complete": self.complete,
            "notes": list(self.notes),
        }
        found: dict[str, Any] = finite(content)
        return found

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
        if not self.complete:
            lines.append("  not complete: this is the result so far")
        return plain("\n".join([*lines, *(f"  note: {note}" for note in self.notes)]))
