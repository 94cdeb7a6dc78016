"""Columns kept in a temporary file, where there are more of them than memory holds; an array is mapped when needed."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Codes, Encoded

_ALIGNMENT = 8
_ARRAYS = ("codes", "values", "missing")
_OTHERS = tuple(field.name for field in fields(Encoded) if field.name not in _ARRAYS)
_SMALL = 1 << 16
"""Arrays of up to so many bytes are read, as a process can have only so many mappings."""


class Place(NamedTuple):
    """Where an array is in a file."""

    dtype: np.dtype[Any]
    length: int
    offset: int


class Spool:
    """Keeps columns in a temporary file in a folder. The file has no name, so it ends with the process at the latest.

    Neither memory nor address space is taken for columns that are not in use.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `__exit__`
        self._end = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def store(self, encoded: Iterable[Encoded]) -> Sequence[Encoded]:
        """Keep columns; each is taken when the one before is written. Those that are in the file are not written."""
        return [column if isinstance(column, StoredColumn) else self._written(column) for column in encoded]

    def array(self, place: Place) -> NDArray[Any]:
        """Return the array at a place; what is mapped for it ends with the array."""
        dtype, length, offset = place
        size = length * dtype.itemsize
        if size <= _SMALL:
            self._file.seek(offset)
            return np.frombuffer(self._file.read(size), dtype)
        self._file.flush()
        begin = offset - offset % mmap.ALLOCATIONGRANULARITY
        mapped = mmap.mmap(self._file.fileno(), offset + size - begin, access=mmap.ACCESS_READ, offset=begin)
        return np.frombuffer(mapped, dtype, length, offset - begin)

    def _written(self, column: Encoded) -> StoredColumn:
        arrays = ((name, getattr(column, name)) for name in _ARRAYS)
        return StoredColumn(column, self, {name: self._write(array) for name, array in arrays if array is not None})

    def _write(self, array: NDArray[Any]) -> Place:
        place = Place(array.dtype, len(array), self._end + -self._end % _ALIGNMENT)
        self._file.seek(place.offset)
        self._file.write(np.ascontiguousarray(array).view(np.uint8).data)
        self._end = self._file.tell()
        return place


class StoredColumn(Encoded):
    """A column in a file. Take its arrays when they are needed, and only for as long."""

    __slots__ = ("_places", "_spool")
    _places: Mapping[str, Place]
    _spool: Spool

    def __init__(self, column: Encoded, spool: Spool, places: Mapping[str, Place], **changes: Any) -> None:
        known = {name: getattr(column, name) for name in _OTHERS} | changes
        for name, value in (*known.items(), ("_spool", spool), ("_places", places)):
            object.__setattr__(self, name, value)  # the class is frozen

    def __len__(self) -> int:
        return max((place.length for place in self._places.values()), default=0)

    @property
    def codes(self) -> Codes | None:
        """The codes, mapped anew."""
        return self._array("codes")

    @property
    def values(self) -> NDArray[np.float64] | None:
        """The values, mapped anew."""
        return self._array("values")

    @property
    def missing(self) -> NDArray[np.bool_] | None:
        """Where values are missing, mapped anew."""
        return self._array("missing")

    def changed(self, **changes: Any) -> Encoded:
        """Return the column with some fields changed; it stays in the file if none of its arrays is."""
        if changes.keys().isdisjoint(_ARRAYS):
            return StoredColumn(self, self._spool, self._places, **changes)
        known = {name: getattr(self, name) for name in (*_OTHERS, *_ARRAYS) if name not in changes}
        return Encoded(**known, **changes)

    def _array(self, name: str) -> NDArray[Any] | None:
        return self._spool.array(self._places[name]) if name in self._places else None
