"""Files: text files, which may be compressed, are read; files are written completely or not at all."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from serape.errors import DataError, InputTypeError, shown, suggestion

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
COMPRESSED = tuple(_OPENERS)
"""The endings of the names of compressed files."""


def as_path(path: Any, name: str = "the path") -> Path:
    """Return a path; refuse anything else."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InputTypeError(f"{name} must be a path, as text or a Path, not {shown(path)}")
    check_name(Path(path))
    return Path(path)


def no_file(path: Path) -> DataError:
    """Return the error for a file that is not there, with a file of the folder that is called nearly so."""
    try:
        close = suggestion(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        close = ""
    return DataError(f"there is no file {path}{'.' if close else ''}{close}")


@contextmanager
def open_text(path: Path, opened: IO[str] | None = None) -> Iterator[IO[str]]:
    """Open a file of UTF-8 text, which may be compressed; any failure becomes an error of one sentence.

    If a file is open already, pass it as `opened`; `path` is then its name in messages.
    """
    opener = _OPENERS.get(path.suffix.lower(), open)
    try:
        if opened is not None:
            yield opened
            return
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, EOFError) as error:
        raise DataError(f"{path} cannot be decompressed: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    except csv.Error as error:
        raise DataError(f"{path} is not a CSV file that can be read: {error}") from None


def parsed_json(text: str | bytes) -> Any:
    """Return what a JSON text says; a ValueError says why any other text, however hostile, is none."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to write that replaces `path` once it is complete; if writing fails, `path` stays as it was.

    Who may read and write a file that is there stays as it was. What is no regular file, such as /dev/stdout or a named
    pipe, is never replaced: it is written as it is.
    """
    check_name(path)
    if path.exists() and not path.is_file():
        with _said(path), path.open("wb") as file:
            yield file
        return
    temporary = None
    try:
        with _said(path):
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
            with os.fdopen(handle, "wb") as file:
                yield file
            os.chmod(temporary, _mode(path))  # noqa: PTH101 - mkstemp gives a name
            os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Return who may read and write a file: as before if it is there, otherwise as any new file."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def check_name(path: Path) -> None:
    """Refuse a name that no file can have."""
    try:
        right = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        right = False
    if not right:
        raise DataError(f"{shown(str(path))} is no name that a file can have; choose another")


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Make the system's refusal to write a file an error of one sentence."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error.strerror or error}") from None


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a file; if writing fails, `path` stays as it was."""
    try:
        written = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        character = ascii(error.object[error.start])
        raise DataError(f"{path} cannot be written: a name has the character {character}, which is no text") from None
    with atomic_file(path) as file:
        file.write(written)
