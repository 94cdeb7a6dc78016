"""The page that ties papers to code: what it names is there, nothing is missing, and files name the page in turn."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pytest

import pages
import serape
from serape import studies
from serape.local.registry import ALGORITHMS

PAGE = pages.DOCS / "papers.md"
SOURCE = pages.ROOT / "src" / "serape"
ROOMS = ("local", "skeletons", "structure")
NOTHING = "–"


class Row(NamedTuple):
    """A row of the page: paper, label of the part ("Table 3"), and the cells but the first."""

    paper: str
    label: str
    code: str
    checks: str
    differs: str

    @property
    def files(self) -> list[str]:
        """The files of the package that the row names."""
        return re.findall(r"`(\w+/\w+\.py)`", self.code)

    @property
    def functions(self) -> list[tuple[str, str]]:
        """The functions that the row names, each with its file."""
        found = re.findall(r"((?:`[\w.]+`(?:, )?)+) in `(\w+/\w+\.py)`", self.code)
        return [(name, file) for names, file in found for name in re.findall(r"`([\w.]+)`", names)]

    @property
    def algorithms(self) -> list[str]:
        """The names of algorithms, which stand before a colon."""
        named = re.match(r"((?:`[\w-]+`(?:, )?)+): ", self.code)
        return re.findall(r"`([\w-]+)`", named[1]) if named else []

    @property
    def studies(self) -> list[str]:
        """The studies to which the row links."""
        return [name for name, page in re.findall(r"\[([\w-]+)\]\(studies/([\w-]+)\.md\)", self.checks) if name == page]


@cache
def rows() -> list[Row]:
    found: list[Row] = []
    for paper, text in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.DOTALL | re.MULTILINE):
        lines = [line for line in text.splitlines() if line.startswith("|")]
        assert re.fullmatch(r"\| (in the )?paper \| in serape \| checked by \| what differs, and why \|", lines[0])
        for line in lines[2:]:
            part, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            label, _, what = part.partition(": ")
            assert what, line
            found.append(Row(paper, label, *cells))
    return found


def row_name(row: Row) -> str:
    return f"{row.paper}, {row.label}, {row.files}"


@pytest.mark.parametrize("row", rows(), ids=row_name)
def test_a_row_names_what_is_there(row: Row) -> None:
    assert row.differs
    if row.code == NOTHING:
        assert row.checks == NOTHING
        assert "not repeated" in row.differs
        return
    assert row.files
    for file in row.files:
        assert (SOURCE / file).is_file(), file
    for name, file in row.functions:
        module = importlib.import_module("serape." + file.removesuffix(".py").replace("/", "."))
        assert attrgetter(name)(module).__module__ == module.__name__, f"{name} is not in {file}"
    assert set(re.findall(r"`([^`]+)`", row.code)) == {*row.files, *row.algorithms, *(f for f, _ in row.functions)}
    assert set(row.algorithms) <= set(serape.algorithms()["name"])


@pytest.mark.parametrize("row", [row for row in rows() if row.checks != NOTHING], ids=row_name)
def test_a_row_is_checked_by_what_is_there(row: Row) -> None:
    """By tests, by `make oracle`, or by a study of the file that the row names."""
    checks = re.findall(r"`([^`]+)`", row.checks)
    assert checks or row.studies
    for check in checks:
        assert check == "make oracle" or (check.startswith("tests/") and (pages.ROOT / check).is_file()), check
    for name in row.studies:
        assert [SOURCE / file for file in row.files] == [Path(inspect.getsourcefile(studies.STUDIES[name].cells) or "")]


def test_every_algorithm_is_on_the_page() -> None:
    named = {name for row in rows() for name in row.algorithms}
    assert named == set(serape.algorithms()["name"])
    for name, algorithm in ALGORITHMS.items():
        file = Path(inspect.getsourcefile(algorithm.run) or "").relative_to(SOURCE).as_posix()
        assert any(name in row.algorithms and file in row.files for row in rows()), f"{name} is in {file}"


def test_every_study_is_on_the_page() -> None:
    assert {name for row in rows() for name in row.studies} == set(studies.STUDIES)
    assert "docs/papers.md" in (studies.__doc__ or "")


def parts_in(file: str) -> str:
    """Return the parts of papers whose rows name a file: "Peña et al. 2005, Table 3; …"."""
    labels: dict[str, list[str]] = {}
    for row in rows():
        if file in row.files:
            of_paper = labels.setdefault(row.label if row.paper == "Other papers" else row.paper, [])
            if row.paper != "Other papers" and row.label not in of_paper:
                of_paper.append(row.label)
    return "; ".join(", ".join([paper, *of_paper]) for paper, of_paper in labels.items())


@pytest.mark.parametrize(
    "file", [f"{room}/{path.name}" for room in ROOMS for path in sorted((SOURCE / room).glob("*.py"))]
)
def test_files_name_the_rows_that_name_them(file: str) -> None:
    """The line `See docs/papers.md: …` lists exactly these parts of papers."""
    text = " ".join((ast.get_docstring(ast.parse((SOURCE / file).read_text())) or "").split())
    _, found, named = text.partition("See docs/papers.md: ")
    assert named == parts_in(file) + ("." if found else "")
