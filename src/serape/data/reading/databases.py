"""Tables of SQLite and DuckDB databases: all rows that are committed, and no others; no file is changed.

A database is more than one file while it is written to, and after a process that wrote to it has died. SQLite keeps
committed rows in a *write-ahead log* (-wal) until it moves them into the database, or what a transaction overwrites in
a *rollback journal* (-journal) until the transaction ends. DuckDB has a log too (.wal), which it reads without a
change. SQLite changes a log or journal that it reads, so it gets a copy.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from serape.data.columns import Columns
from serape.data.kinds import Kinds
from serape.data.reading.cells import encode_cells
from serape.data.reading.frames import read_frame
from serape.data.reading.options import ReadOptions
from serape.data.reading.sources import Source, choose, size_beside
from serape.errors import DataError, library_or, one_line

_BESIDE = ("-wal", "-journal")
"""The endings of SQLite's log and journal."""
_HEADER = 32  # bytes of a log or journal that are new when it begins anew
_TRIES = 5


def read_sqlite(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a table or view of a SQLite database."""
    options.refuse(f"{source.name} is", "na_values")
    try:
        with _as_file(source, *_BESIDE) as path:
            names, cells = _read_settled(path.resolve(), source.name, options.table)
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            raise DataError(
                f"{source.name} is locked by a process that writes to it; read it when this has ended, or read a copy"
            ) from None
        raise DataError(f"{source.name} cannot be read as a SQLite database: {one_line(error)}") from None
    return encode_cells(names, cells, kinds, options)


def read_duckdb(source: Source, kinds: Kinds, options: ReadOptions) -> Columns:
    """Read a table or view of a DuckDB database."""
    options.refuse(f"{source.name} is")
    duckdb = library_or("duckdb", f"reading {source.name} needs duckdb: pip install duckdb")
    try:
        with _as_file(source, ".wal") as path, closing(duckdb.connect(str(path), read_only=True)) as connection:
            found = connection.execute(
                "select table_name from information_schema.tables where table_schema = 'main' order by all"
            )
            table = choose("table", [str(row[0]) for row in found.fetchall()], source.name, options.table)
            return read_frame(connection.table('"{}"'.format(table.replace('"', '""'))), kinds, options.ignore)
    except duckdb.Error as error:
        raise DataError(f"{source.name} cannot be read as a DuckDB database: {one_line(error)}") from None


@contextmanager
def _as_file(source: Source, *beside: str) -> Iterator[Path]:
    """Return the path of a source; its content is written to a temporary file if it has none.

    Content alone is refused if a file beside it, with one of these endings, belongs to it.
    """
    if source.path is not None:
        yield source.path
        return
    ending = next((ending for ending in beside if source.has_beside(ending)), None)
    if ending is not None:
        raise DataError(
            f"the rows of {source.name} are not all in it: the file that ends in {ending} beside it belongs to it; put "
            f"both into one folder, and pass the path of the database"
        )
    with _folder() as folder:
        path = folder / "database"
        path.write_bytes(source.content)
        yield path


@contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


# --- SQLite -----------------------------------------------------------------------------------------------------------

NamedRows = tuple[list[str], list[Any]]
"""The names of columns, and their cells."""


def _read_settled(path: Path, name: str, table: str | int | None) -> NamedRows:
    """Return a table as the last transaction left it.

    A database without logs is read where it is, under SQLite's lock. Where a log or journal waits, a copy is read; it
    is right if the log or journal did not begin anew while it was made, since all that moves from a log into the
    database until then is still in the log. A database in the mode of logs that has none is read without a lock, which
    would need more files beside it; this is right if nothing was written meanwhile.
    """
    for _ in range(_TRIES):
        before = _state(path)
        try:
            if size_beside(path, "-wal"):
                found = _read_copy(path, name, table)
            elif _uses_logs(path):
                found = _read_file(path, "?mode=ro&immutable=1", name, table)
            else:
                try:
                    return _read_file(path, "?mode=ro", name, table)
                except sqlite3.OperationalError as error:
                    if error.sqlite_errorcode != sqlite3.SQLITE_READONLY_ROLLBACK:
                        raise
                    found = _read_copy(path, name, table)
        except sqlite3.Error:
            if _state(path) == before:
                raise
        else:
            if _state(path) == before:
                return found
    raise DataError(f"{name} changes all the time while it is read; read it when this has ended, or read a copy")


def _read_file(path: Path, mode: str, name: str, table: str | int | None) -> NamedRows:
    """Return a table of a database file."""
    with closing(sqlite3.connect(f"file:{quote(str(path))}{mode}", uri=True)) as connection:
        connection.text_factory = lambda value: value.decode("utf-8", "replace")
        found = connection.execute(
            "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
        )
        chosen = choose("table", [row[0] for row in found], name, table)
        cursor = connection.execute("select * from " + '"{}"'.format(chosen.replace('"', '""')))
        names = [column[0] for column in cursor.description]
        return names, list(zip(*cursor, strict=True)) or [()] * len(names)


def _read_copy(path: Path, name: str, table: str | int | None) -> NamedRows:
    """Return a table of a copy of a database with its log and journal."""
    with _folder() as folder:
        copy = folder / "database"
        try:
            shutil.copyfile(path, copy)
            for ending in _BESIDE:
                if size_beside(path, ending):
                    shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
        except FileNotFoundError:
            raise sqlite3.OperationalError("its log or journal has just ended") from None
        except OSError as error:
            raise DataError(
                f"{name} has a log or journal beside it, so it is read in a copy, which cannot be made in "
                f"{folder.parent}: {error.strerror or error}; let its owner run 'pragma wal_checkpoint(truncate)' in "
                f"sqlite3, or set TMPDIR to a folder with room"
            ) from None
        return _read_file(copy, "", name, table)


def _uses_logs(path: Path) -> bool:
    """Return whether a database is in the mode of write-ahead logs, by its header."""
    with path.open("rb") as file:
        return file.read(20)[19:] == b"\2"


def _state(path: Path) -> tuple[object, ...]:
    """Return the headers of the log and the journal; if there is none, when the database was last written."""
    headers = tuple(_header(path, ending) for ending in _BESIDE)
    stat = path.stat()
    return headers if any(headers) else (stat.st_mtime_ns, stat.st_size)


def _header(path: Path, ending: str) -> bytes:
    try:
        with Path(f"{path}{ending}").open("rb") as file:
            return file.read(_HEADER)
    except OSError:
        return b""
