"""HPC, hybrid parents and children.

Rodrigues de Morais and Aussem, *An efficient and scalable algorithm for local Bayesian network structure discovery*,
ECML PKDD 2010, Algorithms 1, 3 and 4.

Finds parents and children, or, with the spouse rule, the blanket. Sound. Made for large neighbourhoods and few rows:
tests given at most two variables find a superset of the neighbourhood, in which Inter-IAPC, a weak learner, runs for
the target and for each candidate; a pair is adjacent if either finds the other.

The paper leaves two things open, and each has an option:

- The order of the tests. By default (`order="strength"`) the weakest candidates are tested first, and the strongest
  variables are conditioned on first. With `order="as-written"` the loops of Algorithms 3 and 4 go through the variables
  in the order of the table.
- What an unreliable test means. By default (`unreliable="skipped"`) it means nothing, as everywhere in serape. With
  `unreliable="independent"` it counts as independence, which removes candidates and members: fewer tests and smaller
  answers.

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Algorithm 1, Section 6, Algorithm 3, Algorithm 4; Gasse et al.
2014.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal

from serape.local.answer import Answer
from serape.local.inter_iapc import inter_iapc_among, inter_iapc_each
from serape.local.spouses import blanket_around, prepare_around
from serape.search import CandidateGroups, Positions, Search, as_positions, memoised
from serape.search.many_targets import dependents_given_each, in_order
from serape.types import Unclear

Order = Literal["strength", "as-written"]
SeparatedBySet = Mapping[tuple[int, ...], Positions | list[int]]
"""dSep inverted: from a separating set to the variables it separates from the target."""


def hpc(search: Search, target: int, order: Order = "strength", unreliable: Unclear = "skipped") -> tuple[int, ...]:
    """Find the parents and children of the target by HPC."""
    return parents_children(search, target, order, unreliable)


def hpc_mb(search: Search, target: int, order: Order = "strength", unreliable: Unclear = "skipped") -> Answer:
    """Find the Markov blanket of the target: parents and children by HPC, and the spouses among their neighbours."""

    def neighbours(search: Search, y: int) -> Collection[int]:
        return parents_children(search, y, order, unreliable)

    tpc = neighbours(search, target)
    prepare_around(search, target, tpc, parents_children, order, unreliable, symmetry=False)
    return blanket_around(search, target, tpc, neighbours)


@memoised
def parents_children(search: Search, target: int, order: Order, unreliable: Unclear) -> tuple[int, ...]:
    """Algorithm 1: the parents and children of the target."""
    with search.read_as_independence("all" if unreliable == "independent" else None):
        pcs, d_sep = de_pcs(search, target, order)
        sps = de_sps(search, target, pcs, d_sep, order)
        among = as_positions(sorted({target, *pcs, *sps}))
        with search.working_set(among):
            tpc = inter_iapc_among(search, target, search.candidates(target, among=among))
            others = [x for x in pcs if x not in tpc and _tests_all(search, x, among)]
            found = zip(others, inter_iapc_each(search, others, among), strict=True)
            return (*tpc, *(x for x, its in found if target in its))


def _tests_all(search: Search, x: int, among: Positions) -> bool:
    """Return whether x is tested against all others: a forbidden member of x may be what separates it."""
    return len(search.candidates(x, among=among)) == len(among) - 1


def de_pcs(search: Search, target: int, order: Order = "strength") -> tuple[list[int], SeparatedBySet]:
    """Algorithm 3: a superset of the parents and children, by tests given nothing and given one variable."""
    pcs, independent = search.ranked_split(target, search.candidates(target))
    tested, conditioned_on = in_order(pcs, as_written=order == "as-written")
    found = search.separate(tested, target, conditioned_on, range(1, 2), shrinking=True)
    d_sep: SeparatedBySet = {(): independent, **found.separated_by_set(search.log_alpha)}
    survivors = set(found.survivors)
    return [x for x in conditioned_on if x in survivors], d_sep


def de_sps(search: Search, target: int, pcs: list[int], d_sep: SeparatedBySet, order: Order = "strength") -> list[int]:
    """Algorithm 4: a superset of the spouses, by tests given at most two variables."""
    sps: dict[int, None] = {}
    groups = CandidateGroups((ys, given) for given, ys in d_sep.items())
    for sps_x in dependents_given_each(search, target, groups, pcs, as_written=order == "as-written"):
        sps.update(dict.fromkeys(sps_x))
    return list(sps)
