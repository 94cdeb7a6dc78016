"""PCMB, parents and children based Markov boundary.

Peña, Björkegren and Tegnér, *Scalable, efficient and correct learning of Markov boundaries under the faithfulness
assumption*, ECSQARU 2005, Table 3. AlgorithmPCD and AlgorithmPC are also known as GetPCD and GetPC.

Finds the blanket, or parents and children. Sound.
"""

from __future__ import annotations

from serape.local.answer import Answer
from serape.local.neighbourhood import Neighbourhood
from serape.local.spouses import blanket_around
from serape.search import Search, memoised


@memoised
def algorithm_pcd(search: Search, target: int) -> tuple[int, ...]:
    """AlgorithmPCD: the parents and children of the target, and some of its other descendants."""
    pcd = Neighbourhood(search, target)
    can_pcd = pcd.outside()
    while (y := can_pcd.take_strongest(pcd.members)) is not None:  # candidates that are separated are dropped
        pcd.mark_exhausted(y)
        pcd.include(y)
        pcd.eliminate(list(pcd.members), at_once=True)
    return tuple(pcd.members)


def algorithm_pc(search: Search, target: int) -> tuple[int, ...]:
    """AlgorithmPC: the members of PCD(T) whose own PCD contains the target."""
    return tuple(x for x in algorithm_pcd(search, target) if target in algorithm_pcd(search, x))


def algorithm_mb(search: Search, target: int) -> Answer:
    """AlgorithmMB: parents and children, and the spouses found among their neighbours."""
    return blanket_around(search, target, algorithm_pc(search, target), algorithm_pc)
