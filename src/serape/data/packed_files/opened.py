"""A packed file, mapped into memory. Opening it reads the header and a few bytes per column; the rest waits for use."""

from __future__ import annotations

import json
import mmap
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.packed_files.descriptions import DeclaredColumns, Described, Descriptions
from serape.data.packed_files.layout import (
    HEADER_BYTES,
    Header,
    check_sizes,
    checksum,
    damaged,
    number_bytes,
    plane_bytes,
    read_header,
)
from serape.data.provenance import Provenance
from serape.data.weights import Weights
from serape.errors import DataError
from serape.names import NamePositions
from serape.settings import DataSettings
from serape.types import WeightKind

_MAX_DAYS = 4e9  # a date beyond this has no name
Number = TypeVar("Number", bound=np.generic)


class PackedFile:
    """The content of a packed file."""

    def __init__(self, content: mmap.mmap | bytes, path: Path) -> None:
        self.path, self.name = path.absolute(), str(path)
        if sys.byteorder != "little":
            raise DataError(f"{self.name} is little-endian, but this machine is not; read the data themselves")
        self._map = content
        self.header: Header = read_header(bytes(content[:HEADER_BYTES]), len(content), self.name)
        check_sizes(self.header, self.name)
        self.rows, self.columns = self.header.rows, self.header.columns
        for section in ("levels", "metadata", "number_positions", "gap_positions", "weights", "groups"):
            self._check(section)
        self._metadata = self._read_metadata()
        self._levels = self._array("levels", np.uint32)
        self.packed = _core.PackedTable.borrow(
            self.rows,
            self.name,
            self._levels,
            self._array("totals", np.uint32),
            self._array("checksums", np.uint64),
            self._array("planes", np.uint64),
            self._array("narrow", np.uint8),
            self._array("wide", np.uint16),
        )
        self.numbers: Mapping[int, NDArray[np.float64]] = _Numbers(self)
        self.missing: Mapping[int, NDArray[np.bool_]] = _Gaps(self) if self._size("gaps") else {}
        self.weights = self._read_weights()
        self.groups = self._array("groups", np.int64) if self._size("groups") else None

    @classmethod
    def open(cls, path: Path) -> PackedFile:
        """Map a file."""
        try:
            with path.open("rb") as file:
                content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:  # an empty file is a ValueError
            raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        return cls(content, path)

    def fits(self, settings: DataSettings) -> bool:
        """Return whether a table with these settings is this file as it is."""
        others = [name for name in settings.given() if name != "missing"]
        return not others and (not self.missing or settings.missing in ("error", "pairwise"))

    def same_as(self, fingerprint: str) -> PackedFile:
        """Return this file; refuse it if it holds another table."""
        if self.fingerprint != fingerprint:
            raise DataError(f"{self.name} holds other data than before; open it again with serape.Table")
        return self

    # --- what is known about the columns -------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        try:
            names = tuple(str(self._bytes("names"), "utf-8").split("\0"))
        except UnicodeDecodeError:
            names = ()
        if len(names) != self.columns:
            raise damaged(self.name, f"it does not hold {self.columns:,} names")
        return names

    @cached_property
    def position(self) -> Mapping[str, int]:
        """The position of every column by its name."""
        return NamePositions(self.names)

    @cached_property
    def about(self) -> Descriptions:
        """The descriptions of all columns."""
        self._check("descriptions")
        return Descriptions(self._bytes("about"), self._array("descriptions", np.uint32), self._levels, self.name)

    def described(self, what: str) -> Described[Any]:
        """Return one thing that is known about every column: "kind", "reason" or "levels"."""
        return Described(self.about, what)

    @property
    def declared(self) -> DeclaredColumns:
        """The positions of columns whose levels were declared."""
        return DeclaredColumns(self.about)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the table."""
        return str(self._metadata["fingerprint"])

    @property
    def provenance(self) -> Provenance:
        """The provenance of the data that were packed."""
        return Provenance(self.rows, self.columns, dict(self._metadata["made"]), self.fingerprint)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes about the table."""
        return tuple(map(str, self._metadata["notes"]))

    @property
    def reading_notes(self) -> tuple[str, ...]:
        """The first of the notes: those about how the data were read."""
        return self.notes[: int(self._metadata["reading_notes"])]

    # --- verification --------------------------------------------------------------------------------------------

    def verify(self, report: Callable[[int], object] = lambda _: None) -> None:
        """Read everything, and refuse a file of which something is wrong; `report` is called with finished columns."""
        for section in ("names", "about", "descriptions", "totals", "checksums", "number_checksums", "gap_checksums"):
            self._check(section)
        if len(set(self.names)) < self.columns:
            raise damaged(self.name, "a name occurs twice")
        wrong: list[str] = []
        for k, name in enumerate(self.names):
            try:
                _ = self.about[k]
                self.packed.verify(k)
                _ = self.numbers.get(k), self.missing.get(k)
            except DataError:
                wrong.append(name)
            report(k + 1)
        if wrong:
            more = f" and {len(wrong) - 1:,} more columns are" if len(wrong) > 1 else " is"
            raise damaged(self.name, f"the content of column {wrong[0]!r}{more} not as it was written")

    # --- internal ------------------------------------------------------------------------------------------------

    def _size(self, section: str) -> int:
        return self.header.sections[section].size

    def _array(self, section: str, dtype: type[Number]) -> NDArray[Number]:
        where = self.header.sections[section]
        if where.size % np.dtype(dtype).itemsize:
            raise damaged(self.name, f"its section {section!r} has {where.size:,} bytes")
        return np.frombuffer(self._map, dtype, where.size // np.dtype(dtype).itemsize, where.offset)

    def _check(self, section: str) -> None:
        where = self.header.sections[section]
        if _core.checksum(self._array(section, np.uint8)) != where.checksum:
            raise damaged(self.name, f"its section {section!r} does not match its checksum")

    def _bytes(self, section: str) -> bytes:
        self._check(section)
        where = self.header.sections[section]
        return self._map[where.offset : where.offset + where.size]

    def _read_metadata(self) -> dict[str, Any]:
        try:
            found = json.loads(self._bytes("metadata"))
            right = all(isinstance(found[name], kind) for name, kind in METADATA.items())
        except (ValueError, KeyError, TypeError, RecursionError):
            right = False
        if not right:
            raise damaged(self.name, "its metadata cannot be read")
        return dict(found)

    def _read_weights(self) -> Weights | None:
        if not self._size("weights"):
            return None
        kind: WeightKind = "survey" if self._metadata["weight_kind"] == "survey" else "frequency"
        values = self._array("weights", np.float64)
        if not (np.isfinite(values) & (values > 0)).all():
            raise damaged(self.name, "some weights are not positive numbers")
        return Weights(values, kind)

    def column_bytes(self, section: str, k: int, stride: int, used: int) -> memoryview:
        """Return the bytes of the column at an index of a section."""
        begin = self.header.sections[section].offset + k * stride
        return memoryview(self._map)[begin : begin + used]


METADATA = {"fingerprint": str, "made": dict, "notes": list, "reading_notes": int, "weight_kind": str, "serape": str}
"""What the metadata hold, and its types."""
_OF_SOMETHING = "of the column at position {} does not match its checksum"


class _ByPosition(Mapping[int, NDArray[Any]]):
    """What some of the columns have, by position; verified when it is looked up for the first time."""

    section, positions_section, checksums_section, what = "", "", "", ""

    def __init__(self, file: PackedFile) -> None:
        self._file = file
        self._positions = file._array(self.positions_section, np.uint32)
        self._known: dict[int, NDArray[Any]] = {}
        ascending = bool((self._positions[1:] > self._positions[:-1]).all())
        if not ascending or (len(self._positions) and self._positions[-1] >= file.columns):
            raise damaged(file.name, f"its section {self.positions_section!r} holds no positions")

    def __len__(self) -> int:
        return len(self._positions)

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions.tolist())

    def __contains__(self, k: object) -> bool:
        return isinstance(k, int | np.integer) and self._index(int(k)) is not None

    def __getitem__(self, k: int) -> NDArray[Any]:
        if k not in self._known:
            index = self._index(int(k))
            if index is None:
                raise KeyError(k)
            content = self._content(index)
            if checksum(content) != self._file._array(self.checksums_section, np.uint64)[index]:
                raise damaged(self._file.name, f"{self.what} {_OF_SOMETHING.format(k)}")
            self._known[k] = self._read(int(k), content)
        return self._known[k]

    def _index(self, k: int) -> int | None:
        index = int(np.searchsorted(self._positions, k)) if len(self._positions) else 0
        return index if index < len(self._positions) and self._positions[index] == k else None

    def _content(self, index: int) -> memoryview:
        raise NotImplementedError

    def _read(self, k: int, content: memoryview) -> NDArray[Any]:
        raise NotImplementedError


class _Numbers(_ByPosition):
    section, positions_section, checksums_section = "numbers", "number_positions", "number_checksums"
    what = "the numbers"

    def __init__(self, file: PackedFile) -> None:
        super().__init__(file)
        if (file._levels[self._positions] != 1).any():
            raise damaged(file.name, "a column of numbers has levels")

    def _content(self, index: int) -> memoryview:
        return self._file.column_bytes(self.section, index, number_bytes(self._file.rows), 8 * self._file.rows)

    def _read(self, k: int, content: memoryview) -> NDArray[np.float64]:
        values = np.frombuffer(content, np.float64)
        finite = np.isfinite(values)
        if k in self._file.missing:
            finite |= self._file.missing[k]
        described = self._file.about[k]
        right = bool(finite.all())
        if right and described.levels:
            right = _are_indices(values, len(described.levels))
        elif right and described.kind == "date":
            right = not (np.abs(values) > _MAX_DAYS).any()
        if not right:
            raise damaged(self._file.name, f"the numbers of the column at position {k} cannot be used")
        return values


def _are_indices(values: NDArray[np.float64], count: int) -> bool:
    known = values[~np.isnan(values)]
    return bool(((known >= 0) & (known < count) & (known == np.floor(known))).all())


class _Gaps(_ByPosition):
    section, positions_section, checksums_section = "gaps", "gap_positions", "gap_checksums"
    what = "the missing values"

    def _content(self, index: int) -> memoryview:
        return self._file.column_bytes(self.section, index, plane_bytes(self._file.rows), (self._file.rows + 7) // 8)

    def _read(self, k: int, content: memoryview) -> NDArray[np.bool_]:
        del k
        bits = np.frombuffer(content, np.uint8)
        return np.unpackbits(bits, count=self._file.rows, bitorder="little").astype(bool)
