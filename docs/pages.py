"""Runs what the pages show: README.md, CONTRIBUTING.md and everything in docs.

- Blocks of `python` run from top to bottom, as one program a page. What `# (…` or `# <…` says beside a `print` must be
  in what the block prints.
- Lines of `sh` that begin with `serape` run too, pipes and `>` included.
- A block of `text` that directly follows either must be what was printed; only seconds may differ.

All of it happens in one folder, in which there is a `patients.csv`.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import serape
from serape.cli import main
from serape.data.example import clinic
from serape.data.writing import write_table

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    """The line of the page after which its text begins."""
    follows: bool
    """Whether nothing stands between it and the block before it."""


def pages() -> list[Path]:
    """Return all pages."""
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted(p for p in DOCS.rglob("*.md") if "_build" not in p.parts),
    ]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    text, end = page.read_text(encoding="utf-8"), 0
    for found in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        between = text[end : found.start()]
        yield Block(found[1], found[2], text.count("\n", 0, found.start(2)), not between.strip())
        end = found.end()


def is_run(block: Block) -> bool:
    """Return whether a block has anything that runs."""
    return block.language == "python" or (block.language == "sh" and bool(commands(block)))


def commands(block: Block) -> list[str]:
    """Return the lines of a block that are about serape."""
    return [line for line in block.text.splitlines() if line.startswith("serape ")]


def run_page(page: Path, folder: Path) -> None:
    """Run what a page shows, in a folder, and compare what is printed with what it says is printed."""
    write_table(serape.Table(clinic(1000)), folder / "patients.csv")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    with contextlib.chdir(folder):
        for block in blocks(page):
            where = f"{page.name}, line {block.line}"
            if block.language == "text" and block.follows and printed:
                _compare(block.text, printed, where)
            printed = ""
            if block.language == "python":
                code = compile("\n" * block.line + block.text, str(page), "exec")
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, names)
                printed = out.getvalue()
                for shown in re.findall(r"# ([(<].*)", block.text):
                    _compare(shown, printed, where)
            elif block.language == "sh":
                printed = "".join(map(run_command, commands(block)))


def run_command(line: str) -> str:
    """Run a line of the shell that has commands of serape and pipes alone; return what it prints."""
    line, _, file = line.partition(" #")[0].partition(" > ")
    said = b""
    for part in line.split(" | "):
        with (
            mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(said))),
            contextlib.redirect_stdout(io.StringIO()) as out,
        ):
            try:
                main(shlex.split(part)[1:])
            except SystemExit as stop:
                if stop.code:
                    raise AssertionError(f"{line!r} ends with exit code {stop.code}") from None
        said = out.getvalue().encode()
    if file:
        Path(file.strip()).write_bytes(said)
        return ""
    return said.decode()


def without_seconds(text: str) -> str:
    """Return a text with the same number for every number of seconds, and without spaces that end lines."""
    return re.sub(r" +$", "", re.sub(r"\d[\d.,e-]* (m?s)\b", r"0 \1", text), flags=re.MULTILINE).strip()


def _compare(shown: str, printed: str, where: str) -> None:
    if without_seconds(shown) not in without_seconds(printed):
        raise AssertionError(f"{where}: what is shown is not what is printed, which is\n{printed}")


def shown_pictures(page: Path) -> set[str]:
    """Return the names of the pictures in docs/pictures that a page shows."""
    return set(re.findall(r"pictures/([\w.-]+\.(?:png|svg))", page.read_text(encoding="utf-8")))
