"""Spouses: the step from parents and children to the blanket that all divide-and-conquer algorithms share.

Peña, Björkegren and Tegnér 2005, AlgorithmMB, lines 3–8; Aliferis, GLL-MB, steps 2–5.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from serape.local.answer import Answer
from serape.search import Outcome, Search

Neighbours = Callable[[Search, int], Collection[int]]


def blanket_around(
    search: Search, target: int, tpc: Collection[int], neighbours: Neighbours, *, published: bool = False
) -> Answer:
    """Add the spouses to parents and children.

    X is a spouse if it is next to some Y in PC(T), apart from T given some Z, and joined to it again given Z ∪ {Y}: the
    mark of X → Y ← T. Knowledge that rules out T → Y or X → Y, or keeps X and T apart, spares the question. As
    `published` for MMMB in 2003, every Y in PC(T) is tried, whether X is next to it or not, which is not sound.
    """
    between: dict[int, list[int]] = {}  # X to the Y that it is next to
    for y in tpc:
        if not search.may_join(target, y):  # no child, for all that is known
            continue
        for x in search.admissible(target, tuple(neighbours(search, y))):
            if x not in tpc and search.may_join(x, y):
                between.setdefault(x, []).append(y)
    spouses: dict[int | str, list[int | str]] = {}
    for x, middles in between.items():
        separating = search.separating_set(x, target)
        if separating is None:  # every test of the pair was skipped
            continue
        joined: list[tuple[float, tuple[int, ...], Outcome]] = []
        for y in tpc if published else middles:
            given = (*separating, y)
            if y in separating:  # known to be independent
                continue
            outcome = search.ask(x, target, given)
            if outcome is not None and outcome.log_p <= search.log_alpha:
                through = spouses.setdefault(x, [])
                joined.append((outcome.log_p, given, outcome))
                if y in middles:
                    through.append(y)
        if joined:
            _, given, outcome = min(joined, key=lambda j: j[0])
            search.record_decision(x, target, outcome, given)
    return Answer([*tpc, *spouses], list(tpc), spouses)
