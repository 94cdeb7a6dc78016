"""Grow-Shrink: the first sound algorithm for Markov blankets.

Margaritis and Thrun, *Bayesian network induction via local neighborhoods*, NIPS 1999 (GSMB).

Finds the blanket. Sound: with a perfect test and a faithful distribution the answer is exactly the parents, children
and spouses of the target.

The paper leaves open the order in which candidates are visited. Here it is by decreasing association with the target in
an unconditional test. A candidate whose unconditional test is unreliable is never visited (its conditional tests would
be unreliable too).

See docs/papers.md: Peña et al. 2005, Section 3.1; Yaramakala and Margaritis 2005, Section 2.
"""

from __future__ import annotations

from serape.local.shrink import shrink
from serape.search import Members, Positions, Search


def gs(search: Search, target: int) -> Members:
    """Find the Markov blanket of the target by Grow-Shrink."""
    blanket = search.blanket(target)
    order = search.by_strength(target, search.candidates(target))
    grow(search, target, blanket, order)
    shrink(search, target, blanket)
    return blanket


def grow(search: Search, target: int, blanket: Members, order: Positions) -> None:
    """Sweep through the order, adding every X with X ⊥̸ T | B, until a sweep adds no variable."""
    added = True
    while added:
        added = False
        rest = search.outside(order, blanket)
        while (index := search.first_dependent(target, rest, tuple(blanket))) is not None:
            blanket.add(int(rest[index]))
            rest = rest[index + 1 :]
            added = True
