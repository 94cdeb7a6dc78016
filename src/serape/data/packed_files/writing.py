"""Writing packed files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from serape import _core
from serape.data.columns import Columns, pack_columns
from serape.data.encoding import Encoded
from serape.data.packed_files.descriptions import ColumnDescription
from serape.data.packed_files.layout import (
    HEADER_BYTES,
    MAX_COLUMNS,
    SECTIONS,
    Header,
    Section,
    aligned,
    checksum,
    number_bytes,
    plane_bytes,
    plane_counts,
    raw_bytes,
)
from serape.data.table import Table
from serape.data.weights import Weights
from serape.errors import DataError

_BATCH = 1 << 26  # bytes of codes that are packed together
ReportProgress = Callable[[int], object]


@dataclass(frozen=True)
class Content:
    """What is written: the columns, in batches that are packed one after the other."""

    names: Sequence[str]
    rows: int
    levels: NDArray[np.uint32]
    """By column, the levels that the core knows."""
    descriptions: Iterable[ColumnDescription]
    batches: Iterable[_core.PackedTable]
    number_positions: Sequence[int]
    gap_positions: Sequence[int]
    numbers: Callable[[int], NDArray[np.float64]]
    gaps: Callable[[int], NDArray[np.bool_]]
    weights: Weights | None
    groups: NDArray[np.int64] | None

    @classmethod
    def of_table(cls, table: Table) -> Content:
        """Return the content of a table."""
        return cls(
            table.names,
            table.rows,
            table._packed.all_levels(),
            (
                ColumnDescription(kind, reason, levels, k in table._declared)
                for k, (kind, reason, levels) in enumerate(
                    zip(table._kinds, table._reasons, table._levels, strict=True)
                )
            ),
            [table._packed],
            list(table.continuous),
            sorted(table.missing),
            table.numbers,
            table.missing.__getitem__,
            table.weights,
            table.groups,
        )

    @classmethod
    def of_columns(cls, columns: Columns) -> Content:
        """Return the content of columns, of which only a batch at a time is packed."""
        encoded = columns.encoded

        def values(k: int) -> NDArray[np.float64]:
            found = encoded[k].values
            assert found is not None
            return found

        def gaps(k: int) -> NDArray[np.bool_]:
            found = encoded[k].missing
            assert found is not None
            return found

        return cls(
            columns.names,
            columns.rows,
            np.array([1 if c.codes is None else max(len(c.levels), 1) for c in encoded], np.uint32),
            (ColumnDescription(c.kind, c.reason, c.levels, c.declared) for c in encoded),
            _batches(encoded, columns.rows),
            [k for k, c in enumerate(encoded) if c.values is not None],
            [k for k, c in enumerate(encoded) if c.missing is not None],
            values,
            gaps,
            columns.weights,
            columns.groups,
        )


def _batches(encoded: Sequence[Encoded], rows: int) -> Iterator[_core.PackedTable]:
    step = max(1, _BATCH // rows)
    for begin in range(0, len(encoded), step):
        yield pack_columns([encoded[k] for k in range(begin, min(begin + step, len(encoded)))], rows)


def write_content(file: IO[bytes], content: Content, metadata: Mapping[str, Any], report: ReportProgress) -> None:
    """Write a packed file; `report` is called with the number of columns that are written."""
    if len(content.names) >= MAX_COLUMNS:
        raise DataError(f"the table has {len(content.names):,} columns; a packed file holds fewer than {MAX_COLUMNS:,}")
    names = _names(content.names)
    numbers, lines = _described(content)
    small = {
        "levels": content.levels,
        "descriptions": numbers,
        "number_positions": np.array(content.number_positions, np.uint32),
        "gap_positions": np.array(content.gap_positions, np.uint32),
        "weights": np.zeros(0) if content.weights is None else content.weights.values.astype("<f8"),
        "groups": np.zeros(0) if content.groups is None else content.groups.astype("<i8"),
        "about": np.frombuffer(lines, np.uint8),
        "names": np.frombuffer(names, np.uint8),
        "metadata": np.frombuffer(_json(metadata), np.uint8),
    }
    sections = _arranged(content, {name: array.nbytes for name, array in small.items()})
    found = _write_packed(file, content, sections, report)
    for name, positions, write in (
        ("number", content.number_positions, _write_numbers),
        ("gap", content.gap_positions, _write_gaps),
    ):
        found[f"{name}_checksums"] = np.array(write(file, content, sections, positions, report), np.uint64)
    for name, array in {**small, **found}.items():
        data = raw_bytes(array)
        file.seek(sections[name].offset)
        file.write(data)
        sections[name] = replace(sections[name], checksum=checksum(data))
    _finish(file, content.rows, len(content.names), sections)


def metadata_of(
    notes: Sequence[str], reading_notes: int, made: Mapping[str, Any], fingerprint: str, weights: Weights | None
) -> dict[str, Any]:
    """Return what a file says about the table as a whole."""
    from importlib.metadata import version

    return {
        "serape": version("serape"),
        "fingerprint": fingerprint,
        "made": dict(made),
        "notes": list(notes),
        "reading_notes": reading_notes,
        "weight_kind": "" if weights is None else weights.kind,
    }


# --- internal --------------------------------------------------------------------------------------------------------


def _json(metadata: Mapping[str, Any]) -> bytes:
    return json.dumps(metadata, ensure_ascii=True).encode()


def _names(names: Sequence[str]) -> bytes:
    text = "\0".join(names)
    try:
        block = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"a name of a column cannot be written as UTF-8 ({error.reason}); rename it") from None
    if text.count("\0") != len(names) - 1:
        odd = next(name for name in names if "\0" in name)
        raise DataError(f"the name {odd!r} has a character that ends texts, so it cannot be packed; rename it")
    return block


def _described(content: Content) -> tuple[NDArray[np.uint32], bytes]:
    """Return, by column, the number of its description, and all descriptions."""
    numbers = np.empty(len(content.names), np.uint32)
    number_of: dict[Any, int] = {}  # by the levels' identity: they are often shared, and may be equal but 1 or True
    number_of_line: dict[str, int] = {}
    kept: list[ColumnDescription] = []
    for k, described in enumerate(content.descriptions):
        key = (described.kind, described.reason, described.declared, id(described.levels))
        if key not in number_of:
            number_of[key] = number_of_line.setdefault(described.to_line(content.names[k]), len(number_of_line))
            kept.append(described)  # so that no other levels get this identity
        numbers[k] = number_of[key]
    return numbers, "\n".join(number_of_line).encode("utf-8", "surrogatepass")


def _arranged(content: Content, sizes: Mapping[str, int]) -> dict[str, Section]:
    """Return where every section is."""
    levels, rows = content.levels, content.rows
    planes = int(plane_counts(levels).sum())
    size = {
        "totals": 4 * planes,
        "checksums": 8 * len(levels),
        "planes": planes * plane_bytes(rows),
        "narrow": int(((levels > _core.PLANE_LEVELS) & (levels <= 256)).sum()) * rows,
        "wide": int((levels > 256).sum()) * 2 * rows,
        "numbers": len(content.number_positions) * number_bytes(rows),
        "number_checksums": 8 * len(content.number_positions),
        "gaps": len(content.gap_positions) * plane_bytes(rows),
        "gap_checksums": 8 * len(content.gap_positions),
        **sizes,
    }
    sections: dict[str, Section] = {}
    offset = HEADER_BYTES
    for name in SECTIONS:
        sections[name] = Section(offset, size[name])
        offset = aligned(offset + size[name])
    return sections


def _write_packed(
    file: IO[bytes], content: Content, sections: Mapping[str, Section], report: ReportProgress
) -> dict[str, NDArray[Any]]:
    """Write the codes of all columns; return their totals and checksums."""
    at = {name: sections[name].offset for name in ("planes", "narrow", "wide")}
    totals, checksums = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint64)]
    done = 0
    for batch in content.batches:
        for name in at:
            array: NDArray[Any] = getattr(batch, name)
            if array.size:
                file.seek(at[name])
                file.write(raw_bytes(array))
                at[name] += array.nbytes
        totals.append(np.array(batch.totals))
        checksums.append(batch.checksums())
        done += batch.columns
        report(done)
    return {"totals": np.concatenate(totals), "checksums": np.concatenate(checksums)}


def _write_numbers(
    file: IO[bytes], content: Content, sections: Mapping[str, Section], positions: Sequence[int], report: ReportProgress
) -> list[int]:
    checksums = []
    for index, k in enumerate(positions):
        data = raw_bytes(content.numbers(k).astype("<f8", copy=False))
        file.seek(sections["numbers"].offset + index * number_bytes(content.rows))
        file.write(data)
        checksums.append(checksum(data))
        report(len(content.names))
    return checksums


def _write_gaps(
    file: IO[bytes], content: Content, sections: Mapping[str, Section], positions: Sequence[int], report: ReportProgress
) -> list[int]:
    checksums = []
    for index, k in enumerate(positions):
        data = np.packbits(content.gaps(k), bitorder="little").tobytes()
        file.seek(sections["gaps"].offset + index * plane_bytes(content.rows))
        file.write(data)
        checksums.append(checksum(data))
        report(len(content.names))
    return checksums


def _finish(file: IO[bytes], rows: int, columns: int, sections: Mapping[str, Section]) -> None:
    last = sections["metadata"]
    size = last.offset + last.size
    file.truncate(size)
    file.seek(0)
    file.write(Header(rows, columns, size, dict(sections)).to_bytes())
