"""Packed files that were changed at random: bytes, lengths, whole sections.

Half of them get the right checksums again, as if somebody had written them on purpose.
"""

from __future__ import annotations

import struct
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import serape
from fuzzing.outcomes import outcome_of, scratch
from serape import _core
from serape.data.packed_files import layout
from serape.data.packed_files.opened import PackedFile

_TABLE = 56  # where the table of sections begins
_ENTRY = struct.Struct("<QQQ")
_ODD = (0, 1, 63, 64, 2**31, 2**40, 2**63, 2**64 - 1)


@cache
def samples() -> list[bytes]:
    """Return packed files of all kinds of columns, with missing values, and with weights and groups."""
    random = np.random.default_rng(0)
    rows = 70
    frame = pd.DataFrame(
        {
            "two": random.choice(["no", "yes"], rows),
            "three": pd.Categorical(random.choice(list("abc"), rows), categories=list("abcd")),
            "ten": random.integers(0, 10, rows),
            "many": [f"c{k % 60}" for k in range(rows)],
            "number": random.normal(size=rows),
            "day": pd.to_datetime("2024-01-05") + pd.to_timedelta(random.integers(0, 900, rows), unit="D"),
            "id": [f"row {k}" for k in range(rows)],
        }
    )
    gappy = frame.copy()
    gappy.loc[3:9, "two"] = None
    gappy.loc[5:20, "number"] = np.nan
    wide = {"wide": [f"c{k % 300}" for k in range(700)], "x": random.integers(0, 3, 700)}
    tables = [
        serape.Table(frame),
        serape.Table(gappy, missing="pairwise"),
        serape.Table(frame, sample_weight=random.random(rows) + 0.5, weight_kind="survey", groups="two"),
        serape.Table(wide),
        serape.Table(random.integers(0, 2, (130, 40))),
    ]
    return [serape.pack(table, scratch("sample.srp")).read_bytes() for table in tables]


def changed(random: np.random.Generator, content: bytes, other: bytes) -> bytes:
    """Return a file with something changed."""
    data = bytearray(content)
    how = random.integers(7)
    at, size = int(random.integers(len(data))), int(random.integers(1, 40))
    if how == 0:
        return bytes(data[:at])
    if how == 1:
        return bytes(data) + random.bytes(size)
    if how == 2:
        data[at : at + size] = bytes(size)
    elif how == 3:
        data[at : at + size] = other[at : at + size]
    elif how == 4:  # a field of the header
        field = 8 * int(random.integers(64))
        data[field : field + 8] = struct.pack("<Q", _ODD[int(random.integers(len(_ODD)))])
    else:
        section = layout.SECTIONS[int(random.integers(len(layout.SECTIONS)))]
        offset, length, _ = _ENTRY.unpack_from(content, _TABLE + _ENTRY.size * layout.SECTIONS.index(section))
        for _ in range(int(random.integers(1, 5))):
            where = offset + int(random.integers(max(length, 1)))
            if where < len(data):
                data[where] = int(random.choice([0, 1, 7, 34, 91, 123, 127, 255, int(random.integers(256))]))
    return bytes(data)


def signed(content: bytes) -> bytes:
    """Return a file with the checksums that its content has, as far as its header can be read."""
    data = bytearray(content)
    if len(data) < layout.HEADER_BYTES:
        return content
    rows = struct.unpack_from("<Q", data, 16)[0]
    at = {}
    for k, name in enumerate(layout.SECTIONS):
        at[name] = _ENTRY.unpack_from(data, _TABLE + _ENTRY.size * k)[:2]
        if sum(at[name]) > len(data):
            return content
    _sign_columns(data, at, rows)
    for k, name in enumerate(layout.SECTIONS):
        offset, length = at[name]
        struct.pack_into(
            "<Q", data, _TABLE + _ENTRY.size * k + 16, layout.checksum(bytes(data[offset : offset + length]))
        )
    struct.pack_into("<Q", data, 32, len(data))
    struct.pack_into("<Q", data, 48, 0)
    struct.pack_into("<Q", data, 48, layout.checksum(bytes(data[: layout.HEADER_BYTES])))
    return bytes(data)


def _sign_columns(data: bytearray, at: dict[str, Any], rows: int) -> None:
    def array(name: str, dtype: Any) -> Any:
        offset, length = at[name]
        return np.frombuffer(bytes(data[offset : offset + length]), dtype)

    try:
        packed = _core.PackedTable.borrow(
            rows,
            "x",
            array("levels", "u4"),
            array("totals", "u4"),
            array("checksums", "u8"),
            array("planes", "u8"),
            array("narrow", "u1"),
            array("wide", "u2"),
        )
    except (serape.SerapeError, ValueError):
        return
    offset, length = at["checksums"]
    data[offset : offset + length] = packed.checksums().tobytes()
    for name, sums, stride, used in (
        ("numbers", "number_checksums", layout.number_bytes(rows), 8 * rows),
        ("gaps", "gap_checksums", layout.plane_bytes(rows), (rows + 7) // 8),
    ):
        for index in range(at[sums][1] // 8):
            begin = at[name][0] + index * stride
            struct.pack_into("<Q", data, at[sums][0] + 8 * index, layout.checksum(bytes(data[begin : begin + used])))


def use(path: Path) -> None:
    """Ask all sorts of questions about a file."""
    table = serape.Table(path)
    names = table.names
    for k, name in enumerate(names):
        assert table.position(name) in range(len(names))
        _ = table.variables[name], table.levels(k), table.column(k), table.is_constant(k)
    _ = repr(table), table.varying, table.nbytes, table.provenance.to_dict()
    serape.markov_blanket(table, int(table.varying[0]), max_seconds=5)
    serape.describe(path)
    table.to_pandas()


def attack(seed: int) -> str:
    """Change one file, and use it; return what happened."""
    random = np.random.default_rng(seed)
    contents = samples()
    which, other = random.choice(len(contents), 2)
    content = changed(random, contents[which], contents[other])
    if random.random() < 0.5:
        content = signed(content)
    path = scratch("x.srp")
    path.write_bytes(content)
    outcomes = [outcome_of(use, path), outcome_of(lambda p: PackedFile.open(p).verify(), path)]
    return "refused" if "refused" in outcomes else "used"
