"""Work on many items in several processes, where threads would wait for each other.

A search is a long dialogue of short questions; between them Python works, one thread at a time. Processes made by
`fork` share the data without copying them and do not wait. What they find comes back through pipes, pickled; the
process that asks works as well, so one share of the work need not be sent.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import selectors
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")

_PIECES = 32  # of the work, for each process
_MOST = 256  # processes for which there are so many pieces: their numbers have to fit into a pipe
_LENGTH = 8  # bytes that tell how long a message is
_TOGETHER = 0.05  # seconds for which values are sent together
_NOW_AND_THEN = 0.01  # seconds between looks for what has come


def possible() -> bool:
    """Return whether processes can be made this way, and safely."""
    return sys.platform == "linux" and hasattr(os, "fork")


def in_processes(
    work: Callable[[int, Callable[[], None]], Value],
    items: Sequence[int],
    workers: int,
    done: Callable[[int, Value], None],
    detach: Callable[[Value], Value] | None = None,
) -> None:
    """Do a piece of work for each item, and tell what came of each, in no order. What one raises is raised here.

    One of the workers is this process; `detach` makes a value of another fit to be sent. The work is given a function to
    call now and then, which looks for what others have sent. It must not wait for other threads of this process: they
    do not live on in the others. When an exception leaves, the processes are ended.
    """
    size = max(1, -(-len(items) // (_PIECES * min(workers, _MOST))))
    pieces = [items[k : k + size] for k in range(0, len(items), size)]
    take, give = os.pipe()  # numbers of the pieces, for whoever comes next
    os.write(give, b"".join(k.to_bytes(_LENGTH, "little") for k in range(len(pieces))))
    os.close(give)
    wanted = detach or (lambda value: value)

    def elsewhere(item: int) -> Value:
        return wanted(work(item, _nothing))

    children: dict[int, int] = {}  # the end to read from, by process
    left = len(items)

    def one_more(item: int, value: Value) -> None:
        nonlocal left
        left -= 1
        done(item, value)

    frozen = gc.get_freeze_count()
    gc.freeze()  # what was there before stays as it is, and so is shared
    try:
        for _ in range(min(workers, len(pieces)) - 1):
            children.update([_start(elsewhere, pieces, take)])
        with _Inbox(list(children.values()), one_more) as inbox:
            for item in _taken(pieces, take):
                one_more(item, work(item, inbox.look))
                inbox.look()
            inbox.wait()
        if left:
            raise RuntimeError("a process ended before its work was done; was it killed, or is memory short?")
    finally:
        if frozen == 0:
            gc.unfreeze()
        os.close(take)
        for child, end in children.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.close(end)
            os.waitpid(child, 0)


def _nothing() -> None:
    """There is nobody to look for."""


def _taken(pieces: Sequence[Sequence[int]], take: int) -> Iterator[int]:
    """Yield items as long as there are pieces that nobody has taken."""
    while number := os.read(take, _LENGTH):
        yield from pieces[int.from_bytes(number, "little")]


def _start(work: Callable[[int], Value], pieces: Sequence[Sequence[int]], take: int) -> tuple[int, int]:
    """Start a process; return its number and where its messages can be read."""
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: see `in_processes`
        child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who waits for us ends us
        os.close(read)
        with _Outbox(write) as outbox:
            for item in _taken(pieces, take):
                outbox.put((item, work(item)))
        status = 0
    except BrokenPipeError:
        pass  # nobody waits any more
    except BaseException as error:
        with contextlib.suppress(Exception):
            _send(write, ([], _fit_to_send(error)))
    finally:
        os._exit(status)  # nothing of the other process is to be tidied up


def _fit_to_send(error: BaseException) -> BaseException:
    """Return the error, or its name and words if it would not come through."""
    try:
        pickle.loads(pickle.dumps(error))  # our own
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class _Outbox:
    """Sends values together, none much later than it was found, while the work goes on."""

    def __init__(self, end: int) -> None:
        self._end = end
        self._ready: list[tuple[int, Any]] = []
        self._lock = threading.Lock()
        self._sent = time.perf_counter()
        self._wake = threading.Event()
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._deliver, daemon=True)
        self._thread.start()

    def put(self, value: tuple[int, Any]) -> None:
        if self._error is not None:
            raise self._error
        with self._lock:
            self._ready.append(value)
        if time.perf_counter() - self._sent > _TOGETHER:
            self._wake.set()

    def _deliver(self) -> None:
        try:
            while not self._closed or self._ready:
                self._wake.wait(4 * _TOGETHER)
                self._wake.clear()
                with self._lock:
                    ready, self._ready, self._sent = self._ready, [], time.perf_counter()
                if ready:
                    _send(self._end, (ready, None))
        except BaseException as error:
            self._error = error

    def __enter__(self) -> _Outbox:
        return self

    def __exit__(self, *raised: object) -> None:
        self._closed = True
        self._wake.set()
        self._thread.join()
        if self._error is not None:
            raise self._error


def _send(end: int, message: object) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    left = memoryview(len(content).to_bytes(_LENGTH, "little") + content)
    while left:
        left = left[os.write(end, left) :]


class _Inbox:
    """Values that come through pipes."""

    def __init__(self, ends: Sequence[int], done: Callable[[int, Any], None]) -> None:
        self._done = done
        self._pending = {end: bytearray() for end in ends}
        self._selector = selectors.DefaultSelector()
        for end in ends:
            self._selector.register(end, selectors.EVENT_READ)
        self._looked = time.perf_counter()

    def look(self) -> None:
        """Take in what has come, now and then."""
        now = time.perf_counter()
        if now - self._looked > _NOW_AND_THEN:
            self._looked = now
            self._take_in(0)

    def wait(self) -> None:
        """Take in all that comes until all pipes are closed."""
        while self._pending:
            self._take_in(None)

    def _take_in(self, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            end = key.fd
            content = os.read(end, 1 << 20)
            if content:
                self._pending[end] += content
                self._open(end)
            else:
                self._selector.unregister(end)
                del self._pending[end]

    def _open(self, end: int) -> None:
        waiting = self._pending[end]
        while len(waiting) >= _LENGTH:
            length = _LENGTH + int.from_bytes(waiting[:_LENGTH], "little")
            if len(waiting) < length:
                return
            values, error = pickle.loads(memoryview(waiting)[_LENGTH:length])  # from our own child
            waiting = self._pending[end] = waiting[length:]
            if error is not None:
                raise error
            for item, value in values:
                self._done(item, value)

    def __enter__(self) -> _Inbox:
        return self

    def __exit__(self, *raised: object) -> None:
        self._selector.close()
