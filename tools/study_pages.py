"""Write the pages of the studies again from the tables of their last full runs.

`serape study NAME --out docs/studies` writes a page together with its tables (NAME.json). This tool makes the pages
from the tables alone, after a change of their text: python tools/study_pages.py [--check]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from serape.studies import STUDIES, page_of

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "studies"


def pages() -> dict[Path, str]:
    """Return the text of each page whose tables are there."""
    texts = {}
    for name, study in STUDIES.items():
        tables = FOLDER / f"{name}.json"
        if tables.exists():
            texts[FOLDER / f"{name}.md"] = page_of(study, json.loads(tables.read_text(encoding="utf-8"))["tables"])
    return texts


def outdated() -> list[str]:
    """Return the names of the pages that differ from what their tables give."""
    return [
        path.name for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(f"out of date: {', '.join(outdated())}; run python tools/study_pages.py" if outdated() else 0)
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
