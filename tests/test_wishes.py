"""The page of wishes names tests and pages that are there."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    re.split(r"(?<!\\)\|", line)[1:-1]
    for line in (ROOT / "docs" / "wishes.md").read_text(encoding="utf-8").splitlines()
    if re.match(r"\| (?!wish|\| wish|---)", line)
]
WISHES = [[cell.strip() for cell in row[-4:]] for row in ROWS]


@cache
def names_in(path: str) -> frozenset[str]:
    """The tests of a file: function, or Class::function."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    methods = [f"{one.name}::{node.name}" for one in classes for node in one.body if isinstance(node, ast.FunctionDef)]
    return frozenset(name for name in (*functions, *methods) if name.rpartition("::")[2].startswith("test_"))


def test_every_wish_is_there() -> None:
    assert [row[0].strip() for row in ROWS if len(row) == 5] == [str(k) for k in range(1, 26)]
    assert len(WISHES) == 40


@pytest.mark.parametrize("wish", WISHES, ids=lambda wish: wish[0][:40])
def test_a_wish_names_what_is_there(wish: list[str]) -> None:
    text, status, how, test = wish
    assert re.search(r"\([\w-]+#\d+", text), "a thread is named"
    assert status in ("served", "half", "not yet")
    for page in re.findall(r"\]\(([^)#]+)", how):
        assert (ROOT / "docs" / page).is_file(), page
    assert "](" in how
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::([\w:]+))?`", test)
    assert named or status == "not yet"
    for path, name in named:
        assert names_in(path), path
        assert not name or name in names_in(path), name


def test_no_dependency_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [requirement for group in project["optional-dependencies"].values() for requirement in group]
    for requirement in [*project["dependencies"], *extras]:
        assert not re.search(r"<|==|~=|!=", requirement.partition(";")[0]), requirement
    assert "<" not in project["requires-python"]
