"""IAMB, Incremental Association Markov Blanket.

Tsamardinos, Aliferis and Statnikov, *Algorithms for large scale Markov blanket discovery*, FLAIRS 2003.

Finds the blanket. Sound. Where the paper ranks candidates by conditional mutual information, here they are ranked by
the significance of the test, as later papers of the field do.
"""

from __future__ import annotations

from serape.local.shrink import shrink
from serape.search import Members, Search


def iamb(search: Search, target: int) -> Members:
    """Find the Markov blanket of the target by IAMB."""
    blanket = search.blanket(target)
    grow(search, target, blanket)
    shrink(search, target, blanket)
    return blanket


def grow(search: Search, target: int, blanket: Members) -> None:
    """Add the candidate most strongly associated with T given B, as long as one is dependent."""
    while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket))) is not None:
        blanket.add(x)
