"""Work about many targets, side by side: processes, threads, tests shared between targets, progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from serape.independence.base import IndependenceTest
from serape.independence.function import FunctionTest
from serape.independence.outcomes import as_positions
from serape.independence.screens import ScreenResult
from serape.knowledge import BoundKnowledge
from serape.parallel.processes import in_processes, possible
from serape.progress import Progress, ProgressCallback

Value = TypeVar("Value")

_TRIAL = 0.03  # seconds, before more processes are thought of
_WORTH_A_FORK = 0.25  # seconds of work that is left: less is done before others have started

MAX_SHARED = 10_000_000
"""Targets times variables up to which tests given nothing are shared: 250 MB of answers."""


def parallel_map(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    jobs: int,
    done: Callable[[int, Value], None],
    *,
    test: IndependenceTest | None = None,
    detach: Callable[[Value], Value] | None = None,
    if_shared: bool = False,
) -> bool:
    """Do a piece of work for each item, several at a time, and tell what came of each; return whether it was shared.

    Python works on one thread at a time, so several processes share what takes more than a moment, if the `test` that
    the work asks can live in them; threads do otherwise. `detach` makes a value fit to be sent from one to another. With
    `if_shared`, what is too little to be shared is left undone, but for some of the items. What one of them raises ends
    the others too. The work is given a watcher, which its search must have: it ends the search when another thread is
    to stop.
    """
    waiting = list(items)
    if jobs > 1 and len(waiting) > 2 and test is not None and can_fork(test):
        waiting, worth = _for_a_moment(work, waiting, done, if_shared)
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
    """Watch, but never end a search."""
    del now


def can_fork(test: IndependenceTest) -> bool:
    """Return whether a test can be asked in a process made by a fork: what others have written may not bear it."""
    return possible() and type(test).__module__.startswith("serape.") and not isinstance(test, FunctionTest)


def _for_a_moment(
    work: Callable[[int, ProgressCallback], Value],
    items: Sequence[int],
    done: Callable[[int, Value], None],
    only_a_moment: bool,
) -> tuple[list[int], bool]:
    """Work until it is clear whether it will take a while; return what is left then, and whether it will.

    If it will not, the work is done to the end, unless it is to be `only_a_moment`.
    """
    started = time.perf_counter()
    for count, item in enumerate(items):
        spent = time.perf_counter() - started
        if count and spent > _TRIAL:
            worth = spent / count * (len(items) - count) > _WORTH_A_FORK
            if worth or only_a_moment:
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

    def stopper(now: Progress) -> None:
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
                done(item, work(item, stopper))
        except BaseException as error:
            stop.set()
            failures.append(error)

    workers = [threading.Thread(target=work_on, daemon=True) for _ in range(min(threads, len(items)))]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():  # in short naps, so that Ctrl-C is noticed
                worker.join(0.1)
    except BaseException:
        stop.set()
        for worker in workers:
            worker.join()
        raise
    if failures:
        raise failures[0]


def marginal_tests(
    test: IndependenceTest, targets: Sequence[int], knowledge: BoundKnowledge | None = None, threads: int = 1
) -> dict[int, ScreenResult]:
    """Test every target against all variables given nothing, each pair once; nothing if that is too much to keep.

    Pairs that knowledge keeps apart are not tested.
    """
    if len(targets) < 2 or len(targets) * len(test.variables) > MAX_SHARED:
        return {}
    return test.marginals(targets, None if knowledge is None else knowledge.forbidden_neighbours, threads=threads)


def shared_tests(known: Mapping[int, ScreenResult]) -> int:
    """Return how many tests are behind what is known given nothing: a pair of targets was tested once."""
    targets = as_positions(list(known))
    total = sum(screen.performed for screen in known.values())
    return total - sum(screen.part(targets).performed for screen in known.values()) // 2
