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
at random, and takes the graph of the highest score: ten orders, fewer if there are more than 100 variables (or scores
that stand for them), one from 1,000 on. The search is in the core, with the grow-shrink trees, which remember the
scores; all starts share them.

With knowledge, parents that it requires come before their children in every order and are in every family, and none is
grown that it does not allow. An arc that is forbidden one way is missing in orders that
would need it, so their score is lower, and a move puts its ends the other way round. The second phase removes nothing
that would leave the class without a graph that obeys.

See docs/papers.md: Andrews et al. 2023.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from serape import _core
from serape.knowledge import BoundKnowledge
from serape.structure.constraints import ArcConstraints
from serape.structure.ges import backward_search
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping

MOST_STARTS = 10


def boss(
    score: Score,
    *,
    knowledge: BoundKnowledge | None = None,
    max_parents: int | None = None,
    starts: int | None = None,
    first: Sequence[int] | None = None,
    threads: int = 1,
    watch: ScoreCallback | None = None,
) -> PartlyDirected:
    """Return the completed graph at which the search ends; one of its class obeys the knowledge.

    `starts` are the orders to begin with; None is 10, fewer if the size of the score is above 100. `first` is the first
    of them, in which no parent that knowledge requires comes after its child; None is the order of the names.
    """
    n = len(score.variables)
    constraints = ArcConstraints(n, knowledge)
    required = [sorted(xs) for xs in constraints.required]
    search = _core.OrderSearch(
        score.core(),
        [xs.tolist() for xs in constraints.allowed],
        n if max_parents is None else max_parents,
        score.rounding,
        required=required,
        earlier=required,
        threads=threads,
    )
    progress = None if watch is None else _Progress(watch, score.total([()] * n))
    found: list[list[int]] = []
    random = np.random.default_rng(0)
    starts = max(1, min(MOST_STARTS, 1000 // max(score.size, 1))) if starts is None else starts

    def parents() -> list[list[int]]:
        return [search.parents(y) for y in range(n)]

    with keeping(lambda: cpdag(found or parents())):
        for start in range(starts):
            if first is None or start:
                first = constraints.order(random.permutation(n).tolist() if start else list(range(n)))
            search.set_order(first, progress and progress.again)
            if progress is not None:
                progress.moved(search.arcs, search.total)
            search.improve(progress and progress.moved, progress and progress.again)
            other = parents()
            if not found or score.gain(found, other) > score.rounding:
                found = other
    return backward_search(score, found, knowledge=knowledge, threads=threads, watch=watch)


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
