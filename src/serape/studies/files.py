"""Opening files that may be compressed."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from typing import IO, cast


def open_packed(path: Path) -> IO[bytes]:
    """Open a file that may be compressed, by its name."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == ".xz":
        return cast(IO[bytes], lzma.open(path, "rb"))
    return path.open("rb")


def find(folder: Path, *names: str) -> Path | None:
    """Return the first file of one of these names, plain or compressed, that a folder has."""
    for name in names:
        for path in (folder / name, folder / f"{name}.gz", folder / f"{name}.xz"):
            if path.is_file():
                return path
    return None
