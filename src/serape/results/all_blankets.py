"""The result of `all_blankets`: the blankets, and which of their members can be replaced."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from serape.data.provenance import Provenance
from serape.errors import OptionError, abbreviate, first_few, suggestion
from serape.records import Records
from serape.results.call import Call
from serape.results.charts import draw_blankets
from serape.results.displayed import rate_text
from serape.results.exchanges import Exchange, Names, Trial, exchanges
from serape.results.kind import ResultKind
from serape.results.saved import known, lists, text_lists, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.report.page import Page

MemberStatus = Literal["indispensable", "replaceable", "undecided"]
_LISTED = 10  # blankets, and replaceable members, in a text
_NAMED = 20  # variables in a text


@dataclass(frozen=True, kw_only=True, repr=False)
class AllBlankets(ResultKind, file="serape-blankets-1"):
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
    def status(self) -> dict[str, MemberStatus]:
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

    def _with(self, status: MemberStatus) -> Names:
        return tuple(name for name in self.members if self.status[name] == status)

    # --- output ------------------------------------------------------------------------------------------------------

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which variables are in which blanket: a row for each variable, a column for each blanket.

        Up to 40 variables and 60 blankets are drawn; the number of others is written below. `path` is a file for the
        picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        return self._drawn(path, lambda: draw_blankets(self, ax))

    def _page(self) -> Page:
        from serape.results.report import blankets_page

        return blankets_page(self)

    _entries = (
        "target", "blankets", "count", "indispensable", "replaceable", "undecided", "exchanges", "interchangeable",
        "known", "trials", "variables", "max_blankets", "algorithm", "test", "alpha", "fdr", "tests", "tests_by_size",
        "skipped", "searches", "seconds", "complete", "options", "notes", "data", "call",
    )  # fmt: skip
    _readers: ClassVar = {
        "blankets": lists,
        "interchangeable": text_lists,
        "known": texts,
        "trials": lambda values: tuple(map(Trial.from_dict, values)),
        "max_blankets": int,
    }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        if not content["blankets"]:
            raise ValueError("there is no blanket")
        known(list(content["interchangeable"]), [name for blanket in content["blankets"] for name in blanket])
        return super().from_dict(content, **made)

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
        return [line for line in lines[1:] if line.startswith("by ")]

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
        return self._whole_text(lines)
