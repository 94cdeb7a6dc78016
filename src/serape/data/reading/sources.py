"""Where data come from: paths, standard input and open files, as bytes, decompressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path, PurePath
from typing import IO, Any

from serape.data.reading.options import ReadOptions
from serape.errors import (
    DataError,
    InputTypeError,
    MissingLibraryError,
    OptionError,
    SerapeError,
    abbreviate,
    one_line,
    suggestion,
)
from serape.files import no_file
from serape.wording import setting

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdError
else:
    from zlib import error as ZstdError  # noqa: N812 - pyarrow decompresses such files, and raises an OSError

MAX_BYTES = 8 << 30
"""Compressed files, and streams, of more bytes than this are refused; a file on disk may be larger."""
MAX_LINE = 64 << 20
"""No line of text has more bytes."""
_CHUNK = 1 << 20
_COMPRESSED = {
    "gz": b"\x1f\x8b",
    "bz2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zst": b"\x28\xb5\x2f\xfd",
    "zip": b"PK\x03\x04",
}
_ENDINGS = {".gz": "gz", ".bz2": "bz2", ".xz": "xz", ".lzma": "xz", ".zst": "zst", ".zstd": "zst", ".zip": "zip"}
_FAILURES = (OSError, EOFError, zlib.error, lzma.LZMAError, ZstdError, zipfile.BadZipFile, RuntimeError, ValueError)
_LITTER = ("__MACOSX/", ".DS_Store")
"""Files that some systems add to archives."""

_START = 64  # bytes that tell formats apart


@dataclass(frozen=True)
class Source:
    """The content of a file, and its name.

    A file is never mapped into memory: one that is cut short while it is read would end the process.
    """

    name: str
    """As messages call it."""
    held: bytes
    """The content, or its first bytes, if there is a path."""
    ending: str = ""
    """The last part of the file's name, such as .csv, without that of its compression; in lower case."""
    path: Path | None = None
    """The file that has just this content, if there is one."""
    has_beside: Callable[[str], bool] = lambda _: False
    """Whether there is a file beside it that is not empty and has its name with an ending added, such as -wal."""

    @cached_property
    def content(self) -> bytes:
        """All bytes, read when they are first needed."""
        if self.path is None:
            return self.held
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise DataError(f"{self.path} cannot be read: {error.strerror or error}") from None

    @property
    def start(self) -> bytes:
        """The first bytes."""
        return self.held[:_START]

    def starts_with(self, *marks: bytes) -> bool:
        """Return whether the content starts with one of these."""
        return self.start.startswith(marks)

    def opened(self) -> IO[bytes]:
        """Return the content as a file."""
        return io.BytesIO(self.held) if self.path is None else self.path.open("rb")


def is_source(data: Any) -> bool:
    """Return whether data are a path or an open file."""
    return isinstance(data, str | PathLike | io.IOBase)


def are_paths(data: Any) -> bool:
    """Return whether data are a list of paths."""
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(path, str | PathLike) for path in data)


def open_source(data: Any, options: ReadOptions) -> tuple[Source, ReadOptions]:
    """Return the decompressed content of a path or an open file, and the options that are left to apply."""
    source = _opened_path(Path(data)) if isinstance(data, str | PathLike) else _opened_file(data)
    kind = next((kind for kind, mark in _COMPRESSED.items() if source.starts_with(mark)), None)
    expected = _ENDINGS.get(source.ending)
    if kind == "zip" and is_workbook(source):
        return source, options
    if kind is None:
        if expected is not None and source.start and PurePath(source.name).with_suffix("").suffix:
            raise DataError(f"{source.name} cannot be decompressed: it is not a {source.ending} file")
        return source, options
    name = PurePath(source.name)
    ending = (PurePath(name.stem).suffix if expected else source.ending).lower()
    try:
        if kind == "zip":
            return _from_archive(source, options)
        with source.opened() as packed, _decompressors()[kind](packed) as file:
            return Source(source.name, _read_bounded(file, source.name), ending), options
    except SerapeError:
        raise
    except _FAILURES as error:
        raise DataError(f"{source.name} cannot be decompressed: {one_line(error)}") from None


def is_workbook(source: Source) -> bool:
    """Return whether an archive is a workbook: .xlsx, .xlsm, .xlsb or .ods."""
    try:
        with source.opened() as file, zipfile.ZipFile(file) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, RuntimeError):
        return False
    return "xl/workbook.xml" in names or "xl/workbook.bin" in names or "content.xml" in names


def size_beside(path: Path, ending: str) -> int:
    """Return the size of the file beside another that has its name with an ending added; 0 if there is none."""
    try:
        return Path(f"{path}{ending}").stat().st_size
    except (OSError, ValueError):
        return 0


def choose(what: str, names: list[str], source: str, table: str | int | None) -> str:
    """Return the one of several tables that the caller names; the only one if there is one."""
    if not names:
        raise DataError(f"{source} holds no {what}")
    if table is None:
        if len(names) > 1:
            raise OptionError(
                f"{source} holds the {what}s {abbreviate(names, 10)}; choose one with {setting('table', names[0])}"
            )
        return names[0]
    if isinstance(table, int) and -len(names) <= table < len(names):
        return names[table]
    if str(table) not in names:
        raise OptionError(
            f"{source} has no {what} {table!r}; it holds {abbreviate(names, 10)}.{suggestion(str(table), names)}"
        )
    return str(table)


# --- inside -----------------------------------------------------------------------------------------------------------


def _opened_path(path: Path) -> Source:
    if not path.exists():
        raise no_file(path)
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file")
    name, ending = str(path), path.suffix.lower()
    try:
        with path.open("rb") as file:
            if not path.is_file():  # a pipe
                return Source(name, _read_bounded(file, name), ending)
            return Source(name, file.read(_START), ending, path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None


def _opened_file(file: Any) -> Source:
    called = str(getattr(file, "name", "the text"))
    name = "standard input" if called in ("<stdin>", "0") else called
    ending = PurePath(name).suffix.lower()
    try:
        if isinstance(file, io.TextIOBase):
            return Source(name, file.read().encode("utf-8"), ending)
        content = _read_bounded(file, name)
        return Source(name, content, ending, has_beside=lambda end: size_beside(Path(called), end) > 0)
    except UnicodeError as error:
        raise DataError(f"{name} is not text in the encoding that it was opened with: {error}") from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror or error}") from None


def _read_bounded(file: Any, name: str) -> bytes:
    """Return the content of a stream; refuse one without end, or with a line without end."""
    chunks: list[bytes] = []
    total, since_line = 0, 0
    while chunk := file.read(_CHUNK):
        if isinstance(chunk, str):
            raise InputTypeError(f"{name} is open in a way that cannot be read; open it in binary or text mode")
        total += len(chunk)
        line = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        since_line = len(chunk) - line - 1 if line >= 0 else since_line + len(chunk)
        if total > MAX_BYTES:
            raise DataError(
                f"{name} holds more than {MAX_BYTES >> 30} GiB; write it as Parquet, or to a file without compression"
            )
        if since_line > MAX_LINE and (0 not in chunk):
            raise DataError(f"{name} has a line of more than {MAX_LINE >> 20} MiB; is it delimited text?")
        chunks.append(chunk)
    return b"".join(chunks)


def _from_archive(source: Source, options: ReadOptions) -> tuple[Source, ReadOptions]:
    with source.opened() as packed, zipfile.ZipFile(packed) as archive:
        files = [
            info.filename
            for info in archive.infolist()
            if not info.is_dir() and not info.filename.startswith(_LITTER[0]) and not info.filename.endswith(_LITTER[1])
        ]
        name = choose("file", files, source.name, options.table)
        with archive.open(name) as file:
            content = _read_bounded(file, f"{name} in {source.name}")
    sizes = {info.filename: info.file_size for info in archive.infolist()}
    found = Source(
        f"{name} in {source.name}",
        content,
        PurePath(name).suffix.lower(),
        has_beside=lambda end: sizes.get(f"{name}{end}", 0) > 0,
    )
    return found, options.without_table()


def _decompressors() -> dict[str, Callable[[IO[bytes]], Any]]:
    return {"gz": lambda file: gzip.GzipFile(fileobj=file), "bz2": bz2.BZ2File, "xz": lzma.LZMAFile, "zst": _zstd}


def _zstd(file: IO[bytes]) -> Any:
    try:
        from compression.zstd import ZstdFile  # Python 3.14

        return ZstdFile(file)
    except ImportError:
        pass
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingLibraryError(
            "files compressed by zstd need pyarrow (or Python 3.14): pip install 'serape[arrow]'"
        ) from None
    return pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
