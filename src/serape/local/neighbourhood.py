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
        self._statistic, self._dof, self._log_p = found.statistic, found.dof, found.log_p
        self._which = np.zeros(len(found), np.intp)  # places in _sets
        self._sets: list[Sequence[int]] = [()]
        self._members: list[int] = []  # those that the associations are over

    def take_strongest(self) -> int | None:
        """Return the variable whose weakest association is the strongest, and forget it; None if there is none left."""
        self._update()
        if len(self._xs) == 0:
            return None
        lowest = (self._log_p == self._log_p.min()).nonzero()[0]
        if len(lowest) > 1:
            statistic = self._statistic[lowest]
            lowest = lowest[statistic == statistic.max()]
        place = self._near.search.one_of(lowest.tolist())
        x = int(self._xs[place])
        kept = np.ones(len(self._xs), bool)
        kept[place] = False
        self._keep(kept)
        return x

    def _update(self) -> None:
        near = self._near
        members, before = list(near.members), self._members
        if members == before or len(self._xs) == 0:
            return
        self._members = members
        everyone = np.arange(len(self._xs))
        if members[: len(before)] == before:  # nobody has left
            self._keep(self._survivors(everyone, members, len(before)))
            return
        old = set(before) & set(members)
        pool = [z for z in members if z in old] + [z for z in members if z not in old]
        lost = self._lost(old)
        kept = self._survivors(everyone[~lost], pool, len(old)), self._survivors(everyone[lost], pool, -1)
        self._keep(np.sort(np.concatenate(kept)))

    def _survivors(self, places: NDArray[np.intp], pool: list[int], tried: int) -> NDArray[np.intp]:
        """Try subsets of the pool on those at some places, note where the weakest is weaker, return who survives."""
        if len(places) == 0:
            return places
        found = self._near.search.separate(self._xs[places], self._near.target, pool, tried=tried)
        left = (~found.separated).nonzero()[0]
        kept: NDArray[np.intp] = places[left]
        if len(kept) == 0:
            return kept
        fresh = found.statistic[left], found.dof[left], found.log_p[left]
        known = self._statistic[kept], self._dof[kept], self._log_p[kept]
        better = found.reliable[left] if tried < 0 else found.reliable[left] & _weaker(fresh, known)
        at = kept[better]
        self._statistic[at], self._dof[at], self._log_p[at] = (numbers[better] for numbers in fresh)
        self._which[at] = len(self._sets) + found.which[left[better]]
        self._sets += found.sets
        return kept

    def _lost(self, members: set[int]) -> NDArray[np.bool_]:
        """Return whose remembered subset has lost a member, and forget the subsets that are nobody's."""
        used, self._which = np.unique(self._which, return_inverse=True)
        self._sets = [self._sets[k] for k in used.tolist()]
        return np.array([not members.issuperset(given) for given in self._sets], bool)[self._which]

    def _keep(self, kept: NDArray[np.intp] | NDArray[np.bool_]) -> None:
        self._xs, self._which = self._xs[kept], self._which[kept]
        self._statistic, self._dof, self._log_p = self._statistic[kept], self._dof[kept], self._log_p[kept]


def _weaker(numbers: tuple[Floats, Floats, Floats], than: tuple[Floats, Floats, Floats]) -> NDArray[np.bool_]:
    (statistic, dof, log_p), (statistic_2, dof_2, log_p_2) = numbers, than
    weaker: NDArray[np.bool_] = log_p > log_p_2
    smaller = statistic < statistic_2
    weaker |= (log_p == log_p_2) & smaller
    return np.where(dof == dof_2, smaller, weaker)
