"""Nothing is imported before it is needed, and every public name is there all the same."""

from __future__ import annotations

import ast
import inspect
import json
import os
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.models import CommandInfo

import serape
from serape import cli
from serape.cli.base import MODULES, SUMMARIES, find_command
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
    assert not stop.code or "--max-tests" in sys.argv and stop.code == 3
print("\\n" + json.dumps([names, first, sorted(sys.modules), os.environ["OPENBLAS_NUM_THREADS"]]))
"""
HEAVY = {"asyncio", "cloudpickle", "dask", "distributed", "duckdb", "email", "hashlib", "html", "importlib.metadata",
         "joblib", "matplotlib", "multiprocessing", "narwhals", "networkx", "numpy.random", "pandas", "polars",
         "pyarrow", "pydantic", "scipy", "sklearn", "sqlite3", "statistics"}  # fmt: skip
"""Libraries, of Python's own too, that take long to import; typer imports Pydantic when it converts a value."""
OTHER = {"serape.bridges", "serape.data.packed_files.opened", "serape.distributed", "serape.engines.gpu.device",
         "serape.engines.gpu.pairs", "serape.formats", "serape.independence.elsewhere", "serape.independence.near",
         "serape.networks", "serape.parallel.workers", "serape.results.charts", "serape.results.pictures",
         "serape.results.report", "serape.sklearn", "serape.structure", "serape.studies"} | {
         f"serape.data.reading.{format_}" for format_ in
         ("arrow_files", "databases", "json_files", "packed", "r_files", "workbooks")}  # fmt: skip
"""What other questions and other files need, several processes, a GPU, a cluster, pictures and reports."""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small file."""
    path = tmp_path_factory.mktemp("startup") / "patients.csv"
    with path.open("w") as file:
        write_csv(serape.Table(clinic(200)), file)
    return path


def run(*words: object, **environment: str) -> tuple[str, list[str], set[str], set[str], str]:
    """Run a command; return its output, `dir(serape)`, what is imported before and after it, and NumPy's threads."""
    settings = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"} | environment
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=settings)
    answer, _, last = done.stdout.strip().rpartition("\n")
    names, first, then, threads = json.loads(last)
    return answer.strip(), names, {*first}, {*then}, threads


def commands_of(imported: set[str]) -> set[str]:
    """Return the modules of commands among those that are imported."""
    return imported & {*MODULES.values()}


def test_what_is_imported(file: Path) -> None:
    answer, names, first, then, threads = run("blanket", file, "--target", "Anxiety")
    assert answer.startswith("Markov blanket of Anxiety")
    assert {*vars(serape)["__all__"]} <= {*names}
    assert {name for name in first if name.startswith("serape")} == {"serape", "serape._core"}
    assert not ({"numpy", "typer"} | HEAVY) & first
    assert not (HEAVY | OTHER) & then
    assert commands_of(then) == {"serape.cli.local"}
    assert threads == "1"


def test_words_among_which_an_option_chooses_are_not_converted(file: Path) -> None:
    answer, _, _, then, _ = run("blanket", file, "-t", "Anxiety", "--algorithm", "iamb", "--dof", "full", "--quiet")
    assert "by iamb with" in answer
    assert "pydantic" not in then


def test_the_list_of_commands_needs_none_of_them() -> None:
    answer, _, _, then, _ = run("--help")
    assert "describe" in answer
    assert not ({"numpy", "serape.settings"} | OTHER) & then
    assert not commands_of(then)


@pytest.mark.parametrize("command", ["causes", "network", "stability"])
def test_the_help_of_a_command_needs_its_question_and_no_checkpoint(command: str) -> None:
    answer, _, _, then, _ = run(command, "--help")
    assert "--algorithm" in answer
    assert not (HEAVY | {"serape.questions.checkpoint"}) & then - {"html"}  # rich needs it to print the help
    assert commands_of(then) == {"serape.cli.questions"}


def test_the_version_needs_nothing() -> None:
    answer, _, _, then, _ = run("--version")
    assert answer.startswith("serape ")
    assert not {"numpy", "rich", "pydantic"} & then
    assert not commands_of(then)


def test_the_list_of_algorithms_is_printed_without_data() -> None:
    answer, _, _, then, _ = run("algorithms")
    assert "hiton-mb" in answer
    assert not HEAVY & then
    assert commands_of(then) == {"serape.cli.library"}


def test_completion_of_a_column(file: Path) -> None:
    """It reads the first lines, and begins before all is given that the command needs."""
    words = f"serape blanket {file} --target Anx"
    asked = {"_SERAPE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "4"}
    answer, _, _, then, _ = run(**asked)
    assert answer == "Anxiety"
    assert not (HEAVY | OTHER) & then
    assert commands_of(then) == {"serape.cli.local"}


def test_a_value_that_is_no_text_yet_is_converted(file: Path) -> None:
    answer, _, _, _, _ = run("blanket", file, "-t", "Anxiety", "--max-tests", "5")
    assert "the search stopped at --max-tests 5" in answer


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
    """Each is listed with the module that defines it; a command that is not listed would never be found.

    The help says of each how its own help begins.
    """
    modules = [f"serape.cli.{module.name}" for module in pkgutil.iter_modules(cli.__path__)]
    for module in modules:
        import_module(module)
    from serape.cli.base import _made

    assert _made.keys() == MODULES.keys()
    for name, module in MODULES.items():
        known = find_command(name)
        assert known.callback.__module__ == module
        assert SUMMARIES[name] == ("" if known.hidden else summary(known))


def summary(known: CommandInfo) -> str:
    """Return the first paragraph of the help of a command."""
    return " ".join(inspect.cleandoc(known.help or known.callback.__doc__ or "").partition("\n\n")[0].split())


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


@pytest.mark.parametrize("words", [["--version"], ["versions"], ["no-such-command"]])
def test_garbage_is_looked_for_again_but_not_among_modules(words: list[str]) -> None:
    program = f"""
import gc
from serape.cli import main
try:
    main({words})
except SystemExit:
    print(gc.isenabled(), gc.get_freeze_count() > 10_000)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("True True\n")
