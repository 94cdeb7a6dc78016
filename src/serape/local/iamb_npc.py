"""IAMBnPC and Inter-IAMBnPC: the shrink phase by the PC algorithm.

Tsamardinos, Aliferis and Statnikov, *Algorithms for large scale Markov blanket discovery*, FLAIRS 2003.

Find the blanket. The grow phase is IAMB's. The shrink phase learns the skeleton over B ∪ {T} by PC and keeps T's
neighbours and every X with a collider X → Y ← T: it conditions on small sets where IAMB conditions on all of B.

Neither is proven sound, because PC runs over some of the variables only. `serape.check_algorithm` finds no graph on
which IAMBnPC is wrong (all DAGs of up to 4 nodes, and 6,000 random ones of 5 to 10, seed 1). For Inter-IAMBnPC it finds
this one:

    B→A, B→F, D→F, E→A with the columns in the order E, F, A, D, B: for the target E it returns {A, F}, not {A, B}.

A and then F enter (given A, F is associated with E through B). PC over {E, A, F} finds the collider E → A ← F and keeps
F. Then D, tied with B, enters and is removed at once: the round changes nothing, and B never enters.
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


def inter_iamb_npc(search: Search, target: int) -> Members:
    """Find the Markov blanket of the target by Inter-IAMBnPC: the shrink phase runs after every addition."""
    blanket = search.blanket(target)
    guard = CycleGuard(search, "inter-iamb-npc")
    entered: dict[int, tuple[int, ...]] = {}
    changed, settled = True, False
    while changed and not guard.repeats(blanket):
        before = frozenset(blanket)
        if (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket))) is not None:
            entered[x] = tuple(blanket)
            blanket.add(x)
        if x is not None or not settled:  # PC over the same variables gives the same answer
            settled = not shrink_by_pc(search, target, blanket, entered)
        changed = frozenset(blanket) != before
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
