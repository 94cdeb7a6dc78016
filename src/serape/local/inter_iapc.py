"""Inter-IAPC: parents and children by way of the blanket.

Rodrigues de Morais and Aussem, *An efficient and scalable algorithm for local Bayesian network structure discovery*,
ECML PKDD 2010, Algorithm 2.

Finds parents and children. Sound. Inter-IAMB finds the blanket; then every X that a subset of the rest
of the blanket separates from the target is removed: it is a spouse.

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from serape.local.guard import note_repetition
from serape.local.inter_iamb import inter_iamb_among
from serape.search import Positions, Search, preparable
from serape.search.many_targets import inter_iapc_runs


def inter_iapc(search: Search, target: int) -> list[int]:
    """Find the parents and children of the target by Inter-IAPC."""
    return inter_iapc_among(search, target, search.candidates(target))


def inter_iapc_among(search: Search, target: int, candidates: Sequence[int] | Positions) -> list[int]:
    """Find the parents and children of the target among some candidates."""
    blanket = list(inter_iamb_among(search, target, candidates))
    return search.separate(blanket, target, blanket).survivors


def inter_iapc_each(search: Search, targets: Sequence[int], among: Positions) -> Iterator[list[int]]:
    """Find the parents and children of several targets among some variables, which must be in the table's order.

    Where the test can, it answers for many targets in one call.
    """
    runs = inter_iapc_runs(search, targets, among)
    if runs is None:
        search.prepare(_among, targets, among)
        for x in targets:
            yield _among(search, x, among)
        return
    for run in runs:
        if run.repeats:
            note_repetition(search, "inter-iamb")
        yield run.separated[0].survivors


@preparable
def _among(search: Search, target: int, among: Positions) -> list[int]:
    return inter_iapc_among(search, target, search.candidates(target, among=among))
