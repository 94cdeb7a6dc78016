"""HITON-PC and HITON-MB.

Aliferis, Tsamardinos and Statnikov, *HITON: a novel Markov blanket algorithm for optimal variable selection*, AMIA
2003; with the symmetry check of Aliferis' lecture of 2008, without which it is not sound.

Variables enter by decreasing association with the target. *Interleaved*, all members are examined after each entry, the
new member first; *semi-interleaved*, only the new member, and all at the end.

See docs/papers.md: Aliferis 2008, HITON-PC, HITON-MB.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from serape.local.answer import Answer
from serape.local.gll import GLL, at_the_end, by_association
from serape.search import Pools, ScreenResult, Search, grow_pools

INTERLEAVED = GLL(by_association)
SEMI_INTERLEAVED = GLL(by_association, interleaving=at_the_end)


def hiton_pc(search: Search, target: int, symmetry: bool = True, semi_interleaved: bool = False) -> tuple[int, ...]:
    """Find the parents and children of the target by HITON-PC."""
    return _rules(semi_interleaved).parents_children(search, target, symmetry=symmetry)


def hiton_pc_sets(
    search: Search,
    targets: Sequence[int],
    known: Mapping[int, ScreenResult],
    symmetry: bool = True,
    semi_interleaved: bool = False,
) -> Pools:
    """Find the sets that `gll_pc_nonsym` returns, of many targets in one question, as far as the test can.

    `known` are the tests given nothing.
    """
    del symmetry  # the sets are the same
    return Pools({}) if semi_interleaved else grow_pools(search, targets, known)


def hiton_mb(search: Search, target: int, symmetry: bool = True, semi_interleaved: bool = False) -> Answer:
    """Find the Markov blanket of the target by HITON-MB."""
    return _rules(semi_interleaved).markov_blanket(search, target, symmetry=symmetry)


def _rules(semi_interleaved: bool) -> GLL:
    return SEMI_INTERLEAVED if semi_interleaved else INTERLEAVED
