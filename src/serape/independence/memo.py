"""A memory of arrays that is bounded in size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class BoundedMemo(Generic[T]):
    """Keeps what was computed, and forgets what was not used for longest. Threads may share it."""

    def __init__(self, max_values: int, size_of: Callable[[T], int]) -> None:
        self.max_values = max_values
        self._size_of = size_of
        self._kept: OrderedDict[Hashable, T] = OrderedDict()
        self._values = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what is kept under a key; if there is nothing, make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._values += self._size_of(made)
                while self._values > self.max_values and len(self._kept) > 1:
                    self._values -= self._size_of(self._kept.popitem(last=False)[1])
        return made

    def __len__(self) -> int:
        return len(self._kept)
