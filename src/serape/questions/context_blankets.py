"""The blanket of one target in several contexts: what holds in all of them, and what differs.

Mooij, Magliacane and Claassen, *Joint causal inference from multiple contexts*, JMLR 21, 2020: rows of several contexts
(sites, years, interventions) are pooled, and the context is a variable of the network that no other variable causes. If
the pooled rows are faithful to it,

- the blanket without the context is that of the network of the other variables;
- the context is in the blanket if and only if the law of the target given the other members differs between contexts;
- the neighbours of the context are the variables whose law given their causes differs.

A network in which an arc is absent in some contexts is the network of all contexts together; what is absent where is
found by a search in the rows of each context.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Unpack

from serape._keywords import Keywords
from serape.errors import Interrupted, abbreviate, embedded
from serape.independence import IndependenceTest, table_of
from serape.independence.outcomes import Outcome, Tally
from serape.independence.registry import has_rows, searched
from serape.local.invariant_sets import InvariantSets, invariant_sets
from serape.progress import Progress
from serape.questions.contexts import context_position, judging_query, refuse_member, tests_of_contexts
from serape.questions.information import added, information, p_of_less
from serape.questions.query import MAX_CONDITIONING, Query
from serape.questions.run import STRUCTURE_SECONDS, Run
from serape.results.context_blankets import ContextBlankets, Difference
from serape.results.exchanges import Names
from serape.results.result import Result
from serape.search import Search
from serape.search.budget import STOPPED
from serape.settings import Settings, question
from serape.types import LocalAlgorithm

_INTERRUPTED = "the search was interrupted"


@question(
    command=(
        "serape contexts patients.csv --target HeartDisease --context Ward --explain Age",
        "serape contexts patients.csv --target HeartDisease --context Ward --picture contexts.png --report report.html",
        "serape contexts patients.csv --target HeartDisease --context Ward --json > found.json",
    ),
    about="Find the blanket of a column in several contexts: what is in all of them, and what differs.\n\n"
    "Prints the members with the contexts that have them, whether the law of the target differs, and notes.",
)
def context_blankets(
    data: Any,
    target: str | int,
    context: str | int,
    algorithm: str | LocalAlgorithm = "auto",
    **settings: Unpack[Keywords],
) -> ContextBlankets:
    """Find the blanket of a variable in several contexts: which members are in all of them, and what differs.

    One search in all rows has the context among the variables; then there is one search in the rows of each context.
    The context is a variable that no other causes, such as the site or the year of a row, or whether there was an
    intervention (docs/contexts.md).

    Parameters
    ----------
    data, target, algorithm
        As for `markov_blanket`. `serape.join_tables` makes one table of several.
    context
        The column that says from which context a row is, by name or position.

    Returns
    -------
    ContextBlankets
        The members that hold in all contexts, those that hold in some, whether the law of the target given its blanket
        is the same in all, and the variables whose own law differs.

    Raises
    ------
    Interrupted
        On Ctrl-C; its `found` is the result so far.

    Examples
    --------
    >>> both = serape.join_tables({"2023": clinic(3000, seed=1), "2024": clinic(3000, seed=2)}, context="Year")
    >>> found = serape.context_blankets(both, "HeartDisease", context="Year")
    >>> found.common, found.invariant
    (('Age', 'Smoking', 'BloodPressure', 'Anxiety', 'ECG', 'ChestPain'), True)
    """
    asked = Settings.of(algorithm=algorithm, **settings)
    query = _Query.resolve(data, "blanket", asked)
    at = query.position(target)
    where = context_position(query.source, context, at)
    for name in ("known_members", "forbidden_members"):
        refuse_member(query.source, getattr(asked.search, name), where, name)
    constrained = query.constrained(asked.search, [at])
    assert isinstance(constrained, _Query)
    return _Search(constrained, at, where, asked).found()


@dataclass(frozen=True)
class _Query(Query):
    """The question in all rows, or in those of one context, where the context is no candidate."""

    constant: int | None = None

    def excluded(self, target: int | None) -> frozenset[int]:
        """Return the columns that are no candidates."""
        found = super().excluded(target)
        return found if self.constant is None else found | {self.constant}


class _Search:
    """The searches about one target: in all rows, about the context, and in the rows of each context."""

    def __init__(self, query: _Query, target: int, context: int, asked: Settings) -> None:
        self._query, self._target, self._context, self._asked = query, target, context, asked
        self._names = query.source.variables
        self._run = Run(asked.run, query.source)  # its budget is that of each search
        self._pooled: Result | None = None
        self._about: Result | None = None
        self._changes: tuple[str, ...] = ()
        self._direct = False  # whether the context seems to be a cause of the target: then none can be named
        self._law: Outcome | None = None
        self._law_test = query.source.name
        self._sets: InvariantSets | None = None
        self._by_context: dict[str, Result] = {}
        self._tests: dict[str, IndependenceTest] = {}
        self._not_searched: dict[str, str] = {}
        self._differences: list[Difference] = []

    def found(self) -> ContextBlankets:
        """Search, and return the result; on Ctrl-C, raise Interrupted with the result so far."""
        with self._run.part():
            self._pooled = self._search(self._query, self._target, warn=True)
            self._about = self._search(self._query, self._context)
            self._judge()
            self._search_contexts()
            self._compare()
        if self._pooled is None:
            raise KeyboardInterrupt  # nothing is found
        return self._run.hand_over(self._result())

    # --- the searches ------------------------------------------------------------------------------------------------

    def _search(self, query: Query, target: int, *, warn: bool = False) -> Result:
        try:
            found = query.run(target, self._asked.run.threads, self._watching, warn=warn)
        except Interrupted as stop:
            self._keep(stop.found)
            self._pooled = self._pooled or stop.found
            raise
        self._keep(found)
        return found

    def _keep(self, found: Result) -> None:
        self._run.tally.merge(Tally(dict(found.tests_by_size), {0: found.skipped}))

    def _judge(self) -> None:
        """Find the neighbours of the context, and the sets given which the target does not depend on it."""
        assert self._pooled is not None
        assert self._about is not None
        place = {name: k for k, name in enumerate(self._names)}
        near = self._about.parents_children
        if near is None:
            near = self._not_separated([place[name] for name in self._about.blanket])
        own, context = self._names[self._target], self._names[self._context]
        self._direct = own in near
        self._changes = tuple(name for name in near if name != own or context in self._pooled.blanket)
        members = [place[name] for name in self._pooled.blanket if name != context]
        judging = judging_query(self._query, self._asked)
        with self._searching(judging) as search:
            self._law = search.ask(self._context, self._target, members)
            self._law_test = judging.source.name
            self._sets = invariant_sets(search, self._target, self._context, members)
        if self._sets.largest < len(members):
            self._run.notes.append(
                f"of the subsets of {len(members):,} members, those of up to {self._sets.largest} are tried for "
                f"invariance, so no cause is named"
            )

    def _not_separated(self, members: list[int]) -> tuple[str, ...]:
        """Return the members of the blanket of the context that no subset of the others separates from it."""
        bounded = has_rows(self._query.source) and self._asked.search.max_conditioning == "auto"
        largest = min(MAX_CONDITIONING, len(members)) if bounded else len(members)
        with self._searching(self._query) as search:
            found = search.separate(members, self._context, members, range(largest + 1))
            near = search.possible_neighbours(self._context, found.survivors)
        return tuple(self._names[x] for x in sorted(near))

    @contextmanager
    def _searching(self, query: Query) -> Iterator[Search]:
        """Return a search whose tests are counted, on a budget of its own."""
        budget = self._run.new_budget(STRUCTURE_SECONDS)
        with self._run.searching(query, budget=budget, watch=self._watching) as search:
            yield search

    def _search_contexts(self) -> None:
        """Search in the rows of each context."""
        tests, knowledge = tests_of_contexts(self._query, self._context), self._query.knowledge
        if knowledge is not None:  # the context has one value in each, so arcs of its own say nothing there
            knowledge = knowledge.without(self._context)
        if not tests:
            self._run.notes.append(
                f"the independence test {self._query.source.name!r} has no rows of its contexts, so none is searched "
                f"by itself"
            )
        for name, test in tests.items():
            table = table_of(test)
            if table is not None and table.rows < 2:
                self._not_searched[name] = "it has one row"
            elif table is not None and table.is_constant(self._target):
                self._not_searched[name] = "the target is constant there"
            else:
                query = replace(self._query, source=test, constant=self._context, knowledge=knowledge)
                found = self._search(query, self._target)
                if found.skipped and not found.tests:
                    self._not_searched[name] = "it has too few rows for any reliable test"
                else:
                    self._by_context[name], self._tests[name] = found, test
        tables = [table for test in tests.values() if (table := table_of(test)) is not None]
        fixed = [
            name
            for k, name in enumerate(self._names)
            if tables and k != self._context and not _is_left_out(self._query, k)
            if all(table.is_constant(k) for table in tables)
        ]
        if fixed:
            self._run.notes.append(
                f"constant in every context, so they tell no more than the context and may stand for it: "
                f"{abbreviate(fixed)}"
            )

    def _compare(self) -> None:
        """Test whether each member that a context's own search does not find tells less there than elsewhere."""
        assert self._pooled is not None
        place = {name: k for k, name in enumerate(self._names)}
        context = self._names[self._context]
        members = {*self._pooled.blanket, *(x for one in self._by_context.values() for x in one.blanket)} - {context}
        for variable in sorted(members, key=place.__getitem__):
            for name, found in self._by_context.items():
                if variable not in found.blanket:
                    self._differences.append(self._difference(variable, name, place))

    def _difference(self, variable: str, context: str, place: Mapping[str, int]) -> Difference:
        """Compare a member that a context lacks: given the set that separates it there, and given that of a context
        that has it, or of all rows.

        The smaller p counts, times the number of comparisons that could have been made: two sets, all contexts, and all
        members in all rows. One that a context alone has was found among all candidates, so it is times their number.
        """
        own = self._by_context[context].trace.given(variable)
        if not has_rows(self._query.source):  # a perfect test: what is independent there is so
            return Difference(variable, context, own or (), 0.0, 1.0, 0.0)
        if own is None:
            return Difference(variable, context, ())
        assert self._pooled is not None
        having = [one for one in (self._pooled, *self._by_context.values()) if variable in one.blanket]
        sets = dict.fromkeys([own, *[having[-1].trace.given(variable) or ()][: len(having)]])
        without = [tuple(z for z in one if place[z] != self._context) for one in sets]
        found = [self._compared(variable, context, one, place) for one in dict.fromkeys(without)]
        best = min(found, key=lambda one: math.inf if math.isnan(one.p) else one.p)
        pooled = self._pooled.blanket
        among = len(pooled) if variable in pooled else len(searched(self._query.source)) - 2
        return replace(best, p=min(1.0, best.p * len(found) * len(self._tests) * among))

    def _compared(self, variable: str, context: str, given: Names, place: Mapping[str, int]) -> Difference:
        asked = place[variable], self._target, tuple(place[z] for z in given)
        told = {name: one for name, test in self._tests.items() if (one := information(test, *asked)) is not None}
        self._run.tally.add(len(given), len(told), len(self._tests) - len(told))
        here = told.pop(context, None)
        if here is None or not told:
            return Difference(variable, context, given)
        elsewhere = added(told.values())
        return Difference(variable, context, given, here.bits, elsewhere.bits, p_of_less(here, elsewhere))

    def _watching(self, now: Progress) -> None:
        if self._run.watch is not None:
            done = len(self._by_context)
            doing = f"{done:,} contexts searched, {self._run.tally.performed + now.tests:,} tests" if done else ""
            seconds = self._run.seconds
            self._run.watch(
                replace(now, tests=self._run.tally.performed + now.tests, seconds=seconds, doing=doing or now.doing)
            )

    # --- the result --------------------------------------------------------------------------------------------------

    def _result(self) -> ContextBlankets:
        pooled = self._pooled
        assert pooled is not None
        notes = [*pooled.notes, *self._run.notes]
        notes += [f"context {name!r} is not searched by itself: {why}" for name, why in self._not_searched.items()]
        stopped: dict[str, list[str]] = {}  # contexts, by the limit that ended the search there
        for name, one in self._by_context.items():
            for note in one.notes:
                if note.startswith(STOPPED):
                    stopped.setdefault(embedded(note).partition(":")[0], []).append(name)
        notes += [
            f"{limit} in the contexts {abbreviate(names)}: their members are those found so far"
            for limit, names in stopped.items()
        ]
        if self._run.ended:
            notes.append(f"{self._run.ended}: contexts that are missing were not searched")
        sets = self._sets or InvariantSets([], [], 0, 0)
        return ContextBlankets(
            target=pooled.target,
            context=self._names[self._context],
            pooled=pooled,
            by_context=dict(self._by_context),
            not_searched=dict(self._not_searched),
            changes=self._changes,
            invariance=self._law,
            invariance_test=self._law_test,
            invariant_sets=tuple(tuple(self._names[x] for x in one) for one in sets.accepted),
            causes=() if self._direct else tuple(self._names[x] for x in sorted(sets.causes)),
            differences=tuple(self._differences),
            tests=self._run.tally.performed,
            tests_by_size=dict(sorted(self._run.tally.tests_by_size.items())),
            skipped=self._run.tally.skipped,
            seconds=self._run.seconds,
            complete=all(one.complete for one in (pooled, *self._by_context.values())) and not self._run.ended,
            notes=tuple(notes),
        )


def _is_left_out(query: Query, k: int) -> bool:
    """Return whether a column takes part in no search."""
    table = table_of(query.source)
    return table is None or k in table.identifiers or table.is_constant(k)
