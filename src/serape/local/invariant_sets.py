"""Invariant sets: those given which a target is independent of the context.

Peters, Bühlmann and Meinshausen, *Causal inference by using invariant prediction: identification and confidence
intervals*, JRSS B 78, 2016. A set S is invariant if T ⊥ C | S, where C tells the contexts (their environments) apart.
If C is no cause of T itself, the causes of T are an invariant set, so whatever is in every invariant set is a cause. On
data this holds with a probability of at least 1 − alpha: it needs that one test, of the causes, does not err.

Sound if the candidates contain all causes of T and C is no effect of any variable. Here the candidates are the members
of the blanket, which does. The paper tries all sets; here no set is tried that contains one that is not rejected, which
does not change what is in all of them. A test that is not reliable rejects no set.

See docs/papers.md: Peters, Bühlmann and Meinshausen 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import NamedTuple

from serape.search import Search

MemberSet = tuple[int, ...]


class InvariantSets(NamedTuple):
    """The smallest sets that are not rejected: no subset of one is another."""

    accepted: list[MemberSet]
    """A reliable test shows independence."""
    untested: list[MemberSet]
    """No reliable test."""
    largest: int
    """All sets of up to so many members were tried."""
    members: int

    @property
    def causes(self) -> frozenset[int]:
        """What is in every set that is not rejected; nothing if no set is accepted, or not all were tried."""
        if not self.accepted or self.largest < self.members:
            return frozenset()
        return frozenset.intersection(*map(frozenset, (*self.accepted, *self.untested)))


def invariant_sets(
    search: Search, target: int, context: int, members: Sequence[int], max_sets: int = 4096
) -> InvariantSets:
    """Return the smallest invariant subsets of the members; larger ones are left out where there are too many."""
    accepted: list[MemberSet] = []
    untested: list[MemberSet] = []
    largest = _largest(len(members), max_sets)
    for size in range(largest + 1):
        for subset in combinations(members, size):
            if any(set(known) <= set(subset) for known in (*accepted, *untested)):
                continue
            outcome = search.ask(context, target, subset)
            if outcome is None:
                untested.append(subset)
            elif outcome.log_p > search.log_alpha:
                accepted.append(subset)
    return InvariantSets(accepted, untested, largest, len(members))


def _largest(members: int, max_sets: int) -> int:
    """Return the size up to which there are at most so many sets."""
    total = 0
    for size in range(members + 1):
        total += comb(members, size)
        if total > max_sets:
            return size - 1
    return members
