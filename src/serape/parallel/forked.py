"""A pool of forked processes: they begin within milliseconds and share everything there is, without copies.

No well-known pool does all that is needed. joblib's starts new interpreters, which read the table from a file. That of
`multiprocessing` waits for ever for a worker that was killed. `ProcessPoolExecutor` gives up all its workers with one,
and waits for ever if that one had sent half an answer: its workers share one pipe, and its parent, which could write to
it too, sees no end of it.

Here each worker has a connection of its own, whose other end nobody else holds. So the connection ends with the worker,
and what the worker had is asked again.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import pickle
import signal
import traceback
import warnings
from collections.abc import Callable, Generator, Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.process import BaseProcess
from typing import Any

from serape.errors import SerapeError
from serape.wording import setting

ENDED = "a process ended before its work was done; was it killed, or is memory short?"
_PR_SET_PDEATHSIG = 1  # of Linux: the signal that a process gets when its parent ends

Chunk = list[int]


class ForkedProcesses:
    """Processes that do the work on chunks of items, up to `jobs` at a time. The caller must be the main thread."""

    def __init__(self, work: Callable[[Chunk], Any], chunks: Iterator[Chunk], jobs: int) -> None:
        self._work = work
        self._chunks = chunks
        self._jobs = jobs
        self._started: list[tuple[BaseProcess, Connection]] = []
        self._asked: dict[Connection, Chunk] = {}
        """What each process that has work is working on."""
        self._returned: list[Chunk] = []
        """What processes had when they ended."""
        self._repeated: set[int] = set()
        """The first item of each chunk that was ever returned."""

    def answers(self) -> Generator[Any, None, None]:
        """Yield what is found in each chunk, in the order in which it is found."""
        frozen = gc.get_freeze_count()
        _return_free_memory()
        gc.freeze()  # existing objects are left alone by the collector, and so stay shared
        try:
            while self._have_work():
                ready = wait(self._asked)
                for process in [process for process in self._asked if process in ready]:
                    answer = self._receive(process)
                    if answer is not None:
                        found, error = pickle.loads(answer)  # of our own process
                        if error is not None:
                            raise error
                        yield found
        finally:
            if frozen == 0:
                gc.unfreeze()
            self._end()

    def _have_work(self) -> bool:
        """Start processes while there is work for them, and return whether any has work."""
        while len(self._asked) < self._jobs and (chunk := self._take()):
            try:
                self._ask(self._start(), chunk)
            except OSError as error:
                if not self._asked:
                    message = f"no process can be started ({error.strerror}); use {setting('n_jobs', 1)}"
                    raise SerapeError(message) from None
                self._returned.append(chunk)
                self._jobs = len(self._asked)
        return bool(self._asked)

    def _take(self) -> Chunk:
        return self._returned.pop() if self._returned else next(self._chunks, [])

    def _ask(self, process: Connection, chunk: Chunk) -> None:
        self._asked[process] = chunk
        with contextlib.suppress(OSError):  # if it has ended, so has the connection: `_receive` will see that
            process.send(chunk)

    def _receive(self, process: Connection) -> bytes | None:
        """Return what a process has sent, and give it more work; None if it has ended."""
        chunk = self._asked.pop(process)
        try:
            answer = process.recv_bytes()
        except (EOFError, OSError):  # perhaps within an answer
            if chunk[0] in self._repeated:
                raise SerapeError(ENDED) from None
            self._repeated.add(chunk[0])
            self._returned.append(chunk)
            return None
        if chunk := self._take():
            self._ask(process, chunk)
        return answer

    def _start(self) -> Connection:
        """Start a process, and return the connection to it."""
        ours, theirs = Pipe()
        mine = (ours, *self._asked)
        process = get_context("fork").Process(target=_serve, args=(self._work, theirs, mine, os.getpid()), daemon=True)
        with theirs, _deaf_to_interrupts(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # about threads, of which the children use none
            self._started.append((process, ours))
            process.start()
        return ours

    def _end(self) -> None:
        """End all processes, which have no work any more, or none that is wanted."""
        with _deaf_to_interrupts():
            for process, connection in self._started:
                connection.close()
                if process.pid is not None:  # else it could not be started
                    process.kill()
            for process, _ in self._started:
                if process.pid is not None:
                    process.join()
                process.close()


def _serve(work: Callable[[Chunk], Any], parent: Connection, others: tuple[Connection, ...], pid: int) -> None:
    """Do in this process what the parent asks, until it asks no more."""
    _obey_the_parent(pid)
    for other in others:  # ends of the parent, which were forked too
        other.close()
    with contextlib.suppress(EOFError, OSError):
        while True:
            chunk = parent.recv()
            try:
                found, error = work(chunk), None
            except BaseException as raised:
                found, error = None, _as_sent(raised)
            try:
                parent.send((found, error))
            except OSError:
                raise
            except Exception as raised:  # what was found cannot be pickled
                parent.send((None, _as_sent(raised)))


def _as_sent(error: BaseException) -> BaseException:
    """Return an error that can be sent and says where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(where)
    if not isinstance(error, SerapeError):
        error.add_note(where)
    return error


def _obey_the_parent(pid: int) -> None:
    """Leave interrupts to the parent process, and end with it, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != pid:  # it ended before
        os._exit(1)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait until a process is known, or all have ended."""
    before = signal.getsignal(signal.SIGINT)
    heard: list[int] = []
    if before is not None:  # as it is if it is not of Python
        signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _return_free_memory() -> None:
    """Return memory that is free to the system, where that can be asked for: each fork copies the table of pages."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
