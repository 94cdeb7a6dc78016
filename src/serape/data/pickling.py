"""What a pickle of a table holds: codes as plain arrays, one bit a row for two levels, one or two bytes for more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core


@dataclass(frozen=True, slots=True)
class Stored:
    """The codes of all columns, a row for each, by the size of a code; columns of one level need none."""

    rows: int
    levels: NDArray[np.uint32]
    bits: NDArray[np.uint8]
    bytes: NDArray[np.uint8]
    words: NDArray[np.uint16]


def stored(packed: _core.PackedTable) -> Stored:
    """Return the codes of a packed table."""
    levels = np.array([packed.levels(k) for k in range(packed.columns)], np.uint32)
    two, few, many = (np.flatnonzero(which) for which in _sizes(levels))
    bits = np.empty((len(two), (packed.rows + 7) // 8), np.uint8)
    for index, k in enumerate(two.tolist()):
        bits[index] = np.packbits(packed.codes(k).astype(bool))
    small = np.empty((len(few), packed.rows), np.uint8)
    for index, k in enumerate(few.tolist()):
        small[index] = packed.codes(k)
    large = np.empty((len(many), packed.rows), np.uint16)
    for index, k in enumerate(many.tolist()):
        large[index] = packed.codes(k)
    return Stored(packed.rows, levels, bits, small, large)


def packed_again(codes: Stored) -> _core.PackedTable:
    """Return the packed table of these codes."""
    packed = _core.PackedTable(codes.rows)
    planes = codes.levels[codes.levels <= 8]
    packed.reserve_planes(int(planes.sum()) - len(planes))
    zeros = np.zeros(codes.rows, np.uint8)
    bits, small, large = iter(codes.bits), iter(codes.bytes), iter(codes.words)
    for levels, *sizes in zip(codes.levels.tolist(), *_sizes(codes.levels), strict=True):
        two, few, many = sizes
        if two:
            packed.append(np.unpackbits(next(bits), count=codes.rows), levels)
        elif few:
            packed.append(next(small), levels)
        elif many:
            packed.append(next(large), levels)
        else:
            packed.append(zeros, levels)
    return packed


def _sizes(levels: Sequence[int] | NDArray[np.uint32]) -> tuple[NDArray[np.bool_], ...]:
    """Return masks of the columns whose codes take one bit, one byte and two bytes."""
    number = np.asarray(levels)
    return number == 2, (number > 2) & (number <= 256), number > 256


def state_of(table: Any) -> dict[str, Any]:
    """Return the attributes of a table that cannot be derived, with the codes as plain arrays."""
    state = {name: value for name, value in vars(table).items() if name not in ("_position", "duplicates")}
    return {**state, "_packed": stored(table._packed)}


def restore(table: Any, state: Mapping[str, Any]) -> None:
    """Give a table the attributes that `state_of` returned."""
    vars(table).update(state, _packed=packed_again(state["_packed"]))
