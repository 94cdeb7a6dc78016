"""Steps about many targets, computed beforehand in several processes.

Algorithms that test a pair from both sides use the same steps about a variable for every target (`memoised`). Two
processes with half of the targets each would both compute nearly all steps. So the processes first compute the steps
about each target itself and collect them; the searches that follow find them among their `Steps`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from serape.independence.base import IndependenceTest
from serape.independence.screens import ScreenResult
from serape.parallel.map import parallel_map
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback
from serape.search import Budget, Search
from serape.search.associations import Associations
from serape.search.record import Record, Step
from serape.search.steps import Steps


class AskedOfTargets(Protocol):
    """A question about any target."""

    @property
    def source(self) -> IndependenceTest:
        """The test behind the search."""
        ...

    def kept(self, target: int) -> set[int]:
        """Return the members that no test removes."""
        ...

    def search(
        self,
        target: int | None,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        steps: Steps | None = None,
        *,
        keep_separations: bool = True,
        evidence: bool = True,
    ) -> Search:
        """Return a search for a target."""
        ...

    def answer(self, search: Search, target: int) -> object:
        """Return the algorithm's answer about a target."""
        ...


def precompute_steps(
    query: AskedOfTargets,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, ScreenResult],
    steps: Steps | None,
    progress: bool | ProgressCallback | None,
    budget: Budget | None = None,
    *,
    duplicates: bool = False,
) -> dict[int, Record]:
    """Compute the steps about each target itself, if there are several workers.

    Returns what was counted for each target. Its time counts towards the `budget`. With `duplicates`, duplicate
    columns are candidates too.
    """
    counted: dict[int, Record] = {}
    if steps is None or jobs == 1:
        return counted
    bar = ProgressBar("steps", len(targets), None if callable(progress) else progress)
    own = os.getpid()

    def compute(target: int, watch: ProgressCallback) -> tuple[bytes | None, Record]:
        about = None if duplicates else target
        search = query.search(about, watch=watch, marginals=known, steps=steps, evidence=False)
        with search.only_steps_about(target):
            query.answer(search, target)
        return None if os.getpid() == own else steps.pickled(target), search.record.of_counts()

    def keep(target: int, answer: tuple[bytes | None, Record]) -> None:
        computed, counted[target] = answer
        if computed is not None:
            steps.add_pickled(target, computed)
        bar.advance(query.source.variables[target], (), counted[target].tally.performed, 0)

    try:
        parallel_map(compute, targets, jobs, keep, test=query.source, budget=budget)
    finally:
        bar.close()
    return counted


def precompute_sets(
    query: AskedOfTargets,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, ScreenResult],
    steps: Steps,
    budget: Budget | None,
    done: Callable[[Step[tuple[int, ...]]], None],
) -> None:
    """Compute the step about each target where it is the only one and a set of variables, and call `done` with it.

    Its record has what was counted and, with a false discovery rate, the weakest associations of the members, and of
    neighbours that no test removes.
    """

    def compute(target: int, watch: ProgressCallback) -> Step[tuple[int, ...]]:
        search = query.search(None, watch=watch, marginals=known, steps=steps, keep_separations=False)
        with search.only_steps_about(target):
            query.answer(search, target)
        members, record = steps.take(target).value, search.record.of_counts()
        if search.keeps_associations:
            asked = ((x, search.weakest_association(x, target)) for x in {*members, *query.kept(target)})
            record.associations = Associations.of(target, {x: test for x, test in asked if test is not None})
        return Step(target, members, record)

    def keep(target: int, step: Step[tuple[int, ...]]) -> None:
        del target
        steps.pools.put(step)
        done(step)

    parallel_map(compute, targets, jobs, keep, test=query.source, budget=budget)
