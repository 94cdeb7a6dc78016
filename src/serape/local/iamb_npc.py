"""IAMBnPC and Inter-IAMBnPC: the shrink phase by the PC algorithm.

Tsamardinos, Aliferis and Statnikov, *Algorithms for large scale Markov blanket discovery*, FLAIRS 2003.

Find the blanket. The grow phase is IAMB's. The shrink phase learns the skeleton over B ∪ {T} by PC and keeps T's
neighbours and every X with a collider X → Y ← T: it conditions on small sets where IAMB conditions on all of B.

Inter-IAMBnPC has two forms. As published, it ends when an addition and the shrinking that follows change nothing, or
lead back to an earlier set; `published=True` runs it. This is not sound: on

    B→A, B→F, D→F, E→A with the columns in the order E, F, A, D, B: for the target E it returns {A, F}, not {A, B}.

A and then F enter (given A, F is associated with E through B). PC over {E, A, F} finds the collider E → A ← F and keeps
F. Then D, tied with B, enters and is removed at once, and B never enters. By default it is repaired: an addition that
leads back to a set seen before is undone, the next strongest candidate enters in its place, and the search ends when no
dependent candidate is left. To take the next strongest only if the newcomer itself is removed at once is not enough:
additions and removals can lead back in several steps, even with perfect tests.

Neither IAMBnPC nor the repaired Inter-IAMBnPC is proven sound, because PC runs over some of the variables only. The
oracle finds no graph on which one of them is wrong (`make oracle`; docs/algorithms.md has the numbers).

PC tests at a significance level. With a false discovery rate both end with IAMB's shrink phase, which bounds it.

See docs/papers.md: Peña et al. 2005, Section 3.1; Aliferis 2008, IAMB.
"""

from __future__ import annotations

from collections.abc import Mapping

from serape.local.iamb import grow
from serape.local.shrink import shrink
from serape.search import Members, Search
from serape.skeletons.pc import pc_skeleton


def iamb_npc(search: Search, target: int) -> Members:
    """Find the Markov blanket of the target by IAMBnPC."""
    blanket = search.blanket(target)
    known = len(blanket)
    grow(search, target, blanket)
    order = tuple(blanket)
    shrink_by_pc(search, target, blanket, {x: order[:k] for k, x in enumerate(order) if k >= known})
    if search.stepwise:
        shrink(search, target, blanket)
    return blanket


def inter_iamb_npc(search: Search, target: int, published: bool = False) -> Members:
    """Find the Markov blanket of the target by Inter-IAMBnPC: the shrink phase runs after every addition."""
    blanket = search.blanket(target)
    entered: dict[int, tuple[int, ...]] = {}
    seen = {frozenset(blanket)}
    refused: list[int] = []  # those whose addition to the present blanket leads back
    while (x := search.strongest(target, search.candidates(target, *blanket, *refused), tuple(blanket))) is not None:
        before = entered[x] = tuple(blanket)
        blanket.add(x)
        while shrink_by_pc(search, target, blanket, entered):
            pass
        if frozenset(blanket) not in seen:
            seen.add(frozenset(blanket))
            refused.clear()
        elif published:
            break
        else:
            restore(search, target, blanket, before, entered)
            refused.append(x)
    if search.stepwise:
        shrink(search, target, blanket)
    return blanket


def restore(
    search: Search, target: int, blanket: Members, before: tuple[int, ...], entered: Mapping[int, tuple[int, ...]]
) -> None:
    """Make the blanket again what it was before an addition."""
    for x in set(blanket) - set(before):
        blanket.remove(x)
    for x in before:
        if x not in blanket:
            blanket.add(x)
            if x in entered:
                search.record_repeated(x, target, entered[x])


def shrink_by_pc(search: Search, target: int, blanket: Members, entered: Mapping[int, tuple[int, ...]]) -> bool:
    """Keep the neighbours of T in the skeleton of PC over B ∪ {T}, and the other parents of its children.

    `entered` are the members given which each member entered; known members have not entered, and stay. Returns whether
    a member was removed.
    """
    removed = False
    skeleton = pc_skeleton(search, [target, *blanket])
    neighbours = skeleton.neighbours[target]
    for x in (x for x in blanket if x in entered):
        spouse = any(skeleton.is_collider(x, y, target) for y in neighbours)
        if x not in neighbours and not spouse:
            blanket.remove(x)
            search.record_separation(x, target)
            removed = True
        elif x not in neighbours:  # PC separates it, the collider keeps it
            search.record_repeated(x, target, entered[x])
    return removed
