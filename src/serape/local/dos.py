"""DOS, dynamic ordering-based search.

Zeng, He, Xiang and Mao, *Dynamic ordering-based search algorithm for Markov blanket discovery*, PAKDD 2011, Figure 2.

Finds the blanket, or parents and children. Sound. IPC-MB with its tests in a better order: the variables least
associated with the target at the last size come first, conditioning sets begin with the variables that were in most
separating sets, and a separated variable is removed at once. Like IPC-MB, it leaves out variables whose unconditional
test is unreliable.

See docs/papers.md: Zeng et al. 2011, Figure 1, Figure 2.
"""

from __future__ import annotations

from collections import Counter

from serape.local.answer import Answer
from serape.local.spouses import blanket_around, prepare_around
from serape.search import Search, memoised


@memoised
def gen_cpc(search: Search, target: int) -> tuple[int, ...]:
    """GenCPC: the parents and children of the target, and some of its other descendants."""
    adjacent = search.members(target)
    for x in search.dependents(target, search.candidates(target)):  # cut size 0
        adjacent.add(x)
    weakest_first = list(adjacent)[::-1]
    freq: Counter[int] = Counter()  # how often a variable was in a separating set
    cut_size = 1
    while cut_size < len(adjacent):
        log_p: dict[int, float] = {}
        for x in weakest_first:
            candidates = sorted(adjacent.without(x), key=lambda z: -freq[z])
            found = search.separate([x], target, candidates, range(cut_size, cut_size + 1))[0]
            if found.separated:
                adjacent.remove(x)
                freq.update(found.given)
            else:
                log_p[x] = found.outcome.log_p if found.outcome.reliable else float("-inf")
        weakest_first = sorted(log_p, key=lambda x: -log_p[x])
        cut_size += 1
    return tuple(adjacent)


def dos_pc(search: Search, target: int) -> tuple[int, ...]:
    """Find the parents and children of the target: the candidates that have the target among their own candidates."""
    found = gen_cpc(search, target)
    search.prepare(gen_cpc, found)
    return tuple(x for x in found if target in gen_cpc(search, x))


def dos(search: Search, target: int) -> Answer:
    """Find the Markov blanket of the target by DOS."""
    found = dos_pc(search, target)
    prepare_around(search, target, found, gen_cpc, symmetry=True)
    return blanket_around(search, target, found, dos_pc)
