"""The PC algorithm on a given set of variables: skeleton and separating sets.

Spirtes, Glymour and Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000; in the order-independent form of
Colombo and Maathuis, *Order-independent constraint-based causal structure learning*, JMLR 2014 (PC-stable): what a pair
is tested with depends on the neighbours at the start of each round only.

Sound when the set is all variables. On a part of them, variables left out can keep two neighbours' neighbours joined
that a set inside would separate; see `iamb_npc` for what that comes to.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from serape.search import Search


@dataclass(frozen=True)
class Skeleton:
    """Who is joined to whom, and what separates those who are not."""

    neighbours: dict[int, frozenset[int]]
    separating_sets: dict[frozenset[int], tuple[int, ...]]

    def is_collider(self, x: int, middle: int, y: int) -> bool:
        """Return whether X – middle – Y, X and Y not joined, must be X → middle ← Y."""
        near = self.neighbours
        if middle not in near[x] or middle not in near[y] or y in near[x]:
            return False
        return middle not in self.separating_sets[frozenset((x, y))]


def pc_skeleton(search: Search, variables: Collection[int]) -> Skeleton:
    """Find the skeleton over the variables: start with all joined, part those that some set of neighbours separates."""
    variables = sorted(variables)
    near = {x: set(variables) - {x} for x in variables}
    separating: dict[frozenset[int], tuple[int, ...]] = {}
    size = 0
    while any(len(others) > size for others in near.values()):
        at_start = {x: sorted(others) for x, others in near.items()}
        for x in variables:
            for y in at_start[x]:
                if y not in near[x] or len(at_start[x]) - 1 < size:
                    continue
                pool = [z for z in at_start[x] if z != y]
                found = search.separate([y], x, pool, range(size, size + 1))[0]
                if found.separated:
                    near[x].discard(y)
                    near[y].discard(x)
                    separating[frozenset((x, y))] = found.given
        size += 1
    return Skeleton({x: frozenset(others) for x, others in near.items()}, separating)
