"""Steps about many targets, computed beforehand in several processes.

Algorithms that test a pair from both sides use the same steps about a variable for every target (`memoised`). Two
processes with half of the targets each would both compute nearly all steps. So the processes first compute the steps
about each target itself and collect them; the searches that follow find them in the cache.
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
from serape.search.memo import StepCache
from serape.search.record import Record


class Asked(Protocol):
    """A question about any target."""

    @property
    def source(self) -> IndependenceTest:
        """The test behind the search."""
        ...

    def search(
        self,
        target: int | None,
        threads: int = 1,
        watch: ProgressCallback | None = None,
        marginals: Mapping[int, ScreenResult] | None = None,
        cache: StepCache | None = None,
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
    query: Asked,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, ScreenResult],
    cache: StepCache | None,
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
    if cache is None or jobs == 1:
        return counted
    bar = ProgressBar("steps", len(targets), None if callable(progress) else progress)
    own = os.getpid()

    def compute(target: int, watch: ProgressCallback) -> tuple[bytes | None, Record]:
        about = None if duplicates else target
        search = query.search(about, watch=watch, marginals=known, cache=cache, evidence=False)
        with search.only_steps_about(target):
            query.answer(search, target)
        return None if os.getpid() == own else cache.pickled(target), search.record.of_counts()

    def keep(target: int, answer: tuple[bytes | None, Record]) -> None:
        steps, counted[target] = answer
        if steps is not None:
            cache.add_pickled(target, steps)
        bar.advance(query.source.variables[target], (), counted[target].tally.performed, 0)

    try:
        parallel_map(compute, targets, jobs, keep, test=query.source, budget=budget)
    finally:
        bar.close()
    return counted


def precompute_sets(
    query: Asked,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, ScreenResult],
    cache: StepCache,
    budget: Budget | None,
    done: Callable[[int, tuple[int, ...], Record], None],
) -> None:
    """Compute the step about each target where it is the only one and a set of variables; nothing else is kept.

    Calls `done` with each set and what was counted for it.
    """

    def compute(target: int, watch: ProgressCallback) -> tuple[tuple[int, ...], Record]:
        search = query.search(None, watch=watch, marginals=known, cache=cache, keep_separations=False)
        with search.only_steps_about(target):
            query.answer(search, target)
        return cache.take_set(target), search.record.of_counts()

    def keep(target: int, answer: tuple[tuple[int, ...], Record]) -> None:
        cache.pools.of[target] = answer[0]
        done(target, *answer)

    parallel_map(compute, targets, jobs, keep, test=query.source, budget=budget)
