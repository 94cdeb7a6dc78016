"""Writing a table to a file: CSV, plain or compressed, or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
import lzma
from pathlib import Path
from typing import IO, Any

import numpy as np

from serape.data.table import Table
from serape.errors import OptionError, library_or
from serape.files import atomic_file

_CHUNK = 10_000  # rows held as text at a time


def write_table(table: Table, path: Path) -> None:
    """Write a table of categorical columns. If writing fails, no file is left and an old one is unchanged."""
    suffixes = [s.lower() for s in path.suffixes[-2:]]
    if suffixes[-1:] == [".parquet"]:
        write = _write_parquet
    elif suffixes[-1:] == [".csv"] or (suffixes[:1] == [".csv"] and suffixes[1:] in ([".gz"], [".xz"])):
        write = _write_csv
    else:
        raise OptionError(f"{path.name!r} must end in .csv, .csv.gz, .csv.xz or .parquet")
    with atomic_file(path) as file:
        write(table, file, suffixes[-1])


def write_csv(table: Table, text: IO[str]) -> None:
    """Write a table as CSV; the first line names the columns."""
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.names)
    levels = [np.array([str(v) for v in table.variables[name].levels], object) for name in table.names]
    codes = [table.packed.codes(k) for k in range(len(table.names))]
    for begin in range(0, table.rows, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        writer.writerows(zip(*(text[code[part]] for text, code in zip(levels, codes, strict=True)), strict=True))


def _write_csv(table: Table, file: IO[bytes], suffix: str) -> None:
    compressed_file: Any = {".gz": gzip.GzipFile, ".xz": lzma.LZMAFile}.get(suffix)
    if compressed_file is None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        write_csv(table, text)
        text.detach()
        return
    options = {"fileobj": file, "mode": "wb", "mtime": 0} if suffix == ".gz" else {"filename": file, "mode": "wb"}
    with compressed_file(**options) as inner, io.TextIOWrapper(inner, encoding="utf-8", newline="") as text:
        write_csv(table, text)


def _write_parquet(table: Table, file: IO[bytes], suffix: str) -> None:
    del suffix
    needed = "Parquet files need pyarrow; install it with: pip install 'serape[arrow]'"
    pa, pq = library_or("pyarrow", needed), library_or("pyarrow.parquet", needed)
    columns = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(table.packed.codes(k).astype(np.int32)), pa.array([str(v) for v in table.variables[name].levels])
        )
        for k, name in enumerate(table.names)
    }
    pq.write_table(pa.table(columns), file)
