"""Blankets of many targets at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from serape.api import Reliability, Task, thread_count
from serape.independence import DofRule
from serape.independence.base import Screen
from serape.local.registry import LocalAlgorithm
from serape.results.result import Result
from serape.search import Memory
from serape.search.progress import PATIENCE, Progress, Watcher

MOST_SHARED = 10_000_000
"""Targets times variables up to which tests given nothing are shared: 250 MB of answers."""


def blankets(
    data: Any,
    targets: Iterable[str | int] | None = None,
    algorithm: str | LocalAlgorithm = "auto",
    test: str = "auto",
    alpha: float = 0.05,
    max_conditioning: int | None = None,
    reliability: Reliability = "auto",
    dof: DofRule = "auto",
    random_state: int | None = None,
    n_jobs: int = 1,
    progress: bool | Watcher | None = None,
    **algorithm_options: Any,
) -> dict[str, Result]:
    """Find the Markov blankets of many targets (all variables, if none are named); a dict by name of target.

    The table is packed once. Tests given nothing are symmetric, so those between two targets are performed once and
    shared: they are not in a result's own `tests`, and a note says how many there were. (Above ten million targets
    times variables, where the answers would not fit memory, each target asks for itself.) Divide-and-conquer algorithms
    look at the neighbours of a target's neighbours too; each neighbourhood is found once for all targets. The answers
    are those that each target would get by itself; a result's `tests` are those that nobody had performed before, so
    they depend on who came first. Evidence is gathered when it is first looked at, by a search of its own.
    Constant columns are left out when no targets are named.

    `n_jobs` threads work on different targets; the answers do not depend on it. Interrupted by Ctrl-C, it returns the
    results that are complete. All other arguments are those of `markov_blanket`; a callable `progress` is told after
    each target, with its name, blanket and number of tests.
    """
    task = Task.make(
        data, "blanket", algorithm, test, alpha, max_conditioning, reliability, dof, random_state, algorithm_options
    )
    if targets is None:
        table = getattr(task.source, "table", None)
        positions = list(range(len(task.source.variables))) if table is None else table.varying
    else:
        positions = list(dict.fromkeys(task.position(t) for t in targets))
    return ask_of_many(task, positions, thread_count(n_jobs), progress)


def ask_of_many(
    task: Task, positions: list[int], threads: int = 1, progress: bool | Watcher | None = None
) -> dict[str, Result]:
    """Ask a question of many targets, sharing what can be shared."""
    found: dict[int, Result] = {}
    show = _Show(len(positions), progress)
    stop = threading.Event()

    def one(target: int) -> None:
        if stop.is_set():
            return
        try:
            result = task.run(target, watch=_Stopper(stop), marginals=_known(target, shared, memory), memory=memory)
            found[target] = replace(result, notes=(*result.notes, *notes))
            show.advance(found[target])
        except BaseException:
            stop.set()
            raise

    shared: Mapping[int, Screen] = {}
    memory = Memory() if task.algorithm.shares and task.random_state is None and len(positions) > 1 else None
    notes: list[str] = []
    try:
        shared = _marginals(task, positions, show)
        if shared:
            notes.append(f"{show.shared:,} tests given nothing were shared between the targets")
        if memory is not None:
            notes.append("neighbourhoods found for other targets were shared; `tests` are those performed for this one")
        if threads == 1:
            for target in positions:
                one(target)
        else:
            _in_threads(one, positions, threads, stop)
    except KeyboardInterrupt:
        pass  # what is complete is returned
    finally:
        show.close()
    return {task.source.variables[target]: found[target] for target in positions if target in found}


def _in_threads(one: Any, positions: list[int], threads: int, stop: threading.Event) -> None:
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(one, target) for target in positions]
        try:
            waiting = set(futures)
            while waiting:  # in short naps, so that Ctrl-C is noticed
                done, waiting = wait(waiting, timeout=0.1)
                for future in done:
                    future.result()
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise


class _Stopper:
    """A watcher that ends a search in another thread."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, now: Progress) -> None:
        del now
        if self._stop.is_set():
            raise KeyboardInterrupt


def _known(target: int, shared: Mapping[int, Screen], memory: Memory | None) -> Mapping[int, Screen]:
    """Return what is known given nothing: of all targets if a search may look at others, else of its own."""
    return shared if memory is not None or target not in shared else {target: shared[target]}


def _marginals(task: Task, positions: list[int], show: _Show) -> dict[int, Screen]:
    """Test every target against all variables given nothing, each pair once."""
    count = len(task.source.variables)
    if len(positions) < 2 or len(positions) * count > MOST_SHARED:
        return {}
    everyone = np.arange(count, dtype=np.uint32)
    statistic, dof, log_p = (np.full((len(positions), count), np.nan) for _ in range(3))
    reliable = np.zeros((len(positions), count), bool)
    for row, target in enumerate(positions):
        done = positions[:row]
        asked = everyone[~np.isin(everyone, [target, *done])]
        fresh = task.source.screen(target, asked, ())
        show.shared += int(np.count_nonzero(fresh.reliable))
        answers = (fresh.statistic, fresh.dof, fresh.log_p, fresh.reliable)
        for matrix, values in zip((statistic, dof, log_p, reliable), answers, strict=True):
            matrix[row, asked] = values
            matrix[row, done] = matrix[:row, target]  # the same tests, seen from the other side
    return {
        target: Screen(everyone, (), statistic[row], dof[row], reliable[row], log_p[row])
        for row, target in enumerate(positions)
    }


class _Show:
    """A bar with the time left, on a terminal, once the work has taken a moment; or a caller's own watcher."""

    def __init__(self, total: int, progress: bool | Watcher | None) -> None:
        self.shared = 0
        self._watcher = progress if callable(progress) else None
        self._wanted = progress is True or (progress is None and sys.stderr.isatty())
        self._patience = 0.0 if progress is True else PATIENCE
        self._started = time.perf_counter()
        self._total, self._done, self._tests = total, 0, 0
        self._bar: Bar | None = None
        self._lock = threading.Lock()

    def advance(self, result: Result) -> None:
        """One target more is done."""
        with self._lock:
            self._done += 1
            self._tests += result.tests
            seconds = time.perf_counter() - self._started
            if self._watcher is not None:
                self._watcher(Progress(result.target, result.blanket, self._tests, result.skipped, seconds))
            if self._wanted and seconds >= self._patience:
                if self._bar is None:
                    columns = (TextColumn("blankets"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
                    self._bar = Bar(*columns, console=Console(stderr=True))
                    self._bar.start()
                    self._bar.add_task("blankets", total=self._total)
                self._bar.update(self._bar.task_ids[0], completed=self._done)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
