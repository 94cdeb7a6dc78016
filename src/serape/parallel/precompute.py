"""Steps about many targets, taken ahead in several processes.

Algorithms that look at a pair from both ends take the same steps about a variable for everyone who asks (`once`). Two
processes that each went through half of the targets would both take nearly all of them. So first everyone's own steps
are taken, shared out between the processes, and brought together; what is left to do for a target then finds them done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from serape.independence.base import ScreenResult, Tally
from serape.parallel.map import ProgressBar, can_fork, parallel_map
from serape.progress import ProgressCallback
from serape.questions.query import Query
from serape.search.memo import NeedsOtherTarget, StepCache, StepRecord

_JUDGED_BY = 64  # targets


def precompute_steps(
    query: Query,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, ScreenResult],
    memory: StepCache | None,
    progress: bool | ProgressCallback | None,
    *,
    copies: bool = False,
) -> tuple[dict[int, Tally], int]:
    """Take the targets' own steps, if they are worth sharing out.

    Returns what each of them took, and how many processes are to do the rest: one, if they were not. With `copies`,
    copies of columns take part.
    """
    tallies: dict[int, Tally] = {}
    if memory is None or jobs == 1 or not can_fork(query.source):
        return tallies, jobs
    show = ProgressBar("own steps", len(targets), None if callable(progress) else progress)

    def own(target: int, watch: ProgressCallback) -> tuple[list[StepRecord], Tally]:
        search = query.search(None if copies else target, watch=watch, marginals=known, memory=memory)
        search.restrict_to = target
        with contextlib.suppress(NeedsOtherTarget):
            query.answer(search, target)
        return memory.taken(target), search.tally

    def keep(target: int, answer: tuple[list[StepRecord], Tally]) -> None:
        steps, tallies[target] = answer
        memory.add(steps)
        show.advance(query.source.variables[target], (), tallies[target].performed, 0)

    try:
        shared = parallel_map(own, _spread(targets), jobs, keep, test=query.source, if_shared=True)
    finally:
        show.close()
    return tallies, jobs if shared else 1


def _spread(targets: Sequence[int]) -> list[int]:
    """Return the targets with some from all over the table first, by whom the others can be judged."""
    step = max(1, len(targets) // _JUDGED_BY)
    return [*targets[::step], *(target for k, target in enumerate(targets) if k % step)]
