"""PCMB, parents and children based Markov boundary, and PCD, its first step.

Peña, Björkegren and Tegnér, *Scalable, efficient and correct learning of Markov boundaries under the faithfulness
assumption*, ECSQARU 2005, Table 3. AlgorithmPCD and AlgorithmPC are also known as GetPCD and GetPC.

PCMB finds the blanket, or parents and children. Sound. PCD (`pcd` by name, or `pcmb` with `symmetry=False` when asked
for parents and children) finds parents and children, and possibly other descendants of the target (Theorem 4), so it is
not sound; nor is the blanket that PCMB without symmetry makes of it.

The paper skips a test unless there are five rows for each degree of freedom, which says nothing about a test with none,
such as that of a column given its copy. It is skipped too, unless `zero_dof="independent"`: taken to the letter, the
rule calls it reliable, and a statistic of 0 shows independence. (serape counts the rows against the full degrees of
freedom; a test with too few of them is skipped in any case.)

See docs/papers.md: Peña et al. 2005, Table 3.
"""

from __future__ import annotations

from collections.abc import Collection

from serape.local.answer import Answer
from serape.local.neighbourhood import Neighbourhood
from serape.local.spouses import blanket_around, prepare_around
from serape.search import Search, memoised
from serape.types import Unclear


@memoised
def algorithm_pcd(search: Search, target: int, zero_dof: Unclear) -> tuple[int, ...]:
    """AlgorithmPCD: the parents and children of the target, and some of its other descendants."""
    with search.read_as_independence("zero-dof" if zero_dof == "independent" else None):
        pcd = Neighbourhood(search, target)
        can_pcd = pcd.outside()
        while (y := can_pcd.take_strongest(pcd.members)) is not None:  # candidates that are separated are dropped
            pcd.mark_exhausted(y)
            pcd.include(y)
            pcd.eliminate(list(pcd.members), at_once=True)
        return tuple(pcd.members)


def pcd(search: Search, target: int, zero_dof: Unclear = "skipped") -> tuple[int, ...]:
    """Find a superset of the parents and children of the target by AlgorithmPCD alone."""
    return algorithm_pcd(search, target, zero_dof)


def algorithm_pc(search: Search, target: int, symmetry: bool = True, zero_dof: Unclear = "skipped") -> tuple[int, ...]:
    """AlgorithmPC: the members of PCD(T) whose own PCD contains the target; all of PCD(T) without symmetry."""
    found = algorithm_pcd(search, target, zero_dof)
    if not symmetry:
        return found
    search.prepare(algorithm_pcd, found, zero_dof)
    return tuple(x for x in found if target in algorithm_pcd(search, x, zero_dof))


def algorithm_mb(search: Search, target: int, symmetry: bool = True, zero_dof: Unclear = "skipped") -> Answer:
    """AlgorithmMB: parents and children, and the spouses found among their neighbours."""

    def pc(search: Search, y: int) -> Collection[int]:
        return algorithm_pc(search, y, symmetry, zero_dof)

    found = pc(search, target)
    prepare_around(search, target, found, algorithm_pcd, zero_dof, symmetry=symmetry)
    return blanket_around(search, target, found, pc)
