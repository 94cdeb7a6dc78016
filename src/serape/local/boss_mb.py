"""BOSS-MB: the Markov blanket, read from the network of the highest score.

BOSS finds the network of the target and the other variables (`serape.structure.boss`). The neighbours of the target
there, and the other parents of its children, are candidates for its blanket. The score decides which arcs there are;
the test confirms them: X stays if the arc between X and the target is dependent given the other parents of the arc's
head, and a spouse if, besides, the arc between it and the child is. So a bound on the false discovery rate holds for
these answers as for all others, and what the score mistakes for a dependence meets a second judge that makes other
assumptions. Each test conditions on the parents of one variable, not on the whole blanket, so the test sees weak members
beside strong ones.

Finds the blanket, or the parents and children. Sound, as far as the score is: with a perfect score the network is that
of the true graph, or one that the data cannot tell from it, which has the same blankets.

With many columns, the network is that of a part of them: the variables nearest to the target, and those nearest to
these (`serape.structure.around`).

See docs/papers.md: Andrews et al. 2023.
"""

from __future__ import annotations

from collections.abc import Mapping

from serape.local.answer import Answer
from serape.search import Members, Search

Parents = Mapping[int, frozenset[int]]


def boss_mb(search: Search, target: int) -> Answer:
    """Find the Markov blanket of the target by BOSS-MB."""
    blanket = search.blanket(target)
    parents = search.parents_by_score(target)
    near = _confirmed_neighbours(search, target, parents)
    spouses = {x: via for x in _spouses(target, parents) if (via := _confirmed_children(search, x, target, near, parents))}
    for x in (*near, *spouses):
        blanket.add(x)
    seen = set(blanket)
    import os
    if os.environ.get("GROW"):
        while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket))) is not None:
            blanket.add(x)
    _test_others(search, target, blanket)
    return Answer(tuple(blanket), [x for x in blanket if x not in spouses], spouses)


def boss_pc(search: Search, target: int) -> list[int]:
    """Find the parents and children of the target by BOSS-MB."""
    found = search.blanket(target)
    for x in _confirmed_neighbours(search, target, search.parents_by_score(target)):
        found.add(x)
    _test_others(search, target, found)
    return list(found)


def _test_others(search: Search, target: int, found: Members) -> None:
    """Test what is not found given what is: this decides nothing, and is asked when the evidence is read."""
    if search.tests_others or not found:
        search.screen(target, search.candidates(target, *found), tuple(found))


def _confirmed_neighbours(search: Search, target: int, parents: Parents) -> list[int]:
    return [
        x
        for x in sorted({*parents[target], *(y for y in parents if target in parents[y])})
        if _is_confirmed(search, x, target, parents)
    ]


def _spouses(target: int, parents: Parents) -> list[int]:
    """Return the other parents of the target's children that are no neighbours of it."""
    children = [y for y in parents if target in parents[y]]
    others = {x for y in children for x in parents[y]} - {target, *children, *parents[target]}
    return sorted(others)


def _confirmed_children(search: Search, x: int, target: int, near: list[int], parents: Parents) -> list[int]:
    """Return the children of the target of which x is confirmed to be a parent, and a spouse given the child."""
    return [
        y
        for y in near
        if {x, target} <= parents[y]
        and _is_confirmed(search, x, y, parents)
        and not search.independent(x, target, (*_given(parents[y] - {x, target}), y))
    ]


def _is_confirmed(search: Search, x: int, y: int, parents: Parents) -> bool:
    """Return whether an arc is dependent given the other parents of its head; what cannot be tested counts as it is."""
    head, tail = (y, x) if x in parents[y] else (x, y)
    return not search.independent(x, y, _given(parents[head] - {tail}))


def _given(parents: frozenset[int]) -> tuple[int, ...]:
    return tuple(sorted(parents))
