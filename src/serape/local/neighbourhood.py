"""The tentative parents and children of a target, and which of their subsets have been tested.

Divide-and-conquer algorithms ask repeatedly whether a subset of the members separates an X from the target. Subsets
that were tested for this X before are not tested again, only those with a member that has entered since. The answers
are the same.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from serape.search import MinAssociation, Positions, Search, as_positions, can_grow_pool, grow_pool


class Neighbourhood:
    """TPC, the tentative parents and children of a target, in the order of their entry.

    Examples
    --------
    >>> from serape.local.gll import Neighbourhood
    >>> oracle = serape.DSeparation(nx.DiGraph([("a", "b"), ("b", "c")]))
    >>> tpc = Neighbourhood(serape.Search(oracle), target=2)
    >>> tpc.include(0), tpc.include(1), tpc.eliminate([0])
    (None, None, None)
    >>> list(tpc.members)
    [1]
    """

    def __init__(self, search: Search, target: int) -> None:
        self.search = search
        self.target = target
        self.members = search.members(target)
        self._entry: dict[int, int] = {}  # when a member entered
        self._exhausted: dict[int, int] = {}  # by x, the number of entries when all subsets had been tested
        self._entries = 0
        self._marginal = -1  # 0 once the candidates have been tested given nothing
        self._first: tuple[int, ...] = ()  # the members to begin with, which are no candidates

    def begin_with(self, xs: Iterable[int]) -> None:
        """Add variables before any has been tested; those that may not be tested against it are left out."""
        self._first = tuple(dict.fromkeys(self.search.admissible(self.target, [int(x) for x in xs])))
        for x in self._first:
            self.include(x)

    def outside(self) -> MinAssociation:
        """Return the candidates that depend on the target given nothing, each with its weakest association."""
        self._marginal = 0
        found, _ = self.search.partition(self.target, self.search.candidates(self.target, *self._first))
        return MinAssociation(self.search, self.target, found)

    def dependents(self) -> Positions:
        """Return the variables that depend on the target given nothing, most strongly associated first."""
        self._marginal = 0
        found = self.search.known_dependents(self.target, *self._first)
        if found is None:
            found = self.search.dependents(self.target, self.search.candidates(self.target, *self._first))
        return as_positions(found)

    def mark_exhausted(self, x: int) -> None:
        """Record that all subsets of the members have been tested for x, and none separates it."""
        self._exhausted[x] = self._entries

    def include(self, x: int) -> None:
        """Add a variable."""
        self.members.add(x)
        self._entry[x] = self._entries
        self._entries += 1

    def first_survivor(self, xs: Sequence[int] | Positions) -> int | None:
        """Return the index of the first x, in their order, that no subset of the members separates."""
        if len(xs) and self._marginal == 0 and len(self.members) == 0:  # there is no subset left to test
            last = 0
        else:
            pool = list(self.members)
            found = self.search.separate(xs, self.target, pool, n_exhausted=self._marginal, until_survivor=True)
            if not found.last_survives:
                return None
            last = len(found) - 1
        self.mark_exhausted(int(xs[last]))
        return last

    @property
    def can_ask_at_once(self) -> bool:
        """Whether `include_survivors` answers."""
        return not self._first and can_grow_pool(self.search, self.target)

    def include_survivors(self, xs: Positions, *, examine: bool) -> None:
        """Include each x, in their order, that no subset of the members separates when its turn comes.

        With `examine`, all members are examined after each inclusion. This is `first_survivor`, `include` and
        `eliminate` for one x after another, but for many x in one question.
        """
        while len(xs):
            grown = grow_pool(
                self.search, self.target, list(self.members), xs, n_exhausted=self._marginal, examine=examine
            )
            for x, joined in grown.changes:
                if joined:
                    self.mark_exhausted(x)
                    self.include(x)
                else:
                    self.members.remove(x)
            if examine:
                self._exhausted.update(dict.fromkeys(self.members, self._entries))
            xs = xs[grown.asked :]

    def eliminate(self, examined: Sequence[int], *, at_once: bool = False) -> None:
        """Remove each examined member that a subset of the others separates from the target.

        Members are examined one after another, and a removed member is not conditioned on afterwards; with `at_once`
        all are examined before any is removed.
        """
        examined = [
            x for x in examined if self._exhausted.get(x, -1) < self._entries - (self._entry[x] == self._entries - 1)
        ]
        if not examined:
            return
        pool = list(self.members)
        entered = [self._entry[z] for z in pool]  # ascending
        exhausted = [
            bisect_left(entered, self._exhausted[x])
            if x in self._exhausted
            else -1
            if x in self._first
            else self._marginal
            for x in examined
        ]
        found = self.search.separate(examined, self.target, pool, n_exhausted=exhausted, shrinking=not at_once)
        self._exhausted.update(dict.fromkeys(examined, self._entries))
        for x in found.separated_variables:
            self.members.remove(x)
