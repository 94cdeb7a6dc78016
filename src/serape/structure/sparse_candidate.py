"""SCA, the sparse candidate algorithm.

Friedman, Nachman and Pe'er, *Learning Bayesian network structure from massive datasets: the "sparse candidate"
algorithm*, UAI 1999. Restrict: the candidates of each variable are its parents and those others that would improve its
score most as further parents, k in all. Maximise: search for the best graph in which all parents are candidates. Both
steps alternate until the score does not rise any more.

See docs/papers.md: Rodrigues de Morais and Aussem 2010, Section 5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from serape.knowledge import BoundKnowledge
from serape.structure.constraints import possible_parents
from serape.structure.graphs import PartlyDirected
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping
from serape.structure.tabu import PATIENCE, TABU, TOGETHER, CandidatesOfEach, tabu_search


def sparse_candidate(
    score: Score,
    *,
    k: int = 10,
    knowledge: BoundKnowledge | None = None,
    tabu: int = TABU,
    patience: int = PATIENCE,
    max_parents: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> list[set[int]]:
    """Return the parents of every node in the best graph found."""
    allowed = possible_parents(len(score.variables), knowledge)
    found: list[set[int]] = [set() for _ in allowed]
    for x, y in () if knowledge is None else knowledge.required:
        found[y].add(x)
    with keeping(lambda: PartlyDirected.of_dag(found)):
        while True:
            candidates = _restrict(score, allowed, found, k, threads)
            better = tabu_search(
                score, candidates, found,
                knowledge=knowledge, tabu=tabu, patience=patience, max_parents=max_parents, threads=threads,
                watch=watch,
            )  # fmt: skip
            if score.gain(found, better) <= score.rounding:
                break
            found = better
    return found


def _restrict(
    score: Score, allowed: CandidatesOfEach, parents: Sequence[set[int]], k: int, threads: int
) -> list[NDArray[np.uint32]]:
    """Return, by child, its parents and the best others, k in all (only the parents, if they are more than k)."""
    found = []
    for first in range(0, len(allowed), TOGETHER):
        children = range(first, min(first + TOGETHER, len(allowed)))
        queries = [(y, allowed[y][~np.isin(allowed[y], list(parents[y]))], sorted(parents[y])) for y in children]
        scores = score.additions_of_many(queries, threads=threads)
        for (_, others, before), after in zip(queries, scores, strict=True):
            n_others = min(max(k - len(before), 0), len(others))
            best = others[np.argsort(-after, kind="stable")[:n_others]]
            found.append(np.sort(np.concatenate([best, np.array(before, np.uint32)])))
    return found
