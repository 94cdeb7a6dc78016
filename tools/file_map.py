"""Print every file of the package with its first line: `make map`."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "serape"


def lines() -> list[str]:
    """Return a line for each file, in the order of their paths."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        about = ast.get_docstring(ast.parse(path.read_text()))
        if about and path.name != "_keywords.py":
            found.append(f"{path.relative_to(SOURCE)}: {about.partition(chr(10))[0]}")
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
