"""Who works on the items of `parallel_map`.

- On Linux, forked processes (`forked`): they begin within milliseconds and share everything there is, without copies.
- Elsewhere, and where the caller is not the main thread, loky's processes, through joblib. They need a second or more
  to start, and read what they need from one file that is mapped into memory (`shared_file`).
- Inside `joblib.parallel_config`, the workers of the backend chosen there.
- Threads, where Python has no global lock, for tests of the caller, and in daemonic processes, which may start none.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from serape.errors import ClusterError, Interrupted, SerapeError
from serape.parallel.forked import ENDED, ForkedProcesses
from serape.parallel.shared_file import SharedFile, is_wanted, read_shared
from serape.progress import Progress, ProgressCallback

FoundValues = list[tuple[int, Any]]
"""Items with the values that were found for them."""

_WARM = 60.0  # seconds for which loky's workers certainly wait for more work
_LOST = "the cluster has lost this work, perhaps because its scheduler is gone or was started again; ask again"


@dataclass(frozen=True)
class Task:
    """What a worker does with the items of a chunk."""

    work: Callable[[int, ProgressCallback], Any]
    detach: Callable[[Any], Any] | None

    def __call__(self, items: Sequence[int], is_over: Callable[[], bool]) -> FoundValues:
        """Return what is found, or what was found when the work ended."""
        found: FoundValues = []

        def stop_search(now: Progress) -> None:
            del now
            if is_over():
                raise KeyboardInterrupt

        try:
            for item in items:
                value = self.work(item, stop_search)
                found.append((item, value if self.detach is None else self.detach(value)))
        except (KeyboardInterrupt, Interrupted):
            if not is_over():
                raise
        return found


@dataclass(frozen=True)
class Start:
    """A way to start workers."""

    run: Callable[[Task, Iterator[list[int]], int], Generator[FoundValues, None, None]]
    """Yields what the workers find in the chunks, with so many of them."""
    after: float
    """Seconds for which the calling process works alone, because starting them takes as long."""

    @property
    def forks(self) -> bool:
        """Whether the workers are forked processes, which have all that the calling process has."""
        return self.run is _in_forked_processes


def choose_workers(test: object) -> Start:
    """Return the way to start workers for work with a test or score."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    own = not getattr(test, "of_caller", True)
    is_remote = getattr(test, "fetcher", None) is not None
    if _backend_is_chosen() and not is_remote:
        return Start(_through_joblib, 0.0)
    if is_remote or not (has_lock and own) or multiprocessing.current_process().daemon:
        return Start(_in_threads, 0.0)
    if sys.platform == "linux" and threading.current_thread() is threading.main_thread():
        return Start(_in_forked_processes, 0.05)
    return Start(_through_joblib, 0.1 if time.monotonic() - _last_used < _WARM else 1.0)


# --- forked processes -------------------------------------------------------------------------------------------------


def _in_forked_processes(task: Task, chunks: Iterator[list[int]], jobs: int) -> Generator[FoundValues, None, None]:
    def work(items: list[int]) -> FoundValues:
        return task(items, lambda: False)  # it is killed when the work is over

    return ForkedProcesses(work, chunks, jobs).answers()


# --- joblib's workers -------------------------------------------------------------------------------------------------

_last_used = -_WARM


def _backend_is_chosen() -> bool:
    """Return whether the caller chose a backend with `joblib.parallel_config`."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    backends = [get_active_backend(prefer=prefer)[0] for prefer in ("processes", "threads")]
    return type(backends[0]) is type(backends[1])  # without a choice, the hint decides


def _through_joblib(task: Task, chunks: Iterator[list[int]], jobs: int) -> Generator[FoundValues, None, None]:
    global _last_used
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="processes")
    if getattr(backend, "uses_threads", False):
        yield from _in_threads(task, chunks, jobs)
        return
    returns = "generator_unordered" if backend.supports_return_generator else "list"
    asked: dict[int, list[int]] = {}  # by their first items: chunks that have not come back
    repeated: set[int] = set()

    def tasks(path: str) -> Iterator[Any]:
        for chunk in chain(list(asked.values()), chunks):
            asked[chunk[0]] = chunk
            yield delayed(_work_on_shared)(path, chunk)

    try:
        while True:
            parallel = Parallel(jobs, prefer="processes", return_as=returns, batch_size=1)
            file = SharedFile(task)
            try:
                with _ending(parallel, tasks(file.path), file.delete) as everything:
                    for found in everything:
                        if isinstance(found, SerapeError):
                            raise found
                        del asked[found[0][0]]
                        yield found
                if not asked:
                    return
            except Exception as error:
                kinds = {kind.__name__ for kind in type(error).__mro__}
                if "BrokenProcessPool" in kinds and not repeated & asked.keys():  # loky ends all workers with one
                    repeated |= asked.keys()
                elif kinds & {"BrokenProcessPool", "KilledWorker", "WorkerCrashedError"}:  # of loky, Dask, Ray
                    raise SerapeError(ENDED) from None
                elif kinds & {"FutureCancelledError", "CommClosedError"}:  # of Dask
                    raise ClusterError(_LOST) from None
                else:
                    raise
    finally:
        _last_used = time.monotonic()


@contextlib.contextmanager
def _ending(parallel: Any, tasks: Iterator[Any], tell: Callable[[], None]) -> Iterator[Any]:
    """Give tasks to joblib's workers; at the end, `tell` them, and end those whose answers are not wanted any more."""
    everything: Any = None
    try:
        everything = parallel(tasks)
        yield everything
    finally:
        tell()
        if hasattr(everything, "close"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about work that is not used
                everything.close()


_shared: tuple[str, Task] | None = None  # in a worker, the last task with its file


def _work_on_shared(path: str, items: Sequence[int]) -> FoundValues | SerapeError:
    """Do the task in a shared file for some items."""
    global _shared
    _end_with_parent()
    if _shared is None or _shared[0] != path:
        _shared = None  # so that there are never two
        try:
            _shared = path, read_shared(path)
        except FileNotFoundError:  # the work is over, or this is another machine
            return SerapeError(f"a worker cannot read {path}; name a folder that all see in JOBLIB_TEMP_FOLDER")
    return _shared[1](items, lambda: not is_wanted(path))


@cache
def _end_with_parent() -> None:
    """End this worker soon after its parent, even if that is killed; by itself loky's would wait for minutes."""
    parent = multiprocessing.parent_process()
    if parent is None or type(multiprocessing.current_process()).__name__ != "LokyProcess":
        return

    def watch() -> None:
        if sys.platform == "win32":
            parent.join()
        while os.getppid() == parent.pid:  # loky's workers cannot wait for it
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# --- threads ----------------------------------------------------------------------------------------------------------


def _in_threads(task: Task, chunks: Iterator[list[int]], jobs: int) -> Generator[FoundValues, None, None]:
    from joblib import Parallel, delayed

    over = threading.Event()
    undetached = Task(task.work, None)
    parallel = Parallel(jobs, backend="threading", return_as="generator_unordered", batch_size=1)
    tasks = (delayed(undetached)(chunk, over.is_set) for chunk in chunks)
    with _ending(parallel, tasks, over.set) as everything:
        for found in everything:  # noqa: UP028 (everything must be closed only when all have been told)
            yield found
