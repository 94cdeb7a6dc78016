"""FBED, forward-backward selection with early dropping.

Borboudakis and Tsamardinos, *Forward-backward selection with early dropping*, JMLR 20, 2019, Algorithm 2.

Finds the blanket. Sound for k ≥ 1. A candidate that is independent of the target given the members so far is dropped:
it is not tested again in this run of the forward phase. The next run starts with all variables that are not members.
One run (k = 0) finds a superset of the adjacent variables, but may drop a spouse before the common child enters; the
first re-run (k = 1, the default) adds every spouse that is missing. More runs, k = None or "inf" until a run adds no
variable, make it sound for networks with hidden variables too.

The paper has no unreliable tests. Here a candidate whose test is unreliable is dropped in this run, like an independent
one, but does not count as separated.

See docs/papers.md: Borboudakis and Tsamardinos 2019.
"""

from __future__ import annotations

from itertools import count
from typing import Literal

from serape.errors import OptionError, is_integer, shown
from serape.local.shrink import shrink
from serape.search import Members, Search, as_positions
from serape.wording import algorithm_option, literal


def fbed(search: Search, target: int, k: int | Literal["inf"] | None = 1) -> Members:
    """Find the Markov blanket of the target by FBED; the forward phase is repeated up to k times."""
    blanket = search.blanket(target)
    for _ in _runs(k):
        if not one_run(search, target, blanket):
            break
    shrink(search, target, blanket)
    return blanket


def one_run(search: Search, target: int, blanket: Members) -> bool:
    """Add the strongest candidate and drop the independent ones until none remains; return whether any was added."""
    before = len(blanket)
    remaining = search.candidates(target, *blanket)
    while len(remaining):
        dependent = search.dependents(target, remaining, tuple(blanket))
        if dependent:
            blanket.add(dependent[0])
        remaining = as_positions(sorted(dependent[1:]))
    return len(blanket) > before


def _runs(k: int | Literal["inf"] | None) -> range | count[int]:
    if k is None or k == "inf":
        return count()
    if not is_integer(k) or k < 0:
        raise OptionError(
            f"{algorithm_option('k')} must be a whole number, 0 or more, or {literal(None)} to repeat until nothing "
            f"enters, not {shown(k)}"
        )
    return range(k + 1)
