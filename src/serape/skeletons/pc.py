"""The PC algorithm: skeleton and separating sets.

Spirtes, Glymour and Scheines, *Causation, Prediction, and Search*, 2nd edition, 2000; in the order-independent form of
Colombo and Maathuis, *Order-independent constraint-based causal structure learning*, JMLR 2014 (PC-stable): what a pair
is tested with depends on the neighbours at the start of each round only. So do the separating sets here: a pair's
neighbours are looked through from the most strongly associated on. The order of columns matters only where two
associations tie exactly.

Sound when the set is all variables. On a part of them, variables left out can keep two neighbours' neighbours joined
that a set inside would separate; see `iamb_npc` for what that comes to. A pair that cannot be tested reliably given
nothing is not joined: none of its tests could be reliable, and it would stay joined for that reason alone.
"""

from __future__ import annotations

from collections.abc import Collection

from serape.independence.outcomes import as_positions
from serape.search import Search
from serape.skeletons.skeleton import Pair, Single, Skeleton, keep_weaker, pair_tests, separate_pairs


def pc_skeleton(search: Search, variables: Collection[int], found: Skeleton | None = None) -> Skeleton:
    """Find the skeleton over the variables: start with all joined, part those that some set of neighbours separates.

    `found` is where it is built: who looks there meanwhile sees how far it is.
    """
    found = Skeleton({}) if found is None else found
    untested = _marginal_tests(search, sorted(variables), found)
    separate_neighbours(search, found)
    separations = {}
    for x in found.neighbours:
        for y in search.admissible(x, sorted(found.at_distance_two(x))):
            pair = frozenset((x, y))
            if pair in found.separations:
                separations[pair] = found.separations[pair]
            elif pair not in untested and x < y:  # the others were independent given nothing
                outcome = search.repeat(x, y)
                separations[pair] = (outcome.log_p, -outcome.statistic, Single(outcome), 0)
    found.separations = separations
    return found


def separate_neighbours(search: Search, found: Skeleton) -> None:
    """Part those that some set of neighbours separates, given one neighbour, two, and so on."""
    near = found.neighbours
    weak = (0.0, 0.0)
    by_strength = {
        x: sorted(others, key=lambda y, x=x: (*found.weakest.get(frozenset((x, y)), weak)[:2], y))  # type: ignore[misc]
        for x, others in near.items()
    }
    size = 1
    while any(len(others) > size for others in near.values()):
        at_start = {x: [y for y in by_strength[x] if y in others] for x, others in near.items() if len(others) > size}
        separated, weakest = separate_pairs(search, at_start, at_start, size)
        for pair, seen in separated.items():
            x, y = pair
            near[x].discard(y)
            near[y].discard(x)
            found.separations[pair] = seen
        for pair, seen in weakest.items():
            keep_weaker(found.weakest, pair, seen)
        size += 1
    found.weakest = {pair: seen for pair, seen in found.weakest.items() if pair not in found.separations}


def _marginal_tests(search: Search, variables: list[int], found: Skeleton) -> set[Pair]:
    """Join what depends on each other given nothing, each pair tested once; return the pairs without a verdict."""
    found.neighbours.update((x, set()) for x in variables)
    untested: set[Pair] = set()
    for k, x in enumerate(variables):
        later = as_positions(search.admissible(x, variables[k + 1 :]))
        dependent, independent = search.partition(x, later)
        for y in dependent.xs.tolist():
            found.neighbours[x].add(y)
            found.neighbours[y].add(x)
        found.weakest.update(pair_tests(x, dependent))
        if len(dependent) + len(independent) < len(later):
            tested = {*dependent.xs.tolist(), *independent.tolist()}
            untested.update(frozenset((x, y)) for y in later.tolist() if y not in tested)
    return untested
