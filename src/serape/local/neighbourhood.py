"""The tentative parents and children of a target, and what has been tried of them.

Divide-and-conquer algorithms ask again and again whether some subset of the members separates an X from the target.
Subsets that were tried for that X before are not tried again: only those with a member that has entered since. The
answers are the same.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.base import MinAssociationTable, ScreenResult, SubsetResult, as_positions
from serape.search import Positions, Search


class Neighbourhood:
    """TPC, the tentative parents and children of a target, in the order of their entry."""

    def __init__(self, search: Search, target: int) -> None:
        self.search = search
        self.target = target
        self.members = search.members(target)
        self._entry: dict[int, int] = {}  # when a member entered
        self._exhausted: dict[
            int, int
        ] = {}  # for an x, how many had entered when all subsets of the members were tried
        self._entries = 0
        self._marginal = -1  # 0 once those outside have been tried given nothing

    def associated(self) -> ScreenResult:
        """Return the associations of the variables that depend on the target given nothing, in the table's order."""
        self._marginal = 0
        return self.search.partition(self.target, self.search.candidates(self.target))[0]

    def dependents(self) -> Positions:
        """Return the variables that depend on the target given nothing, most strongly associated first."""
        self._marginal = 0
        return as_positions(self.search.dependents(self.target, self.search.candidates(self.target)))

    def mark_exhausted(self, x: int) -> None:
        """Remember that all subsets of the members have been tried on x, and none separates it."""
        self._exhausted[x] = self._entries

    def include(self, x: int) -> None:
        """Let a variable in."""
        self.members.add(x)
        self._entry[x] = self._entries
        self._entries += 1

    def first_survivor(self, xs: Sequence[int] | Positions) -> int | None:
        """Go through the x in their order and return the place of the first that no subset of the members separates."""
        if len(xs) and self._marginal == 0 and len(self.members) == 0:  # there is nothing to try
            last = 0
        else:
            pool = list(self.members)
            found = self.search.separate(xs, self.target, pool, n_exhausted=self._marginal, until_survivor=True)
            if not found.last_survives:
                return None
            last = len(found) - 1
        self.mark_exhausted(int(xs[last]))
        return last

    def eliminate(self, examined: Sequence[int], *, at_once: bool = False) -> None:
        """Drop each of the examined members that a subset of the others separates from the target.

        They are examined one after another, and who is dropped is not conditioned on by those after it; with `at_once`
        all are examined first.
        """
        examined = [
            x for x in examined if self._exhausted.get(x, -1) < self._entries - (self._entry[x] == self._entries - 1)
        ]
        if not examined:
            return
        pool = list(self.members)
        entered = [self._entry[z] for z in pool]  # ascending
        mark_exhausted = [
            bisect_left(entered, self._exhausted[x]) if x in self._exhausted else self._marginal for x in examined
        ]
        found = self.search.separate(examined, self.target, pool, n_exhausted=mark_exhausted, shrinking=not at_once)
        self._exhausted.update(dict.fromkeys(examined, self._entries))
        for x in found.separated_variables:
            self.members.remove(x)


class MinAssociation:
    """For each variable outside, its weakest association with the target over the subsets of the members.

    It is remembered: after a variable has entered, only subsets with it are tried; where the remembered subset has lost
    a member, all are tried again. Whatever a subset separates is dropped for good.
    """

    def __init__(self, tpc: Neighbourhood) -> None:
        found = tpc.associated()
        self._tpc = tpc
        self._xs = found.xs
        nowhere = np.zeros(len(found), np.intp)
        self._known = MinAssociationTable(
            found.statistic.copy(), found.dof.copy(), found.log_p.copy(), nowhere, nowhere.copy()
        )
        self._batches: list[SubsetResult | ScreenResult] = [found]
        self._members: list[int] = []  # those that the associations are over

    def take_strongest(self) -> int | None:
        """Return the variable whose weakest association is the strongest, and forget it; None if there is none left."""
        self._update()
        if len(self._xs) == 0:
            return None
        index = self._tpc.search.one_of(_core.lowest(self._known.log_p, self._known.statistic))
        x = int(self._xs[index])
        candidates = np.arange(len(self._xs) - 1)
        candidates[index:] += 1
        self._keep(candidates)
        return x

    def _update(self) -> None:
        members, before = list(self._tpc.members), self._members
        if members == before or len(self._xs) == 0:
            return
        self._members = members
        if members[: len(before)] == before:  # nobody has left
            self._keep(self._try(members, len(before)))
            return
        old = set(before) & set(members)
        pool = [z for z in members if z in old] + [z for z in members if z not in old]
        lost = self._lost(old)
        self._known.log_p[lost], self._known.dof[lost] = -math.inf, math.nan
        self._keep(self._try(pool, np.where(lost, -1, len(old)).tolist()))

    def _try(self, pool: list[int], mark_exhausted: int | list[int]) -> NDArray[np.intp]:
        """Try subsets of the pool, note where an association is weaker, return who survives."""
        found = self._tpc.search.separate(self._xs, self._tpc.target, pool, n_exhausted=mark_exhausted)
        self._batches.append(found)
        return found.weaken(self._known, len(self._batches) - 1)

    def _lost(self, members: set[int]) -> NDArray[np.bool_]:
        """Return whose weakest association is given a subset that has lost a member."""
        where = zip(self._known.batch.tolist(), self._known.entry.tolist(), strict=True)
        return np.array([not members.issuperset(self._batches[b].given_of(k)) for b, k in where], bool)

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self._xs = self._xs[kept]
        self._known = self._known.at(kept)
