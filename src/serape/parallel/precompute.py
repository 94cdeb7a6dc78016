"""Steps about many targets, computed beforehand in several processes.

Algorithms that test a pair from both sides use the same steps about a variable for every target (`memoised`). Two
processes with half of the targets each would both compute nearly all steps. So the processes first compute the steps
about each target itself and collect them; the searches that follow find them in the cache.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from serape.independence.base import IndependenceTest
from serape.independence.outcomes import Tally
from serape.independence.screens import ScreenResult
from serape.parallel.map import can_fork, parallel_map
from serape.parallel.progress_bar import ProgressBar
from serape.progress import ProgressCallback
from serape.search import Search
from serape.search.memo import NeedsOtherTarget, StepCache, StepRecord

_TRIAL_TARGETS = 64


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
    *,
    duplicates: bool = False,
) -> tuple[dict[int, Tally], int]:
    """Compute the steps about each target itself, if they are worth sharing between processes.

    Returns the tests performed for each target, and the number of processes for the rest of the work: one, if the steps
    are not worth sharing. With `duplicates`, duplicate columns are candidates too.
    """
    tallies: dict[int, Tally] = {}
    if cache is None or jobs == 1 or not can_fork(query.source):
        return tallies, jobs
    bar = ProgressBar("steps", len(targets), None if callable(progress) else progress)

    def compute(target: int, watch: ProgressCallback) -> tuple[list[StepRecord], Tally]:
        search = query.search(None if duplicates else target, watch=watch, marginals=known, cache=cache)
        search.restrict_to = target
        with contextlib.suppress(NeedsOtherTarget):
            query.answer(search, target)
        return cache.records(target), search.tally

    def keep(target: int, answer: tuple[list[StepRecord], Tally]) -> None:
        steps, tallies[target] = answer
        cache.add(steps)
        bar.advance(query.source.variables[target], (), tallies[target].performed, 0)

    try:
        shared = parallel_map(compute, _spread(targets), jobs, keep, test=query.source, if_shared=True)
    finally:
        bar.close()
    return tallies, jobs if shared else 1


def _spread(targets: Sequence[int]) -> list[int]:
    """Return the targets, beginning with some from all over the table, from which the work is estimated."""
    step = max(1, len(targets) // _TRIAL_TARGETS)
    return [*targets[::step], *(target for k, target in enumerate(targets) if k % step)]
