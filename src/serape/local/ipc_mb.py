"""IPC-MB, iterative parents and children based Markov blanket.

Fu and Desmarais, *Fast Markov blanket discovery algorithm via local learning within single pass*, Canadian AI 2008; as
restated by Zeng, He, Xiang and Mao 2011.

Finds the blanket, or parents and children. Sound. Starts from all variables and takes away, for growing sizes of the
conditioning set, what a set of that size separates from the target. A variable whose unconditional test is unreliable
is left out at once: none of its tests could be reliable, and it would stay for that reason alone.
"""

from __future__ import annotations

from serape.local.answer import Answer
from serape.local.spouses import blanket_around
from serape.search import Search, once


@once
def candidates(search: Search, target: int) -> tuple[int, ...]:
    """RecognizePC: the parents and children of the target, and some of its other descendants."""
    adjacent = search.members(target)
    for x in search.dependents(target, search.others(target)):  # cut size 0
        adjacent.add(x)
    cut_size = 1
    while cut_size < len(adjacent):
        found = search.separate(list(adjacent), target, list(adjacent), range(cut_size, cut_size + 1))
        for x in found.xs[found.separated]:  # at the end of the pass
            adjacent.remove(int(x))
        cut_size += 1
    return tuple(adjacent)


def ipc_pc(search: Search, target: int) -> tuple[int, ...]:
    """Find the parents and children of the target: the candidates among whose own candidates it is."""
    return tuple(x for x in candidates(search, target) if target in candidates(search, x))


def ipc_mb(search: Search, target: int) -> Answer:
    """Find the Markov blanket of the target by IPC-MB."""
    return blanket_around(search, target, ipc_pc(search, target), ipc_pc)
