"""Nothing is imported before it is needed, and every public name is there all the same."""

from __future__ import annotations

import ast
import json
import os
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import serape
from serape import cli
from serape.cli.base import MODULES, find_command
from serape.cli.questions import NAMES
from serape.data.example import clinic
from serape.data.writing import write_csv

PROGRAM = """
import json, os, sys
import serape
names = dir(serape)
first = sorted(sys.modules)
from serape.cli import main
assert "numpy" not in sys.modules
try:
    main(sys.argv[1:])
except SystemExit as stop:
    assert not stop.code
print(json.dumps([names, first, sorted(sys.modules), os.environ["OPENBLAS_NUM_THREADS"]]))
"""
HEAVY = {"dask", "distributed", "duckdb", "joblib", "matplotlib", "narwhals", "networkx", "pandas", "polars", "pyarrow",
         "scipy", "sklearn"}  # fmt: skip
OTHER = {"serape.bridges", "serape.distributed", "serape.formats", "serape.networks", "serape.results.charts",
         "serape.results.pictures", "serape.results.report", "serape.sklearn", "serape.structure",
         "serape.studies"}  # fmt: skip
"""What other questions need, and pictures and reports."""


def test_what_is_imported(tmp_path: Path) -> None:
    with (tmp_path / "patients.csv").open("w") as file:
        write_csv(serape.Table(clinic(200)), file)
    settings = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    command = [sys.executable, "-c", PROGRAM, "blanket", str(tmp_path / "patients.csv"), "--target", "Anxiety"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=settings)
    answer, _, last = done.stdout.strip().rpartition("\n")
    assert answer.startswith("Markov blanket of Anxiety")
    names, first, then, threads = json.loads(last)
    assert {*vars(serape)["__all__"]} <= {*names}
    assert {name for name in first if name.startswith("serape")} == {"serape", "serape._core"}
    assert not ({"numpy"} | HEAVY) & {*first}
    assert not (HEAVY | OTHER) & {*then}
    assert {name for name in then if name in MODULES.values()} == {"serape.cli.local"}
    assert threads == "1"


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


def test_every_command_is_found() -> None:
    """Each is listed with the module that defines it; a command that is not listed would never be found."""
    modules = [f"serape.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)]
    for module in modules:
        import_module(module)
    from serape.cli.base import _made

    assert _made.keys() == MODULES.keys()
    for name, module in MODULES.items():
        assert find_command(name).callback.__module__ == module


def test_questions_with_commands_are_listed() -> None:
    questions = [name for name in vars(serape)["__all__"] if getattr(getattr(serape, name), "command_examples", ())]
    listed = {name for name, module in MODULES.items() if module == "serape.cli.questions"}
    called = {question: name for name, question in NAMES.items()}
    assert {called.get(name, name.replace("_", "-")) for name in questions} == listed


def test_a_kind_of_result_that_nobody_has_imported_is_read() -> None:
    file = Path(__file__).parent / "results" / "saved" / "causes.json"
    program = f"import serape; print(type(serape.load_result({str(file)!r})).__name__)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Causes\n"
