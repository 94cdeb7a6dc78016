"""IPC-MB, iterative parents and children based Markov blanket.

Fu and Desmarais, *Fast Markov blanket discovery algorithm via local learning within single pass*, Canadian AI 2008; as
restated by Zeng, He, Xiang and Mao 2011.

Finds the blanket, or parents and children. Sound. Starts from all variables and removes, for growing sizes of the
conditioning set, those that a set of that size separates from the target. A variable whose unconditional test is
unreliable is left out at once: all its tests would be unreliable, and it would stay for that reason alone.

See docs/papers.md: Zeng et al. 2011, IPC-MB.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from serape.local.answer import Answer
from serape.local.spouses import blanket_around, prepare_around
from serape.search import Search, memoised

TestOrder = Literal["strength", "table"]


@memoised
def candidates(search: Search, target: int, order: TestOrder) -> tuple[int, ...]:
    """RecognizePC: the parents and children of the target, and some of its other descendants."""
    adjacent = search.members(target)
    dependents = search.dependents(target, search.candidates(target))  # cut size 0
    for x in dependents if order == "strength" else sorted(dependents):
        adjacent.add(x)
    cut_size = 1
    while cut_size < len(adjacent):
        found = search.separate(list(adjacent), target, list(adjacent), range(cut_size, cut_size + 1))
        for x in found.xs[found.separated]:  # at the end of the pass
            adjacent.remove(int(x))
        cut_size += 1
    return tuple(adjacent)


def ipc_pc(search: Search, target: int, order: TestOrder = "strength") -> tuple[int, ...]:
    """Find the parents and children of the target: the candidates that have the target among their own candidates.

    Conditioning sets start with the most strongly associated variables, or follow the order of the `"table"`, which
    takes more tests. The order does not change which variables are separated; it may change their separating sets, and
    so the spouses.
    """
    found = candidates(search, target, order)
    search.prepare(candidates, found, order)
    return tuple(x for x in found if target in candidates(search, x, order))


def ipc_mb(search: Search, target: int, order: TestOrder = "strength") -> Answer:
    """Find the Markov blanket of the target by IPC-MB."""

    def neighbours(search: Search, y: int) -> Collection[int]:
        return ipc_pc(search, y, order)

    found = neighbours(search, target)
    prepare_around(search, target, found, candidates, order, symmetry=True)
    return blanket_around(search, target, found, neighbours)
