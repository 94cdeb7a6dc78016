"""Makes the pictures in docs/pictures, by running the code on the pages that show them.

python docs/make_pictures.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from pages import DOCS, pages, run_page, shown_pictures

PICTURES = DOCS / "pictures"


def make_pictures(folder: Path = PICTURES) -> None:
    """Run the pages that show pictures, and keep what they show; what no page shows is taken away."""
    kept = set()
    for page in pages():
        shown = shown_pictures(page)
        if shown:
            with tempfile.TemporaryDirectory() as made:
                run_page(page, Path(made))
                for name in shown:
                    shutil.copyfile(Path(made) / name, folder / name)
            kept |= shown
    for picture in folder.iterdir():
        if picture.name not in kept:
            picture.unlink()


if __name__ == "__main__":
    make_pictures()
