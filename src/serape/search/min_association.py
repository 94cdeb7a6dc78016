"""The weakest association of many variables with a target over the subsets of a growing set."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.screens import ScreenResult
from serape.independence.subsets import MinAssociationTable, SubsetResult
from serape.search.search import Search


class MinAssociation:
    """For each candidate, its weakest association with the target over the subsets of the members.

    After a variable has entered, only subsets that contain it are tested. If the subset of the weakest association has
    lost a member, all subsets are tested again. A candidate that a subset separates is dropped for good. `associated`
    are the tests of the candidates given nothing.
    """

    def __init__(self, search: Search, target: int, associated: ScreenResult) -> None:
        self._search = search
        self._target = target
        self._xs = associated.xs
        first = np.zeros(len(associated), np.intp)
        self._known = MinAssociationTable(
            associated.statistic.copy(), associated.dof.copy(), associated.log_p.copy(), first, first.copy()
        )
        self._batches: list[SubsetResult | ScreenResult] = [associated]
        self._members: list[int] = []  # the members over whose subsets the associations are known

    def take_strongest(self, members: Collection[int]) -> int | None:
        """Return the candidate whose weakest association over subsets of the members is the strongest, and drop it.

        None if there is no candidate left.
        """
        self._update(list(members))
        if len(self._xs) == 0:
            return None
        index = self._search.one_of(_core.lowest(self._known.log_p, self._known.statistic))
        x = int(self._xs[index])
        others = np.arange(len(self._xs) - 1)
        others[index:] += 1
        self._keep(others)
        return x

    def _update(self, members: list[int]) -> None:
        before = self._members
        if members == before or len(self._xs) == 0:
            return
        self._members = members
        if members[: len(before)] == before:  # no member has left
            self._keep(self._test_subsets(members, len(before)))
            return
        old = set(before) & set(members)
        pool = [z for z in members if z in old] + [z for z in members if z not in old]
        lost = self._lost(old)
        self._known.log_p[lost], self._known.dof[lost] = -math.inf, math.nan
        self._keep(self._test_subsets(pool, np.where(lost, -1, len(old)).tolist()))

    def _test_subsets(self, pool: list[int], n_exhausted: int | list[int]) -> NDArray[np.intp]:
        """Test subsets of the pool, keep weaker associations, and return the indices of the candidates that survive."""
        found = self._search.separate(self._xs, self._target, pool, n_exhausted=n_exhausted, by_weakest=True)
        self._batches.append(found)
        return found.weaken(self._known, len(self._batches) - 1)

    def _lost(self, members: set[int]) -> NDArray[np.bool_]:
        """Return whether the subset of each candidate's weakest association has lost a member."""
        where = zip(self._known.batch.tolist(), self._known.entry.tolist(), strict=True)
        return np.array([not members.issuperset(self._batches[b].given_of(k)) for b, k in where], bool)

    def _keep(self, kept: NDArray[np.intp]) -> None:
        self._xs = self._xs[kept]
        self._known = self._known.at(kept)
