"""Work on many targets in parallel: processes, threads, and tests that targets share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from serape.independence.base import IndependenceTest
from serape.independence.dependent_pairs import DependentPairs, find_dependent_pairs
from serape.independence.function import FunctionTest
from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge
from serape.parallel.processes import in_processes, possible
from serape.progress import Progress, ProgressCallback

Value = TypeVar("Value")

_TRIAL = 0.03  # seconds of work after which the rest is estimated
_WORTH_A_FORK = 0.25  # seconds of remaining work: less is done before other processes have started

MAX_SHARED = 10_000_000
"""The most targets times variables for which tests given nothing are shared: 250 MB of answers."""


def parallel_map(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    jobs: int,
    done: Callable[[int, Value], None],
    *,
    test: object | None = None,
    detach: Callable[[Value], Value] | None = None,
    if_shared: bool = False,
) -> bool:
    """Do the work for each item, several at a time, and call `done` with each value; return whether it was shared.

    Python runs one thread at a time. So work that takes more than a moment is shared by processes, if the `test` behind
    it can be used in them, and by threads otherwise. `detach` makes a value fit to be sent to another process. With
    `if_shared`, work that is too short to be shared ends after the first items. An exception in one item ends all
    others. The work receives a progress callback, which it must pass to its search: it ends the search when the others
    end.
    """
    waiting = list(items)
    if jobs > 1 and len(waiting) > 2 and test is not None and can_fork(test):
        waiting, worth = _try_first(work, waiting, done, if_shared)
        if worth:
            in_processes(lambda item, look: work(item, lambda _: look()), waiting, jobs, done, detach)
        return worth
    if jobs == 1:
        for item in waiting:
            done(item, work(item, _ignore_progress))
        return False
    _in_threads(work, waiting, jobs, done)
    return True


def _ignore_progress(now: Progress) -> None:
    """Do nothing with progress."""
    del now


def can_fork(test: object) -> bool:
    """Return whether a test or score can be used in a forked process; one of the caller's own may not allow it."""
    return possible() and type(test).__module__.startswith("serape.") and not isinstance(test, FunctionTest)


def _try_first(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    done: Callable[[int, Value], None],
    stop_if_short: bool,
) -> tuple[list[int], bool]:
    """Work on the first items; return the remaining ones, and whether they are worth sharing.

    Work that is not worth sharing is done to the end, unless `stop_if_short`.
    """
    started = time.perf_counter()
    for count, item in enumerate(items):
        spent = time.perf_counter() - started
        if count and spent > _TRIAL:
            worth = spent / count * (len(items) - count) > _WORTH_A_FORK
            if worth or stop_if_short:
                return list(items[count:]), worth
        done(item, work(item, _ignore_progress))
    return [], False


def _in_threads(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    threads: int,
    done: Callable[[int, Value], None],
) -> None:
    stop = threading.Event()

    def stop_search(now: Progress) -> None:
        del now
        if stop.is_set():
            raise KeyboardInterrupt

    waiting = iter(items)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def work_on() -> None:
        try:
            while not stop.is_set():
                with lock:
                    item = next(waiting, None)
                if item is None:
                    return
                done(item, work(item, stop_search))
        except BaseException as error:
            stop.set()
            failures.append(error)

    workers = [threading.Thread(target=work_on, daemon=True) for _ in range(min(threads, len(items)))]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():  # with a timeout, so that Ctrl-C is noticed
                worker.join(0.1)
    except BaseException:
        stop.set()
        for worker in workers:
            worker.join()
        raise
    if failures:
        raise failures[0]


def marginal_tests(
    test: IndependenceTest,
    targets: Sequence[int],
    knowledge: BoundKnowledge | None = None,
    threads: int = 1,
    log_alpha: float | None = None,
) -> Mapping[int, ScreenResult]:
    """Test every target against all variables given nothing, each pair once; none if the answers are too many.

    Of many pairs only those dependent at `log_alpha` are kept, if it is given. Pairs that knowledge forbids are not
    tested.
    """
    if len(targets) < 2:
        return {}
    if len(targets) * len(test.variables) > MAX_SHARED:
        if log_alpha is None or knowledge is not None:
            return {}
        return find_dependent_pairs(test, targets, log_alpha, threads) or {}
    return test.marginals(targets, None if knowledge is None else knowledge.forbidden_neighbours, threads=threads)


def shared_tests(known: Mapping[int, ScreenResult]) -> int:
    """Return the number of tests behind the marginal tests of targets: a pair of targets was tested once."""
    if isinstance(known, DependentPairs):
        return known.tests
    targets = as_positions(list(known))
    total = sum(screen.performed for screen in known.values())
    return total - sum(screen.part(targets).performed for screen in known.values()) // 2
