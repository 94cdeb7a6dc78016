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

from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult
from serape.search import Search
from serape.search.many_targets import dependent_pairs
from serape.skeletons.skeleton import Pair, PairTest, Skeleton, keep_weaker, pair_tests, separate_pairs


def pc_skeleton(search: Search, variables: Collection[int], found: Skeleton | None = None) -> Skeleton:
    """Find the skeleton over the variables: start with all pairs, remove those that a set of neighbours separates.

    The skeleton is built in `found`, so that a caller who is interrupted has what was found so far.
    """
    found = Skeleton({}) if found is None else found
    untested = _marginal_tests(search, sorted(variables), found)
    separate_neighbours(search, found)
    separations: dict[Pair, PairTest] = {}
    for x in found.neighbours:
        distant = search.admissible(x, sorted(found.at_distance_two(x)))
        # All pairs without a separating set are independent given nothing.
        marginal = [
            y
            for y in distant
            if x < y and (pair := frozenset((x, y))) not in found.separations and pair not in untested
        ]
        tests = dict(pair_tests(x, search.repeat_screen(x, marginal))) if marginal else {}
        for pair in (frozenset((x, y)) for y in distant):
            if pair in found.separations:
                separations[pair] = found.separations[pair]
            elif pair in tests:
                separations[pair] = tests[pair]
    found.separations = separations
    return found


def separate_neighbours(search: Search, found: Skeleton) -> None:
    """Remove the pairs that a set of neighbours separates: sets of one neighbour, then of two, and so on."""
    neighbours = found.neighbours
    weak = (0.0, 0.0)
    by_strength = {
        x: sorted(others, key=lambda y, x=x: (*found.weakest.get(frozenset((x, y)), weak)[:2], y))  # type: ignore[misc]
        for x, others in neighbours.items()
    }
    size = 1
    while any(len(others) > size for others in neighbours.values()):
        at_start = {
            x: [y for y in by_strength[x] if y in others] for x, others in neighbours.items() if len(others) > size
        }
        separated, weakest = separate_pairs(search, at_start, at_start, size)
        for pair, test in separated.items():
            x, y = pair
            neighbours[x].discard(y)
            neighbours[y].discard(x)
            found.separations[pair] = test
        for pair, test in weakest.items():
            keep_weaker(found.weakest, pair, test)
        size += 1
    found.weakest = {pair: test for pair, test in found.weakest.items() if pair not in found.separations}


def _marginal_tests(search: Search, variables: list[int], found: Skeleton) -> set[Pair]:
    """Make the pairs adjacent that are dependent given nothing; return the pairs whose test is unreliable."""
    found.neighbours.update((x, set()) for x in variables)
    untested: set[Pair] = set()
    if (pairs := dependent_pairs(search, variables)) is not None:
        for x in variables:
            known = pairs.known(x)
            dependent = known.at(np.flatnonzero(known.xs > x))
            _make_adjacent(found, x, dependent)
        return untested
    for k, x in enumerate(variables):
        later = as_positions(search.admissible(x, variables[k + 1 :]))
        dependent, independent = search.partition(x, later)
        _make_adjacent(found, x, dependent)
        if len(dependent) + len(independent) < len(later):
            tested = {*dependent.xs.tolist(), *independent.tolist()}
            untested.update(frozenset((x, y)) for y in later.tolist() if y not in tested)
    return untested


def _make_adjacent(found: Skeleton, x: int, dependent: ScreenResult) -> None:
    for y in dependent.xs.tolist():
        found.neighbours[x].add(y)
        found.neighbours[y].add(x)
    found.weakest.update(pair_tests(x, dependent))
