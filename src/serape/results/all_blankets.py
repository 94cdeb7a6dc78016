"""The result of `all_blankets`: the blankets, and which of their members can be replaced."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from serape.data.provenance import Provenance
from serape.errors import OptionError, abbreviate, first_few, suggestion
from serape.files import atomic_write
from serape.markup import plain
from serape.records import Records
from serape.results.call import Call
from serape.results.charts import draw_blankets
from serape.results.displayed import Displayed, rate_text
from serape.results.exchanges import Exchange, Names, Trial, exchanges
from serape.results.pictures import figure_of, picture_format, save_picture
from serape.results.result import finite, json_text
from serape.results.saved import LEAST, known, number, optional_number, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "serape-blankets-1"
Status = Literal["indispensable", "replaceable", "undecided"]
_LISTED = 10  # blankets, and replaceable members, in a text
_NAMED = 20  # variables in a text


@dataclass(frozen=True, kw_only=True, repr=False)
class AllBlankets(Displayed):
    """The blankets of a target that the data cannot tell apart, and the status of their members.

    Examples
    --------
    >>> more = patients | {"Cigarettes": np.where(patients["Smoking"] == "yes", np.arange(2000) % 2 + 1, 0)}
    >>> found = serape.all_blankets(more, "HeartDisease", alpha=0.01)
    >>> found.indispensable
    ('Age', 'BloodPressure', 'ECG', 'ChestPain')
    >>> print(found.explain("Smoking"))
    Smoking is replaceable by Cigarettes. Without it, the search finds Age, BloodPressure, ECG, ChestPain, Cigarettes
    (the set determines Smoking).
    """

    target: str
    blankets: tuple[Names, ...]
    """The blankets, each in the table's order. The first is that of `markov_blanket` with the same algorithm; the
    fewer of its members another does without, the earlier it comes. Of duplicate columns, each names one."""
    interchangeable: Mapping[str, Names] = field(default_factory=dict)
    """By member, its duplicates: exact copies, any of which would do as well."""
    known: Names = ()
    """Members that are known or required beforehand."""
    trials: tuple[Trial, ...] = field(default=(), repr=False)
    """The sets that were found in place of a blanket, and the test that decided on each."""
    variables: int
    """The number of variables besides the target."""
    max_blankets: int
    """The number of blankets at which the search ends."""
    algorithm: str
    test: str
    alpha: float
    fdr: float | None = None
    """The false discovery rate that bounds each search, or None."""
    tests: int
    """The number of tests performed, by all searches together."""
    tests_by_size: Mapping[int, int] = field(repr=False)
    """The number of tests performed, by size of the conditioning set."""
    skipped: int
    searches: int
    """The number of searches: one for each set of variables that was removed, and the first."""
    seconds: float = field(compare=False)
    complete: bool
    """False if interrupted, or if `max_blankets` or a budget ended the search."""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The other settings of the call."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the search."""
    data: Provenance | None = field(default=None, repr=False, compare=False)
    call: Call = field(default_factory=Call, repr=False, compare=False)

    # --- the members -------------------------------------------------------------------------------------------------

    @cached_property
    def members(self) -> Names:
        """The members of all blankets: those of the first, then those that later ones add."""
        return tuple(dict.fromkeys(name for blanket in self.blankets for name in blanket))

    @property
    def indispensable(self) -> Names:
        """The members of every blanket: whatever is found without one of them is told apart from a blanket."""
        return self._with("indispensable")

    @property
    def undecided(self) -> Names:
        """The members of all blankets found that may be replaceable: tests are not reliable, or the search ended."""
        return self._with("undecided")

    @cached_property
    def replaceable(self) -> dict[str, tuple[Names, ...]]:
        """By member that is not in every blanket, or has duplicates, the sets that may stand for it.

        A duplicate stands for it in every blanket, any other set in at least one. If nothing can replace the member
        alone, the sets are those that replace it together with others; `exchanges` names these. An empty set says that
        it may be left out.
        """
        found: dict[str, tuple[Names, ...]] = {}
        for name in self.members:
            copies = [(copy,) for copy in self.interchangeable.get(name, ())]
            own = [one for one in self.exchanges if name in one.leaving]
            alone = [one for one in own if len(one.leaving) == 1] or own
            if copies or alone:
                found[name] = (*copies, *dict.fromkeys(one.entering for one in alone))
        return found

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The smallest differences between two blankets: members, and what stands for them; without duplicates."""
        return exchanges(self.blankets)

    @property
    def count(self) -> int:
        """The number of blankets, with every choice among duplicates counted; if not `complete`, there may be more."""
        return sum(
            math.prod(1 + len(self.interchangeable.get(name, ())) for name in blanket) for blanket in self.blankets
        )

    @cached_property
    def status(self) -> dict[str, Status]:
        """By member, whether it is indispensable, replaceable or undecided."""
        needed = {t.removed[0] for t in self.trials if len(t.removed) == 1 and t.verdict == "told apart"}
        needed.update(self.known)
        return {
            name: "replaceable" if name in self.replaceable else "indispensable" if name in needed else "undecided"
            for name in self.members
        }

    @cached_property
    def records(self) -> Records:
        """For every member, its status and the number and share of blankets that have it: a table for any library."""
        counts = [sum(name in blanket for blanket in self.blankets) for name in self.members]
        return Records(
            {
                "variable": list(self.members),
                "status": [self.status[name] for name in self.members],
                "blankets": counts,
                "share": [count / len(self.blankets) for count in counts],
                "replaceable by": [self._stands_for(name) for name in self.members],
            }
        )

    def explain(self, variable: str) -> str:
        """Return why a member is indispensable, replaceable or undecided."""
        for name, copies in self.interchangeable.items():
            if variable in copies:
                return f"{variable} is a duplicate of {name}: it stands for it in every blanket."
        if variable not in self.status:
            raise OptionError(
                f"{variable!r} is in no blanket that was found; {self.title} has "
                f"{abbreviate(self.members) or 'no members'}.{suggestion(str(variable), self.members)}"
            )
        status = self.status[variable]
        trial = next((t for t in self.trials if t.removed == (variable,)), None)
        if variable in self.known:
            return f"{variable} is a known member of every blanket."
        if status == "replaceable":
            return f"{variable} is replaceable by {self._stands_for(variable)}.{self._shown_by(variable)}"
        if trial is None:
            return f"{variable} is undecided: the search ended before it looked for a blanket without it."
        found = f"without it, the search finds {first_few(trial.members, max_items=_NAMED) or 'no variables'}"
        if status == "undecided":
            return f"{variable} is undecided: {found}, but {trial.evidence}."
        return f"{variable} is indispensable: {found}, and this is no blanket ({trial.evidence})."

    def _shown_by(self, name: str) -> str:
        trial = next((t for t in self.trials if name in t.removed and t.verdict == "blanket"), None)
        if trial is None:
            return " The first blanket does without it." if name not in self.blankets[0] else ""
        found = first_few(trial.members, max_items=_NAMED) or "no variables"
        return f" Without it, the search finds {found} ({trial.evidence})."

    def _stands_for(self, name: str) -> str:
        """Return what stands for a member, in words."""
        sets = self.replaceable.get(name, ())
        own = [one for one in self.exchanges if name in one.leaving]
        alone = any(len(one.leaving) == 1 for one in own) or name in self.interchangeable
        words = [" with ".join(one) if one else "nothing (it may be left out)" for one in sets]
        text = first_few(words, max_items=_LISTED, between=" or ")
        if own and not alone:
            others = dict.fromkeys(x for one in own for x in one.leaving if x != name)
            text += f", together with {first_few(list(others))}"
        return text

    def _with(self, status: Status) -> Names:
        return tuple(name for name in self.members if self.status[name] == status)

    # --- output ------------------------------------------------------------------------------------------------------

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which variables are in which blanket: a row for each variable, a column for each blanket.

        Up to 40 variables and 60 blankets are drawn; the number of others is written below. `path` is a file for the
        picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        if path is not None:
            picture_format(Path(path))
        ax = draw_blankets(self, ax)
        if path is not None:
            save_picture(figure_of(ax), Path(path))
        return ax

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a report to an HTML file: members, blankets, trials, and how to reproduce the result.

        The file is self-contained: any browser opens it from disk, without the internet.
        """
        from serape.results.report import blankets_page, check_name, page_text

        check_name(Path(path))
        atomic_write(Path(path), page_text(blankets_page(self)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result as JSON, which `serape.load_result` reads. If writing fails, an old file is unchanged."""
        atomic_write(Path(path), json_text(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain dicts, lists, text and numbers, fit for JSON: NaN is None, infinities are text."""
        content = {
            "format": FORMAT,
            "target": self.target,
            "blankets": [list(blanket) for blanket in self.blankets],
            "count": self.count,
            "indispensable": list(self.indispensable),
            "replaceable": {name: [list(one) for one in sets] for name, sets in self.replaceable.items()},
            "undecided": list(self.undecided),
            "exchanges": [{"leaving": list(one.leaving), "entering": list(one.entering)} for one in self.exchanges],
            "interchangeable": {name: list(copies) for name, copies in self.interchangeable.items()},
            "known": list(self.known),
            "trials": [trial.to_dict() for trial in self.trials],
            "variables": self.variables,
            "max_blankets": self.max_blankets,
            "algorithm": self.algorithm,
            "test": self.test,
            "alpha": self.alpha,
            "fdr": self.fdr,
            "tests": self.tests,
            "tests_by_size": {str(size): count for size, count in self.tests_by_size.items()},
            "skipped": self.skipped,
            "searches": self.searches,
            "seconds": self.seconds,
            "complete": self.complete,
            "options": dict(self.options),
            "notes": list(self.notes),
            "data": None if self.data is None else self.data.to_dict(),
            "call": self.call.to_dict(),
        }
        found: dict[str, Any] = finite(content)
        return found

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> AllBlankets:
        """Return the result that `to_dict` wrote."""
        data = content["data"]
        blankets = tuple(texts(blanket) for blanket in content["blankets"])
        names = [name for blanket in blankets for name in blanket]
        if not blankets:
            raise ValueError("there is no blanket")
        return cls(
            target=str(content["target"]),
            blankets=blankets,
            interchangeable={
                known([str(name)], names)[0]: texts(copies) for name, copies in content["interchangeable"].items()
            },
            known=texts(content["known"]),
            trials=tuple(map(Trial.from_dict, content["trials"])),
            variables=int(content["variables"]),
            max_blankets=int(content["max_blankets"]),
            algorithm=str(content["algorithm"]),
            test=str(content["test"]),
            alpha=number(content["alpha"], LEAST, 1),
            fdr=optional_number(content, "fdr"),
            tests=int(content["tests"]),
            tests_by_size={int(size): int(count) for size, count in content["tests_by_size"].items()},
            skipped=int(content["skipped"]),
            searches=int(content["searches"]),
            seconds=number(content["seconds"]),
            complete=bool(content["complete"]),
            options=dict(content["options"]),
            notes=texts(content["notes"]),
            data=None if data is None else Provenance.from_dict(data),
            call=Call.from_dict(content["call"]),
        )

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Markov blankets of {self.target}"

    @property
    def counted(self) -> str:
        """The number of blankets, in words."""
        sets = len(self.blankets)
        least = "" if self.complete else "at least "
        number_ = f"{least}{sets:,} blanket{'' if sets == 1 else 's'}"
        return number_ if self.count == sets else f"{number_}, {least}{self.count:,} with every choice among duplicates"

    def _heading(self) -> str:
        return f"{self.title}: {self.counted}"

    def _brief(self) -> str:
        return f"{self._heading()}; the first: {abbreviate(self.blankets[0], 8) or 'no variables'}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [self.records[k] for k in range(min(max_rows, len(self.records)))]
        cells = [[row["variable"], row["status"], f"{row['blankets']:,}", row["replaceable by"]] for row in rows]
        return ("variable", "status", "blankets", "replaceable by"), cells, len(self.records)

    def _how(self) -> Sequence[str]:
        lines = [line.strip() for line in str(self).splitlines() if not line.startswith("  note: ")]
        return [line for line in lines[1:] if line.startswith(("by ", "not complete"))]

    def __str__(self) -> str:
        lines = [self._heading()]
        for k, blanket in enumerate(self.blankets[:_LISTED], 1):
            lines.append(f"  {k}: {', '.join(blanket) or 'no variables'}")
        if len(self.blankets) > _LISTED:
            lines.append(f"  and {len(self.blankets) - _LISTED:,} more")
        lines.append(f"  indispensable: {first_few(self.indispensable, max_items=_NAMED) or 'none'}")
        replaced = [f"{name} by {self._stands_for(name)}" for name in self.replaceable]
        lines.append(f"  replaceable: {first_few(replaced, max_items=_LISTED, between='; ') or 'none'}")
        if self.undecided:
            lines.append(f"  undecided: {first_few(self.undecided, max_items=_NAMED)}")
        searches = f"{self.searches:,} search{'' if self.searches == 1 else 'es'}"
        lines.append(
            f"  by {self.algorithm} with {self.test} at alpha {self.alpha:g}{rate_text(self.fdr)}: {self.tests:,} "
            f"tests, {self.skipped:,} skipped, {searches}, {self.seconds:.3g} s"
        )
        if not self.complete:
            lines.append("  not complete: this is the result so far")
        return plain("\n".join([*lines, *(f"  note: {note}" for note in self.notes)]))
