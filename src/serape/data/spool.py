"""Columns kept in a temporary file that is mapped into memory, where there are more of them than memory holds."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape.data.encoding import Encoded

_ALIGNMENT = 8
_ARRAYS = ("codes", "values", "missing")


class Spool:
    """Keeps columns in temporary files in a folder. The files have no names, so they end with the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[int, NDArray[Any]] = {}  # arrays that are in a file already, by identity

    def store(self, encoded: Iterable[Encoded]) -> Sequence[Encoded]:
        """Keep columns; each is taken when the one before is written."""
        columns: list[Encoded] = []
        places: list[dict[str, tuple[np.dtype[Any], int, int]]] = []  # by column and array: type, length, offset
        with tempfile.TemporaryFile(dir=self._folder) as file:
            for column in encoded:
                arrays = {name: array for name in _ARRAYS if (array := getattr(column, name)) is not None}
                fresh = {name: array for name, array in arrays.items() if id(array) not in self._kept}
                places.append({})
                for name, array in fresh.items():
                    file.write(bytes(-file.tell() % _ALIGNMENT))
                    places[-1][name] = (array.dtype, len(array), file.tell())
                    file.write(np.ascontiguousarray(array).view(np.uint8).data)
                columns.append(_with(column, dict.fromkeys(fresh)))
            file.flush()
            size = file.tell()
            mapped = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else None
        for k, place in enumerate(places):
            views = {name: _view(mapped, *where) for name, where in place.items()}
            self._kept |= {id(view): view for view in views.values()}
            columns[k] = _with(columns[k], views)
        return columns


def _with(column: Encoded, arrays: dict[str, Any]) -> Encoded:
    return replace(column, **arrays)


def _view(mapped: mmap.mmap | None, dtype: np.dtype[Any], length: int, offset: int) -> NDArray[Any]:
    return np.zeros(0, dtype) if mapped is None else np.frombuffer(mapped, dtype, length, offset)
