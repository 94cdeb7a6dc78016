"""The result of `context_blankets`: the blanket in several contexts, and what differs between them."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from serape.errors import abbreviate, first_few
from serape.independence.effects import size_text
from serape.independence.outcomes import Outcome, p_text, p_value_text
from serape.markup import plain
from serape.records import Records
from serape.results.charts import draw_membership
from serape.results.displayed import rate_text
from serape.results.kind import ResultKind
from serape.results.result import Result
from serape.results.saved import known, log_p, named_texts, number, texts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from serape.results.report.page import Page

ContextStatus = Literal["in all contexts", "in some contexts", "undecided"]
IN_ALL: ContextStatus = "in all contexts"
IN_SOME: ContextStatus = "in some contexts"
UNDECIDED: ContextStatus = "undecided"
_NAMED = 20  # variables in a text


@dataclass(frozen=True)
class Difference:
    """A member that the search in one context does not find, beside what it tells in the other contexts.

    Examples
    --------
    >>> other = clinic(2000, seed=1)
    >>> other["ECG"] = np.random.default_rng(0).permutation(other["ECG"])
    >>> both = serape.join_tables({"here": patients, "there": other}, context="Clinic")
    >>> found = serape.context_blankets(both, "HeartDisease", context="Clinic")
    >>> (one,) = [difference for difference in found.differences if difference.p < 0.05]
    >>> one.variable, one.context, one.bits < 0.001 < one.elsewhere, one.p < 1e-9
    ('ECG', 'there', True, True)
    """

    variable: str
    context: str
    given: tuple[str, ...]
    """The set given which it is compared: that of its deciding test in the context."""
    bits: float = math.nan
    """What it tells about the target in the context, without the part that is due to chance; NaN if not tested."""
    elsewhere: float = math.nan
    """The same in the other contexts together."""
    p: float = math.nan
    """The p-value of the hypothesis that it tells no less there than elsewhere, adjusted for the number of comparisons;
    NaN without reliable tests."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, text and numbers."""
        return {**self.__dict__, "given": list(self.given)}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ContextBlankets(ResultKind, file="serape-contexts-1"):
    """The blanket of a target in several contexts: what is in all of them, what is in some, and what differs.

    Examples
    --------
    >>> both = serape.join_tables({"2023": clinic(3000, seed=1), "2024": clinic(3000, seed=2)}, context="Year")
    >>> found = serape.context_blankets(both, "HeartDisease", context="Year")
    >>> found.by_context["2023"].blanket
    ('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain')
    >>> found.changes
    ()
    """

    target: str
    context: str
    """The column that tells the contexts apart."""
    pooled: Result = field(repr=False)
    """The blanket in all rows, with the context among the variables."""
    by_context: Mapping[str, Result] = field(repr=False)
    """By context, the blanket in its rows."""
    not_searched: Mapping[str, str] = field(default_factory=dict)
    """By context that could not be searched by itself, why."""
    changes: tuple[str, ...]
    """The variables of the table, the target included, whose law given their causes differs between contexts."""
    invariance: Outcome | None = None
    """The test whether the target is independent of the context given its blanket; None if it is not reliable."""
    invariance_test: str = ""
    """The name of that test."""
    invariant_sets: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """The smallest sets of members given which the target is independent of the context."""
    causes: tuple[str, ...] = ()
    """The members of every invariant set: they are causes of the target (docs/contexts.md)."""
    differences: tuple[Difference, ...] = field(default=(), repr=False)
    """For every member that a context's own search does not find, whether it tells less there than elsewhere."""
    tests: int
    """The number of tests performed, by all searches together."""
    tests_by_size: Mapping[int, int] = field(repr=False)
    skipped: int
    seconds: float
    complete: bool
    """False if the search was interrupted, or a budget ended one of the searches."""
    notes: tuple[str, ...] = ()
    """Remarks about the data and the search."""

    # --- the answer --------------------------------------------------------------------------------------------------

    @property
    def blanket(self) -> tuple[str, ...]:
        """The blanket in all rows, without the context."""
        return tuple(name for name in self.pooled.blanket if name != self.context)

    @cached_property
    def members(self) -> tuple[str, ...]:
        """The members of the blanket in all rows, or of that of any context, in the table's order."""
        every = {*self.blanket, *(name for one in self.by_context.values() for name in one.blanket)}
        return tuple(name for name in self.pooled.trace.names if name in every)

    @property
    def contexts(self) -> tuple[str, ...]:
        """The contexts that were searched by themselves."""
        return tuple(self.by_context)

    @property
    def common(self) -> tuple[str, ...]:
        """The members that the search in every context finds."""
        return self._with(IN_ALL)

    @property
    def in_some(self) -> dict[str, tuple[str, ...]]:
        """By member that some contexts lack, where it tells less and the law differs, the contexts that have it."""
        return {name: self.found_in(name) for name in self._with(IN_SOME)}

    @property
    def undecided(self) -> dict[str, tuple[str, ...]]:
        """By member that some contexts lack, without evidence that it is none there, the contexts that have it.

        Most often there are too few rows in the others, or it varies little there.
        """
        return {name: self.found_in(name) for name in self._with(UNDECIDED)}

    @property
    def invariant(self) -> bool | None:
        """Whether the law of the target given its blanket is the same in all contexts, as far as tests show.

        False if the context is in the blanket in all rows, or if `invariance` shows dependence; None if neither could
        be tested reliably.
        """
        if self.context in self.pooled.blanket:
            return False
        if self.invariance is not None:
            return self.invariance.log_p > math.log(self.pooled.alpha)
        return True if self.pooled.explain(self.context).reliable else None

    @cached_property
    def status(self) -> dict[str, ContextStatus]:
        """By member, whether it is in all contexts, in some, or whether that is undecided.

        A member is in some contexts only if the law of the target given its blanket is shown to differ. Where that law
        is the same, members are the same; one that varies little in a context tells less there all the same.
        """
        less = self._less if self.invariant is False else set()
        every = len(self.by_context)
        return {
            name: IN_ALL
            if every > 1 and len(self.found_in(name)) == every
            else IN_SOME
            if name in less and self.found_in(name)
            else UNDECIDED
            for name in self.members
        }

    @property
    def _less(self) -> set[str]:
        """The members that tell less in some context that lacks them."""
        return {one.variable for one in self.differences if one.p <= self.pooled.alpha}

    def found_in(self, member: str) -> tuple[str, ...]:
        """Return the contexts whose own search finds a member."""
        return tuple(name for name, one in self.by_context.items() if member in one.blanket)

    @cached_property
    def records(self) -> Records:
        """For every member, its status and the contexts that have it: a table for any dataframe library."""
        return Records(
            {
                "variable": list(self.members),
                "status": [self.status[name] for name in self.members],
                "contexts": [len(self.found_in(name)) for name in self.members],
                "found in": [", ".join(self.found_in(name)) for name in self.members],
                "in all rows": [name in self.blanket for name in self.members],
            }
        )

    @property
    def evidence(self) -> Records:
        """For every member and context, its deciding test there, and whether it tells less there than elsewhere."""
        less = {(one.variable, one.context): one for one in self.differences}
        rows: list[dict[str, Any]] = []
        for context, found in self.by_context.items():
            for row in found.trace.records(found, self.members):
                other = less.get((row["variable"], context))
                own = {
                    name: row[name]
                    for name in ("statistic", "dof", "p", "log_p", "effect", "reliable", "rows", "given")
                }
                rows.append(
                    {
                        "variable": row["variable"],
                        "context": context,
                        "included": row["included"],
                        **own,
                        "effect elsewhere": math.nan if other is None else other.elsewhere,
                        "p of less": math.nan if other is None else other.p,
                    }
                )
        rows.sort(key=lambda row: self.members.index(row["variable"]))
        return Records({name: [row[name] for row in rows] for name in rows[0]} if rows else {"variable": []})

    # --- in words ----------------------------------------------------------------------------------------------------

    @property
    def law(self) -> str:
        """A sentence about the law of the target given its blanket."""
        if self.invariant is None:
            return f"Whether the law of {self.target} given its blanket differs by {self.context} cannot be tested."
        if self.invariant:
            return f"The law of {self.target} given its blanket is the same in all contexts, as far as tests show."
        differing = [name for name in self.changes if name in self.blanket]
        others = f"that of {first_few(differing, max_items=_NAMED)} does" if differing else ""
        own = "its own law given its causes does" if self.target in self.changes else ""
        why = " and ".join(filter(None, (own, others)))
        reason = f", because {why}" if why else "; which law differs is not clear"
        return f"The law of {self.target} given its blanket differs by {self.context}{reason}."

    def explain(self, variable: str) -> str:
        """Return in which contexts a variable is a member and why; of the context, whether the law differs by it."""
        if variable == self.context:
            return plain(f"{self.law}{self._tested()} In the search in all rows: {self.pooled.explain(variable)}")
        if variable not in self.status:
            return str(self.pooled.explain(variable))
        status, contexts = self.status[variable], self.found_in(variable)
        if status == IN_ALL:
            lines = [f"{variable} is in the blanket of {self.target} in all {len(self.by_context):,} contexts."]
        else:
            where = first_few(contexts, max_items=_NAMED) or "no context by itself"
            doubt = "; that it tells less in the others is not shown"
            if variable in self._less:
                doubt = f"; it tells less in others, but the law of {self.target} is not shown to differ"
            doubt = "" if status == IN_SOME else doubt
            lines = [f"{variable} is found in {where}{doubt}."]
        lines += [self._told(one) for one in self.differences if one.variable == variable]
        lines.append(f"In all rows: {self.pooled.explain(variable)}")
        return plain(" ".join(lines))

    def _tested(self) -> str:
        test = self.invariance
        if test is None:
            return ""
        verdict = "independent of" if test.log_p > math.log(self.pooled.alpha) else "dependent on"
        return (
            f" Given the blanket, {self.target} is {verdict} {self.context} ({self.invariance_test} = "
            f"{test.statistic:.4g}, {test.dof:g} degrees of freedom, p = {p_text(test.log_p)})."
        )

    def _told(self, one: Difference) -> str:
        if math.isnan(one.p):
            return f"In {one.context}, no reliable test compares it with the others."
        if one.p == 0 and not one.bits and one.elsewhere == 1:  # a perfect test
            return f"In {one.context}, it is independent of {self.target}."
        given = f"given {first_few(one.given)}, " if one.given else ""
        return (
            f"In {one.context}, {given}it tells {size_text(one.bits)} bits, in the others {size_text(one.elsewhere)} "
            f"(p = {p_value_text(one.p)} that it tells no less)."
        )

    @property
    def title(self) -> str:
        """The question, in words."""
        return f"Markov blanket of {self.target} by {self.context}"

    def _heading(self) -> str:
        many = len(self.by_context) + len(self.not_searched)
        return f"{self.title}: {many:,} contexts" if many else self.title

    def _brief(self) -> str:
        return f"{self._heading()}; in all of them: {abbreviate(self.common, 8) or 'no variables'}"

    def _grid(self, max_rows: int) -> tuple[Sequence[str], Sequence[Sequence[str]], int]:
        rows = [self.records[k] for k in range(min(max_rows, len(self.records)))]
        cells = [[row["variable"], row["status"], f"{row['contexts']:,}", row["found in"] or "–"] for row in rows]
        return ("variable", "status", "contexts", "found in"), cells, len(self.records)

    def __str__(self) -> str:
        pooled = self.pooled

        def some(members: Mapping[str, Sequence[str]]) -> str:
            words = [f"{name} ({first_few(where) or 'no context by itself'})" for name, where in members.items()]
            return first_few(words, max_items=_NAMED)

        lines = [self._heading(), f"  in all contexts: {first_few(self.common, max_items=_NAMED) or 'none'}"]
        for kind, members in ((IN_SOME, self.in_some), (UNDECIDED, self.undecided)):
            if members:
                lines.append(f"  {kind}: {some(members)}")
        lines.append(f"  {self.law}")
        if self.changes:
            lines.append(f"  whose own law differs: {first_few(self.changes, max_items=_NAMED)}")
        if self.causes:
            lines.append(f"  in every invariant set, so causes of {self.target}: {first_few(self.causes)}")
        lines.append(
            f"  by {pooled.algorithm} with {pooled.test} at alpha {pooled.alpha:g}{rate_text(pooled.fdr)}: "
            f"{self.tests:,} tests, {self.skipped:,} skipped, {self.seconds:.3g} s"
        )
        return self._whole_text(lines)

    def _with(self, status: ContextStatus) -> tuple[str, ...]:
        return tuple(name for name in self.members if self.status[name] == status)

    # --- output ------------------------------------------------------------------------------------------------------

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw which members are found in which contexts: a row for each member, a column for each context.

        `path` is a file for the picture (.png, .svg, .pdf), `ax` are axes to draw in.
        """
        columns = {"all rows": set(self.blanket)} | {name: set(one.blanket) for name, one in self.by_context.items()}
        return self._drawn(
            path,
            lambda: draw_membership(
                self.members, columns, self.status, (IN_ALL, IN_SOME, UNDECIDED), self.title, self.law, "context", ax
            ),
        )

    def _page(self) -> Page:
        from serape.results.report import contexts_page

        return contexts_page(self)

    _entries = (
        "target", "context", "common", "in_some", "undecided", "invariant", "invariance", "invariance_test", "changes",
        "invariant_sets", "causes", "differences", "pooled", "by_context", "not_searched", "tests", "tests_by_size",
        "skipped", "seconds", "complete", "notes",
    )  # fmt: skip
    _readers: ClassVar = {"not_searched": named_texts, "invariance_test": str}

    def _entry(self, name: str) -> Any:
        test = self.invariance
        if name == "invariance" and test is not None:
            return {"statistic": test.statistic, "dof": test.dof, "log_p": test.log_p}
        return super()._entry(name)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], **made: Any) -> Self:
        """Return the result that `to_dict` wrote."""
        pooled = Result.from_dict(content["pooled"])
        names = pooled.trace.names
        by_context = {str(name): Result.from_dict(one) for name, one in content["by_context"].items()}
        if pooled.target != content["target"] or any(one.target != pooled.target for one in by_context.values()):
            raise ValueError("the results are about different targets")
        for one in by_context.values():
            if one.trace.names != names:
                raise ValueError("the results are about different variables")
        if content["context"] == pooled.target:
            raise ValueError("the context is the target")
        return super().from_dict(
            content,
            context=known([str(content["context"])], names)[0],
            pooled=pooled,
            by_context=by_context,
            changes=known(texts(content["changes"]), names),
            invariance=None if content["invariance"] is None else _outcome(content["invariance"]),
            invariant_sets=tuple(known(texts(one), names) for one in content["invariant_sets"]),
            causes=known(texts(content["causes"]), names),
            differences=tuple(_difference(one, names, list(by_context)) for one in content["differences"]),
            **made,
        )


def _difference(content: Mapping[str, Any], names: tuple[str, ...], contexts: list[str]) -> Difference:
    sizes = number(content["bits"], 0), number(content["elsewhere"], 0), number(content["p"], 0, 1)
    (variable,) = known([str(content["variable"])], names)
    (context,) = known([str(content["context"])], contexts)
    return Difference(variable, context, known(texts(content["given"]), names), *sizes)


def _outcome(content: Mapping[str, Any]) -> Outcome:
    value = -math.inf if content["log_p"] == "-inf" else log_p(content["log_p"])
    return Outcome(number(content["statistic"]), number(content["dof"]), value, reliable=True)
