"""Text from the data, made fit for HTML, and the small pages with which results show themselves in notebooks.

A notebook may be light or dark whatever the system prefers. So the pages take the notebook's own colour of text, and
their lines are grey and half transparent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

MAX_NAME = 120
"""Longer names are shortened."""
MAX_TEXT = 1200
"""Longer sentences are shortened."""
MAX_ROWS = 20
"""The largest number of rows of a table in a notebook."""
_SHORT = 16  # cells of so many characters are not broken into lines

# Control characters, lone surrogates, and marks that change the direction of writing.
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"
)
_RTL = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
RIGHT_TO_LEFT = re.compile(f"[{_RTL}](?:[ {_RTL}0-9_'’-]*[{_RTL}])?")
"""Right-to-left words in a row, between which are only blanks."""
_STYLE = (
    ".serape{color:inherit;max-width:75em;line-height:1.4;overflow-x:auto}"
    ".serape table{border-collapse:collapse;margin:.4em 0;color:inherit}"
    ".serape th,.serape td{text-align:left;vertical-align:top;padding:.15em .8em .15em 0;color:inherit;"
    "background:none;border:0;border-bottom:1px solid rgba(128,128,128,.35)}"
    ".serape bdi{display:inline-block;max-width:30em;overflow-wrap:break-word}.serape .short{white-space:nowrap}"
    ".serape p,.serape ul{margin:.3em 0}.serape .soft{opacity:.75}"
)


def shown(text: str, max_length: int = MAX_NAME) -> str:
    """Return a text fit to be shown: unfit characters become �, and a long text loses its middle."""
    text = _UNFIT.sub("\ufffd", text)
    if len(text) <= max_length:
        return text
    return f"{text[: max_length * 2 // 3]}…{text[-(max_length // 3 - 1) :]}"


def plain(text: str) -> str:
    """Return a text without unfit characters, for a terminal: no name can steer it."""
    return _UNFIT.sub("\ufffd", text).replace("\r", "\ufffd")


def escaped(text: str) -> str:
    """Return a text in which nothing is markup, without unfit characters."""
    import html

    return html.escape(_UNFIT.sub("\ufffd", text), quote=True)


def prose(text: str) -> str:
    """Return a sentence, escaped, in which every right-to-left name stands for itself."""
    return RIGHT_TO_LEFT.sub(r"<bdi>\g<0></bdi>", escaped(text))


def page(title: str, *parts: str, first: str = "", how: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """Return a small page: a title, what to know first, parts that are HTML, how the result was found, folded notes."""
    inside = f"<p><strong>{_fit(first)}</strong></p>" if first else ""
    inside += "".join(parts)
    inside += "".join(f'<p class="soft">{_fit(line)}</p>' for line in how)
    if notes:
        items = "".join(f"<li>{_fit(note)}</li>" for note in notes)
        count = f"{len(notes)} note{'' if len(notes) == 1 else 's'}"
        inside += f"<details><summary>{count}</summary><ul>{items}</ul></details>"
    heading = f"<p><strong>{_fit(title)}</strong></p>" if title else ""
    return f'<div class="serape"><style>{_STYLE}</style>{heading}{inside}</div>'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], total: int) -> str:
    """Return a table of the first of `total` rows as HTML; what is left out is counted below it."""
    head = "".join(f'<th scope="col">{escaped(column)}</th>' for column in columns)
    lines = ["".join(map(_cell, row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    left = total - len(lines)
    more = f'<p class="soft">… and {left:,} more rows</p>' if left else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(text: str) -> str:
    kind = ' class="short"' if len(text) <= _SHORT else ""
    return f"<td{kind}><bdi>{escaped(shown(text))}</bdi></td>"


def _fit(text: str) -> str:
    return prose(shown(text, MAX_TEXT))
