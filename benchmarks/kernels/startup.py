"""How long serape takes to start: the import, and the command on a small file."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import serape
from benchmarks.common.data import SEED
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import ONE_THREAD

ROWS = 200
EMPTY = """import numpy, rich.table, typer
def command(rows: int = 0) -> None: ...
typer.run(command)"""
COMPLETION = """import os, sys
words = f"serape blanket {sys.argv[1]} --target "
os.environ |= {"_SERAPE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "4"}
from serape.cli import main
main([])"""
NUMPY = "import numpy"
CALLS = {
    "python -c pass": ["-c", "pass"],
    NUMPY: ["-c", NUMPY],
    "an empty command of typer": ["-c", EMPTY],
    "import serape": ["-c", "import serape"],
    "serape.markov_blanket": ["-c", "import serape; serape.markov_blanket"],
    "serape --version": ["-m", "serape", "--version"],
    "serape --help": ["-m", "serape", "--help"],
    "serape blanket --help": ["-m", "serape", "blanket", "--help"],
    "serape algorithms": ["-m", "serape", "algorithms"],
    "completion of a column": ["-c", COMPLETION, "{folder}/categories.csv"],
    "serape blanket, categories": ["-m", "serape", "blanket", "{folder}/categories.csv", "--target", "y"],
    "serape blanket, mixed": ["-m", "serape", "blanket", "{folder}/mixed.csv", "--target", "y"],
}


def seconds(command: list[str]) -> float:
    """Return the seconds of the processor that a process takes, with the threads that its libraries start."""
    import resource  # not on Windows

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--pythons", nargs="+", default=[sys.executable], help="of environments that have serape")


def run(options: argparse.Namespace) -> None:
    """Measure seconds of the processor from the start of a process to its end, of each Python in turns.

    The empty command imports NumPy, rich and typer, and has one option. The files have 200 rows of 6 columns:
    categories alone, and categories with numbers. Medians, after one run that is not counted and leaves the files of
    Python's compiler; behind them, how often the time of `import numpy` in the same run that is. Results go to
    benchmarks/out/startup.json.
    """
    repeats = 1 if options.quick else options.repeats
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder))
        found: dict[str, dict[str, float]] = {}
        for name, words in CALLS.items():
            report(name)
            call = [word.replace("{folder}", folder) for word in words]
            times: dict[str, list[float]] = {python: [] for python in options.pythons}
            for _ in range(repeats + 1):
                for python in options.pythons:
                    times[python].append(seconds([python, *call]))
            found[name] = {python: statistics.median(every[1:]) for python, every in times.items()}
    heads = [head for python in options.pythons for head in (python, f"÷ {NUMPY}")]
    lines = [
        [name, *(cell for python, s in of.items() for cell in (short(s), f"{s / found[NUMPY][python]:.2f}"))]
        for name, of in found.items()
    ]
    print(f"{machine()}, seconds of the processor\n\n{markdown(('process', *heads), lines)}")
    save("startup", {"serape": serape.__version__, "seconds": found})


def write_tables(folder: Path) -> None:
    """Write a file of categories, and one of categories and numbers."""
    random = np.random.default_rng(SEED)
    words = np.array(["low", "mid", "high"])
    grades, numbers = random.integers(0, 3, (ROWS, 5)), random.normal(size=(ROWS, 3))
    target = (grades[:, 0] + grades[:, 1] * (random.random(ROWS) < 0.8)) % 3
    numbers[:, 2] += numbers[:, 0] + grades[:, 0]
    tables = {
        "categories": [*words[grades].T, words[target]],
        "mixed": [*words[grades[:, :3]].T, *(np.char.mod("%.4f", column) for column in numbers.T)],
    }
    for name, columns in tables.items():
        lines = [",".join(row) for row in zip(*columns, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["a,b,c,d,e,y", *lines, ""]), encoding="utf-8")
