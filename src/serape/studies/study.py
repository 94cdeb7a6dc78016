"""Studies: cells of work, their answers, and the tables and picture made of these.

A study is a list of *cells*: independent pieces of work, each with a key and an answer in JSON. Each answer is written
to a file, one per line, so that a study that was stopped can continue. When all answers are there, the study makes its
tables and its picture.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serape.errors import DataError
from serape.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Answers = Mapping[str, Any]
"""Answers by key of the cell."""
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """A piece of work."""

    key: str
    work: Callable[[], Any]


@dataclass(frozen=True)
class Settings:
    """The settings of a study."""

    quick: bool = False
    data: Path | None = None
    threads: int = 1


@dataclass(frozen=True)
class Study:
    """One experiment of a paper."""

    name: str
    paper: str
    about: str
    cells: Callable[[Settings], Sequence[Cell]]
    tables: Callable[[Answers, Settings], Mapping[str, Sequence[Row]]]
    """Returns tables by title, with the paper's numbers beside ours."""
    draw: Callable[[Answers, Settings], Figure]
    needs_data: str = ""
    """What `--data` must name, if the study needs it."""


@dataclass(frozen=True)
class Outcome:
    """The tables and files of a study."""

    tables: Mapping[str, Sequence[Row]]
    files: Sequence[Path]


def run(study: Study, settings: Settings, out: Path, watch: Callable[[int, int, str], None] | None = None) -> Outcome:
    """Run a study, or continue it, and write its tables, answers and picture into a folder.

    `watch` is called with the number of cells done, the number of cells, and the key of the next cell.
    """
    if study.needs_data and settings.data is None:
        raise DataError(f"study {study.name!r} needs data that are not bundled: pass --data with {study.needs_data}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {out} cannot be created: {error.strerror or error}") from None
    stem = f"{study.name}-quick" if settings.quick else study.name
    cells = study.cells(settings)
    kept = out / f"{stem}.cells.jsonl"
    answers = _kept(kept, {cell.key for cell in cells})
    for cell in cells:
        if cell.key in answers:
            continue
        if watch is not None:
            watch(len(answers), len(cells), cell.key)
        answers[cell.key] = cell.work()
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": cell.key, "answer": answers[cell.key]}) + "\n")
    if watch is not None:
        watch(len(answers), len(cells), "")
    tables = study.tables(answers, settings)
    written = [kept, out / f"{stem}.json"]
    atomic_write(written[-1], json.dumps({"study": study.name, "tables": tables, "cells": answers}, indent=1) + "\n")
    for title, rows in tables.items():
        written.append(out / f"{stem}-{_slug(title)}.csv")
        atomic_write(written[-1], _as_csv(rows))
    picture = _drawn(study, answers, settings)
    if picture is not None:
        written.append(out / f"{stem}.png")
        atomic_write(written[-1], picture)
    return Outcome(tables, written)


def samples_of(answers: Answers, *key: Any) -> list[Any]:
    """Return the answers of all samples of a setting: the cells whose key is `key` and the number of the sample."""
    setting = " ".join(map(str, key))
    return [answer for cell, answer in answers.items() if cell.rsplit(" ", 1)[0] == setting]


def _kept(path: Path, keys: set[str]) -> dict[str, Any]:
    """Return the answers of an earlier run; an incomplete last line is ignored."""
    answers: dict[str, Any] = {}
    if not path.exists():
        return answers
    complete = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        complete.append(line)
        if isinstance(entry, dict) and entry.get("key") in keys:
            answers[entry["key"]] = entry["answer"]
    atomic_write(path, "".join(line + "\n" for line in complete))
    return answers


def _as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _slug(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())


def _drawn(study: Study, answers: Answers, settings: Settings) -> bytes | None:
    """Return the picture, or None without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return None
    with mpl.rc_context({"figure.dpi": 140, "axes.grid": True, "grid.alpha": 0.3, "font.size": 9}):
        figure = study.draw(answers, settings)
        memory = io.BytesIO()
        figure.savefig(memory, format="png")
    return memory.getvalue()
