"""The tentative parents and children of a target, and what has been tried of them.

Divide-and-conquer algorithms ask again and again whether some subset of the members separates an X from the target.
Subsets that were tried for that X before are not tried again: only those with a member that has entered since. The
answers are the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape.independence.base import Floats, Screen
from serape.search import Positions, Search


class Neighbourhood:
    """TPC, the tentative parents and children of a target, in the order of their entry."""

    def __init__(self, search: Search, target: int) -> None:
        self.search = search
        self.target = target
        self.members = search.members(target)
        self._entry: dict[int, int] = {}  # when a member entered
        self._tried: dict[int, int] = {}  # for an x, how many had entered when all subsets of the members were tried
        self._entries = 0
        self._marginal = -1  # 0 once those outside have been tried given nothing

    def associated(self) -> Screen:
        """Return the associations of the variables that depend on the target given nothing, in the table's order."""
        self._marginal = 0
        return self.search.divide(self.target, self.search.others(self.target))[0]

    def dependents(self) -> Positions:
        """Return the variables that depend on the target given nothing, most strongly associated first."""
        found = self.associated()
        return found.xs[self.search.ranking(found)]

    def tried(self, x: int) -> None:
        """Remember that all subsets of the members have been tried on x, and none separates it."""
        self._tried[x] = self._entries

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
            found = self.search.separate(xs, self.target, pool, tried=self._marginal, until_survivor=True)
            if not found.last_survives:
                return None
            last = len(found) - 1
        self.tried(int(xs[last]))
        return last

    def eliminate(self, examined: Sequence[int], *, at_once: bool = False) -> None:
        """Drop each of the examined members that a subset of the others separates from the target.

        They are examined one after another, and who is dropped is not conditioned on by those after it; with `at_once`
        all are examined first.
        """
        examined = [
            x for x in examined if self._tried.get(x, -1) < self._entries - (self._entry[x] == self._entries - 1)
        ]
        if not examined:
            return
        pool = list(self.members)
        entered = [self._entry[z] for z in pool]  # ascending
        tried = [bisect_left(entered, self._tried[x]) if x in self._tried else self._marginal for x in examined]
        found = self.search.separate(examined, self.target, pool, tried=tried, shrinking=not at_once)
        self._tried.update(dict.fromkeys(examined, self._entries))
        for x in found.put_apart:
            self.members.remove(x)


class Weakest:
    """For each variable outside, its weakest association with the target over the subsets of the members.

    It is remembered: after a variable has entered, only subsets with it are tried; where the remembered subset has lost
    a member, all are tried again. Whatever a subset separates is dropped for good.
    """

    def __init__(self, near: Neighbourhood) -> None:
        found = near.associated()
        self._near = near
        self._xs = found.xs
        self._numbers = np.stack([found.statistic, found.dof, found.log_p])
        self._which = np.zeros(len(found), np.intp)  # places in _sets
        self._sets: list[frozenset[int]] = [frozenset()]
        self._members: list[int] = []  # those that the associations are over

    def take_strongest(self) -> int | None:
        """Return the variable whose weakest association is the strongest, and forget it; None if there is none left."""
        self._update()
        if len(self._xs) == 0:
            return None
        statistic, _, log_p = self._numbers
        lowest = log_p == log_p.min()
        ties = np.flatnonzero(lowest & (statistic == statistic[lowest].max()))
        place = self._near.search.one_of(ties.tolist())
        x = int(self._xs[place])
        self._keep(np.arange(len(self._xs)) != place)
        return x

    def _update(self) -> None:
        near = self._near
        members = list(near.members)
        if members == self._members or len(self._xs) == 0:
            return
        old = set(self._members) & set(members)
        pool = [z for z in members if z in old] + [z for z in members if z not in old]
        lost = self._lost(old)
        apart = np.zeros(len(self._xs), bool)
        for places, tried in ((np.flatnonzero(~lost), len(old)), (np.flatnonzero(lost), -1)):
            if len(places) == 0:
                continue
            found = near.search.separate(self._xs[places], near.target, pool, tried=tried)
            apart[places] = found.separated
            fresh = np.stack([found.statistic, found.dof, found.log_p])
            better = found.reliable & (_weaker(fresh, self._numbers[:, places]) | (tried < 0))
            self._numbers[:, places[better]] = fresh[:, better]
            self._which[places[better]] = len(self._sets) + found.which[better]
            self._sets += [frozenset(given) for given in found.sets]
        self._keep(~apart)
        self._members = members

    def _lost(self, members: set[int]) -> NDArray[np.bool_]:
        """Return whose remembered subset has lost a member, and forget the subsets that are nobody's."""
        used, self._which = np.unique(self._which, return_inverse=True)
        self._sets = [self._sets[k] for k in used.tolist()]
        return np.array([not given <= members for given in self._sets], bool)[self._which]

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        self._xs, self._numbers, self._which = self._xs[kept], self._numbers[:, kept], self._which[kept]


def _weaker(numbers: Floats, than: Floats) -> NDArray[np.bool_]:
    (statistic, dof, log_p), (statistic_2, dof_2, log_p_2) = numbers, than
    by_log_p = (log_p > log_p_2) | ((log_p == log_p_2) & (statistic < statistic_2))
    same = dof == dof_2
    weaker: NDArray[np.bool_] = (same & (statistic < statistic_2)) | (~same & by_log_p)
    return weaker
