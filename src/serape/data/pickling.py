"""What a pickle of a table holds: the columns as the core lays them out, so that a process can map them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape import _core


class Stored(NamedTuple):
    """The packed columns, as `PackedTable.borrow` takes them."""

    rows: int
    levels: NDArray[np.uint32]
    totals: NDArray[np.uint32]
    planes: NDArray[np.uint64]
    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]


def stored(packed: _core.PackedTable) -> Stored:
    """Return the arrays of a packed table."""
    return Stored(packed.rows, packed.all_levels(), packed.totals, packed.planes, packed.narrow, packed.wide)


def packed_again(columns: Stored) -> _core.PackedTable:
    """Return the packed table of these arrays, which it uses in place."""
    unchecked = np.empty(0, np.uint64)
    return _core.PackedTable.borrow(
        columns.rows,
        "the table",
        columns.levels,
        columns.totals,
        unchecked,
        columns.planes,
        columns.narrow,
        columns.wide,
        trusted=True,
    )


def state_of(table: Any) -> dict[str, Any]:
    """Return the attributes of a table that cannot be derived, with the packed columns as plain arrays."""
    state = {name: value for name, value in vars(table).items() if name not in ("_position", "duplicates", "memory")}
    return {**state, "_packed": stored(table._packed)}


def restore(table: Any, state: Mapping[str, Any]) -> None:
    """Give a table the attributes that `state_of` returned."""
    vars(table).update(state, _packed=packed_again(state["_packed"]))
