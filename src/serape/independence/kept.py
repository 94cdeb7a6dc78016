"""What the core has prepared for tests of a table, kept with the table: calls about one target after another share it.

Of each table one preparation is kept, the latest, if it takes no more than 256 MiB. It goes when the table goes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar
from weakref import WeakKeyDictionary

from serape.data.table import Table

MAX_BYTES = 256 << 20

T = TypeVar("T")

_kept: WeakKeyDictionary[Table, tuple[Hashable, object]] = WeakKeyDictionary()


def kept_with(table: Table, key: Hashable, nbytes: int, make: Callable[[], T]) -> T:
    """Return what was made for a table under a key; if that is not kept, make it. `nbytes` is its size."""
    known = _kept.get(table)
    if known is not None and known[0] == key:
        return known[1]  # type: ignore[return-value]
    made = make()
    if nbytes <= MAX_BYTES:
        _kept[table] = key, made
    return made
