"""The PC algorithm: skeleton and separating sets.

Spirtes, Glymour and Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000; in the order-independent form of
Colombo and Maathuis, *Order-independent constraint-based causal structure learning*, JMLR 2014 (PC-stable): the
conditioning sets of a pair depend only on the neighbours at the start of each round. So do the separating sets here: a
pair's neighbours are searched from the most strongly associated on. The order of columns matters only where two
associations tie exactly.

Sound over all variables. Over some of them it is not: two variables may stay adjacent because the set that separates
them is not among the variables; see `iamb_npc` for the consequence. A pair whose test given nothing is unreliable is
not adjacent: all its tests would be unreliable, and it would stay adjacent for that reason alone.

See docs/papers.md: Aliferis 2008, IAMB; Colombo and Maathuis 2014.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from serape import _core
from serape.arrays import Positions
from serape.independence.given_tests import VariableSets
from serape.independence.outcomes import TestColumns, as_positions
from serape.independence.subset_query import TargetLists
from serape.search import Search
from serape.search.associations import BatchResult
from serape.search.many_targets import EXPECTED, dependent_pairs
from serape.skeletons.pair_tests import Keys, PairsWithTests, PairTests, SeparatedPairs, keys_of
from serape.skeletons.skeleton import Skeleton, separate_pairs, without_collector


def pc_skeleton(search: Search, variables: Collection[int], found: Skeleton | None = None) -> Skeleton:
    """Find the skeleton over the variables: start with all pairs, remove those that a set of neighbours separates.

    The skeleton is built in `found`, so that a caller who is interrupted has what was found so far.
    """
    found = Skeleton({}) if found is None else found
    ordered = sorted(variables)
    marginal = _MarginalTests()
    edges: _Edges | None = None
    try:
        marginal.perform(search, ordered)
        edges = marginal.edges()
        edges.separate(search)
    finally:
        edges = edges or marginal.edges()
        found.neighbours.update(edges.neighbours(ordered))
        found.weakest = edges.weakest_tests()
        if not edges.complete:
            found.separations = edges.separations()
    found.separations = _separations(search, found, edges, marginal.untested())
    return found


def separate_neighbours(search: Search, found: Skeleton) -> None:
    """Remove the pairs that a set of neighbours separates: sets of one neighbour, then of two, and so on."""
    adjacent = [(x, y) for x, others in found.neighbours.items() for y in others if x < y]
    small, large = as_positions([x for x, _ in adjacent]), as_positions([y for _, y in adjacent])
    edges = _Edges(keys := np.sort(keys_of(small, large)), PairTests(len(keys)))
    try:
        edges.separate(search)
    finally:
        for x, others in edges.neighbours(list(found.neighbours)).items():
            found.neighbours[x].intersection_update(others)


class _Edges:
    """Pairs in ascending order, of which some are separated; tests of them."""

    def __init__(self, keys: Keys, weakest: PairTests) -> None:
        self.keys = keys
        self.weakest = weakest
        self.separated = PairTests(len(keys))
        self.complete = False
        """Whether sets of all sizes have been searched."""
        self._x = (keys >> 32).astype(np.uint32)
        self._y = (keys & 0xFFFFFFFF).astype(np.uint32)

    def separate(self, search: Search) -> None:
        """Separate pairs by sets of one neighbour, then of two, and so on."""
        from_, to, edge = _core.by_strength(
            self._x, self._y, self.weakest.log_p, self.weakest.statistic, search.threads
        )
        size = 1
        while True:
            left = ~self.separated.known[edge]
            from_, to, edge = from_[left], to[left], edge[left]
            begin = np.flatnonzero(np.concatenate((np.ones(min(1, len(from_)), bool), from_[1:] != from_[:-1])))
            targets, counts = from_[begin], np.diff(begin, append=len(from_))
            many = counts > size
            if not many.any():
                self.complete = True
                return
            inside = many.repeat(counts)
            at_start = TargetLists(targets[many], np.cumsum(counts[many]), to[inside])
            separate_pairs(search, at_start, edge[inside], at_start, size, self.separated, self.weakest)
            size += 1

    def neighbours(self, variables: list[int]) -> dict[int, set[int]]:
        """Return the neighbours of variables: those from which they are not separated."""
        left = ~self.separated.known
        with without_collector():
            found: dict[int, set[int]] = {x: set() for x in variables}
            for x, y in zip(self._x[left].tolist(), self._y[left].tolist(), strict=True):
                found[x].add(y)
                found[y].add(x)
        return found

    def weakest_tests(self) -> PairsWithTests:
        """Return the weakest associations of the pairs that are not separated."""
        kept = np.flatnonzero(self.weakest.known & ~self.separated.known)
        return PairsWithTests(self.keys[kept], self.weakest.tests(kept))

    def separations(self) -> SeparatedPairs:
        """Return the pairs that are separated, in the order in which this was found."""
        found = self.separated.in_order()
        return SeparatedPairs(self.keys[found], self.separated.tests(found).given)

    def separations_of(self, keys: Keys, untested: Keys) -> SeparatedPairs:
        """Return the sets that separate pairs that are not adjacent.

        A pair that was never adjacent is separated by nothing, unless its test given nothing is unreliable.
        """
        at = self.keys.searchsorted(keys)
        tested = self.keys.take(at, mode="clip") == keys if len(self.keys) else np.zeros(len(keys), bool)
        kept = np.flatnonzero(tested | ~np.isin(keys, untested))
        keys, at, tested = keys[kept], at[kept], tested[kept]
        own = self.separated.tests(at[tested]).given
        sizes = np.zeros(len(keys), np.int64)
        sizes[tested] = own.sizes
        return SeparatedPairs(keys, VariableSets(np.cumsum(sizes), own.members))


class _MarginalTests:
    """The tests of all pairs given nothing."""

    def __init__(self) -> None:
        self._untested: list[Keys] = []
        self._keys: list[Keys] = []  # of dependent pairs
        self._tests: list[tuple[Keys, TestColumns, BatchResult]] = []  # with the keys of the tests

    def perform(self, search: Search, variables: list[int]) -> None:
        """Test all pairs."""
        if (pairs := dependent_pairs(search, variables)) is not None:
            self._add(*pairs)
            return
        for begin in range(0, len(variables), EXPECTED):
            some = enumerate(variables[begin : begin + EXPECTED], begin + 1)
            asked = {x: as_positions(search.admissible(x, variables[k:])) for k, x in some}
            search.expect_marginals(asked)
            for x, later in asked.items():
                self._ask(search, x, later)

    def _ask(self, search: Search, x: int, later: Positions) -> None:
        """Test one variable with all that come later."""
        dependent, independent = search.partition(x, later)
        self._add(np.full(len(dependent), x, np.uint32), dependent)
        if len(dependent) + len(independent) < len(later):
            left = later[~np.isin(later, np.concatenate((dependent.xs, independent)))]
            self._untested.append(keys_of(np.full(len(left), x, np.uint32), left))

    def _add(self, xs: Positions, dependent: BatchResult) -> None:
        keys = keys_of(xs, dependent.xs)
        tests = dependent.columns()
        self._keys.append(keys)
        self._tests.append((keys[tests[0]], tests, dependent))

    def untested(self) -> Keys:
        """Return the pairs whose test is unreliable."""
        return np.concatenate([np.empty(0, np.int64), *self._untested])

    def edges(self) -> _Edges:
        """Return the dependent pairs as adjacent ones."""
        keys = np.concatenate([np.empty(0, np.int64), *self._keys])
        weakest = PairTests(len(keys))
        for own, tests, answers in self._tests:
            weakest.add(np.arange(len(own)) if len(own) == len(keys) else keys.searchsorted(own), tests, answers)
        return _Edges(keys, weakest)


def _separations(search: Search, found: Skeleton, edges: _Edges, untested: Keys) -> SeparatedPairs:
    """Return the sets that separate the pairs that have a common neighbour but are not adjacent."""
    distant = found.pairs_at_distance_two()
    xs, ys = distant >> 32, distant & 0xFFFFFFFF
    return edges.separations_of(distant[search.may_be_tested(xs, ys)], untested)
