"""Files of all formats, told apart by their first bytes and by their names."""

from __future__ import annotations

from collections.abc import Callable

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.packed_files.layout import MAGIC
from serape.data.reading.arrow_files import read_arrow, read_parquet
from serape.data.reading.databases import read_duckdb, read_sqlite
from serape.data.reading.json_files import read_json
from serape.data.reading.options import ReadOptions
from serape.data.reading.packed import read_packed
from serape.data.reading.r_files import read_r
from serape.data.reading.sources import Source, is_workbook
from serape.data.reading.text import read_text
from serape.data.reading.workbooks import read_workbook
from serape.errors import DataError

_Reader = Callable[[Source, Kinds, ReadOptions], Columns]
_BY_START: tuple[tuple[tuple[bytes, ...], _Reader], ...] = (
    ((b"PAR1",), read_parquet),
    ((MAGIC,), read_packed),
    ((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"), read_arrow),
    ((b"SQLite format 3\0",), read_sqlite),
    ((b"\xd0\xcf\x11\xe0",), read_workbook),
    ((b"X\n\0\0\0", b"RDX2\n", b"RDX3\n"), read_r),
)
_BY_ENDING: dict[str, _Reader] = {
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".ipc": read_arrow,
    ".json": read_json,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".rds": read_r,
    ".rda": read_r,
    ".rdata": read_r,
    ".duckdb": read_duckdb,
    ".xls": read_workbook,
    ".xlsx": read_workbook,
    ".xlsm": read_workbook,
    ".xlsb": read_workbook,
    ".ods": read_workbook,
    ".srp": read_packed,
}
_DUCKDB = b"DUCK"  # after the check sum


def read_source(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a file of any format."""
    reader = _reader(source)
    if reader is not None:
        return reader(source, kinds, options)
    options.refuse_table(f"{source.name} is")
    columns = read_text(source, kinds, options)
    if columns is None:
        raise DataError(
            f"{source.name} is of a kind that cannot be read; use delimited text (.csv, .tsv, .txt, …), .parquet, "
            f".arrow, .feather, .jsonl, .xlsx, .rds, .sqlite, .duckdb or .srp, also compressed (.gz, .bz2, .xz, .zst, "
            f".zip)"
        )
    return columns


def _reader(source: Source) -> _Reader | None:
    for marks, reader in _BY_START:
        if source.starts_with(*marks):
            return reader
    if source.start[8:12] == _DUCKDB:
        return read_duckdb
    if source.starts_with(b"PK\x03\x04") and is_workbook(source):
        return read_workbook
    if not source.ending and source.starts_with(b"{", b"["):
        return read_json
    return _BY_ENDING.get(source.ending)
