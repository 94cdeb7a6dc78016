"""Work on many items in several processes, where threads would wait for each other.

A search consists of many short questions; between them Python runs, one thread at a time. Forked processes share the
data without copying them and run at the same time. Their values come back through pipes, pickled. The calling process
works as well, so its share of the values need not be sent.
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

_CHUNKS = 32  # per process
_MAX_PROCESSES = 256  # with so many chunks each: the numbers of the chunks have to fit into a pipe
_LENGTH = 8  # bytes for the length of a message
_SEND_INTERVAL = 0.05  # seconds
_POLL_INTERVAL = 0.01  # seconds


def possible() -> bool:
    """Return whether processes can be forked safely."""
    return sys.platform == "linux" and hasattr(os, "fork")


def in_processes(
    work: Callable[[int, Callable[[], None]], Value],
    items: Sequence[int],
    workers: int,
    done: Callable[[int, Value], None],
    detach: Callable[[Value], Value] | None = None,
) -> None:
    """Do the work for each item and call `done` with each value, in no order. An exception in one is raised here.

    One of the workers is this process; `detach` makes a value of another process fit to be sent. The work receives a
    function to call now and then, which reads the values of other processes. It must not wait for other threads of this
    process: they do not exist in the others. An exception ends all processes.
    """
    size = max(1, -(-len(items) // (_CHUNKS * min(workers, _MAX_PROCESSES))))
    chunks = [items[k : k + size] for k in range(0, len(items), size)]
    queue, writing_end = os.pipe()  # the numbers of the chunks, for the next free process
    os.write(writing_end, b"".join(k.to_bytes(_LENGTH, "little") for k in range(len(chunks))))
    os.close(writing_end)
    sendable = detach or (lambda value: value)

    def work_and_detach(item: int) -> Value:
        return sendable(work(item, _no_poll))

    children: dict[int, int] = {}  # by process, the end to read from
    remaining = len(items)

    def count_and_keep(item: int, value: Value) -> None:
        nonlocal remaining
        remaining -= 1
        done(item, value)

    frozen = gc.get_freeze_count()
    gc.freeze()  # existing objects are left alone by the collector, and so stay shared
    try:
        for _ in range(min(workers, len(chunks)) - 1):
            children.update([_start(work_and_detach, chunks, queue)])
        with _Inbox(list(children.values()), count_and_keep) as inbox:
            for item in _next_items(chunks, queue):
                count_and_keep(item, work(item, inbox.poll))
                inbox.poll()
            inbox.wait()
        if remaining:
            raise RuntimeError("a process ended before its work was done; was it killed, or is memory short?")
    finally:
        if frozen == 0:
            gc.unfreeze()
        os.close(queue)
        for child, end in children.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.close(end)
            os.waitpid(child, 0)


def _no_poll() -> None:
    """Do nothing: a forked process reads no values."""


def _next_items(chunks: Sequence[Sequence[int]], queue: int) -> Iterator[int]:
    """Yield the items of one chunk after another, as long as the queue has chunks."""
    while number := os.read(queue, _LENGTH):
        yield from chunks[int.from_bytes(number, "little")]


def _start(work: Callable[[int], Value], chunks: Sequence[Sequence[int]], queue: int) -> tuple[int, int]:
    """Start a process; return its id and the end from which its messages are read."""
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forks beside threads: see `in_processes`
        child = os.fork()
    if child:
        os.close(write)
        return child, read
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process ends this one
        os.close(read)
        with _Outbox(write) as outbox:
            for item in _next_items(chunks, queue):
                outbox.put((item, work(item)))
        status = 0
    except BrokenPipeError:
        pass  # the parent process has closed the pipe
    except BaseException as error:
        with contextlib.suppress(Exception):
            _send(write, ([], _sendable(error)))
    finally:
        os._exit(status)  # without the clean-up of the parent process


def _sendable(error: BaseException) -> BaseException:
    """Return the error, or its name and message in a RuntimeError if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # our own
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class _Outbox:
    """Sends values in batches, from a thread of its own, while the work continues."""

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
        if time.perf_counter() - self._sent > _SEND_INTERVAL:
            self._wake.set()

    def _deliver(self) -> None:
        try:
            while not self._closed or self._ready:
                self._wake.wait(4 * _SEND_INTERVAL)
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
    unsent = memoryview(len(content).to_bytes(_LENGTH, "little") + content)
    while unsent:
        unsent = unsent[os.write(end, unsent) :]


class _Inbox:
    """Receives values through pipes."""

    def __init__(self, ends: Sequence[int], done: Callable[[int, Any], None]) -> None:
        self._done = done
        self._pending = {end: bytearray() for end in ends}
        self._selector = selectors.DefaultSelector()
        for end in ends:
            self._selector.register(end, selectors.EVENT_READ)
        self._polled = time.perf_counter()

    def poll(self) -> None:
        """Read the values that have come, if the last time was a while ago."""
        now = time.perf_counter()
        if now - self._polled > _POLL_INTERVAL:
            self._polled = now
            self._receive(0)

    def wait(self) -> None:
        """Read values until all pipes are closed."""
        while self._pending:
            self._receive(None)

    def _receive(self, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            end = key.fd
            content = os.read(end, 1 << 20)
            if content:
                self._pending[end] += content
                self._unpack(end)
            else:
                self._selector.unregister(end)
                del self._pending[end]

    def _unpack(self, end: int) -> None:
        content = self._pending[end]
        while len(content) >= _LENGTH:
            length = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
            if len(content) < length:
                return
            values, error = pickle.loads(memoryview(content)[_LENGTH:length])  # from our own child
            content = self._pending[end] = content[length:]
            if error is not None:
                raise error
            for item, value in values:
                self._done(item, value)

    def __enter__(self) -> _Inbox:
        return self

    def __exit__(self, *raised: object) -> None:
        self._selector.close()
