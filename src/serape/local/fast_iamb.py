"""Fast-IAMB: several additions at a time, by speculation.

Yaramakala and Margaritis, *Speculative Markov blanket discovery for optimal feature selection*, ICDM 2005, Figure 1.

Finds the blanket. Sound. Dependent candidates are added in order of significance without further tests, as long as the
next table has at least k rows per cell; then the blanket shrinks, in one sweep as in the figure. The search ends if
there are too few rows to add a candidate and no member is removed. The paper judges every test by its rows per cell, so
`reliability="auto"` means "cells" here. The search also ends if a set repeats (noisy data can make additions and
removals alternate), and a note in the result reports it.

See docs/papers.md: Yaramakala and Margaritis 2005, Figure 1.
"""

from __future__ import annotations

from serape.local.guard import CycleGuard
from serape.local.shrink import shrink_once
from serape.search import Members, Search


def fast_iamb(search: Search, target: int, k: float = 5.0) -> Members:
    """Find the Markov blanket of the target by Fast-IAMB; an addition requires k rows per cell."""
    blanket = search.blanket(target)
    guard = CycleGuard(search, "fast-iamb")
    candidates = search.dependents(target, search.candidates(target, *blanket), tuple(blanket))
    while candidates and not guard.repeats(blanket):
        insufficient_data = False
        for x in candidates:
            if search.rows_per_cell(x, target, *blanket) >= k:
                blanket.add(x)
            else:
                insufficient_data = True
                break
        removed = shrink_once(search, target, blanket)
        if insufficient_data and not removed:
            search.notes.append(f"fast-iamb stopped: the next addition would leave fewer than {k:g} rows per cell")
            break
        candidates = search.dependents(target, search.candidates(target, *blanket), tuple(blanket))
    return blanket
