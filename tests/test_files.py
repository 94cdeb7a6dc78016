"""Files are written completely or not at all, and what is no regular file is never replaced."""

from __future__ import annotations

import csv
import gzip
import lzma
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import serape
from serape.data.example import clinic
from serape.files import as_path, atomic_file, atomic_write, no_file, open_text, parsed_json


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    atomic_write(pipe, "text")
    reader.join(10)
    assert heard == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(serape.DataError, match="cannot be written: Is a directory"):
        atomic_write(tmp_path, "text")


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_names_that_no_file_has(tmp_path: Path, name: str) -> None:
    with pytest.raises(serape.DataError, match="is no name that a file can have"):
        atomic_write(tmp_path / name, "text")


def test_what_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(serape.DataError, match=r"a name has the character '\\ud800', which is no text"):
        atomic_write(tmp_path / "file", "a\ud800b")
    assert list(tmp_path.iterdir()) == []


def test_long_names(tmp_path: Path) -> None:
    atomic_write(tmp_path / ("x" * 250), "text")
    assert (tmp_path / ("x" * 250)).read_text() == "text"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(serape.DataError, match="file cannot be written: No space left on device"), atomic_file(path):
        raise OSError(28, "No space left on device")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path: Path) -> None:
    with atomic_file(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("old", [None, "old"])
def test_a_failure_leaves_no_other_file(tmp_path: Path, old: str | None) -> None:
    path = tmp_path / "file"
    if old is not None:
        path.write_text(old)
    with pytest.raises(KeyboardInterrupt):
        write_half(path)
    assert [p.read_text() for p in tmp_path.iterdir()] == ([] if old is None else [old])


def test_a_file_that_cannot_be_begun(tmp_path: Path) -> None:
    with pytest.raises(serape.DataError, match=r"file cannot be written: No such file or directory"):
        atomic_write(tmp_path / "missing" / "file", "text")


def vanish(path: Path) -> None:
    with atomic_file(path):
        for left in path.parent.iterdir():
            left.unlink()
        raise KeyError


def test_the_file_may_vanish_while_it_is_written(tmp_path: Path) -> None:
    """Another process may have cleared the folder: the error that counts is the one within."""
    with pytest.raises(KeyError):
        vanish(tmp_path / "file")


def test_the_new_file_is_made_beside_the_old_one(tmp_path: Path) -> None:
    """Only within one folder is a replacement one step; its name says what it is for, should it be left over."""
    with atomic_file(tmp_path / "file.json"):
        (temporary,) = tmp_path.iterdir()
        assert temporary.name.startswith(".file.json.")


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o666, 0o400, 0o755, 0o4755])
def test_who_may_read_a_file_that_is_replaced_stays_as_it_was(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(mode)
    atomic_write(path, "after")
    assert stat.S_IMODE(path.stat().st_mode) == mode & 0o777  # nobody else's rights pass to what is written
    assert path.read_text() == "after"


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002, 0o000, 0o027])
def test_who_may_read_a_new_file_is_for_the_umask_to_say(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        atomic_write(tmp_path / "file", "text")
        (tmp_path / "plain").write_text("text")
        assert os.umask(umask) == umask  # it is as it was
    finally:
        os.umask(before)
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("file", "plain")}
    assert modes == {0o666 & ~umask}


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes")
def test_nobody_else_reads_a_file_that_is_half_written(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with atomic_file(tmp_path / "file"):
            (temporary,) = tmp_path.iterdir()
            assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    finally:
        os.umask(before)


# --- reading ---------------------------------------------------------------------------------------------------------

OPENERS: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("ending", [*OPENERS, ".GZ"])
def test_text_is_read_as_it_is(tmp_path: Path, ending: str) -> None:
    """Compressed or not, with or without a mark of the byte order, whatever the ends of lines."""
    path = tmp_path / f"file.txt{ending}"
    text = "é,b\r\n1,2\n"
    for mark in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(OPENERS[ending.lower()](mark + text.encode()))
        with open_text(path) as file:
            assert file.read() == text


def test_a_file_that_is_open_already_is_used(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("text")
    with path.open() as file, open_text(tmp_path / "another name", file) as opened:
        assert opened is file
    wrong = pytest.raises(serape.DataError, match="another name is not a CSV file that can be read: wrong")
    with path.open() as file, wrong, open_text(tmp_path / "another name", file):
        raise csv.Error("wrong")


CUT = gzip.compress(bytes(range(256)) * 50, mtime=0)[:100]
CHANGED = bytearray(gzip.compress(b"content", mtime=0))
CHANGED[-6] ^= 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("file.txt", b"a\xff", "is not UTF-8 text .invalid start byte at byte 1.; save it as UTF-8"),
        ("file.gz", b"no such thing", "cannot be decompressed: Not a gzipped file"),
        ("file.gz", bytes(CUT), "cannot be decompressed: Compressed file ended before"),
        ("file.gz", bytes(CHANGED), "cannot be decompressed: CRC check failed"),
        ("file.gz", CUT[:12] + b"\xff" * 50, "cannot be decompressed: Error -3 while decompressing"),
        ("file.xz", b"no such thing", "cannot be decompressed: Input format not supported"),
        ("file.txt", None, "cannot be read: No such file or directory"),
    ],
    ids=["no text", "no gzip", "cut", "changed", "no stream", "no xz", "missing"],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(serape.DataError, match=f"{name} {message}"), open_text(path) as file:
        file.read()


@pytest.mark.parametrize("path", [3, None, b"bytes", ["list"], "an object"])
def test_what_is_no_path(path: Any) -> None:
    path = Named(b"bytes") if path == "an object" else path
    with pytest.raises(serape.InputTypeError, match="^the file must be a path, as text or a Path, not "):
        as_path(path, "the file")


class Named:
    def __init__(self, name: Any = "folder/file") -> None:
        self.name = name

    def __fspath__(self) -> Any:
        return self.name


def test_paths(tmp_path: Path) -> None:
    assert as_path("folder/file") == as_path(Path("folder/file")) == as_path(Named()) == Path("folder/file")
    with pytest.raises(serape.DataError, match="is no name that a file can have"):
        as_path("a\0b")
    (tmp_path / "results.json").touch()
    assert str(no_file(tmp_path / "result.json")).endswith("result.json. Did you mean 'results.json'?")
    assert str(no_file(tmp_path / "other")) == f"there is no file {tmp_path / 'other'}"
    assert str(no_file(tmp_path / "missing" / "other")) == f"there is no file {tmp_path / 'missing' / 'other'}"


WRITERS: dict[str, Callable[[Any, Path], object]] = {
    "json": lambda found, path: found.save(path),
    "html": lambda found, path: found.report(path),
    "png": lambda found, path: found.plot(path),
    "bif": lambda found, path: serape.write_bif(serape.load_network("cancer"), path),
    "srp": lambda found, path: serape.pack(clinic(50), path),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_disk(kind: str, tmp_path: Path) -> None:
    if kind == "png":
        pytest.importorskip("matplotlib")
    full = tmp_path / f"full.{kind}"
    full.symlink_to("/dev/full")
    found = serape.markov_blanket(clinic(100), "HeartDisease", "iamb")
    with pytest.raises(serape.DataError, match="cannot be written: No space left on device"):
        WRITERS[kind](found, full)
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("text", ["[" * 100_000, "1" * 5000, '{"a": ' * 50_000, "", "nul"])
def test_json_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parsed_json(text)


def test_json_that_is_nested_too_deep() -> None:
    with pytest.raises(ValueError, match="^it is nested too deep$"):
        parsed_json("[" * 100_000)
    assert parsed_json('{"a": [1]}') == {"a": [1]}
