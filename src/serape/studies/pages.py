"""Pages of studies: text of the package, in which the tables and numbers of a run are filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from string import Template
from typing import Any

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
"""Rows by title of the table."""


def page(name: str, tables: Tables, facts: Mapping[str, object]) -> str:
    """Return the text of a study, with `$slug_of_a_table` and `$fact` filled in."""
    text = (files("serape.studies") / "texts" / f"{name}.md").read_text(encoding="utf-8")
    filled = {slug(title).replace("-", "_"): markdown(rows) for title, rows in tables.items()}
    return Template(text).substitute(filled, **facts)


def markdown(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table."""
    if not rows:
        return "(not run)"
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([_shown(v) for v in row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def slug(title: str) -> str:
    """Return a title in lower case, its words joined by hyphens."""
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower().replace("'", "")).split())
