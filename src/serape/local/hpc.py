"""HPC, hybrid parents and children.

Rodrigues de Morais and Aussem, *An efficient and scalable algorithm for local Bayesian network structure discovery*,
ECML PKDD 2010, Algorithms 1, 3 and 4.

Finds parents and children, or, with the spouse rule, the blanket. Sound. Made for large neighbourhoods and few rows:
tests given at most two variables find a superset of the neighbourhood, in which Inter-IAPC, a weak learner, runs for
the target and for each candidate; a pair is adjacent if either finds the other.

The paper leaves open the order of the tests. Here the weakest candidates are tested first, and the strongest variables
are conditioned on first.
"""

from __future__ import annotations

from collections.abc import Mapping

from serape.local.answer import Answer
from serape.local.inter_iapc import inter_iapc_among
from serape.local.spouses import blanket_around
from serape.search import CandidateGroups, Positions, Search, as_positions, memoised

Separated = Mapping[tuple[int, ...], Positions | list[int]]
"""dSep inverted: from a separating set to the variables it separates from the target."""


@memoised
def hpc(search: Search, target: int) -> tuple[int, ...]:
    """Algorithm 1: the parents and children of the target."""
    pcs, d_sep = de_pcs(search, target)
    sps = de_sps(search, target, pcs, d_sep)
    among = as_positions(sorted({target, *pcs, *sps}))
    with search.working_set(among):
        tpc = _inter_iapc(search, target, among)
        return (*tpc, *(x for x in pcs if x not in tpc and target in _inter_iapc(search, x, among)))


def hpc_mb(search: Search, target: int) -> Answer:
    """Find the Markov blanket of the target: parents and children by HPC, and the spouses among their neighbours."""
    return blanket_around(search, target, hpc(search, target), hpc)


def de_pcs(search: Search, target: int) -> tuple[list[int], Separated]:
    """Algorithm 3: a superset of the parents and children, by tests given nothing and given one variable."""
    pcs, independent = search.ranked_split(target, search.candidates(target))
    found = search.separate(pcs[::-1], target, pcs, range(1, 2), shrinking=True)
    by_set: dict[tuple[int, ...], list[int]] = {}
    for x, given in found.separations(search.log_alpha):
        by_set.setdefault(given, []).append(x)
    d_sep: dict[tuple[int, ...], Positions | list[int]] = {(): independent}
    d_sep.update((given, sorted(xs)) for given, xs in by_set.items())
    survivors = set(found.survivors)
    return [x for x in pcs if x in survivors], d_sep


def de_sps(search: Search, target: int, pcs: list[int], d_sep: Separated) -> list[int]:
    """Algorithm 4: a superset of the spouses, by tests given at most two variables."""
    sps: dict[int, None] = {}
    groups = CandidateGroups((ys, given) for given, ys in d_sep.items())
    for x in pcs:
        sps_x = search.dependents_given_groups(target, groups, x)
        if len(sps_x) > 1:
            sps_x = search.separate(sps_x[::-1], target, sps_x, range(1, 2), fixed=(x,), shrinking=True).survivors
        sps.update(dict.fromkeys(sps_x))
    return list(sps)


def _inter_iapc(search: Search, target: int, among: Positions) -> tuple[int, ...]:
    found = inter_iapc_among(search, target, search.candidates(target, among=among)).parents_children or ()
    return tuple(map(int, found))
