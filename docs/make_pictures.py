"""Makes the pictures of docs/pictures.md by running the code on that page.

python docs/make_pictures.py [FOLDER]
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def make_pictures(folder: Path) -> None:
    """Run the page's code in a folder, where its pictures are written; those that it does not show are taken away."""
    page = (HERE / "pictures.md").read_text(encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    before = Path.cwd()
    os.chdir(folder)
    try:
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(block, {})
    finally:
        os.chdir(before)
    shown = re.findall(r"\]\(pictures/([^)]+)\)", page)
    for picture in folder.glob("*.png"):
        if picture.name not in shown:
            picture.unlink()


if __name__ == "__main__":
    make_pictures(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else HERE / "pictures")
