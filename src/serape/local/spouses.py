"""Spouses: the step from parents and children to the blanket that all divide-and-conquer algorithms share.

Peña, Björkegren and Tegnér 2005, AlgorithmMB, lines 3–8; Aliferis, GLL-MB, steps 2–5.

See docs/papers.md: Peña et al. 2005, Table 3; Rodrigues de Morais and Aussem 2010, Section 6; Zeng et al. 2011, Figure
2; Aliferis 2008, GLL-MB.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from serape.local.answer import Answer
from serape.search import Outcome, Search

Neighbours = Callable[[Search, int], Collection[int]]


def possible_children(search: Search, target: int, tpc: Collection[int]) -> list[int]:
    """Return the neighbours that knowledge allows to be children of the target."""
    return [y for y in tpc if search.may_join(target, y)]


def prepare_around(
    search: Search, target: int, tpc: Collection[int], step: Callable[..., Collection[int]], *rest: Any, symmetry: bool
) -> None:
    """Prepare the steps for `blanket_around`: those about the neighbours and, with symmetry, about theirs."""
    children = possible_children(search, target, tpc)
    if symmetry:  # those about the neighbours are known
        search.prepare(step, (x for y in children for x in step(search, y, *rest)), *rest)
    else:
        search.prepare(step, children, *rest)


def blanket_around(
    search: Search, target: int, tpc: Collection[int], neighbours: Neighbours, *, published: bool = False
) -> Answer:
    """Add the spouses to parents and children.

    X is a spouse if it is adjacent to some Y in PC(T), independent of T given some Z, and dependent given Z ∪ {Y}: the
    pattern of X → Y ← T. It is not tested if knowledge forbids T → Y or X → Y. As `published` for MMMB in 2003, every Y
    in PC(T) is tested, whether X is adjacent to it or not, which is not sound.

    An X that knowledge forbids to be adjacent to T is no parent or child, but it can be a spouse. If no test has
    separated the two, they have depended on each other in all; then it is a spouse if they do so given Y alone.
    """
    near = search.possible_neighbours(target, list(tpc))
    children: dict[int, list[int]] = {}  # by X, the Y that it is adjacent to
    for y in possible_children(search, target, near):
        for x in search.admissible(target, tuple(neighbours(search, y))):
            if x not in near and search.may_join(x, y):
                children.setdefault(x, []).append(y)
    spouses: dict[int | str, list[int | str]] = {}
    for x, adjacent in children.items():
        separating = search.separating_set(x, target)
        if separating is None and x not in tpc:  # every test of the pair was skipped
            continue
        separating = separating or ()
        dependent: list[tuple[float, tuple[int, ...], Outcome]] = []
        for y in near if published else adjacent:
            given = (*separating, y)
            if y in separating:  # known to be independent
                continue
            outcome = search.ask(x, target, given)
            if outcome is not None and outcome.log_p <= search.log_alpha:
                through = spouses.setdefault(x, [])
                dependent.append((outcome.log_p, given, outcome))
                if y in adjacent:
                    through.append(y)
        if dependent:
            _, given, outcome = min(dependent, key=lambda test: test[0])
            search.record_decision(x, target, outcome, given)
    return Answer([*near, *spouses], near, spouses)
