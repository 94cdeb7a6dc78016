"""One name, one thing: no public class or type of the package has the name of another."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "serape"
ALLOWED = {
    "Value": "a type variable: any value, by itself in each function",
}
"""Names that several modules define, each with the reason."""


def defined(code: str) -> set[str]:
    """Return the public classes and types that a module defines at its top, also under a condition."""

    def names(statements: list[ast.stmt]) -> Iterator[str]:
        for one in statements:
            match one:
                case ast.ClassDef(name=name):
                    yield name
                case ast.Assign(targets=targets):
                    yield from (target.id for target in targets if isinstance(target, ast.Name))
                case ast.AnnAssign(target=ast.Name(id=name)):
                    yield name
                case ast.If(body=body, orelse=other) | ast.Try(body=body, orelse=other):
                    yield from names([*body, *other])

    return {name for name in names(ast.parse(code).body) if re.fullmatch("[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*", name)}


def homes() -> dict[str, list[str]]:
    """Return, for each name, the modules that define it."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for name in defined(path.read_text(encoding="utf-8")):
            found[name].append(path.relative_to(PACKAGE).as_posix())
    return found


def test_one_name_means_one_thing() -> None:
    several = {name: where for name, where in homes().items() if len(where) > 1}
    new = {name: where for name, where in several.items() if name not in ALLOWED}
    assert not new, f"rename one of each, or import it from the other: {new}"
    assert several.keys() == ALLOWED.keys(), "these have one home by now, so they need not be allowed"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("class Pair: ...", {"Pair"}),
        ("Pair = tuple[int, int]\nPAIR = _Pair = pair = 1", {"Pair"}),
        ("Pair: TypeAlias = int", {"Pair"}),
        ("if X:\n    Pair = int\nelse:\n    Pair, Other = str, class_", {"Pair"}),
        ("from a import Pair\ndef f():\n    Pair = int", set()),
        ("G2 = 1\nX2Moments = 2", {"X2Moments"}),
    ],
)
def test_what_a_module_defines(code: str, expected: set[str]) -> None:
    assert defined(code) == expected
