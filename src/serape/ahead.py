"""Steps about many targets, taken ahead in several processes.

Algorithms that look at a pair from both ends take the same steps about a variable for everyone who asks (`once`). Two
processes that each went through half of the targets would both take nearly all of them. So first everyone's own steps
are taken, shared out between the processes, and brought together; what is left to do for a target then finds them done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence

from serape.api import Task
from serape.independence.base import Screen, Tally
from serape.many import Show, can_fork, for_each
from serape.search.once import ElsewhereError, Memory, Taken
from serape.search.progress import Watcher

_JUDGED_BY = 64  # targets


def take_ahead(
    task: Task,
    targets: Sequence[int],
    jobs: int,
    known: Mapping[int, Screen],
    memory: Memory | None,
    progress: bool | Watcher | None,
    *,
    copies: bool = False,
) -> tuple[dict[int, Tally], int]:
    """Take the targets' own steps, if they are worth sharing out.

    Returns what each of them took, and how many processes are to do the rest: one, if they were not. With `copies`,
    copies of columns take part.
    """
    tallies: dict[int, Tally] = {}
    if memory is None or jobs == 1 or not can_fork(task.source):
        return tallies, jobs
    show = Show("own steps", len(targets), None if callable(progress) else progress)

    def own(target: int, watch: Watcher) -> tuple[list[Taken], Tally]:
        search = task.search(None if copies else target, watch=watch, marginals=known, memory=memory)
        search.only = target
        with contextlib.suppress(ElsewhereError):
            task.answer(search, target)
        return memory.taken(target), search.tally

    def keep(target: int, answer: tuple[list[Taken], Tally]) -> None:
        steps, tallies[target] = answer
        memory.add(steps)
        show.advance(task.source.variables[target], (), tallies[target].performed, 0)

    try:
        shared = for_each(own, _spread(targets), jobs, keep, test=task.source, if_shared=True)
    finally:
        show.close()
    return tallies, jobs if shared else 1


def _spread(targets: Sequence[int]) -> list[int]:
    """Return the targets with some from all over the table first, by whom the others can be judged."""
    step = max(1, len(targets) // _JUDGED_BY)
    return [*targets[::step], *(target for k, target in enumerate(targets) if k % step)]
