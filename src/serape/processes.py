"""Work on many items in several processes, where threads would wait for each other.

A search is a long dialogue of short questions; between them Python works, one thread at a time. Processes made by
`fork` share the data without copying them and do not wait. What they find comes back through pipes, pickled.
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
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

Value = TypeVar("Value")

_PIECES = 32  # of the work, for each process
_LENGTH = 8  # bytes that tell how long a message is
_TOGETHER = 0.05  # seconds for which values are sent together


def possible() -> bool:
    """Return whether processes can be made this way, and safely."""
    return sys.platform == "linux" and hasattr(os, "fork")


def in_processes(
    work: Callable[[int], Value], items: Sequence[int], workers: int
) -> Generator[tuple[int, Value], None, None]:
    """Yield items and what the work gives for them, in no order. What one process raises is raised here.

    The work must not wait for other threads of this process: they do not live on in the others. When the iterator is
    closed, or an exception leaves it, the processes are ended.
    """
    size = max(1, -(-len(items) // (_PIECES * workers)))
    pieces = [items[k : k + size] for k in range(0, len(items), size)]
    take, give = os.pipe()  # numbers of the pieces, for whoever comes next
    os.write(give, b"".join(k.to_bytes(_LENGTH, "little") for k in range(len(pieces))))
    os.close(give)
    children: dict[int, int] = {}  # the end to read from, by process
    try:
        for _ in range(min(workers, len(pieces))):
            children.update([_start(work, pieces, take)])
        left = len(items)
        for item, value in _received(list(children.values())):
            left -= 1
            yield item, value
        if left:
            raise RuntimeError("a process ended before its work was done; was it killed, or is memory short?")
    finally:
        os.close(take)
        for child, end in children.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.close(end)
            os.waitpid(child, 0)


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
        gc.freeze()  # what was there before stays as it is, and so is shared
        with _Outbox(write) as outbox:
            while number := os.read(take, _LENGTH):
                for item in pieces[int.from_bytes(number, "little")]:
                    outbox.put((item, work(item)))
        status = 0
    except BrokenPipeError:
        pass  # nobody waits any more
    except BaseException as error:
        with contextlib.suppress(Exception):
            _send(write, ([], error))
    finally:
        os._exit(status)  # nothing of the other process is to be tidied up


class _Outbox:
    """Sends values together, none much later than it was found."""

    def __init__(self, end: int) -> None:
        self._end = end
        self._ready: list[tuple[int, Any]] = []
        self._lock = threading.Lock()
        self._sent = time.perf_counter()
        threading.Thread(target=self._now_and_then, daemon=True).start()

    def put(self, value: tuple[int, Any]) -> None:
        with self._lock:
            self._ready.append(value)
            if time.perf_counter() - self._sent > _TOGETHER:
                self._send()

    def _send(self) -> None:
        ready, self._ready, self._sent = self._ready, [], time.perf_counter()
        if ready:
            _send(self._end, (ready, None))

    def _now_and_then(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            while True:
                time.sleep(4 * _TOGETHER)
                with self._lock:
                    self._send()

    def __enter__(self) -> _Outbox:
        return self

    def __exit__(self, *raised: object) -> None:
        with self._lock:
            self._send()


def _send(end: int, message: object) -> None:
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    left = memoryview(len(content).to_bytes(_LENGTH, "little") + content)
    while left:
        left = left[os.write(end, left) :]


def _received(ends: Sequence[int]) -> Iterator[tuple[int, Any]]:
    """Yield what comes through pipes until all are closed."""
    pending = {end: bytearray() for end in ends}
    with selectors.DefaultSelector() as selector:
        for end in ends:
            selector.register(end, selectors.EVENT_READ)
        while pending:
            for key, _ in selector.select():
                end = key.fd
                content = os.read(end, 1 << 20)
                waiting = pending[end]
                if not content:
                    selector.unregister(end)
                    del pending[end]
                    continue
                waiting += content
                while len(waiting) >= _LENGTH:
                    length = _LENGTH + int.from_bytes(waiting[:_LENGTH], "little")
                    if len(waiting) < length:
                        break
                    values, error = pickle.loads(memoryview(waiting)[_LENGTH:length])  # from our own child
                    waiting = pending[end] = waiting[length:]
                    if error is not None:
                        raise error
                    yield from values
