"""Finding files that may be compressed."""

from __future__ import annotations

from pathlib import Path

from serape.files import COMPRESSED


def find(folder: Path, *names: str) -> Path | None:
    """Return the first file in a folder with one of these names, plain or compressed; None if there is none."""
    for name in names:
        for ending in ("", *COMPRESSED):
            path = folder / f"{name}{ending}"
            if path.is_file():
                return path
    return None
