"""Tables between marks of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from benchmarks.common.internals import atomic_write
from benchmarks.common.output import report


def put(tables: Mapping[str, str], page: Path | None) -> None:
    """Print tables, and write each into a page between `<!-- NAME -->` and `<!-- end NAME -->`, if there is a page."""
    for name, table in tables.items():
        print(f"\n{name}\n\n{table}", flush=True)
    if page is None:
        return
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        text, count = re.subn(
            rf"(<!-- {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)",
            lambda found, table=table: f"{found[1]}\n{table}\n\n{found[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
        if not count:
            report(f"{page} has no place for {name!r}: it needs <!-- {name} --> and <!-- end {name} -->")
    atomic_write(page, text)
