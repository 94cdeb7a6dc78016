"""Work on many items with several cores.

The calling process begins alone, unless there is much to count: what takes only a moment is done before others could
help. Then workers take what is left in chunks, the more is left, the larger, and the calling process collects what they
find. See `workers` for who they are.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from serape.data.table import Table
from serape.progress import Progress, ProgressCallback
from serape.search.budget import Budget
from serape.search.steps import ComputeEach

if TYPE_CHECKING:
    from serape.parallel.workers import Start

Value = TypeVar("Value")

LARGE = 1_000_000_000
"""Values (rows × columns × items) from which on workers start at once; reading them takes about a second."""
_MAX_CHUNK = 100  # items, so that what is found comes back soon
_CHUNKS = 4  # per worker, of what is left


def parallel_map(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    jobs: int,
    done: Callable[[int, Value], None],
    *,
    test: object = None,
    detach: Callable[[Value], Value] | None = None,
    budget: Budget | None = None,
) -> None:
    """Do the work for each item, several at a time, and call `done` with each value, in this thread and in no order.

    Work with a `test` of the caller is shared by threads, because nobody knows whether it can be used elsewhere.
    `detach` makes a value fit to be sent to another process. What workers use of a `budget` that the items share is
    added to what this thread has used. An exception in one item ends all others. The work
    receives a progress callback, which it must pass to its search: it ends the search when the others end.
    """
    left = deque(items)
    fetcher = getattr(test, "fetcher", None)
    jobs = jobs if fetcher is None else max(jobs, fetcher.together)  # questions to a cluster travel together
    start = _workers(test, jobs)
    patience = 0.0 if start is None or _values(test, len(items)) > LARGE else start.after
    begun = time.perf_counter()
    while left:
        if start is not None and len(left) > 1 and time.perf_counter() - begun >= patience:
            break
        item = left.popleft()
        done(item, work(item, _ignore_progress))
    if left and start is not None:
        from serape.parallel.workers import Task

        workers = min(jobs, len(left))
        task = Task(work, detach)
        if budget is not None:
            budget.watch.hand_over()
            task = Task(_timed(work), None if detach is None else lambda both: (detach(both[0]), both[1]))
        with closing(start.run(task, _chunks(left, workers), workers)) as everything:
            for found in everything:
                for item, value in found:
                    if budget is not None:
                        value, seconds = value
                        budget.watch.add(seconds / workers)
                    done(item, value)


def compute_each(test: object, jobs: int) -> ComputeEach | None:
    """Return how a search computes steps beforehand, in forked processes; None if it cannot, or should not."""
    start = _workers(test, jobs)
    if start is None or not start.forks:
        return None
    return lambda work, items, done: parallel_map(work, items, jobs, done, test=test)


def _workers(test: object, jobs: int) -> Start | None:
    """Return the way to start workers; None if this process works alone."""
    if jobs == 1 or _is_nested():
        return None
    from serape.parallel.workers import choose_workers

    return choose_workers(test)


def _timed(work: Callable[[int, ProgressCallback], Value]) -> Callable[[int, ProgressCallback], tuple[Value, float]]:
    """Return work that also returns the processor time that it takes."""

    def timed(item: int, watch: ProgressCallback) -> tuple[Value, float]:
        began = time.thread_time()
        value = work(item, watch)
        return value, time.thread_time() - began

    return timed


def _ignore_progress(now: Progress) -> None:
    """Do nothing with progress."""
    del now


def _values(test: object, items: int) -> int:
    """Return the number of values that are read if each item reads the table once."""
    table = getattr(test, "table", None)
    if not isinstance(table, Table) or table.remote is not None:
        return 0
    values = items * table.rows * len(table.names)
    if values <= LARGE or not getattr(test, "counts_cells", False):
        return values
    return values // table.rows * table.packed.counted_rows()  # made once, before others begin


def _is_nested() -> bool:
    """Return whether this is work that joblib has given to a worker: all cores are in use."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    return bool((get_active_backend()[0].nesting_level or 0) > 0)


def _chunks(left: deque[int], jobs: int) -> Iterator[list[int]]:
    """Return an iterator over the items that are left; any thread may ask for the next chunk."""
    lock = Lock()

    def take() -> list[int]:
        with lock:
            return [left.popleft() for _ in range(min(_MAX_CHUNK, -(-len(left) // (_CHUNKS * jobs))))]

    return iter(take, [])
