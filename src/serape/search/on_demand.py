"""Values by number that another process unpickles one by one, when it needs them."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class OnDemand(Mapping[int, Value]):
    """A mapping whose values are pickled one by one, into one block."""

    def __init__(self, values: Mapping[int, Value]) -> None:
        self._values = dict(values)
        self._pickled: dict[int, memoryview] = {}

    def add_pickled(self, key: int, content: bytes) -> None:
        """Add a value that was pickled elsewhere."""
        self._pickled[key] = memoryview(content)

    def pop(self, key: int, otherwise: Value) -> Value:
        """Return a value and forget it."""
        if key not in self:
            return otherwise
        value = self[key]
        del self._values[key]
        return value

    def copy(self) -> OnDemand[Value]:
        """Return a mapping of the same values, to which others can be added."""
        made = OnDemand(self._values)
        made._pickled = dict(self._pickled)
        return made

    def __getitem__(self, key: int) -> Value:
        if key not in self._values and key in self._pickled:
            self._values[key] = pickle.loads(self._pickled.pop(key))  # pickled by our own process
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values or key in self._pickled

    def __iter__(self) -> Iterator[int]:
        return iter([*self._values, *self._pickled])

    def __len__(self) -> int:
        return len(self._values) + len(self._pickled)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {key: pickle.dumps(value, pickle.HIGHEST_PROTOCOL) for key, value in self._values.items()}
        parts |= {key: bytes(view) for key, view in self._pickled.items()}
        block = pickle.PickleBuffer(b"".join(parts.values()))
        return _of_block, (block, list(parts), [len(part) for part in parts.values()])


def _of_block(block: bytes | memoryview, keys: list[int], sizes: list[int]) -> OnDemand[Any]:
    made: OnDemand[Any] = OnDemand({})
    at, view = 0, memoryview(block)
    for key, size in zip(keys, sizes, strict=True):
        made._pickled[key] = view[at : at + size]
        at += size
    return made
