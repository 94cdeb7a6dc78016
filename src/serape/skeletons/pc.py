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

from collections.abc import Collection, Mapping
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from serape.independence.outcomes import TestColumns, as_positions
from serape.independence.subset_query import TargetLists
from serape.search import Search
from serape.search.many_targets import EXPECTED, dependent_pairs
from serape.skeletons.pair_tests import Answers, Keys, PairTest, PairTests, keys_of, pair_of, strength_ranks
from serape.skeletons.skeleton import Pair, Skeleton, separate_pairs

Positions = NDArray[np.uint32]


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
        found.weakest.update(edges.weakest_tests())
        if not edges.complete:
            found.separations.update(edges.separations())
    found.separations = _separations(search, found, edges, marginal.untested)
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
        from_, to, edge = self._by_strength()
        size = 1
        while True:
            left = ~self.separated.known[edge]
            from_, to, edge = from_[left], to[left], edge[left]
            targets, counts = np.unique(from_, return_counts=True)
            many = counts > size
            if not many.any():
                self.complete = True
                return
            inside = many.repeat(counts)
            at_start = TargetLists(targets[many], np.cumsum(counts[many]), to[inside])
            separate_pairs(search, at_start, edge[inside], at_start, size, self.separated, self.weakest)
            size += 1

    def _by_strength(self) -> tuple[Positions, Positions, NDArray[np.intp]]:
        """Return every pair from both sides: by variable, the most strongly associated first, then in their order."""
        rank = strength_ranks(self.weakest.log_p, self.weakest.statistic)
        edge_of = np.empty(len(rank), np.intp)
        edge_of[rank] = np.arange(len(rank))
        sides = np.concatenate((self._x, self._y)).astype(np.int64) << 32 | np.tile(rank, 2)
        sides.sort()  # of values, which takes less time than that of places
        from_, edge = (sides >> 32).astype(np.uint32), edge_of[sides & 0xFFFFFFFF]
        return from_, self._x[edge] ^ self._y[edge] ^ from_, edge

    def neighbours(self, variables: list[int]) -> dict[int, set[int]]:
        """Return the neighbours of variables: those from which they are not separated."""
        found: dict[int, set[int]] = {x: set() for x in variables}
        left = ~self.separated.known
        for x, y in zip(self._x[left].tolist(), self._y[left].tolist(), strict=True):
            found[x].add(y)
            found[y].add(x)
        return found

    def weakest_tests(self) -> Mapping[Pair, PairTest]:
        """Return the weakest associations of the pairs that are not separated."""
        kept = np.flatnonzero(self.weakest.known & ~self.separated.known)
        return dict(zip(map(pair_of, self.keys[kept].tolist()), self.weakest.tests(kept), strict=True))

    def separations(self) -> Mapping[Pair, PairTest]:
        """Return the tests that separate pairs, in the order in which they were found."""
        found = self.separated.in_order()
        return dict(zip(map(pair_of, self.keys[found].tolist()), self.separated.tests(found), strict=True))

    def separations_of(self, keys: Keys) -> list[PairTest | None]:
        """Return the tests that separate pairs, None for a pair that no set of neighbours separates."""
        found: list[PairTest | None] = [None] * len(keys)
        at = self.keys.searchsorted(keys)
        known = np.flatnonzero(self.keys.take(at, mode="clip") == keys) if len(self.keys) else at[:0]
        known = known[self.separated.known[at[known]]]
        for k, test in zip(known.tolist(), self.separated.tests(at[known]), strict=True):
            found[k] = test
        return found


class _MarginalTests:
    """The tests of all pairs given nothing."""

    def __init__(self) -> None:
        self.untested: set[Pair] = set()
        """The pairs whose test is unreliable."""
        self._keys: list[Keys] = []  # of dependent pairs
        self._tests: list[tuple[Keys, TestColumns, Answers]] = []  # with the keys of the tests

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
            tested = {*dependent.xs.tolist(), *independent.tolist()}
            self.untested.update(frozenset((x, y)) for y in later.tolist() if y not in tested)

    def _add(self, xs: Positions, dependent: Answers) -> None:
        keys = keys_of(xs, dependent.xs)
        tests = dependent.columns()
        self._keys.append(keys)
        self._tests.append((keys[tests[0]], tests, dependent))

    def edges(self) -> _Edges:
        """Return the dependent pairs as adjacent ones."""
        keys = np.concatenate([np.empty(0, np.int64), *self._keys])
        weakest = PairTests(len(keys))
        for own, tests, answers in self._tests:
            weakest.add(keys.searchsorted(own), tests, answers)
        return _Edges(keys, weakest)


def _separations(search: Search, found: Skeleton, edges: _Edges, untested: Collection[Pair]) -> dict[Pair, PairTest]:
    """Return tests that separate the pairs that have a common neighbour but are not adjacent."""
    distant = TargetLists.of({x: search.admissible(x, sorted(found.at_distance_two(x))) for x in found.neighbours})
    tests = iter(edges.separations_of(keys_of(distant.each_target(), distant.members)))
    separations: dict[Pair, PairTest] = {}
    asked = iter(distant.items())
    while some := list(islice(asked, EXPECTED)):
        known = {x: dict(zip(others, tests, strict=False)) for x, others in some}
        # All pairs without a separating set are independent given nothing.
        marginal = {
            x: [y for y, test in own.items() if x < y and test is None and frozenset((x, y)) not in untested]
            for x, own in known.items()
        }
        search.expect_marginals(marginal)
        for x, own in known.items():
            if marginal[x]:
                answers = search.repeat_screen(x, marginal[x])
                own.update((y, (log_p, -statistic, answers, k)) for k, y, log_p, statistic in answers.each())
            separations.update((frozenset((x, y)), test) for y, test in own.items() if test is not None)
    return separations
