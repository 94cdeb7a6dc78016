"""The format of packed files: a header, and sections that begin at multiples of 64 bytes.

Every number is little-endian. docs/packed.md has all details.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.errors import DataError

MAGIC = b"\x89SRP\r\n\x1a\n"
"""The first bytes of a packed file. A file that was sent as text begins with others."""
VERSION = 1
LINE = 64
"""Bytes of a cache line: each section begins at a multiple of it."""
HEADER_BYTES = 512
SECTIONS = (
    "levels", "descriptions", "totals", "checksums", "planes", "narrow", "wide",
    "number_positions", "numbers", "number_checksums", "gap_positions", "gaps", "gap_checksums",
    "weights", "groups", "about", "names", "metadata",
)  # fmt: skip
"""The sections, in their order in the file."""
_FIXED = struct.Struct("<8sIIQQQQQ")  # magic, version, sections, rows, columns, size, reserved, checksum
_SECTION = struct.Struct("<QQQ")  # offset, bytes, checksum
MAX_COLUMNS = 1 << 32


@dataclass(frozen=True, slots=True)
class Section:
    """Where a section is."""

    offset: int
    size: int
    checksum: int = 0


@dataclass(frozen=True, slots=True)
class Header:
    """What the first bytes of a file say."""

    rows: int
    columns: int
    size: int
    """Bytes of the whole file."""
    sections: Mapping[str, Section]

    def to_bytes(self) -> bytes:
        """Return the header as it is written."""
        table = b"".join(
            _SECTION.pack(s.offset, s.size, s.checksum) for s in (self.sections[name] for name in SECTIONS)
        )
        fixed = (MAGIC, VERSION, len(SECTIONS), self.rows, self.columns, self.size, 0)
        signed = (_FIXED.pack(*fixed, 0) + table).ljust(HEADER_BYTES, b"\0")
        return (_FIXED.pack(*fixed, checksum(signed)) + table).ljust(HEADER_BYTES, b"\0")


def checksum(content: bytes | memoryview) -> int:
    """Return the checksum of bytes."""
    return _core.checksum(np.frombuffer(content, np.uint8))


def raw_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of an array of one dimension."""
    return np.ascontiguousarray(array).view(np.uint8).data


def aligned(offset: int) -> int:
    """Return the next multiple of a cache line."""
    return -(-offset // LINE) * LINE


def plane_bytes(rows: int) -> int:
    """Return the bytes of a bitset of rows."""
    return aligned((rows + 7) // 8)


def number_bytes(rows: int) -> int:
    """Return the bytes of a column of numbers, up to the next one."""
    return aligned(8 * rows)


def plane_counts(levels: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return, by column, its number of planes."""
    return np.where(levels <= _core.PLANE_LEVELS, levels.astype(np.int64) - 1, 0)


def is_packed(start: bytes) -> bool:
    """Return whether these first bytes are those of a packed file."""
    return start[: len(MAGIC)] == MAGIC


def packed_path(data: Any) -> Path | None:
    """Return the path of a packed file, or None if data are something else."""
    try:
        path = Path(data)
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return path if is_packed(file.read(16)) else None
    except (TypeError, ValueError, OSError):
        return None


def read_header(start: bytes, size: int, name: str) -> Header:
    """Return the header of a file of so many bytes; refuse one that is not whole."""
    if not is_packed(start):
        raise DataError(f"{name} is not a packed file; write one with serape.pack")
    if len(start) < HEADER_BYTES:
        raise DataError(f"{name} is cut short: it has {size:,} bytes, fewer than a header; pack the data again")
    _, version, count, rows, columns, whole, _, signature = _FIXED.unpack_from(start)
    if version != VERSION:
        raise DataError(
            f"{name} is a packed file of version {version}, but this serape reads version {VERSION}; pack the data "
            f"again, or use another version of serape"
        )
    unsigned = start[: _FIXED.size - 8] + bytes(8) + start[_FIXED.size : HEADER_BYTES]
    if count != len(SECTIONS) or signature != checksum(unsigned):
        raise damaged(name, "its header does not match its checksum")
    if whole != size:
        how = "cut short" if size < whole else "longer than it was written"
        raise DataError(f"{name} is {how}: it has {size:,} bytes in place of {whole:,}; copy or pack it again")
    found = {}
    for k, section in enumerate(SECTIONS):
        found[section] = Section(*_SECTION.unpack_from(start, _FIXED.size + k * _SECTION.size))
        where = found[section]
        if where.offset % LINE or where.offset < HEADER_BYTES or where.offset + where.size > size:
            raise damaged(name, f"its section {section!r} is not inside the file")
    if not 2 <= rows <= _core.MAX_ROWS or not 1 <= columns < MAX_COLUMNS:
        raise damaged(name, f"it cannot have {rows:,} rows and {columns:,} columns")
    return Header(rows, columns, size, found)


def check_sizes(header: Header, name: str) -> None:
    """Refuse sections whose sizes do not agree with the rows and columns, or with each other."""
    size = {section: where.size for section, where in header.sections.items()}
    rows, columns = header.rows, header.columns
    numbers, gaps = size["number_positions"] // 4, size["gap_positions"] // 4
    needed = {
        "levels": 4 * columns,
        "descriptions": 4 * columns,
        "checksums": 8 * columns,
        "planes": size["totals"] // 4 * plane_bytes(rows),
        "number_positions": 4 * numbers,
        "numbers": numbers * number_bytes(rows),
        "number_checksums": 8 * numbers,
        "gap_positions": 4 * gaps,
        "gaps": gaps * plane_bytes(rows),
        "gap_checksums": 8 * gaps,
        "weights": 8 * rows if size["weights"] else 0,
        "groups": 8 * rows if size["groups"] else 0,
    }
    for section, right in needed.items():
        if size[section] != right:
            raise damaged(name, f"its section {section!r} has {size[section]:,} bytes in place of {right:,}")


def damaged(name: str, why: str) -> DataError:
    """Return the error about a file whose content is wrong."""
    return DataError(f"{name} is damaged: {why}; pack the data again")
