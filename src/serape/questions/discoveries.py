"""The false discovery rate of an answer.

A member of parents and children is false if some set separates it from the target. Every test that the search
performed and that showed dependence bears on that, so the weakest of these associations counts: its p-value is at least
that of the set that would separate it, if the search asked about that set (Tsamardinos and Brown, *Bounding the false
discovery rate in local Bayesian network learning*, AAAI 2008). A spouse is true if the target and the child are
adjacent, if the spouse and the child are, and if spouse and target are dependent given a separating set and the child;
the largest of the three p-values counts, and that of the best of several children, times their number.

Algorithms that condition on the whole blanket bound the rate at each step of the search instead; here the p-values of
their members are those given all other members.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from serape.local.answer import Answer
from serape.search import FalseDiscoveryRate, Search
from serape.skeletons.skeleton import Pair


@dataclass(frozen=True, slots=True)
class Discoveries:
    """What a bound on the false discovery rate makes of an answer."""

    threshold: float | None = None
    """The p-value up to which members are kept."""
    adjusted: Mapping[int, float] = field(default_factory=dict)
    """The adjusted p-values of the members, and of those that are not kept."""
    dropped: tuple[int, ...] = ()


def bound(
    search: Search, target: int, answer: Answer, kept: Collection[int], hypotheses: int, *, either: bool
) -> tuple[Answer, Discoveries]:
    """Return the answer without the members that the rate does not allow; those in `kept` are known.

    The hypotheses are as many as the variables that could have been found.
    """
    if search.fdr is None:
        return answer, Discoveries()
    stepwise = search.stepwise
    log_p = _given_rest(search, target, answer) if stepwise else _weakest(search, target, answer, either)
    log_p = {x: value for x, value in log_p.items() if x not in kept}
    level = search.fdr.log_threshold(log_p.values(), hypotheses)
    adjusted = dict(zip(log_p, search.fdr.adjusted(log_p.values(), hypotheses).tolist(), strict=True))
    dropped = () if stepwise else tuple(x for x, value in log_p.items() if value > level)
    found = Discoveries(math.exp(level), adjusted, dropped)
    return without_members(answer, set(dropped)), found


def edge_log_p(search: Search, x: int, y: int, *, either: bool) -> float:
    """Return the log p that counts for an edge: of the weakest association of the two, from either side."""
    return of_sides([search.weakest_association(x, y), search.weakest_association(y, x)], either=either)


def of_sides(sides: Iterable[float | None], *, either: bool) -> float:
    """Return the log p that counts for an edge seen from two sides; with `either`, one side is enough."""
    known = [log_p for log_p in sides if log_p is not None]
    if either and len(known) == 2:
        return min(min(known) + math.log(2), 0.0)
    return max(known, default=0.0)


def bound_edges(
    fdr: FalseDiscoveryRate, log_p: Mapping[Pair, float], hypotheses: int
) -> tuple[float, dict[Pair, float], list[Pair]]:
    """Return the p-value up to which edges are kept, the adjusted p-values, and the edges that are not kept."""
    level = fdr.log_threshold(log_p.values(), hypotheses)
    adjusted = dict(zip(log_p, fdr.adjusted(log_p.values(), hypotheses).tolist(), strict=True))
    return math.exp(level), adjusted, [pair for pair, value in log_p.items() if value > level]


def _given_rest(search: Search, target: int, answer: Answer) -> dict[int, float]:
    """Return the log p of each member given the others, where there are rows enough to test it."""
    members = _positions(answer.blanket if answer.blanket is not None else answer.parents_children)
    tests = {x: search.repeat(x, target, [z for z in members if z != x]) for x in members}
    return {x: outcome.log_p for x, outcome in tests.items() if outcome.reliable}


def _weakest(search: Search, target: int, answer: Answer, either: bool) -> dict[int, float]:
    """Return the log p that counts for each member."""
    spouses = {int(x): _positions(via) for x, via in (answer.spouses or {}).items()}

    def of_edge(x: int, y: int) -> float:
        return edge_log_p(search, x, y, either=either)

    def of_spouse(x: int, children: list[int]) -> float:
        separating = search.separating_set(x, target) or ()
        through = []
        for y in children:
            outcome = search.repeat(x, target, (*separating, y))
            dependence = outcome.log_p if outcome.reliable else 0.0
            through.append(max(of_edge(target, y), of_edge(x, y), dependence))
        return min(min(through) + math.log(len(through)), 0.0) if through else of_edge(x, target)

    members = dict.fromkeys(_positions(answer.parents_children) + _positions(answer.blanket))
    return {x: of_spouse(x, spouses[x]) if x in spouses else of_edge(x, target) for x in members}


def without_members(answer: Answer, dropped: Collection[int]) -> Answer:
    """Return an answer without some of its members."""
    if not dropped:
        return answer

    def rest(members: Collection[int | str] | None) -> list[int] | None:
        return None if members is None else [x for x in _positions(members) if x not in dropped]

    spouses = answer.spouses
    return Answer(
        rest(answer.blanket),
        rest(answer.parents_children),
        None if spouses is None else {x: rest(via) or () for x, via in spouses.items() if int(x) not in dropped},
    )


def _positions(members: Collection[int | str] | None) -> list[int]:
    return [int(x) for x in members or ()]
