"""Every public name is there, though it is imported when it is first used."""

from __future__ import annotations

import ast
import pickle
from importlib import import_module
from pathlib import Path

import pytest

import serape


def test_public_names() -> None:
    stub = ast.parse(Path(serape.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    declared = {
        (line.module, name.name) for line in stub.body if isinstance(line, ast.ImportFrom) for name in line.names
    }
    names: dict[str, tuple[str, ...]] = vars(serape)["_NAMES"]
    assert declared == {(f"serape.{module}", name) for module, of_module in names.items() for name in of_module}
    namespace: dict[str, object] = {}
    exec("from serape import *", namespace)
    for module, name in declared:
        value = namespace[name]
        assert value is getattr(serape, name) is getattr(import_module(str(module)), name)
        assert pickle.loads(pickle.dumps(value)) is value


def test_other_names() -> None:
    assert serape.errors.DataError is serape.DataError
    for name in ("markov_blankets", "_errors", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"module 'serape' has no attribute '{name}'"):
            getattr(serape, name)
