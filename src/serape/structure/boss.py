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
1,000 on. The grow-shrink trees, which remember the scores, are in the core; all starts share them.

With knowledge, only parents that it allows are grown, and those that it requires are parents from the start: an order
in which one of them comes later has no graph, so no move leads there. An arc that is forbidden one way is missing in
orders that would need it, so their score is lower, and a move puts its ends the other way round. The second phase
removes nothing that would leave the class without a graph that obeys.

See docs/papers.md: Andrews et al. 2023.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.independence.outcomes import Floats
from serape.knowledge import BoundKnowledge
from serape.structure.constraints import ArcConstraints
from serape.structure.ges import backward_search
from serape.structure.graphs import PartlyDirected, cpdag
from serape.structure.scores import Score
from serape.structure.stopping import ScoreCallback, keeping
from serape.structure.tabu import TOGETHER

MOST_STARTS = 10
STEPS = 64
"""How many steps, each of which scores some families, are taken between looks at the time."""

Grown = tuple[list[int], list[float]]
"""Further parents that raise the score, the best first, and the scores with them."""


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

    `starts` are the orders to begin with; None is 10, fewer if there are more than 100 variables. `first` is the first
    of them, in which no parent that knowledge requires comes after its child; None is the order of the names.
    """
    n = len(score.variables)
    progress = _Progress(watch, score.total([()] * n))
    constraints = ArcConstraints(n, knowledge)
    family = _Family(score, constraints, max_parents, threads, progress)
    search = _core.OrderSearch(n, family.grow, family.shrink)
    found: list[list[int]] = []
    random = np.random.default_rng(0)
    starts = max(1, min(MOST_STARTS, 1000 // max(n, 1))) if starts is None else starts

    def best() -> PartlyDirected:
        if found or not search.order:
            return cpdag(found or constraints.required)
        if progress.order:  # no scores are asked for: the trees have those of this order
            search.set_order(progress.order)
        return cpdag([search.parents(y) for y in range(n)])

    with keeping(best):
        for start in range(starts):
            if first is None or start:
                first = constraints.order(random.permutation(n).tolist() if start else list(range(n)))
            search.set_order(list(first))
            _improve(search, score.rounding, progress)
            other = [search.parents(y) for y in range(n)]
            if not found or score.gain(found, other) > score.rounding:
                found = other
    return backward_search(score, found, knowledge=knowledge, threads=threads, watch=watch)


def _improve(search: _core.OrderSearch, rounding: float, progress: _Progress) -> None:
    """Move each variable to its best place in turn, until no move raises the score."""
    progress.moved(search)
    moving = True
    while moving:
        moving = False
        for variable in list(search.order):
            if search.best_move(variable, rounding):
                moving = True
                progress.moved(search)


class _Progress:
    """Tells of every move, and from time to time within long ones, so that a limit of time can end them."""

    def __init__(self, watch: ScoreCallback | None, total: float) -> None:
        self.watch = watch
        self.order: list[int] = []
        """After the last move."""
        self._last = (0, total)
        self._steps = 0

    def moved(self, search: _core.OrderSearch) -> None:
        """Keep the order, and tell of the arcs and the score."""
        self.order = list(search.order)
        if self.watch is not None:
            self._last = sum(len(search.parents(y)) for y in range(len(self.order))), search.total
            self.watch(*self._last)

    def step(self) -> None:
        """Tell of the last move again after some steps."""
        self._steps += 1
        if self.watch is not None and self._steps % STEPS == 0:
            self.watch(*self._last)


class _Family:
    """Grows and shrinks the parents of a child."""

    def __init__(
        self,
        score: Score,
        constraints: ArcConstraints,
        max_parents: int | None,
        threads: int,
        progress: _Progress,
    ) -> None:
        self.score = score
        self.progress = progress
        n = len(score.variables)
        self.max_parents = n if max_parents is None else max_parents
        self.threads = threads
        self.candidates = constraints.allowed
        self.required = constraints.required
        self.nodes = np.arange(n, dtype=np.uint32)
        self.allowed = [np.isin(self.nodes, xs) for xs in self.candidates]
        self.first: dict[int, Grown] = {}

    def grow(self, child: int, parents: Sequence[int]) -> Grown:
        """Return the further parents that raise the score of a child, the best first, and the scores with them."""
        self.progress.step()
        if missing := self.required[child].difference(parents):
            return [min(missing)], [0.0]
        if len(parents) >= self.max_parents:
            return [], []
        if not parents:
            return self._grow_first(child)
        others = self.allowed[child].copy()
        others[list(parents)] = False
        xs = self.nodes[others]
        return self._raising(child, xs, parents, self.score.additions(child, xs, parents, threads=self.threads))

    def shrink(self, child: int, parents: Sequence[int]) -> tuple[list[int], float]:
        """Return the parents that remain when no removal raises the score, and the score.

        The score is minus infinity if one that is required is not among them, because it comes later.
        """
        self.progress.step()
        required = self.required[child]
        if not required.issubset(parents):
            return [], -math.inf
        left = sorted(parents)
        best = self.score.family(child, left)
        while removable := [x for x in left if x not in required]:
            without = self.score.families(child, [[x for x in left if x != y] for y in removable])
            k = int(without.argmax())
            if not without[k] > best + self.score.rounding:
                break
            best = float(without[k])
            left.remove(removable[k])
        return left, best

    def _grow_first(self, child: int) -> Grown:
        """Return the first parents of a child; those of many children are scored together."""
        if child not in self.first:
            others = (y for y in range(len(self.candidates)) if y not in self.first and not self.required[y])
            children = list(islice(others, TOGETHER))
            children = [child, *(y for y in children if y != child)]
            queries = [(y, self.candidates[y], ()) for y in children]
            found = self.score.additions_of_many(queries, threads=self.threads)
            for y, after in zip(children, found, strict=True):
                self.first[y] = self._raising(y, self.candidates[y], (), after)
        return self.first.pop(child)

    def _raising(self, child: int, xs: NDArray[np.uint32], parents: Sequence[int], after: Floats) -> Grown:
        """Return the candidates that raise the score, the best first; of equals, the one with the smallest number."""
        raising = np.flatnonzero(after > self.score.family(child, parents) + self.score.rounding)
        raising = raising[np.argsort(-after[raising], kind="stable")]
        return xs[raising].tolist(), after[raising].tolist()
