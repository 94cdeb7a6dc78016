"""What packed files say about columns: kind, reason and levels, one line of JSON for all columns that share them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape.data.kinds import KINDS, Kind
from serape.data.packed_files.layout import damaged
from serape.errors import DataError

T = TypeVar("T")
_WRITTEN: dict[type, Callable[[Any], Any]] = {
    datetime: datetime.isoformat,
    date: date.isoformat,
    time: time.isoformat,
    timedelta: lambda d: [d.days, d.seconds, d.microseconds],
}
_READ: dict[str, Callable[[Any], Any]] = {
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda parts: timedelta(*map(int, parts)),
}


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """What is known about a column beside its name and its values."""

    kind: Kind
    reason: str
    levels: tuple[Any, ...]
    declared: bool

    def to_line(self, name: str) -> str:
        """Return the description of the column of this name as a line of JSON."""
        levels = [_as_json(name, level) for level in self.levels]
        return json.dumps([self.kind, self.reason, self.declared, levels], ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_line(cls, line: bytes) -> ColumnDescription:
        """Return the description that a line holds."""
        kind, reason, declared, levels = json.loads(line)
        if kind not in KINDS or not isinstance(reason, str) or not isinstance(declared, bool):
            raise ValueError("a description of a column has the wrong content")
        read = tuple(map(_from_json, levels))
        if len(set(read)) < len(read):
            raise ValueError("a level occurs twice")
        return cls(kind, reason, read, declared)


def _as_json(name: str, level: Any) -> Any:
    value = level.item() if isinstance(level, np.generic) else level
    if value is None or isinstance(value, str | bool | int | float):
        return value
    for kind, written in _WRITTEN.items():
        if type(value) is kind:
            return {kind.__name__: written(value)}
    raise DataError(
        f"column {name!r} has the level {value!r:.60}, a {type(value).__name__}, which cannot be packed; make it text"
    )


def _from_json(level: Any) -> Any:
    if not isinstance(level, dict):
        if isinstance(level, list):
            raise ValueError("a level is a list")
        return level
    ((kind, written),) = level.items()
    return _READ[kind](written)


class Descriptions(Sequence[ColumnDescription]):
    """The descriptions of all columns; each line is parsed when it is needed."""

    def __init__(self, block: bytes, numbers: NDArray[np.uint32], levels: NDArray[np.uint32], file: str) -> None:
        self._lines = block.split(b"\n")
        self._numbers, self._levels, self._file = numbers, levels, file
        self._parsed: dict[int, ColumnDescription] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, k: Any) -> Any:
        described = self._of(int(self._numbers[k]))
        coded = int(self._levels[k])
        if coded != max(len(described.levels), 1) and coded != 1:
            raise damaged(self._file, f"the column at position {k} has {coded:,} levels, but not so many are described")
        return described

    def __iter__(self) -> Iterator[ColumnDescription]:
        return map(self._of, self._numbers.tolist())

    def where(self, holds: Callable[[ColumnDescription], bool]) -> NDArray[np.int64]:
        """Return the positions of the columns for which something holds."""
        chosen = [number for number in range(len(self._lines)) if holds(self._of(number))]
        return np.flatnonzero(np.isin(self._numbers, chosen)) if chosen else np.zeros(0, np.int64)

    def _of(self, number: int) -> ColumnDescription:
        if number not in self._parsed:
            try:
                self._parsed[number] = ColumnDescription.from_line(self._lines[number])
            except (ValueError, TypeError, KeyError, IndexError, RecursionError, AttributeError, OverflowError):
                raise damaged(self._file, f"description {number} of its columns cannot be read") from None
        return self._parsed[number]


class Described(Sequence[T], Generic[T]):
    """One thing that is known about every column, such as its kind."""

    def __init__(self, descriptions: Descriptions, what: str) -> None:
        self._descriptions, self._what = descriptions, what

    def __len__(self) -> int:
        return len(self._descriptions)

    def __getitem__(self, k: Any) -> Any:
        return getattr(self._descriptions[k], self._what)

    def __iter__(self) -> Iterator[T]:
        return (getattr(described, self._what) for described in self._descriptions)

    def where(self, value: object) -> NDArray[np.int64]:
        """Return the positions of the columns with this value."""
        return self._descriptions.where(lambda described: getattr(described, self._what) == value)


class DeclaredColumns(Set[int]):
    """The positions of columns whose levels were declared."""

    def __init__(self, descriptions: Descriptions) -> None:
        self._descriptions = descriptions

    def __contains__(self, k: object) -> bool:
        return isinstance(k, int) and bool(self._descriptions[k].declared)

    def __iter__(self) -> Iterator[int]:
        return iter(self._descriptions.where(lambda described: described.declared).tolist())

    def __len__(self) -> int:
        return len(self._descriptions.where(lambda described: described.declared))
