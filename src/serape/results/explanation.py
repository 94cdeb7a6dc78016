"""The evidence behind a result: why a variable is a member or not."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from serape.data.variables import LevelCounts
from serape.errors import first_few, n_shown
from serape.independence.base import IndependenceTest
from serape.independence.effects import Effect, Effects
from serape.independence.outcomes import Outcome, p_text, p_value_text
from serape.knowledge import Knowledge
from serape.markup import plain
from serape.names import NamePositions
from serape.records import Records
from serape.results.effects import DecidingEffects, effect_columns
from serape.results.saved import log_p, number, texts

if TYPE_CHECKING:
    from serape.results.result import Result
    from serape.search.search import Search


_MAX_ROWS = 1e18  # of a file
_ENTRY_BYTES = 32  # of a variable in a set; the set itself counts for three
COLUMNS = ("statistic", "dof", "log_p", "reliable", "which")
Known = Literal["forbidden member", "known member", "required", "apart", ""]
"""What was known of a variable before the search."""
_WORDS: Mapping[Known, str] = {
    "forbidden member": "it is a forbidden member",
    "known member": "it is a known member",
    "required": "knowledge requires an arc between the two",
    "apart": "knowledge forbids that the two are adjacent",
}


class Settles(Protocol):
    """What puts the deciding tests into the log of a search."""

    def settle(self) -> None:
        """Put them there."""


class NamedLink(NamedTuple):
    """Two variables on the path of a spouse, and their test."""

    x: str
    y: str
    log_p: float
    given: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Why one variable is a member or not: the deciding test, as attributes and, printed, in words."""

    variable: str
    target: str
    included: bool
    given: tuple[str, ...] | None
    """The conditioning set of the deciding test; None if the variable was never tested."""
    separating_set: tuple[str, ...] | None
    """The set given which the variable and the target are independent, or None if none was found."""
    statistic: float
    dof: float
    log_p: float
    reliable: bool
    history: tuple[str, ...]
    """The steps at which it entered and left, in order."""
    text: str
    effect: Effect | None = None
    """The effect size of the deciding test; None if it is not reliable or has none."""

    @property
    def p(self) -> float:
        """The p-value of the deciding test."""
        return math.exp(self.log_p) if not math.isnan(self.log_p) else math.nan

    def __str__(self) -> str:
        return plain(self.text)

    def __repr__(self) -> str:
        return plain(self.text)


EvidenceColumns = Mapping[str, Any]
"""By variable: statistic, dof, log_p, reliable, and `which`: the index of the conditioning set, or −1 for none."""


Separating = Mapping[int, tuple[int, ...]]
Links = Mapping[int, tuple[int, int, float, tuple[int, ...]]]
"""Where more than the p of the deciding test counts: two variables, the log p that counts, and the conditioning set."""
Gathered = tuple[EvidenceColumns, Sequence[tuple[int, ...]], Sequence[tuple[int, str]], Separating, Links]
"""Columns, the conditioning sets, the variables that entered and left, the separating sets of spouses, their links."""


class Evidence:
    """For every variable, its deciding test against the target: columns whose size is linear in the variables.

    `gather` returns the evidence; it is called on first use.
    """

    def __init__(
        self,
        names: Sequence[str],
        gather: Callable[[], Gathered],
        target: int = 0,
        rows: int | None = None,
        levels: Sequence[int] = (),
        effects: DecidingEffects | None = None,
        rows_of: Callable[[Sequence[int]], int] | None = None,
    ) -> None:
        self.names = tuple(names)
        self._effects = effects or DecidingEffects(len(self.names), None, target)
        self._gather = gather
        self._rows_of = rows_of
        self._target = target
        self._rows = rows
        self._levels = levels

    @classmethod
    def of(
        cls,
        search: Search,
        target: int,
        separating: Separating,
        links: Links,
        deciding: Settles | None = None,
    ) -> Evidence:
        """Return the evidence of a search."""
        log = search.log(target)

        def gather() -> Gathered:
            if deciding is not None:
                deciding.settle()  # from then on, the search itself is not kept
            *columns, given = log.columns()
            events = [(e.variable, e.what) for e in log.events]
            return dict(zip(COLUMNS, columns, strict=True)), given, events, separating, links

        found = cls._from(search.test, target, gather)
        found.is_partly_kept = not log.is_settled
        return found

    @property
    def alone(self) -> Evidence:
        """What `about` needs in another process: the gathered evidence, without names and data."""
        found = object.__new__(Evidence)
        found.__dict__["_gathered"] = self._gathered
        return found

    def about(self, test: IndependenceTest, target: int) -> Evidence:
        """Return evidence that was sent `alone` with the names and the data of a test."""
        return self._from(test, target, self.gather)

    @classmethod
    def later(cls, test: IndependenceTest, target: int, make: Callable[[], Evidence]) -> Evidence:
        """Return evidence that `make` makes on first use."""
        found = cls._from(test, target, lambda: make()._gathered)
        found._searches_again = True
        return found

    is_partly_kept = False
    """Whether outcomes that it may need are gone, or left to be computed, so that it had better be gathered at once."""
    _searches_again = False

    @property
    def at_hand(self) -> bool:
        """Whether it can be read without another search."""
        return not self._searches_again or self.is_gathered

    @property
    def is_gathered(self) -> bool:
        """Whether it is in columns, and no search is kept for it."""
        return "_gathered" in self.__dict__

    @classmethod
    def _from(cls, test: IndependenceTest, target: int, gather: Callable[[], Gathered]) -> Evidence:
        table = getattr(test, "table", None)
        return cls(
            test.variables,
            gather,
            target,
            None if table is None else test.rows,
            () if table is None else LevelCounts(table),
            DecidingEffects(len(test.variables), test, target),
            getattr(test, "rows_of", None),  # tests on complete rows know how many there are
        )

    def gather(self) -> Gathered:
        """Return the evidence in columns; from then on, the search is not kept."""
        return self._gathered

    @property
    def nbytes(self) -> int:
        """About how large it is in columns."""
        columns, given, events, separating, links = self._gathered
        arrays = sum(np.asarray(values).nbytes for values in columns.values())
        lists = (*events, *given, *separating.values(), *links.values())
        return arrays + _ENTRY_BYTES * sum(3 + len(one) for one in lists)

    def detached(self) -> Evidence:
        """Return the same evidence, gathered, without a reference to the search and the data."""
        return copy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return the content of a pickle: the gathered evidence, without the search and the data."""
        if "names" not in self.__dict__:
            return self.__dict__
        return {
            "names": self.names,
            "_gathered": self._gathered,
            "_rows_of": None,
            "_rows_each": self._rows_each,
            "_target": self._target,
            "_rows": self._rows,
            "_levels": list(self._levels),
            "_effects": DecidingEffects(len(self.names), None, self._target, self._effects_of(range(len(self.names)))),
        }

    @cached_property
    def _gathered(self) -> Gathered:
        found = self._gather()
        self._gather = lambda: found  # the search, and all that it has, is not kept
        return found

    @cached_property
    def _rows_each(self) -> Sequence[int] | None:
        """By variable, the number of rows that its deciding test used, if that is not the same for all."""
        if self._rows_of is None:
            return None
        which = np.asarray(self._columns["which"]).tolist()
        return [0 if w < 0 else self._rows_of((k, self._target, *self._given[w])) for k, w in enumerate(which)]

    @property
    def _columns(self) -> EvidenceColumns:
        return self._gathered[0]

    @property
    def _given(self) -> Sequence[tuple[int, ...]]:
        return self._gathered[1]

    @property
    def _events(self) -> Sequence[tuple[int, str]]:
        return self._gathered[2]

    def _separating(self, k: int) -> tuple[str, ...] | None:
        """Return the set that separates a spouse from the target, or None."""
        given = self._gathered[3].get(k)
        return None if given is None else tuple(self.names[z] for z in given)

    def _link(self, k: int) -> NamedLink | None:
        """Return the link that weighs more for a spouse than its own test, or None."""
        link = self._gathered[4].get(k)
        if link is None:
            return None
        x, y, log_p, given = link
        return NamedLink(self.names[x], self.names[y], log_p, tuple(self.names[z] for z in given))

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of each variable."""
        return NamePositions(self.names)

    def given(self, variable: str) -> tuple[str, ...] | None:
        """Return the conditioning set of a variable's deciding test, or None if it was not tested."""
        which = int(self._columns["which"][self.position[variable]])
        return None if which < 0 else tuple(self.names[z] for z in self._given[which])

    def log_p(self, variable: str) -> float:
        """Return log p of a variable's deciding test; NaN if it is unreliable or there is none."""
        k = self.position[variable]
        return float(self._columns["log_p"][k]) if self._columns["reliable"][k] else math.nan

    def effect(self, variable: str) -> Effect | None:
        """Return the effect size of a variable's deciding test; None if it is unreliable or there is none."""
        return self._effects_of([k := self.position[variable]])[k]

    def _effects_of(self, variables: Sequence[int]) -> Effects:
        return self._effects.of(variables, self._columns, self._given)

    def strongest(self, outside: Sequence[str], max_count: int) -> list[str]:
        """Return up to `max_count` of some variables: first those that left, then those with the smallest p."""
        at = np.array([self.position[name] for name in outside], np.int64)
        log_p = np.asarray(self._columns["log_p"], float)[at]
        log_p = np.where(np.asarray(self._columns["reliable"], bool)[at] & ~np.isnan(log_p), log_p, math.inf)
        left = np.isin(at, [x for x, event in self._events if event == "left"])
        return [outside[k] for k in np.lexsort((log_p, ~left))[:max_count]]

    def records(self, result: Result, variables: Sequence[str] | None = None) -> Records:
        """Return the evidence as a table with a row for each of some variables; by default all but the target."""
        if variables is None:
            keep = [k for k, name in enumerate(self.names) if name != result.target]
        else:
            keep = [self.position[name] for name in variables]
        members = set(result.members)
        columns: dict[str, list[Any]] = {"variable": [self.names[k] for k in keep]}
        columns["included"] = [name in members for name in columns["variable"]]
        for name in ("statistic", "dof", "log_p", "reliable"):
            columns[name] = [self._columns[name][k] for k in keep]
        columns["p"] = [math.exp(log_p) for log_p in columns["log_p"]]
        columns["adjusted_p"] = [result.adjusted_p.get(name, math.nan) for name in columns["variable"]]
        columns |= effect_columns(self._effects_of(keep), keep)
        columns["rows"] = [self._rows_used(k) for k in keep]
        columns["rows_per_cell"] = [self._rows_per_cell(k) for k in keep]
        given = [self.given(name) for name in columns["variable"]]
        alpha = math.log(result.level)
        columns["given"] = [None if g is None else ", ".join(g) for g in given]
        decided = zip(columns["reliable"], columns["log_p"], columns["given"], strict=True)
        separating = [self._separating(k) for k in keep]
        columns["separating_set"] = [
            g if r and log_p > alpha else None if given_set is None else ", ".join(given_set)
            for (r, log_p, g), given_set in zip(decided, separating, strict=True)
        ]
        for what in ("entered", "left"):  # the latest such step, counted from 1
            steps = {x: step for step, (x, event) in enumerate(self._events, 1) if event == what}
            columns[what] = [steps.get(k) for k in keep]
        return Records(columns)

    def _rows_used(self, k: int) -> int | None:
        """Return the number of rows that the deciding test of a variable used."""
        if self._rows is None or int(self._columns["which"][k]) < 0:
            return None
        return self._rows if self._rows_each is None else int(self._rows_each[k])

    def _rows_per_cell(self, k: int) -> float:
        which, rows = int(self._columns["which"][k]), self._rows_used(k)
        if rows is None:
            return math.nan
        cells = math.prod(self._levels[v] for v in (k, self._target, *self._given[which]))
        return rows / cells if cells else math.nan

    def explain(self, variable: str, result: Result) -> Explanation:
        """Return the explanation of one variable."""
        k = self.position[variable]
        statistic, dof, log_p = (float(self._columns[c][k]) for c in ("statistic", "dof", "log_p"))
        outcome = Outcome(statistic, dof, log_p, bool(self._columns["reliable"][k]))
        included = variable in result.members
        given = self.given(variable)
        independent = outcome.reliable and outcome.log_p > math.log(result.level)
        history = tuple(what for x, what in self._events if x == k)
        effect = self.effect(variable)
        return Explanation(
            variable,
            result.target,
            included,
            given,
            given if independent else self._separating(k),
            outcome.statistic,
            outcome.dof,
            outcome.log_p,
            outcome.reliable,
            history,
            _in_words(
                variable,
                result,
                included,
                given,
                outcome,
                effect,
                history,
                self._separating(k),
                self._link(k),
                known_beforehand(variable, result, self.names),
            ),
            effect,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain lists, fit for JSON."""
        columns = {name: np.asarray(values).tolist() for name, values in self._columns.items()}
        return {
            "variable": list(self.names),
            **columns,
            **effect_columns(self._effects_of(everything := range(len(self.names))), everything),
            "rows_used": None if self._rows_each is None else list(self._rows_each),
            "given": [list(g) for g in self._given],
            "events": [list(e) for e in self._events],
            "separating": [[k, *given] for k, given in self._gathered[3].items()],
            "links": [[k, x, y, log_p, *given] for k, (x, y, log_p, given) in self._gathered[4].items()],
            "target": self._target,
            "rows": self._rows,
            "levels": list(self._levels),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Evidence:
        """Return the evidence that `to_dict` wrote."""
        columns: dict[str, list[Any]] = {
            "statistic": [number(value) for value in content["statistic"]],
            "dof": [number(value) for value in content["dof"]],
            "log_p": [log_p(value) for value in content["log_p"]],
            "reliable": [bool(value) for value in content["reliable"]],
            "which": [int(value) for value in content["which"]],
        }
        rows_each = None if content["rows_used"] is None else [int(count) for count in content["rows_used"]]
        names = list(texts(content["variable"]))
        given = [tuple(int(z) for z in g) for g in content["given"]]
        events = [(int(x), str(what)) for x, what in content["events"]]
        separating = {int(k): tuple(int(z) for z in given) for k, *given in content["separating"]}
        links = {  # files of older versions have none
            int(k): (int(x), int(y), log_p(value), tuple(int(z) for z in given))
            for k, x, y, value, *given in content.get("links", ())
        }
        if any(len(values) != len(names) for values in (*columns.values(), names if rows_each is None else rows_each)):
            raise ValueError("columns have different lengths")
        linked = ((k, x, y, *g) for k, (x, y, _, g) in links.items())
        if any(not 0 <= z < len(names) for g in (*given, *separating.values(), *linked) for z in g) or any(
            not -1 <= w < len(given) for w in columns["which"]
        ):
            raise ValueError("a position is out of range")
        rows = None if content["rows"] is None else int(number(content["rows"], 0, _MAX_ROWS))
        levels = [int(r) for r in content["levels"]]
        if not 0 <= int(content["target"]) < len(names) or (rows is not None and len(levels) != len(names)):
            raise ValueError("target or levels do not match the variables")
        found = cls(
            names, lambda: (columns, given, events, separating, links), int(content["target"]), rows, levels,
            DecidingEffects.from_dict(content, len(names)),
        )  # fmt: skip
        found._rows_each = rows_each
        return found


def _in_words(
    variable: str,
    result: Result,
    included: bool,
    given: tuple[str, ...] | None,
    outcome: Outcome,
    effect: Effect | None,
    history: tuple[str, ...],
    separating: tuple[str, ...] | None,
    link: NamedLink | None,
    known: Known,
) -> str:
    role = "in the Markov blanket" if result.finds == "blanket" else "a parent or child"
    verdict = f"{variable} is {'' if included else 'not '}{role} of {result.target}"
    if given is None:
        member = next((name for name, others in result.interchangeable.items() if variable in others), None)
        if member is not None:
            return f"{verdict}: it tells the same as {member}, so it was not tested."
        if known:
            return f"{verdict}: {_WORDS[known]}, so it was not tested."
        return f"{verdict}: it was not tested. The notes of the result tell which columns take no part."
    condition = _condition(given)
    entered = " It entered and left again during the search." if not included and "left" in history else ""
    if included and known in ("known member", "required"):
        entered = f" {_sentence(_WORDS[known])}."
    if variable in result.dropped:
        verdict = f"{variable} was removed by the wrapper"
    if not outcome.reliable:
        bound = result.options.get("max_conditioning")
        reason = (
            f"conditioning sets have at most {bound} members"
            if bound is not None and len(given) > bound
            else "there are too few rows for a reliable test, or there is nothing to test"
        )
        if not included and "independent" in (result.options.get("unreliable"), result.options.get("zero_dof")):
            reason += "; the algorithm reads this as independence"
        return f"{verdict}. Its last test, {condition}, was skipped: {reason}.{entered}"
    plural = "" if outcome.dof == 1 else "s"
    freedom = f"{outcome.dof:g} degree{plural} of freedom"
    numbers = f"{result.test} = {outcome.statistic:z.4g}, {freedom}, p = {p_text(outcome.log_p)}"
    if effect is not None:
        numbers += f", {effect}"
    adjusted, judged = result.adjusted_p.get(variable), ""
    if adjusted is not None:
        judged = f" Its adjusted p is {p_value_text(adjusted)}{_counted(result, link)}."
        if result.fdr is not None and adjusted > result.fdr and not included:
            return (
                f"{verdict}: its association is too weak for a false discovery rate of {result.fdr:g}.{judged} Its "
                f"deciding test is the one {condition} ({numbers})."
            )
    by_rate = result.level < result.alpha
    limit = (
        f"{p_value_text(result.level)}, the largest p that the rate allows" if by_rate else f"alpha = {result.alpha:g}"
    )
    if outcome.log_p <= math.log(result.level):
        finding, compared = f"it is {'still ' if given else ''}associated with {result.target}", "at most"
        through = (result.spouses or {}).get(variable, ())
        if known == "apart" and through:
            entered = f" It is a spouse, through {_listed(through)}: {_WORDS[known]}."
        if separating is not None:
            finding = f"it is associated with {result.target}, but not {_condition(separating)}"
            entered = f" It is a spouse{', through ' + _listed(through) if through else ''}."
        elif not included:
            entered = _why_not(variable, result, effect, known) + entered
    else:
        weak = outcome.log_p <= math.log(result.alpha)
        finding = f"{'its association' if weak else 'it is independent'} {'with' if weak else 'of'} {result.target}"
        finding, compared = f"{finding}{' is weak' if weak else ''}", "above"
    return f"{verdict}: {condition}, {finding} ({numbers}, {compared} {limit}).{judged}{entered}"


def _counted(result: Result, link: NamedLink | None) -> str:
    """Return what an adjusted p is made of, if not of the p of the deciding test."""
    if link is None:
        return ""
    p = p_text(link.log_p) if link.log_p < 0 else "1"
    if link.y == result.target:  # its own test
        return f", because p counts as {p} where the best of several tests is enough"
    return f", because of {link.x} – {link.y}, the weakest link between the two ({_condition(link.given)}, p = {p})"


def _why_not(variable: str, result: Result, effect: Effect | None, known: Known) -> str:
    """Return why a variable is left out though its deciding test shows an association."""
    least = result.options.get("min_effect")
    if effect is not None and least is not None and effect.bits < least:
        return f" It is left out because its effect is less than {least:g} bits."
    if known == "apart" and result.parents_children is not None:
        spouse = ", and no effect was found that they have in common" if result.finds == "blanket" else ""
        return f" {_sentence(_WORDS[known])}{spouse}."
    if variable in result.dropped:
        return ""
    if not result.complete:
        return " The search ended before it could enter."
    why = next((note for note in result.notes if " stopped" in note or "the search ended because" in note), None)
    return f" It did not enter: {why or f'{result.algorithm} ended without it'}."


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[:1].upper() + text[1:]


def _condition(given: Sequence[str]) -> str:
    return f"given {_listed(given)}" if given else "on its own"


def _listed(names: Sequence[str]) -> str:
    if n_shown(len(names), 8) < len(names):
        return first_few(names, max_items=8)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# --- what was known before -------------------------------------------------------------------------------------------


def known_beforehand(variable: str, result: Result, names: Sequence[str]) -> Known:
    """Return what was known of a variable and the target; an empty text if nothing was."""
    target, options = result.target, result.options
    forbidden = options.get("forbidden_members", ())
    if _names(variable, target, forbidden) or _names(target, variable, forbidden):
        return "forbidden member"
    if _names(variable, target, options.get("known_members", ())):
        return "known member"
    given = options.get("knowledge")
    if given is None:
        return ""
    known, x, t = Knowledge.of(given).bind(names), names.index(variable), names.index(target)
    if x in known.required_neighbours(t):
        return "required"
    return "apart" if known.forbids_pair(x, t) else ""


def _names(variable: str, target: str, given: Any) -> bool:
    """Return whether members, given as a list for every target or by target, name a variable for a target."""
    return variable in (given.get(target, ()) if isinstance(given, Mapping) else given)
