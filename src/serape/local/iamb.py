"""IAMB, Incremental Association Markov Blanket.

Tsamardinos, Aliferis and Statnikov, *Algorithms for large scale Markov blanket discovery*, FLAIRS 2003.

Finds the blanket. Sound. The paper ranks candidates by conditional mutual information, which `rank="information"`
does: the search then ends if the most informative candidate is independent, though others may not be (a note in the
result reports them). By default they are ranked by the significance of the test, as in later papers of the field.

See docs/papers.md: Peña et al. 2005, Table 1; Yaramakala and Margaritis 2005, Section 2; Aliferis 2008, IAMB.
"""

from __future__ import annotations

from serape.local.shrink import shrink
from serape.search import Members, Search
from serape.types import Rank


def iamb(search: Search, target: int, rank: Rank = "significance") -> Members:
    """Find the Markov blanket of the target by IAMB."""
    blanket = search.blanket(target)
    grow(search, target, blanket, rank)
    shrink(search, target, blanket)
    return blanket


def grow(search: Search, target: int, blanket: Members, rank: Rank = "significance") -> None:
    """Add the candidate most strongly associated with T given B, as long as one is dependent."""
    while (x := search.strongest(target, search.candidates(target, *blanket), tuple(blanket), rank)) is not None:
        blanket.add(x)
