"""What is kept with a table: made once, shared by all questions about it, and gone when the table goes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

MAX_BYTES = 512 << 20
"""How much is kept with a table; what was used longest ago goes first."""
ENTRY_BYTES = 1 << 10
"""The least that an entry counts for."""

T = TypeVar("T")


class Memory:
    """Things that were made of a table, by key, each with its size.

    Nothing in it may refer to the table itself: it would never be forgotten. Copies, pickles and drawn rows of a table
    begin with an empty memory.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: dict[Hashable, tuple[Any, int]] = {}
        self._lock = Lock()
        self.nbytes = 0
        """The size of what is kept."""

    def keep(self, key: Hashable, make: Callable[[], T], nbytes: int | Callable[[T], int] = 0) -> T:
        """Return what was made under a key; if it is not kept, make it. `nbytes` is its size, or returns that.

        Two threads that ask at once may both make it.
        """
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found, nbytes(found) if callable(nbytes) else nbytes)
        return found  # type: ignore[no-any-return]

    def put(self, key: Hashable, made: Any, nbytes: int = 0) -> None:
        """Keep what was made under a key, unless it is larger than the whole memory."""
        size = max(nbytes, ENTRY_BYTES)
        if size > self._max_bytes:
            return
        with self._lock:
            self.nbytes += size - self._kept.pop(key, (None, 0))[1]
            self._kept[key] = made, size
            while self.nbytes > self._max_bytes:
                self.nbytes -= self._kept.pop(next(iter(self._kept)))[1]

    def get(self, key: Hashable) -> Any:
        """Return what is kept under a key, or None."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept[key] = self._kept.pop(key)  # the latest stands last
            return self._kept[key][0]
