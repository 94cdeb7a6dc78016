"""MMPC and MMMB, max-min parents and children, max-min Markov blanket.

Tsamardinos, Aliferis and Statnikov, *Time and sample efficient discovery of Markov blankets and direct causal
relations*, KDD 2003; with the symmetry check of Tsamardinos, Brown and Aliferis, *The max-min hill-climbing Bayesian
network structure learning algorithm*, Machine Learning 2006.

As first published, neither is sound (Peña, Björkegren and Tegnér 2005, Table 2): MMPC without symmetry can return
descendants of the target's children, and MMMB tests every pair of a candidate and a neighbour of the target, whether
the two are adjacent or not. `symmetry=False` and `published=True` give them as first published.

See docs/papers.md: Peña et al. 2005, Table 2; Aliferis 2008, MMPC, MMHC.
"""

from __future__ import annotations

from serape.local.answer import Answer
from serape.local.gll import GLL, at_the_end, max_min
from serape.search import Search

MMPC = GLL(max_min, interleaving=at_the_end)


def mmpc(search: Search, target: int, symmetry: bool | None = None, published: bool = False) -> tuple[int, ...]:
    """Find the parents and children of the target by MMPC; as `published` in 2003, without symmetry."""
    return MMPC.parents_children(search, target, symmetry=not published if symmetry is None else symmetry)


def mmmb(search: Search, target: int, symmetry: bool | None = None, published: bool = False) -> Answer:
    """Find the Markov blanket of the target by MMMB; as `published` in 2003, without symmetry unless it is given."""
    symmetry = not published if symmetry is None else symmetry
    return MMPC.markov_blanket(search, target, symmetry=symmetry, published=published)
