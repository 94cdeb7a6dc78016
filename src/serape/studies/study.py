"""Studies: cells of work, their answers, and the tables, picture and page made of these.

A study is a list of *cells* (`serape.studies.cells`). When all their answers are there, the study makes its tables and
its picture, and of the tables its page.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import serape
from serape.errors import DataError
from serape.files import atomic_write
from serape.studies.cells import CellAnswers, CellWatch, StudyCell, answer_cells
from serape.studies.pages import Row, Tables, page, slug

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class StudySettings:
    """The settings of a study."""

    quick: bool = False
    data: Path | None = None
    jobs: int = 1


@dataclass(frozen=True)
class Study:
    """One experiment of a paper."""

    name: str
    paper: str
    about: str
    cells: Callable[[StudySettings], Sequence[StudyCell]]
    tables: Callable[[CellAnswers], Tables]
    """Returns tables by title, with the paper's numbers beside ours."""
    draw: Callable[[CellAnswers], Figure]
    facts: Callable[[Tables], Mapping[str, object]]
    """Returns numbers for the text of the page, computed from the tables of a full run."""
    needs_data: str = ""
    """What `--data` must name, if the study needs it."""


@dataclass(frozen=True)
class StudyOutcome:
    """The tables and files of a study."""

    tables: Tables
    files: Sequence[Path]


def run(study: Study, settings: StudySettings, out: Path, watch: CellWatch | None = None) -> StudyOutcome:
    """Run a study, or continue it, and write its tables, answers and picture into a folder; its page if not quick.

    `watch` is called with the number of cells done, the number of cells, and the key of a cell.
    """
    if study.needs_data and settings.data is None:
        raise DataError(f"study {study.name!r} needs data that are not bundled: pass --data with {study.needs_data}")
    cells = study.cells(settings)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the folder {out} cannot be created: {error.strerror or error}") from None
    stem = f"{study.name}-quick" if settings.quick else study.name
    kept = out / f"{stem}.cells.jsonl"
    answers = answer_cells(cells, kept, settings.jobs, watch)
    tables = study.tables(answers)
    written = [kept, out / f"{stem}.json"]
    record = {"study": study.name, "version": serape.__version__, "tables": tables}
    atomic_write(written[-1], json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    for title, rows in tables.items():
        written.append(out / f"{stem}-{slug(title)}.csv")
        atomic_write(written[-1], _as_csv(rows))
    picture = _drawn(study, answers)
    if picture is not None:
        written.append(out / f"{stem}.png")
        atomic_write(written[-1], picture)
    if not settings.quick:
        written.append(out / f"{stem}.md")
        atomic_write(written[-1], page_of(study, tables))
    return StudyOutcome(tables, written)


def page_of(study: Study, tables: Tables) -> str:
    """Return the page of a study: its text with the tables and facts of a full run filled in."""
    return page(study.name, tables, study.facts(tables))


def _as_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _drawn(study: Study, answers: CellAnswers) -> bytes | None:
    """Return the picture, or None without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return None
    with mpl.rc_context({"figure.dpi": 110, "axes.grid": True, "grid.alpha": 0.3, "font.size": 9}):
        figure = study.draw(answers)
        memory = io.BytesIO()
        figure.savefig(memory, format="png")
    return memory.getvalue()
