"""Files of all formats, told apart by their first bytes and by their names."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.packed_files.layout import MAGIC
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source, is_workbook
from serape.data.reading.text import read_text
from serape.errors import DataError

_Reader = Callable[[Source, Kinds, ReadOptions], Columns]
_BY_START = (
    ((b"PAR1",), "arrow_files.read_parquet"),
    ((MAGIC,), "packed.read_packed"),
    ((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"), "arrow_files.read_arrow"),
    ((b"SQLite format 3\0",), "databases.read_sqlite"),
    ((b"\xd0\xcf\x11\xe0",), "workbooks.read_workbook"),
    ((b"X\n\0\0\0", b"RDX2\n", b"RDX3\n"), "r_files.read_r"),
)
_BY_ENDING = {
    ".parquet": "arrow_files.read_parquet",
    ".pq": "arrow_files.read_parquet",
    ".arrow": "arrow_files.read_arrow",
    ".feather": "arrow_files.read_arrow",
    ".ipc": "arrow_files.read_arrow",
    ".json": "json_files.read_json",
    ".jsonl": "json_files.read_json",
    ".ndjson": "json_files.read_json",
    ".rds": "r_files.read_r",
    ".rda": "r_files.read_r",
    ".rdata": "r_files.read_r",
    ".duckdb": "databases.read_duckdb",
    ".xls": "workbooks.read_workbook",
    ".xlsx": "workbooks.read_workbook",
    ".xlsm": "workbooks.read_workbook",
    ".xlsb": "workbooks.read_workbook",
    ".ods": "workbooks.read_workbook",
    ".srp": "packed.read_packed",
}
"""What reads a file, after its first bytes or its name: a function, with the module that is imported only then."""
_DUCKDB = b"DUCK"  # after the check sum


def read_source(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a file of any format."""
    named = _reader(source)
    if named is not None:
        module, _, name = named.partition(".")
        reader: _Reader = getattr(import_module(f"serape.data.reading.{module}"), name)
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


def _reader(source: Source) -> str | None:
    for marks, reader in _BY_START:
        if source.starts_with(*marks):
            return reader
    if source.start[8:12] == _DUCKDB:
        return "databases.read_duckdb"
    if source.starts_with(b"PK\x03\x04") and is_workbook(source):
        return "workbooks.read_workbook"
    if not source.ending and source.starts_with(b"{", b"["):
        return "json_files.read_json"
    return _BY_ENDING.get(source.ending)
