"""The examples in docstrings: what they begin with, and how they run."""

from __future__ import annotations

import doctest
import io
from typing import Any

import pages


def prelude() -> dict[str, Any]:
    """Return the names that the first block of the reference page makes, with which every example begins."""
    block = next(block for block in pages.blocks(pages.DOCS / "reference.md") if block.language == "python")
    names: dict[str, Any] = {}
    exec(block.text, names)
    return names


def examples_of(obj: Any, name: str) -> doctest.DocTest:
    """Return the examples of an object's own docstring."""
    text = (vars(obj).get("__doc__") if isinstance(obj, type) else obj.__doc__) or ""
    return doctest.DocTestParser().get_doctest(text, prelude(), name, None, 0)


def run(test: doctest.DocTest) -> None:
    """Run examples; lines may be broken at any space."""
    said = io.StringIO()
    failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.write).failed
    assert not failed, said.getvalue()
