"""BOSS-MB: the Markov blanket, read from the network of the highest score.

BOSS finds the network of the target and the other variables (`serape.structure.boss`). The neighbours of the target
there, and the other parents of its children, are candidates for its blanket. The score decides which arcs there are;
the test confirms them: X stays if the arc between X and the target is dependent given the other parents of the arc's
head, and a spouse if, besides, the arc between it and the child is, and the two are dependent given the child and its
other parents. So a bound on the false discovery rate holds for these answers as for all others, and what the score
mistakes for a dependence meets a second judge that makes other assumptions. Each test conditions on the parents of one
variable, not on the whole blanket, so it sees weak members beside strong ones; where rows are too few for it, the test
given nothing, or given the child alone, decides.

What the score cannot see, the test may: a variable outside joins the blanket, as a neighbour, if it depends on the
target given the blanket beyond doubt, that is, with p up to alpha divided by the number of candidates; the strongest
first, as in IAMB. A note says how many others depend on it with p up to alpha.

Finds the blanket, or the parents and children. Sound, as far as the score is: with a perfect score the network is that
of the true graph, or one that the data cannot tell from it, which has the same blankets.

With many columns, the network is that of a part of them: the variables nearest to the target, and those nearest to
these (`serape.structure.around`).

See docs/papers.md: Andrews et al. 2023.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from serape.local.answer import Answer
from serape.search import Members, Search

Parents = Mapping[int, frozenset[int]]


def boss_mb(search: Search, target: int) -> Answer:
    """Find the Markov blanket of the target by BOSS-MB."""
    blanket = search.blanket(target)
    parents = search.parents_by_score(target)
    possible = set(search.candidates(target).tolist())
    near = [x for x in _neighbours(target, parents) if x in possible and _is_confirmed(search, x, target, parents)]
    spouses: dict[int | str, list[int | str]] = {}
    tests: dict[tuple[int, int], tuple[int, ...]] = {}
    for x in _spouses(target, parents):
        if x not in possible:
            continue
        children = [y for y in near if {x, target} <= parents[y] and _is_confirmed(search, x, y, parents)]
        if not children:
            continue
        _separate(search, x, target, parents)
        for y in children:
            given = _dependent_given(search, x, target, _given(parents[y] - {x, target}), (y,))
            if given is not None:
                spouses.setdefault(x, []).append(y)
                tests[x, y] = given
    for member in (*near, *map(int, spouses)):
        blanket.add(member)
    _grow(search, target, blanket)
    return Answer(tuple(blanket), [x for x in blanket if x not in spouses], spouses, tests)


def boss_pc(search: Search, target: int) -> list[int]:
    """Find the parents and children of the target by BOSS-MB: those of the blanket that are no spouses."""
    return [int(x) for x in boss_mb(search, target).parents_children or ()]


def _separate(search: Search, x: int, target: int, parents: Parents) -> None:
    """Separate a spouse from the target by the parents of one of the two, which a network always allows."""
    if not any(search.independent(x, target, _given(parents[y])) for y in (target, x)):
        search.notes.append(
            f"the search ended because the network of the highest score has no further arc; "
            f"{search.test.variables[x]!r} depends on the target given the parents of either, too"
        )


def _grow(search: Search, target: int, blanket: Members) -> None:
    """Add the candidate most strongly associated with T given B, as long as one is dependent beyond doubt."""
    least = search.log_alpha - math.log(max(len(search.candidates(target)), 1))
    while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket), up_to=least)) is not None:
        blanket.add(x)


def _neighbours(target: int, parents: Parents) -> list[int]:
    return sorted({*parents[target], *(y for y in parents if target in parents[y])})


def _spouses(target: int, parents: Parents) -> list[int]:
    """Return the other parents of the target's children that are no neighbours of it."""
    children = [y for y in parents if target in parents[y]]
    others = {x for y in children for x in parents[y]} - {target, *children, *parents[target]}
    return sorted(others)


def _is_confirmed(search: Search, x: int, y: int, parents: Parents) -> bool:
    """Return whether an arc is dependent given the other parents of its head."""
    head, tail = (y, x) if x in parents[y] else (x, y)
    return _dependent_given(search, x, y, _given(parents[head] - {tail})) is not None


def _dependent_given(
    search: Search, x: int, y: int, others: tuple[int, ...], always: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """Return given which set two variables are dependent: both together or, where rows are too few, the second."""
    for given in dict.fromkeys(((*others, *always), always)):
        if search.clearly_dependent(x, y, given):  # which a part of many rows shows
            return given
        outcome = search.ask(x, y, given)
        if outcome is not None:
            return given if outcome.log_p <= search.log_alpha else None
    return None


def _given(parents: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(parents))
