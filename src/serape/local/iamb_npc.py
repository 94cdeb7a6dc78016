"""IAMBnPC and Inter-IAMBnPC: the shrink phase by the PC algorithm.

Tsamardinos, Aliferis and Statnikov, *Algorithms for large scale Markov blanket discovery*, FLAIRS 2003.

Find the blanket. The grow phase is IAMB's. The shrink phase learns the skeleton over B ∪ {T} by PC and keeps T's
neighbours and every X with a collider X → Y ← T: it conditions on small sets where IAMB conditions on all of B.

Inter-IAMBnPC has two forms. As published, it ends when a round (an addition and the shrinking that follows) changes
nothing; `published=True` runs it. This is not sound: on

    B→A, B→F, D→F, E→A with the columns in the order E, F, A, D, B: for the target E it returns {A, F}, not {A, B}.

A and then F enter (given A, F is associated with E through B). PC over {E, A, F} finds the collider E → A ← F and keeps
F. Then D, tied with B, enters and is removed at once: the round changes nothing, and B never enters. By default it is
repaired: if the newcomer is removed at once, the next strongest candidate enters in its place, and the search ends when
no candidate is left.

Neither IAMBnPC nor the repaired Inter-IAMBnPC is proven sound, because PC runs over some of the variables only. The
oracle finds no graph on which one of them is wrong (`make oracle`; docs/algorithms.md has the numbers).
"""

from __future__ import annotations

from collections.abc import Mapping

from serape.local.guard import CycleGuard
from serape.local.iamb import grow
from serape.search import Members, Search
from serape.skeletons.pc import pc_skeleton


def iamb_npc(search: Search, target: int) -> Members:
    """Find the Markov blanket of the target by IAMBnPC."""
    blanket = search.blanket(target)
    grow(search, target, blanket)
    order = tuple(blanket)
    shrink_by_pc(search, target, blanket, {x: order[:k] for k, x in enumerate(order)})
    return blanket


def inter_iamb_npc(search: Search, target: int, published: bool = False) -> Members:
    """Find the Markov blanket of the target by Inter-IAMBnPC: the shrink phase runs after every addition."""
    blanket = search.blanket(target)
    guard = CycleGuard(search, "inter-iamb-npc")
    guard.repeats(blanket)  # the first state
    entered: dict[int, tuple[int, ...]] = {}
    refused: set[int] = set()  # removed at once when they entered the present blanket
    settled = False
    while True:
        before = frozenset(blanket)
        candidates = search.candidates(target, *blanket, *refused)
        if (x := search.strongest(target, candidates, tuple(blanket))) is not None:
            entered[x] = tuple(blanket)
            blanket.add(x)
        if x is not None or not settled:  # PC over the same variables gives the same answer
            settled = not shrink_by_pc(search, target, blanket, entered)
        if frozenset(blanket) != before:
            refused.clear()
            if guard.repeats(blanket):
                break
        elif x is None or published:
            break
        else:
            refused.add(x)
    return blanket


def shrink_by_pc(search: Search, target: int, blanket: Members, entered: Mapping[int, tuple[int, ...]]) -> bool:
    """Keep the neighbours of T in the skeleton of PC over B ∪ {T}, and the other parents of its children.

    `entered` are the members given which each member entered. Returns whether a member was removed.
    """
    removed = False
    skeleton = pc_skeleton(search, [target, *blanket])
    neighbours = skeleton.neighbours[target]
    for x in blanket:
        spouse = any(skeleton.is_collider(x, y, target) for y in neighbours)
        if x not in neighbours and not spouse:
            blanket.remove(x)
            search.record_separation(x, target)
            removed = True
        elif x not in neighbours and x in entered:  # PC separates it, the collider keeps it
            search.record_repeated(x, target, entered[x])
    return removed
