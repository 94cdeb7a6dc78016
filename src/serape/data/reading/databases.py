"""Tables of SQLite and DuckDB databases, opened read-only."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.reading.cells import encode_cells
from serape.data.reading.frames import read_frame
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source, choose
from serape.errors import DataError, library_or, one_line


def read_sqlite(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a table or view of a SQLite database."""
    options.refuse(f"{source.name} is", "na_values")
    try:
        with _as_file(source) as path:
            connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
            with closing(connection):
                connection.text_factory = lambda value: value.decode("utf-8", "replace")
                found = connection.execute(
                    "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
                )
                table = choose("table", [row[0] for row in found], source.name, options.table)
                cursor = connection.execute("select * from " + '"{}"'.format(table.replace('"', '""')))
                names = [column[0] for column in cursor.description]
                cells = list(zip(*cursor, strict=True)) or [()] * len(names)
    except sqlite3.Error as error:
        raise DataError(f"{source.name} cannot be read as a SQLite database: {one_line(error)}") from None
    return encode_cells(names, cells, kinds, options)


def read_duckdb(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a table or view of a DuckDB database."""
    options.refuse(f"{source.name} is")
    duckdb = library_or("duckdb", f"reading {source.name} needs duckdb: pip install duckdb")
    try:
        with _as_file(source) as path, closing(duckdb.connect(str(path), read_only=True)) as connection:
            found = connection.execute(
                "select table_name from information_schema.tables where table_schema = 'main' order by all"
            )
            table = choose("table", [str(row[0]) for row in found.fetchall()], source.name, options.table)
            return read_frame(connection.table('"{}"'.format(table.replace('"', '""'))), kinds, options.ignore)
    except duckdb.Error as error:
        raise DataError(f"{source.name} cannot be read as a DuckDB database: {one_line(error)}") from None


@contextmanager
def _as_file(source: Source) -> Iterator[Path]:
    """Return the path of a source; its content is written to a temporary file if it has none."""
    if source.path is not None:
        yield source.path
        return
    folder = Path(tempfile.mkdtemp())
    try:
        path = folder / "database"
        path.write_bytes(source.content)
        yield path
    finally:
        shutil.rmtree(folder)
