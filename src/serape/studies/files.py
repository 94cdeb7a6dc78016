"""Finding files that may be compressed."""

from __future__ import annotations

from pathlib import Path

from serape.files import COMPRESSED


def find(folder: Path, *names: str) -> Path | None:
    """Return the first file of one of these names, plain or compressed, that a folder has."""
    for name in names:
        for ending in ("", *COMPRESSED):
            path = folder / f"{name}{ending}"
            if path.is_file():
                return path
    return None
