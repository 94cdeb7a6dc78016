"""The content of a report, and its HTML, in which names from the data are escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from serape.errors import OptionError, n_shown
from serape.markup import MAX_TEXT, RIGHT_TO_LEFT, escaped, prose, shown
from serape.palette import themes_css
from serape.results.saved import finite

_SCRIPTS = ("tables.js", "graph.js", "page.js")
_GRAPH = re.compile('  <section aria-labelledby="graph-title">.*?</section>\n', re.DOTALL)


class Name(str):
    """A name from the data, to be highlighted in a sentence."""

    __slots__ = ()


Words = Sequence[str]
"""A sentence in pieces; each `Name` is highlighted."""


@dataclass(frozen=True)
class Cell:
    """A field of a table."""

    text: str | Words
    order: float | str | None = None
    """The value to sort by; None comes last. A column without any is not sorted."""
    variable: int | None = None
    """The index of the variable that it names, in the embedded list."""


@dataclass(frozen=True)
class Grid:
    """A table that can be sorted."""

    id: str
    title: str
    about: str
    columns: tuple[str, ...]
    numbers: frozenset[str]
    """Columns that are aligned to the right."""
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Page:
    """The content of a report."""

    kicker: str
    """The kind of result."""
    title: str
    answer: Words
    facts: Mapping[str, str]
    warnings: Sequence[Words]
    hint: str
    """How to use the graph."""
    legend: Mapping[str, str]
    """Kinds of nodes and lines, and their meaning."""
    widths: Mapping[str, float]
    """The meaning of a line's width, from 0 to 1, for some widths."""
    graph: Mapping[str, Any]
    """The data of the page's script: variables, edges and more; see graph.js. A page without has only tables."""
    grids: Sequence[Grid]
    budget: Mapping[int, int]
    """The number of tests by size of the conditioning set."""
    budget_about: str
    notes: Sequence[str]
    reproduce: Mapping[str, str]
    calls: Mapping[str, str]
    dashed: bool = False
    """Whether every line of the graph is dashed, so those of the legend are, too."""


def page_text(page: Page) -> str:
    """Return the report as HTML."""
    from importlib.metadata import version

    here = files(__package__)
    used = _SCRIPTS if page.graph else _SCRIPTS[:1]
    template, style, *scripts = ((here / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", *used))
    if not page.graph:
        template = _GRAPH.sub("", template)
    style = themes_css() + style + _labels(page.grids)
    script = f'"use strict";\n(() => {{\n{"".join(scripts)}}})();\n'  # one scope of its own
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        f"form-action 'none'"
    )
    parts = {
        "policy": escaped(policy),
        "version": escaped(version("serape")),
        "title": escaped(page.title),
        "kicker": escaped(page.kicker),
        "answer": _sentence(page.answer),
        "facts": _pairs(page.facts),
        "warnings": _warnings(page.warnings),
        "hint": prose(page.hint),
        "legend": "".join(
            f'<li><span class="swatch {escaped(kind)}"></span>{escaped(meaning)}</li>'
            for kind, meaning in page.legend.items()
        ),
        "widths": "".join(
            f'<li><svg class="sample" viewBox="0 0 26 14" aria-hidden="true">'
            f'<path class="line{" loose" if page.dashed else ""}" d="M0,7H26" '
            f'data-strength="{strength}"/></svg>{escaped(meaning)}</li>'
            for meaning, strength in page.widths.items()
        ),
        "grids": "".join(map(_grid, page.grids)),
        "first_grid": escaped(page.grids[0].id),
        "budget": _budget(page.budget, page.budget_about) if page.budget_about else "",
        "notes": _notes(page.notes),
        "reproduce": _pairs(page.reproduce),
        "calls": "".join(
            f'<h3>{escaped(what)}</h3><pre tabindex="0" role="region" aria-label="{escaped(what)}">'
            f"<code>{prose(call)}</code></pre>"
            for what, call in page.calls.items()
        ),
        "content": json_for_html({**page.graph, "rtl": RIGHT_TO_LEFT.pattern}),
        "style": style,
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


# --- text from the data ----------------------------------------------------------------------------------------------


def json_for_html(content: Any) -> str:
    """Return JSON for a script element: nothing in it can end the element or a line."""
    text = json.dumps(finite(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda mark: f"\\u{ord(mark[0]):04x}", text)


def listed(names: Iterable[str], max_names: int = 12, max_length: int = 60) -> list[str]:
    """Return the words of a list of names: the first ones, and the number of the others."""
    every = [Name(shown(name, max_length)) for name in names]
    first: list[str] = list(every[: n_shown(len(every), max_names)])
    rest = len(every) - len(first)
    last = f"{rest:,} more" if rest else (first.pop() if len(first) > 1 else None)
    words: list[str] = []
    for k, name in enumerate(first):
        words += [", ", name] if k else [name]
    return words if last is None else [*words, " and ", last]


def _sentence(words: Words) -> str:
    return "".join(
        f'<bdi class="name">{escaped(word)}</bdi>' if isinstance(word, Name) else prose(word) for word in words
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


# --- parts of the page -----------------------------------------------------------------------------------------------


def _pairs(pairs: Mapping[str, str]) -> str:
    return "".join(
        f"<div><dt>{escaped(label)}</dt><dd><bdi>{escaped(text)}</bdi></dd></div>" for label, text in pairs.items()
    )


def _section(key: str, title: str, inside: str, kind: str = "") -> str:
    """Return a section with its heading and an id to link to."""
    return (
        f'<section id="{key}" class="{kind}" tabindex="-1" aria-labelledby="{key}-title">'
        f'<h2 id="{key}-title">{escaped(title)}</h2>{inside}</section>'
    )


def _warnings(warnings: Sequence[Words]) -> str:
    items = "".join(f"<li>{_sentence(warning)}</li>" for warning in warnings)
    return _section("warnings", "Warnings", f"<ul>{items}</ul>", "warnings") if items else ""


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{prose(shown(note, MAX_TEXT))}</li>" for note in notes)
    return _section("notes", "Notes", f'<ul class="notes">{items}</ul>') if items else ""


def _grid(grid: Grid) -> str:
    key, about = escaped(grid.id), f'<p class="about">{prose(grid.about)}</p>'
    if not grid.rows:
        return _section(key, grid.title, about)
    kinds = [' class="number"' if column in grid.numbers else "" for column in grid.columns]
    head = "".join(
        f'<th scope="col"{kind} aria-sort="none"><button type="button">{escaped(column)}'
        f'<span class="arrow" aria-hidden="true"></span></button></th>'
        if any(row[k].order is not None for row in grid.rows)
        else f'<th scope="col"{kind}>{escaped(column)}</th>'
        for k, (column, kind) in enumerate(zip(grid.columns, kinds, strict=True))
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, kind, k == 0) for k, (cell, kind) in enumerate(zip(row, kinds, strict=True)))}</tr>"
        for row in grid.rows
    )
    return _section(
        key,
        grid.title,
        f'{about}<div class="scroll" tabindex="0" role="region" aria-labelledby="{key}-caption">'
        f'<table class="sortable"><caption id="{key}-caption"><span class="unseen">{escaped(grid.title)}. </span>'
        f"Choose a column's name to sort by it.</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"</div>",
    )


def _labels(grids: Sequence[Grid]) -> str:
    """Return CSS that puts the names of columns into cells; a narrow page shows them there."""
    return "".join(
        f'#{grid.id} td:nth-child({k}){{--label:"{column}"}}\n'
        for grid in grids
        for k, column in enumerate(grid.columns, start=1)
    )


def _cell(cell: Cell, kind: str, first: bool) -> str:
    order = "" if cell.order is None else f' data-order="{escaped(str(cell.order))}"'
    order = " data-order" if cell.order == cell.text else order  # the text itself
    inside = f"<bdi>{escaped(cell.text)}</bdi>" if isinstance(cell.text, str) else _sentence(cell.text)
    if cell.variable is not None:
        inside = f'<button type="button" class="variable" data-variable="{cell.variable}">{inside}</button>'
    return f'<th scope="row"{order}>{inside}</th>' if first else f"<td{kind}{order}>{inside}</td>"


def _budget(budget: Mapping[int, int], about: str) -> str:
    largest = max(budget.values(), default=0)
    rows = "".join(
        f'<tr><th scope="row" class="number">{size:,}</th><td class="number">{count:,}</td>'
        f'<td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{max(0.4, 100 * count / largest):.2f}" height="10"/></svg></td></tr>'
        for size, count in sorted(budget.items())
        if count
    )
    table = (
        f'<table class="budget"><caption>Tests performed, by size of the conditioning set</caption><thead><tr>'
        f'<th scope="col" class="number">Size</th><th scope="col" class="number">Tests</th>'
        f'<th scope="col"><span class="unseen">Bar</span></th></tr></thead><tbody>{rows}</tbody></table>'
    )
    return _section("budget", "Number of tests", f'<p class="about">{escaped(about)}</p>{table if rows else ""}')


def check_name(path: Path) -> None:
    """Raise an error if the name of a report does not end in .html."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"{path} is not the name of a report; use a name that ends in .html")
