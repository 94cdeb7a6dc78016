"""Columns as they are read, before missing values are treated and the columns are packed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.encoding import Encoded, as_codes
from serape.data.kinds import AS_ASKED, Kind, is_monotone
from serape.data.weights import Weights
from serape.errors import DataError, OptionError, abbreviate, suggestion


def check_names(names: Sequence[str]) -> None:
    """Refuse names that occur more than once."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"the name {abbreviate(repeated)} occurs more than once; give every column a name of its own")


def ignored_column(rows: int) -> Encoded:
    """Return what stands for a column that is ignored and was not read."""
    return Encoded("identifier", "ignored", (), np.broadcast_to(np.uint8(0), rows))


class ArraysOf(Mapping[int, NDArray[Any]]):
    """By position, an array of those columns that have it, taken from the column each time that it is looked up."""

    def __init__(self, encoded: Sequence[Encoded], what: Literal["values", "missing"]) -> None:
        self._encoded, self._what = encoded, what
        self._positions = {k: None for k, column in enumerate(encoded) if getattr(column, what) is not None}

    def __getitem__(self, k: int) -> NDArray[Any]:
        array: NDArray[Any] = getattr(self._encoded[self._known(k)], self._what)
        return array

    def __contains__(self, k: object) -> bool:
        return k in self._positions

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)

    def _known(self, k: int) -> int:
        if k not in self._positions:
            raise KeyError(k)
        return k


Store = Callable[[Iterable[Encoded]], Sequence[Encoded]]


@dataclass
class Columns:
    """Columns as read, each one an `Encoded`."""

    names: list[str]
    rows: int
    encoded: Sequence[Encoded]
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """What a user should know about how they were read."""
    weights: Weights | None = field(default=None, kw_only=True)
    groups: NDArray[np.int64] | None = field(default=None, kw_only=True)
    """By row, the number of its group."""
    origin: NDArray[np.intp] | None = field(default=None, kw_only=True)
    """By row, its position in the data as given, if rows were left out."""
    store: Store = field(default=list, kw_only=True)
    """How columns are kept: in memory, or in a file that is mapped."""

    @property
    def kinds(self) -> list[Kind]:
        """The kind of every column."""
        return [c.kind for c in self.encoded]

    @property
    def reasons(self) -> list[str]:
        """Why every column is of its kind."""
        return [c.reason for c in self.encoded]

    @property
    def missing(self) -> Mapping[int, NDArray[np.bool_]]:
        """By position, a mask of the missing values; only for columns that have any."""
        return ArraysOf(self.encoded, "missing")

    @property
    def values(self) -> Mapping[int, NDArray[np.float64]]:
        """By position, the values of columns of numbers."""
        return ArraysOf(self.encoded, "values")

    def without_false_identifiers(self) -> Columns:
        """Return the columns with ranks as numbers: several columns of consecutive numbers, each in another order."""
        ranks = [
            k
            for k, c in enumerate(self.encoded)
            if c.kind == "identifier" and c.reason != AS_ASKED and c.values is not None
            if not c.levels and not is_monotone(c.values)
        ]
        if len(ranks) < 2:
            return self
        encoded = list(self.encoded)
        for k in ranks:
            encoded[k] = encoded[k].changed(kind="continuous", reason="whole numbers, like ranks")
        return replace(self, encoded=encoded)

    def with_columns(self, encoded: Iterable[Encoded]) -> Columns:
        """Return the same names and rows with other columns."""
        stored = self.store(encoded)
        return Columns(
            self.names,
            len(stored[0]),
            stored,
            weights=self.weights,
            groups=self.groups,
            origin=self.origin,
            store=self.store,
        )

    def kept(self, keep: NDArray[np.bool_]) -> Columns:
        """Return the columns with only some rows; levels that were not declared and no longer occur are removed."""
        encoded = self.store(c.kept_rows(keep) for c in self.encoded)
        weights = None if self.weights is None else self.weights.at(keep)
        groups = None if self.groups is None else np.unique(self.groups[keep], return_inverse=True)[1]
        origin = np.flatnonzero(keep) if self.origin is None else self.origin[keep]
        return Columns(
            self.names, len(encoded[0]), encoded, weights=weights, groups=groups, origin=origin, store=self.store
        )

    def check(self) -> None:
        """Refuse columns that cannot make a table."""
        if not self.names:
            raise DataError("the table has no columns")
        if self.rows < 2:
            raise DataError(f"the table has {'no rows' if self.rows == 0 else 'one row'}; at least two are needed")
        if self.rows > _core.MAX_ROWS:
            raise DataError(f"the table has {self.rows:,} rows; at most {_core.MAX_ROWS:,} can be used")
        check_names(self.names)
        if "" in self.names:
            raise DataError(f"the column at position {self.names.index('')} has no name; give it one")

    def without(self, names: Collection[str]) -> Columns:
        """Return all columns but these."""
        for name in names:
            if name not in self.names:
                raise OptionError(f"there is no column {name!r} to ignore.{suggestion(str(name), self.names)}")
        kept = [k for k, name in enumerate(self.names) if name not in names]
        if not kept:
            raise OptionError("all columns are ignored; keep at least one")
        encoded = self.unpacked().encoded
        names_kept = [self.names[k] for k in kept]
        encoded_kept = [encoded[k] for k in kept]
        return Columns(
            names_kept,
            self.rows,
            encoded_kept,
            weights=self.weights,
            groups=self.groups,
            origin=self.origin,
            store=self.store,
        )

    def unpacked(self) -> Columns:
        """Return the columns, each one an `Encoded`, also if they were packed while they were read."""
        return self

    def with_added_column(self, name: str, column: Encoded) -> Columns:
        """Return the columns and another at the end."""
        return Columns([*self.names, name], self.rows, [*self.unpacked().encoded, column], notes=self.notes)

    def pack(self) -> tuple[_core.PackedTable, list[tuple[Any, ...]]]:
        """Return the categorical columns packed, and all levels; a column of numbers is packed as one of one level."""
        return pack_columns(self.encoded, self.rows), [c.levels for c in self.encoded]


def pack_columns(encoded: Sequence[Encoded], rows: int) -> _core.PackedTable:
    """Return columns packed; one of numbers as one of one level."""
    packed = _core.PackedTable(rows)
    packed.reserve_planes(sum(len(c.levels) - 1 for c in encoded if 1 < len(c.levels) <= _core.PLANE_LEVELS))
    zeros = np.zeros(rows, np.uint8)
    for column in encoded:
        if column.codes is None:
            packed.append(zeros, 1)
        else:
            packed.append(np.ascontiguousarray(column.codes), max(len(column.levels), 1))
    return packed


@dataclass
class WideColumns(Columns):
    """Many categorical columns of few levels, packed while they are read."""

    packed: _core.PackedTable | None = None
    all_levels: list[tuple[Any, ...]] = field(default_factory=list)
    all_reasons: list[str] = field(default_factory=list)
    all_kinds: list[Kind] = field(default_factory=list)

    @property
    def kinds(self) -> list[Kind]:
        """The kind of every column."""
        return self.all_kinds

    @property
    def reasons(self) -> list[str]:
        """Why every column is of its kind."""
        return self.all_reasons

    def unpacked(self) -> Columns:
        """Return the columns, each one an `Encoded`."""
        packed, levels = self.pack()
        encoded = [
            Encoded(kind, reason, levels[k], as_codes(packed.codes(k), len(levels[k])))
            for k, (kind, reason) in enumerate(zip(self.kinds, self.reasons, strict=True))
        ]
        return Columns(
            self.names,
            self.rows,
            encoded,
            notes=self.notes,
            weights=self.weights,
            groups=self.groups,
            origin=self.origin,
        )

    def with_added_column(self, name: str, column: Encoded) -> Columns:
        """Return the columns and another at the end.

        It is appended to the packed columns where possible; do not use this object any more after that.
        """
        codes, levels = column.codes, column.levels
        if codes is None or column.missing is not None or not levels or len(np.unique(codes)) < len(levels):
            return super().with_added_column(name, column)
        packed, all_levels = self.pack()
        packed.append(np.ascontiguousarray(codes), len(levels))
        reasons, kinds = [*self.all_reasons, column.reason], [*self.all_kinds, column.kind]
        return WideColumns([*self.names, name], self.rows, [], packed, [*all_levels, levels], reasons, kinds)

    def pack(self) -> tuple[_core.PackedTable, list[tuple[Any, ...]]]:
        """Return the packed columns and all levels."""
        assert self.packed is not None
        return self.packed, self.all_levels
