"""The false discovery rate of an answer.

A member of parents and children is false if some set separates it from the target. Every test that the search
performed and that showed dependence bears on that, so the weakest of these associations counts: its p-value is at least
that of the set that would separate it, if the search asked about that set (Tsamardinos and Brown, *Bounding the false
discovery rate in local Bayesian network learning*, AAAI 2008). A spouse is true if the target and the child are
adjacent, if the spouse and the child are, and if spouse and target are dependent given a separating set and the child.

Algorithms that condition on the whole blanket bound the rate at each step of the search instead; here the p-values of
their members are those given all other members. `deciding` says which p-value counts for each member.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from serape.local.answer import Answer
from serape.questions.deciding import Discoveries, given_rest, of_members, positions
from serape.search import FalseDiscoveryRate, Search
from serape.skeletons.skeleton import Pair


def bound(
    search: Search, target: int, answer: Answer, kept: Collection[int], hypotheses: int, *, either: bool
) -> tuple[Answer, Discoveries]:
    """Return the answer without the members that the rate does not allow; those in `kept` are known.

    The hypotheses are as many as the variables that could have been found.
    """
    if search.fdr is None:
        return answer, Discoveries()
    stepwise = search.stepwise
    weighed = given_rest(search, target, answer) if stepwise else of_members(search, target, answer, either=either)
    log_p = {x: value.log_p for x, value in weighed.items() if x not in kept}
    level = search.fdr.log_threshold(log_p.values(), hypotheses)
    adjusted = dict(zip(log_p, search.fdr.adjusted(log_p.values(), hypotheses).tolist(), strict=True))
    dropped = () if stepwise else tuple(x for x, value in log_p.items() if value > level)
    found = Discoveries(
        math.exp(level),
        adjusted,
        dropped,
        {x: value.test for x, value in weighed.items() if value.test is not None},
        {x: link for x, value in weighed.items() if (link := value.weighs_more(x, target)) is not None},
    )
    return without_members(answer, set(dropped)), found


def bound_edges(
    fdr: FalseDiscoveryRate, log_p: Mapping[Pair, float], hypotheses: int
) -> tuple[float, dict[Pair, float], list[Pair]]:
    """Return the p-value up to which edges are kept, the adjusted p-values, and the edges that are not kept."""
    level = fdr.log_threshold(log_p.values(), hypotheses)
    adjusted = dict(zip(log_p, fdr.adjusted(log_p.values(), hypotheses).tolist(), strict=True))
    return math.exp(level), adjusted, [pair for pair, value in log_p.items() if value > level]


def without_members(answer: Answer, dropped: Collection[int]) -> Answer:
    """Return an answer without some of its members."""
    if not dropped:
        return answer

    def rest(members: Collection[int | str] | None) -> list[int] | None:
        return None if members is None else [x for x in positions(members) if x not in dropped]

    spouses = answer.spouses
    return Answer(
        rest(answer.blanket),
        rest(answer.parents_children),
        None if spouses is None else {x: rest(via) or () for x, via in spouses.items() if int(x) not in dropped},
    )
