"""Fast-IAMB: several additions at a time, by speculation.

Yaramakala and Margaritis, *Speculative Markov blanket discovery for optimal feature selection*, ICDM 2005, Figure 1.

Finds the blanket. Sound. Candidates found dependent are added in order of significance without being tested again, as
long as the mean cell of the next table would hold at least k rows; then the blanket shrinks, in one sweep as in the
figure. If the rows ran out and nothing shrank, it halts. The paper judges every test by rows in a cell, so
`reliability="auto"` means "cells" here. A set that was there before ends the search too (noisy data can make
additions and removals alternate), and the result says so.
"""

from __future__ import annotations

from serape.local.guard import CycleGuard
from serape.local.shrink import shrink_once
from serape.search import Members, Search


def fast_iamb(search: Search, target: int, k: float = 5.0) -> Members:
    """Find the Markov blanket of the target by Fast-IAMB; k rows in the mean cell let an addition be made."""
    blanket = search.blanket(target)
    guard = CycleGuard(search, "fast-iamb")
    candidates = search.dependents(target, search.candidates(target, *blanket), tuple(blanket))
    while candidates and not guard.repeats(blanket):
        insufficient_data = False
        for place, x in enumerate(candidates):
            if search.rows_per_cell(x, target, *blanket) >= k:
                blanket.add(x)
            else:
                insufficient_data = True
                left = candidates[place:]
                break
        removed = shrink_once(search, target, blanket)
        if insufficient_data and not removed:
            for x in left:  # dependent before the additions, not tested after them
                search.record_untested(x, target, tuple(blanket))
            search.notes.append(f"fast-iamb halted: fewer than {k:g} rows in a cell for the next addition")
            break
        candidates = search.dependents(target, search.candidates(target, *blanket), tuple(blanket))
    return blanket
