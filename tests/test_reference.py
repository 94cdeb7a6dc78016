"""The reference page has every public name, and every public name has an example that runs."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import docstrings
import pages
import serape
import serape.bridges
from serape.local import gll
from serape.settings import FIELDS

PAGE = (pages.DOCS / "reference.md").read_text()
MODULES = (serape, serape.bridges, gll)
PUBLIC = {f"{module.__name__}.{name}": getattr(module, name) for module in MODULES for name in module.__all__}
BRIDGES = ("causal_learn", "pgmpy", "pyagrum")


@pytest.mark.parametrize("name", PUBLIC)
def test_examples(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    test = docstrings.examples_of(PUBLIC[name], name)
    assert 1 <= len(test.examples) <= 6
    docstrings.run(test)


def test_examples_that_are_wrong_are_noticed() -> None:
    def wrong() -> None:
        """Say one thing.

        >>> len(patients)
        15
        """

    with pytest.raises(AssertionError, match="Expected:\n *15\nGot:\n *14"):
        docstrings.run(docstrings.examples_of(wrong, "wrong"))


def test_the_page_has_every_public_name() -> None:
    listed = re.findall(r"auto(?:function|class|exception):: serape\.(\w+)$", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(vars(serape)["__all__"])
    modules = re.findall(r"automodule:: (\S+)\n   :members:", PAGE)
    assert set(modules) == {"serape.local.gll", "serape.bridges", *(f"serape.bridges.{name}" for name in BRIDGES)}


@pytest.mark.parametrize("name", [name for name, obj in PUBLIC.items() if inspect.isfunction(obj)])
def test_every_parameter_is_described_and_typed(name: str) -> None:
    """A docstring names the parameters that are not settings; the signature has their types and what is returned."""
    function = PUBLIC[name]
    signature = inspect.signature(function)
    assert signature.return_annotation is not signature.empty
    if function.__module__ == "serape.local.gll":  # strategies, which take what the framework passes
        return
    described = _described(inspect.getdoc(function) or "")
    for parameter in signature.parameters.values():
        assert parameter.name in (*described, *FIELDS, "algorithm_options"), parameter.name
        assert parameter.annotation is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD
    assert not {*described} - {*signature.parameters}


def _described(text: str) -> list[str]:
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n\w+\n---|\Z)", text, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^(\w[\w, ]*)$", section[1], re.MULTILINE) if section else []
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("name", BRIDGES)
def test_the_examples_of_bridges_use_every_function(name: str) -> None:
    """`make test-bridges` runs them, with the other packages."""
    module: Any = import_module(f"serape.bridges.{name}")
    own = [f for f, obj in vars(module).items() if inspect.isfunction(obj) and obj.__module__ == module.__name__]
    for function in own:
        assert function.startswith("_") or f"{name}.{function}(" in (module.__doc__ or ""), function


@pytest.mark.parametrize("name", [name for name, obj in PUBLIC.items() if hasattr(obj, "refused_settings")])
def test_the_page_shows_settings_as_one_parameter(name: str) -> None:
    signatures = pytest.importorskip("signatures", reason="needs pip install 'serape[docs]'")
    question = PUBLIC[name]
    shown, returned = signatures.short_signature(None, "function", name, question, None, "()", "")
    assert returned
    assert shown.endswith("**settings)")
    settings = [
        f for f, p in inspect.signature(question).parameters.items() if f in FIELDS and p.kind is p.KEYWORD_ONLY
    ]
    assert settings
    assert not [setting for setting in settings if re.search(rf"\b{setting}:", shown)]
    lines = (inspect.getdoc(question) or "").split("\n")
    signatures.short_docstring(None, "function", name, question, None, lines)
    assert "Settings" not in lines
    at = lines.index("**settings")
    assert "ettings </settings>`" in lines[at + 1]
    assert lines.index("Parameters") < at < lines.index("Examples")
