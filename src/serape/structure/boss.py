"""BOSS, the best order score search.

Andrews, Ramsey, Sanchez Romero, Camchong and Kummerfeld, *Fast scalable and accurate discovery of DAGs using the best
order score search and grow-shrink trees*, NeurIPS 2023. An order of the variables has a graph: the parents of each
variable are found among those before it, by adding the parent that raises the score most as long as one does (grow),
and then removing parents as long as that raises it (shrink). Each variable in turn is moved to the place at which the
score of the graph is highest (`best_move`), until no move raises it. Backward equivalence search, the second phase of
GES, then removes what is left too much. The score must be the same for equivalent graphs. As the number of rows tends
to infinity, the graph of any order has the independences of the data only, and the search finds the class of the true
graph.

The first order is that of the names. The search ends at a local optimum, so it begins again with other orders, drawn
at random, and takes the graph of the highest score: ten orders, fewer if there are more than 100 variables, one from
1,000 on. The search is in the core, with the grow-shrink trees, which remember the scores; all starts share them.

See docs/papers.md: Andrews et al. 2023.
"""

from __future__ import annotations

import numpy as np

from serape import _core
from serape.knowledge import BoundKnowledge
from serape.structure.ges import backward_search
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping
from serape.structure.tabu import possible_parents

MOST_STARTS = 10


def boss(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    starts: int | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the search ends. Of knowledge, only forbidden pairs are used.

    `starts` are the orders to begin with; None is 10, fewer if there are more than 100 variables.
    """
    n = len(score.variables)
    search = _core.OrderSearch(
        score.core(),
        [xs.tolist() for xs in possible_parents(n, knowledge)],
        n if max_parents is None else max_parents,
        score.rounding,
        threads=threads,
    )
    progress = None if watch is None else _Progress(watch, score.total([()] * n))
    found: list[list[int]] = []
    random = np.random.default_rng(0)
    starts = max(1, min(MOST_STARTS, 1000 // max(n, 1))) if starts is None else starts

    def parents() -> list[list[int]]:
        return [search.parents(y) for y in range(n)]

    with keeping(lambda: cpdag(found or parents())):
        for start in range(starts):
            search.set_order(random.permutation(n).tolist() if start else list(range(n)), progress and progress.again)
            if progress is not None:
                progress.moved(search.arcs, search.total)
            search.improve(progress and progress.moved, progress and progress.again)
            other = parents()
            if not found or score.gain(found, other) > score.rounding:
                found = other
    return backward_search(score, found, threads=threads, watch=watch)


class _Progress:
    """Tells of every move, and from time to time within long ones, so that a limit of time can end them."""

    def __init__(self, watch: ScoreCallback, total: float) -> None:
        self._watch = watch
        self._last = 0, total

    def moved(self, arcs: int, total: float) -> None:
        """Tell of a move."""
        self._last = arcs, total
        self._watch(arcs, total)

    def again(self) -> None:
        """Tell of the last move again."""
        self._watch(*self._last)
