"""Databases that are more than one file: what is committed is read, what is not is not, and no file is changed."""

from __future__ import annotations

import io
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import serape
from serape.data.reading import databases
from serape.errors import DataError

FIRST, LATER = 50, 1000


def write(connection: sqlite3.Connection, n: int) -> None:
    connection.executemany("insert into t values (?, ?)", [(k % 3, k % 2) for k in range(n)])


def start(path: Path, mode: str) -> sqlite3.Connection:
    """Return a connection to a new database, in which FIRST rows are in the file itself."""
    connection = sqlite3.connect(path)
    connection.execute(f"pragma journal_mode={mode}")
    connection.execute("create table t (x integer, y integer)")
    write(connection, FIRST)
    connection.commit()
    connection.execute("pragma wal_checkpoint(truncate)")
    return connection


@pytest.fixture
def logged(tmp_path: Path) -> Iterator[Path]:
    """Return a database that is open for writing: LATER rows are in its log, and others are not committed."""
    path = tmp_path / "live" / "a.db"
    path.parent.mkdir()
    with closing(start(path, "wal")) as connection:
        connection.execute("pragma cache_size=2")  # the rows that are not committed go to the log too
        write(connection, LATER)
        connection.commit()
        write(connection, 30_000)
        assert Path(f"{path}-wal").stat().st_size > 100_000
        yield path


def left_behind(path: Path, folder: Path, *endings: str) -> Path:
    """Return the database as a process that dies now leaves it."""
    folder.mkdir()
    for ending in ("", *endings):
        shutil.copyfile(f"{path}{ending}", folder / f"{path.name}{ending}")
    return folder / path.name


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def rows_unchanged(path: Path) -> int:
    """Return how many rows are read, and see that the files stay as they are."""
    before = contents(path.parent)
    rows = len(serape.Table(path))
    assert contents(path.parent) == before
    return rows


def test_a_log_is_read_while_another_connection_writes(logged: Path) -> None:
    assert rows_unchanged(logged) == FIRST + LATER


@pytest.mark.parametrize("endings", [("-wal",), ("-wal", "-shm")])
def test_a_log_is_read_that_a_dead_process_left(logged: Path, tmp_path: Path, endings: tuple[str, ...]) -> None:
    path = left_behind(logged, tmp_path / "dead", *endings)
    assert rows_unchanged(path) == FIRST + LATER
    (tmp_path / "link.db").symlink_to(path)
    assert len(serape.Table(tmp_path / "link.db")) == FIRST + LATER


def test_a_log_is_read_in_a_folder_that_cannot_be_written_to(logged: Path, tmp_path: Path) -> None:
    path = left_behind(logged, tmp_path / "dead", "-wal")
    path.parent.chmod(0o555)
    try:
        assert rows_unchanged(path) == FIRST + LATER
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate", "persist"])
def test_a_closed_database_is_read_without_new_files(tmp_path: Path, mode: str) -> None:
    start(tmp_path / "a.db", mode).close()
    assert rows_unchanged(tmp_path / "a.db") == FIRST


def test_half_a_transaction_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "live").mkdir()
    with closing(start(tmp_path / "live" / "a.db", "delete")) as connection:
        write(connection, 10_000)
        connection.commit()
        connection.execute("pragma cache_size=2")
        connection.execute("update t set x = 9")
        path = left_behind(tmp_path / "live" / "a.db", tmp_path / "dead", "-journal")
    immutable = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    assert immutable.execute("select max(x) from t").fetchone() == (9,)  # the file alone has what was not committed
    immutable.close()
    assert rows_unchanged(path) == FIRST + 10_000
    assert set(serape.Table(path).to_pandas()["x"]) == {0, 1, 2}


def test_a_database_that_is_being_written_to_waits_or_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, uri=False: connect(path, timeout=0, uri=uri))
    with closing(start(tmp_path / "a.db", "delete")) as connection:
        write(connection, 1)
        assert len(serape.Table(tmp_path / "a.db")) == FIRST  # nothing is in the file yet
        connection.execute("pragma cache_size=2")
        write(connection, 30_000)
        with pytest.raises(DataError, match=r"a\.db is locked by a process that writes to it; read it when"):
            serape.Table(tmp_path / "a.db")


def interrupted(monkeypatch: pytest.MonkeyPatch, change: Callable[[], None], times: int) -> None:
    """Change the files each time after the database was copied or read, so many times."""
    read, left = databases._read_file, [times]

    def then_changed(*args: object) -> databases.NamedRows:
        found = read(*args)  # type: ignore[arg-type]
        if left[0]:
            left[0] -= 1
            change()
        return found

    monkeypatch.setattr(databases, "_read_file", then_changed)


def test_a_log_that_begins_anew_while_it_is_copied_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(start(tmp_path / "a.db", "wal")) as connection:
        write(connection, LATER)
        connection.commit()

        def change() -> None:
            connection.execute("pragma wal_checkpoint(restart)")
            write(connection, 1)
            connection.commit()

        interrupted(monkeypatch, change, times=2)
        assert len(serape.Table(tmp_path / "a.db")) == FIRST + LATER + 2
        interrupted(monkeypatch, change, times=99)
        with pytest.raises(DataError, match=r"a\.db changes all the time while it is read; read it when"):
            serape.Table(tmp_path / "a.db")


def test_a_log_that_ends_while_it_is_copied_is_read_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, copy = start(tmp_path / "a.db", "wal"), shutil.copyfile
    write(connection, LATER)
    connection.commit()

    def copied(source: object, target: object) -> None:
        copy(str(source), str(target))
        connection.close()  # moves the rows into the file, and deletes the log

    monkeypatch.setattr(shutil, "copyfile", copied)
    assert len(serape.Table(tmp_path / "a.db")) == FIRST + LATER


def test_what_is_added_to_a_log_meanwhile_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(start(tmp_path / "a.db", "wal")) as connection:
        write(connection, LATER)
        connection.commit()

        def change() -> None:
            write(connection, 1)
            connection.commit()

        interrupted(monkeypatch, change, times=99)
        assert len(serape.Table(tmp_path / "a.db")) == FIRST + LATER


def test_a_log_that_appears_while_the_file_is_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start(tmp_path / "a.db", "wal").close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:

        def change() -> None:
            write(connection, LATER)
            connection.commit()

        interrupted(monkeypatch, change, times=1)
        assert len(serape.Table(tmp_path / "a.db")) == FIRST + LATER


def test_a_copy_that_cannot_be_made_is_told(logged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(
        DataError,
        match=r"a\.db has a log or journal beside it, so it is read in a copy, which cannot be made in .*: No space "
        r"left on device; let its owner run 'pragma wal_checkpoint\(truncate\)' in sqlite3, or set TMPDIR",
    ):
        serape.Table(logged)


def test_the_file_alone_is_refused_where_its_log_has_rows(logged: Path) -> None:
    expected = r"the rows of .*a\.db.* are not all in it: the file that ends in -wal beside it belongs to it; put both"
    with logged.open("rb") as file, pytest.raises(DataError, match=expected):
        serape.Table(file)
    archive = logged.parent / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(logged, "a.db")
        packed.write(f"{logged}-wal", "a.db-wal")
    with pytest.raises(DataError, match=expected):
        serape.Table(archive, table="a.db")
    with zipfile.ZipFile(archive, "w") as packed:
        packed.write(logged, "a.db")
        packed.writestr("a.db-wal", b"")
    assert len(serape.Table(archive, table="a.db")) == FIRST
    assert len(serape.Table(io.BytesIO(logged.read_bytes()))) == FIRST  # bytes alone have no files beside them


DIES = """
import duckdb, os, sys
connection = duckdb.connect(sys.argv[1])
connection.execute("create table t as select k % 3 as x, k % 2 as y from range(50) r(k)")
connection.execute("checkpoint")
connection.execute("insert into t select k % 3, k % 2 from range(1000) r(k)")
connection.execute("begin")
connection.execute("insert into t select k % 3, k % 2 from range(7) r(k)")
os._exit(0)
"""


def test_a_log_of_duckdb_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.duckdb"
    subprocess.run([sys.executable, "-c", DIES, str(path)], check=True)
    assert Path(f"{path}.wal").stat().st_size > 0
    assert rows_unchanged(path) == FIRST + LATER
    with path.open("rb") as file, pytest.raises(DataError, match=r"the file that ends in \.wal beside it belongs"):
        serape.Table(file)
    with closing(duckdb.connect(str(path))), pytest.raises(DataError, match="cannot be read as a DuckDB database"):
        serape.Table(path)
