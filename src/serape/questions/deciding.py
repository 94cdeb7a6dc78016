"""Which test decides on a variable or an edge: the one that evidence, explanations and rates all show.

- A member of an answer of which every test conditions on the whole blanket: its test given all other members. Any
  other variable: its latest test, given the members of that moment.
- A parent or child: the weakest association that any test of the pair showed; with a false discovery rate, of the tests
  of both sides, the weaker side counts. Where one side is enough (HPC, and edges by the rule "or") it is the stronger
  one, and twice its p counts, because there are two to choose from.
- A spouse: its test given the set that separates it from the target, and the child, or given another set that the
  algorithm names. It needs the edges to the child,
  too, so with a rate the largest p of the three counts, that of the best of several children, times their number.
- A variable that is left out by an algorithm that separates by subsets: the test that separates it from the target, if
  there is one. To one that conditions on the whole blanket, independence given fewer says nothing about a spouse.

The p that counts is thus never below the p of the test, and neither is the adjusted p.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from serape.local.answer import Answer
from serape.search import Search
from serape.search.associations import DecidingTest
from serape.search.evidence import performed


class Link(NamedTuple):
    """What weighs more than the deciding test: the weakest link of a spouse's path, or the same test, counted twice."""

    x: int
    y: int
    log_p: float
    given: tuple[int, ...]


class Weighed(NamedTuple):
    """What counts for a member or an edge."""

    log_p: float
    """The log p that counts: at least that of the test."""
    test: DecidingTest | None
    """The deciding test; None if no test showed dependence."""
    link: Link | None = None
    """Of a spouse, the weakest link of its path, if this is not its own test."""

    def weighs_more(self, x: int, target: int) -> Link | None:
        """Return what counts for a member, if it is more than its deciding test."""
        if self.link is not None or self.test is None or self.log_p <= self.test.counted:
            return self.link
        return Link(x, target, self.log_p, self.test.given)


NOTHING = Weighed(0.0, None)


def of_edge(search: Search, x: int, y: int, *, either: bool) -> Weighed:
    """Return what counts for an edge: the weakest association of the two, from either side."""
    return of_tests(search.weakest_of_sides(x, y), either=either)


def of_tests(tests: Iterable[DecidingTest], *, either: bool) -> Weighed:
    """Return what counts for an edge: the weakest association of each side that is known."""
    return of_sides([Weighed(test.counted, test) for test in tests], either=either)


def of_sides(sides: Iterable[Weighed | None], *, either: bool) -> Weighed:
    """Return what counts for an edge seen from two sides; with `either`, one side is enough."""
    known = [side for side in sides if side is not None]
    if either and len(known) == 2:
        stronger = min(known, key=lambda side: side.log_p)
        return stronger._replace(log_p=min(stronger.log_p + math.log(2), 0.0))
    return max(known, key=lambda side: side.log_p, default=NOTHING)


def given_rest(search: Search, target: int, answer: Answer) -> dict[int, Weighed]:
    """Return the test of each member given the others, where there are rows enough for it."""
    members = positions(answer.blanket if answer.blanket is not None else answer.parents_children)
    built = search.members_so_far(target)
    ordered = built if set(built) == set(members) else tuple(members)  # as the search has asked already
    found = {}
    for x in members:
        given = tuple(z for z in ordered if z != x)
        outcome = search.repeat(x, target, given)
        if outcome.reliable:
            found[x] = Weighed(outcome.log_p, DecidingTest.of(outcome, given))
    return found


def of_members(search: Search, target: int, answer: Answer, *, either: bool) -> dict[int, Weighed]:
    """Return what counts for each member."""
    spouses = {int(x): positions(via) for x, via in (answer.spouses or {}).items()}

    def of_spouse(x: int, children: list[int]) -> Weighed:
        separating = search.separating_set(x, target) or ()
        paths = []
        for y in children:
            given = (answer.spouse_tests or {}).get((x, y), (*separating, y))
            own = DecidingTest.of(search.repeat(x, target, given), given)
            edges = [(of_edge(search, target, y, either=either), target), (of_edge(search, x, y, either=either), x)]
            edge, end = max(edges, key=lambda one: one[0].log_p)
            weighed = Weighed(own.counted, own)
            if edge.log_p > own.counted:
                link = (0.0, ()) if edge.test is None else (edge.test.log_p, edge.test.given)
                weighed = Weighed(edge.log_p, own, Link(end, y, *link))
            paths.append(weighed)
        if not paths:
            return of_edge(search, x, target, either=either)
        best = min(paths, key=lambda path: path.log_p)
        return best._replace(log_p=min(best.log_p + math.log(len(paths)), 0.0))

    members = dict.fromkeys(positions(answer.parents_children) + positions(answer.blanket))
    return {x: of_spouse(x, spouses[x]) if x in spouses else of_edge(search, x, target, either=either) for x in members}


@dataclass(frozen=True, slots=True)
class Discoveries:
    """What a bound on the false discovery rate makes of an answer."""

    threshold: float | None = None
    """The p-value up to which members are kept."""
    adjusted: Mapping[int, float] = field(default_factory=dict)
    """The adjusted p-values of the members, and of those that are not kept."""
    dropped: tuple[int, ...] = ()
    tests: Mapping[int, DecidingTest] = field(default_factory=dict)
    """The deciding tests of these, and of known members."""
    links: Mapping[int, Link] = field(default_factory=dict)
    """What counts for those whose deciding test has a smaller p."""


class Deciding:
    """The deciding tests about a target, which evidence shows from when they are settled."""

    def __init__(
        self,
        search: Search,
        target: int,
        answer: Answer,
        found: Discoveries,
        *,
        by_subsets: bool,
        reconciled: Collection[int] | None = None,
    ) -> None:
        """Remember what decides; the sides of a pair are first `reconciled` with these members, if they are given."""
        self._search: Search | None = search
        self._target, self._answer, self._found, self._by_subsets = target, answer, found, by_subsets
        self._reconciled = reconciled

    def settle(self) -> None:
        """Put the deciding tests in the place of latest ones."""
        search, self._search = self._search, None
        if search is not None:
            if self._reconciled is not None:
                search.reconcile_sides(self._reconciled)
            tests = _decide(search, self._target, self._answer, self._found, by_subsets=self._by_subsets)
            search.log(self._target).decide(tests)


def _decide(
    search: Search, target: int, answer: Answer, found: Discoveries, *, by_subsets: bool
) -> dict[int, DecidingTest]:
    """Return the tests that take the place of latest ones."""
    log = search.log(target)
    inside = {*positions(answer.blanket), *positions(answer.parents_children), *found.adjusted}
    decided = dict(found.tests)
    weakest = ((x, log.weakest(x)) for x in inside - {int(x) for x in answer.spouses or ()})  # known without a rate
    decided |= {x: test for x, test in weakest if test is not None and not test.separated}
    answers = [] if search.has_read else log.answers  # before they are merged
    _, _, log_p, reliable, which, sets = log.columns()
    if search.has_read:  # what they really say
        for x in np.flatnonzero(log_p == 0.0).tolist():
            decided[x] = DecidingTest.of(search.repeat(x, target, sets[which[x]]), sets[which[x]])
    if not by_subsets:
        return decided
    for x in np.flatnonzero((which >= 0) & ~(reliable & (log_p > search.log_alpha))).tolist():
        given = None if x in inside else search.separating_set(x, target)
        if given is not None:
            outcome = performed(answers, x, given) or search.repeat(x, target, given)
            if outcome.reliable and outcome.log_p > search.log_alpha:
                decided[x] = DecidingTest.of(outcome, given)
    return decided


def positions(members: Collection[int | str] | None) -> list[int]:
    """Return members as positions."""
    return [int(x) for x in members or ()]
