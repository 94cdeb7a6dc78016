"""Write the tables of docs/settings.md from the settings and the questions.

    python tools/settings_page.py        (or: make stubs)

The text around the tables is written by hand. A test holds the tables to the settings.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import serape
from serape.settings import FIELDS, DataSettings, RunSettings, SearchSettings, selector_settings
from serape.wording import option_of

DOCS = Path(__file__).resolve().parents[1] / "docs"
PATH = DOCS / "settings.md"
GROUPS = {"What to search for": SearchSettings, "How to read the data": DataSettings, "How to run": RunSettings}
_CODE = re.compile(r'"[^" ]*"|\b(?:None|True|False)\b')
_PAGE = re.compile(r"docs/([\w/-]+\.md)")


def page() -> str:
    """Return the page, with the tables as they are now."""
    text = PATH.read_text(encoding="utf-8")
    tables = {heading: _table(group) for heading, group in GROUPS.items()}
    tables["Which question takes which setting"] = _questions()
    for heading, table in tables.items():
        found = re.search(rf"## {heading}\n\n((?:\|.*\n)+)", text)
        if found is None:
            raise ValueError(f"{PATH} has no table below '## {heading}'")
        text = text[: found.start(1)] + table + text[found.end(1) :]
    return text


def _table(group: type) -> str:
    lines = ["| setting | default | command line | meaning |", "|---|---|---|---|"]
    for f in fields(group):
        default = repr(f.default).replace("'", '"')
        lines.append(f"| `{f.name}` | `{default}` | `{option_of(f.name)}` | {_markdown(f.metadata['meaning'])} |")
    return "\n".join(lines) + "\n"


def _markdown(text: str) -> str:
    """Return a meaning with code as code, and pages as links."""
    pieces = text.split("`")
    pieces[::2] = [_CODE.sub(r"`\g<0>`", piece) for piece in pieces[::2]]
    return _PAGE.sub(lambda m: f"[{_title(m[1])}]({m[1]})", "`".join(pieces)).replace("|", "\\|")


def _title(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _questions() -> str:
    lines = ["| question | settings |", "|---|---|"]
    for name in vars(serape)["__all__"]:
        question = getattr(serape, name)
        if hasattr(question, "refused_settings"):
            taken = [one for one in FIELDS if one in inspect.signature(question).parameters]
            lines.append(f"| `{name}` | {_told(taken)} |")
    lines.append(f"| `MarkovBlanketSelector` | {_told(list(selector_settings()))}; some are arguments of `fit` |")
    return "\n".join(lines) + "\n"


def _told(taken: list[str]) -> str:
    left = [name for name in FIELDS if name not in taken]
    if not left:
        return "all"
    return f"all except {_listed(left)}" if len(left) < len(taken) else _listed(taken)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PATH.write_text(page(), encoding="utf-8")
