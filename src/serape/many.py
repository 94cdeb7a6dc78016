"""Work about many targets, side by side: threads, tests shared between targets, progress."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from serape.independence.base import IndependenceTest, Screen
from serape.search.progress import PATIENCE, Progress, Watcher
from serape.structure.knowledge import BoundKnowledge

MOST_SHARED = 10_000_000
"""Targets times variables up to which tests given nothing are shared: 250 MB of answers."""


def for_each(work: Callable[[int, Watcher], None], targets: Sequence[int], threads: int) -> None:
    """Do a piece of work for each target, on so many threads. What one of them raises ends the others too.

    The work is given a watcher, which its search must have: it ends the search when another thread is to stop.
    """
    stop = threading.Event()

    def stopper(now: Progress) -> None:
        del now
        if stop.is_set():
            raise KeyboardInterrupt

    def one(target: int) -> None:
        if stop.is_set():
            return
        try:
            work(target, stopper)
        except BaseException:
            stop.set()
            raise

    if threads == 1:
        for target in targets:
            one(target)
        return
    waiting = iter(targets)
    lock = threading.Lock()
    failures: list[BaseException] = []

    def work_on() -> None:
        try:
            while not stop.is_set():
                with lock:
                    target = next(waiting, None)
                if target is None:
                    return
                one(target)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work_on, daemon=True) for _ in range(min(threads, len(targets)))]
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


def given_nothing(
    test: IndependenceTest, targets: Sequence[int], knowledge: BoundKnowledge | None = None
) -> dict[int, Screen]:
    """Test every target against all variables given nothing, each pair once; nothing if that is too much to keep.

    Pairs that knowledge keeps apart are not tested.
    """
    count = len(test.variables)
    if len(targets) < 2 or len(targets) * count > MOST_SHARED:
        return {}
    everyone = np.arange(count, dtype=np.uint32)
    statistic, dof, log_p = (np.full((len(targets), count), np.nan) for _ in range(3))
    reliable = np.zeros((len(targets), count), bool)
    asked = np.ones(count, bool)
    done: list[int] = []
    fresh: Screen | None = None
    for row, target in enumerate(targets):
        asked[target] = False
        candidates = everyone[asked]
        if knowledge is not None:
            candidates = candidates[~np.isin(candidates, list(knowledge.apart(target)))]
        fresh = test.screen(target, candidates, ())
        answers = [(statistic, fresh.statistic), (dof, fresh.dof), (reliable, fresh.reliable)]
        if fresh.tail is None:
            answers.append((log_p, fresh.log_p))
        for matrix, values in answers:
            matrix[row, candidates] = values
            matrix[row, done] = matrix[:row, target]  # the same tests, seen from the other side
        done.append(target)
    assert fresh is not None
    tail = fresh.tail
    if tail is None:
        return {t: Screen(everyone, (), statistic[k], dof[k], reliable[k], log_p[k]) for k, t in enumerate(targets)}
    return {t: type(fresh)(everyone, (), statistic[k], dof[k], reliable[k], tail) for k, t in enumerate(targets)}


def shared_tests(known: Mapping[int, Screen]) -> int:
    """Return how many tests are behind what is known given nothing: a pair of targets was tested once."""
    targets = list(known)
    total = sum(int(np.count_nonzero(screen.reliable)) for screen in known.values())
    return total - sum(int(np.count_nonzero(screen.reliable[targets])) for screen in known.values()) // 2


class Show:
    """A bar with the time left, on a terminal, once the work has taken a moment; or a caller's own watcher."""

    def __init__(self, what: str, total: int, progress: bool | Watcher | None) -> None:
        self._what = what
        self._watcher = progress if callable(progress) else None
        self._wanted = progress is True or (progress is None and sys.stderr.isatty())
        self._patience = 0.0 if progress is True else PATIENCE
        self._started = time.perf_counter()
        self._total, self._done, self._tests = total, 0, 0
        self._bar: Bar | None = None
        self._lock = threading.Lock()

    def advance(self, target: str, members: tuple[str, ...], tests: int, skipped: int) -> None:
        """One target more is done."""
        with self._lock:
            self._done += 1
            self._tests += tests
            seconds = time.perf_counter() - self._started
            if self._watcher is not None:
                self._watcher(Progress(target, members, self._tests, skipped, seconds))
            if self._wanted and seconds >= self._patience:
                if self._bar is None:
                    columns = (TextColumn(self._what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
                    self._bar = Bar(*columns, console=Console(stderr=True))
                    self._bar.start()
                    self._bar.add_task(self._what, total=self._total)
                self._bar.update(self._bar.task_ids[0], completed=self._done)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
