"""Work on many items with several cores, through joblib.

The calling process works on the items one by one. Once that has taken a moment, workers are started, and take what is
left in chunks: the more is left, the larger. When the first of them has found something, the calling process only
collects. So nothing has to be known about how long an item takes, short work starts no worker, and no work waits for
workers to start. The workers are processes (loky's), or those of the backend that the caller chose with
`joblib.parallel_config`; they read what the work needs from one file (`shared_file`).
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from serape.errors import Interrupted, SerapeError
from serape.independence.function import FunctionTest
from serape.parallel.shared_file import SharedFile, read_shared
from serape.progress import Progress, ProgressCallback

Value = TypeVar("Value")
Work = Callable[[int, ProgressCallback], Value]
Done = Callable[[int, Value], None]
Found = list[tuple[int, Value]]

START_AFTER = 0.2
"""Seconds of work after which workers are started; they need about a second."""
START_AGAIN_AFTER = 0.1
"""Seconds of work after which workers that were used a moment ago are used again."""
_MAX_CHUNK = 100  # items, so that what is found comes back soon
_CHUNKS = 4  # per worker, of what is left
_MOMENT = 60.0  # seconds; idle workers wait for five minutes
_WAIT = 0.05  # seconds

_last_used = -_MOMENT
_receiver: threading.Thread | None = None  # the last one


def parallel_map(
    work: Work[Value],
    items: Sequence[int],
    jobs: int,
    done: Done[Value],
    *,
    test: object = None,
    detach: Callable[[Value], Value] | None = None,
) -> None:
    """Do the work for each item, several at a time, and call `done` with each value, in this thread and in no order.

    Work with a `test` of the caller is shared by threads, because nobody knows whether it can be sent. `detach` makes a
    value fit to be sent to another process. An exception in one item ends all others. The work receives a progress
    callback, which it must pass to its search: it ends the search when the others end.
    """
    if jobs == 1 or len(items) < 2 or _is_nested():
        for item in items:
            done(item, work(item, _ignore_progress))
        return
    _Run(work, items, jobs, done, in_threads=not _can_be_sent(test), detach=detach).finish()


def _ignore_progress(now: Progress) -> None:
    """Do nothing with progress."""
    del now


def _can_be_sent(test: object) -> bool:
    """Return whether a test or score can be sent to another process, and gains from it."""
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    return has_lock and type(test).__module__.startswith("serape.") and not isinstance(test, FunctionTest)


def _is_nested() -> bool:
    """Return whether this is work that joblib has given to a worker: all cores are in use."""
    if "joblib" not in sys.modules:
        return False
    from joblib.parallel import get_active_backend

    return bool((get_active_backend()[0].nesting_level or 0) > 0)


class _Run(Generic[Value]):
    """Items that this thread and the workers take until none is left."""

    def __init__(
        self,
        work: Work[Value],
        items: Sequence[int],
        jobs: int,
        done: Done[Value],
        *,
        in_threads: bool,
        detach: Callable[[Value], Value] | None,
    ) -> None:
        self._work, self._jobs, self._done = work, jobs, done
        self._in_threads, self._detach = in_threads, detach
        self._left = deque(items)
        self._lock = threading.Lock()
        self._open = dict.fromkeys(items)  # in order, the items that are not done
        now = time.perf_counter()
        self._start_at = now + (START_AGAIN_AFTER if now - _last_used < _MOMENT else START_AFTER)
        self._workers: _Workers[Value] | None = None

    def finish(self) -> None:
        """Work until all items are done."""
        try:
            while self._open:
                item = self._next()
                if item is None:
                    self._look(wait=True)
                else:
                    self._keep(item, self._work(item, self._look))
                    self._look()
        finally:
            self._left.clear()
            if self._workers is not None:
                self._workers.stop()

    def _next(self) -> int | None:
        """Return an item for this thread, if the workers have not begun; it may be one that they will begin with."""
        if self._workers is not None and self._workers.are_working:
            return None
        return next(iter(self._take(1) or reversed(self._open)), None)

    def _keep(self, item: int, value: Value) -> None:
        if item in self._open:  # otherwise somebody else was quicker
            del self._open[item]
            self._done(item, value)

    def _look(self, now: Progress | None = None, *, wait: bool = False) -> None:
        """Start the workers if it is time; take note of what they have done."""
        del now
        if self._workers is not None:
            self._workers.collect(self._keep, wait=wait)
        elif len(self._left) > 1 and time.perf_counter() > self._start_at:
            task = _Task(self._work, None if self._in_threads else self._detach)
            self._workers = _Workers(task, self._chunks(), self._jobs, in_threads=self._in_threads)

    def _take(self, count: int) -> list[int]:
        with self._lock:
            return [self._left.popleft() for _ in range(min(count, len(self._left)))]

    def _chunks(self) -> Iterator[list[int]]:
        """Yield items until none is left: one for each worker, to see when they have begun, then more."""
        for _ in range(self._jobs):
            if chunk := self._take(1):
                yield chunk
        while chunk := self._take(min(_MAX_CHUNK, 1 + len(self._left) // (_CHUNKS * self._jobs))):
            yield chunk


@dataclass(frozen=True)
class _Task(Generic[Value]):
    """What a worker does with the items of a chunk."""

    work: Work[Value]
    detach: Callable[[Value], Value] | None

    def __call__(self, items: Sequence[int], is_over: Callable[[], bool]) -> Found[Value]:
        found: Found[Value] = []

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


class _Workers(Generic[Value]):
    """Workers of joblib, and a thread that waits for what they find."""

    def __init__(self, task: _Task[Value], chunks: Iterator[list[int]], workers: int, *, in_threads: bool) -> None:
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend

        self.are_working = False
        """Whether they have found something and are not done."""
        self._found: queue.SimpleQueue[Found[Value] | BaseException | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._file: SharedFile | None = None
        prefer = "threads" if in_threads else "processes"
        backend, _ = get_active_backend(prefer=prefer)
        if getattr(backend, "uses_threads", False):
            tasks = (delayed(task)(chunk, self._over.is_set) for chunk in chunks)
        else:
            self._file = SharedFile(task)
            tasks = (delayed(_work_on)(self._file.path, chunk) for chunk in chunks)
        returns = "generator_unordered" if backend.supports_return_generator else "list"
        parallel = Parallel(workers, prefer=prefer, return_as=returns, batch_size=1)
        global _receiver
        _receiver = threading.Thread(target=self._receive, args=(parallel, tasks, _receiver))
        _receiver.start()

    def _receive(self, parallel: Any, tasks: Iterator[Any], earlier: threading.Thread | None) -> None:
        """Receive what is found, in a thread; Python waits for it before it ends."""
        try:
            if earlier is not None:
                earlier.join()  # its workers may still be starting, for work that is over
            for found in parallel(tasks):
                self._found.put(found)
            self._found.put(None)
        except BaseException as error:
            self._found.put(error)

    def collect(self, keep: Callable[[int, Value], None], *, wait: bool = False) -> None:
        """Take note of what was found; wait a little if there is nothing."""
        try:
            while True:
                found = self._found.get(wait, _WAIT if wait else None)
                if isinstance(found, BaseException):
                    raise _in_a_sentence(found)
                self.are_working, wait = found is not None, False
                for item, value in found or ():
                    keep(item, value)
        except queue.Empty:
            pass

    def stop(self) -> None:
        """End the workers' searches; the workers wait for other work."""
        global _last_used
        _last_used = time.perf_counter()
        self._over.set()
        if self._file is not None:
            self._file.delete()


def _in_a_sentence(error: BaseException) -> BaseException:
    """Return the error, or one that says in one sentence what happened to a worker."""
    if any(
        kind.__name__ in ("BrokenProcessPool", "KilledWorker", "WorkerCrashedError") for kind in type(error).__mro__
    ):
        return SerapeError("a process ended before its work was done; was it killed, or is memory short?")
    return error


# --- in a worker ------------------------------------------------------------------------------------------------------

_task: tuple[str, _Task[Any]] | None = None  # the last one, with its file


def _work_on(path: str, items: Sequence[int]) -> Found[Any] | BaseException:
    """Do the task in a shared file for some items."""
    global _task
    if _task is None or _task[0] != path:
        _task = None  # so that there are never two
        try:
            _task = path, read_shared(path)
        except FileNotFoundError:  # the work is over, or this is another machine
            return SerapeError(f"a worker cannot read {path}; name a folder that all see in JOBLIB_TEMP_FOLDER")
    return _task[1](items, lambda: not Path(path).exists())
