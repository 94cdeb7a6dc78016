"""Kills processes at random moments while they write files: nothing that is half may be believed.

    python tests/kills.py [--times 100] [--seed 0]

A process writes one kind of file over and over, and is killed. Then the file must be whole, as an earlier or a later
version of it, or not be there; a checkpoint must lead to the answer of a run that nobody killed.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.image
import pandas as pd

import serape
from serape.data.example import clinic

PREPARE = """
import itertools, sys, serape
from pathlib import Path
from serape.data.example import clinic
from serape.data.writing import write_table
path = Path(sys.argv[1])
frame = clinic(400)
table = serape.Table(frame)
found = serape.markov_blanket(table, "HeartDisease", "iamb", alpha=0.01)
every = serape.all_blankets(table, "HeartDisease", alpha=0.01)
built = serape.network(table, "tabu")
network = built.fit()
wide = serape.load_network("alarm").tile(8, 0).sample(300, 0)
print("ready", flush=True)
for k in itertools.count():
"""
MAX_WAIT = 0.6
"""Seconds within which the process is killed; each file is written several times in this time."""


class Writer(NamedTuple):
    """A kind of file: its name, the line that writes it, and what must work with a whole one."""

    name: str
    line: str
    check: Callable[[Path], Any]


def same_skeleton(path: Path) -> None:
    """Go on from a checkpoint; every field must be that of a run that nobody killed."""
    table = serape.load_network("alarm").tile(8, 0).sample(300, 0)
    found, expected = (serape.skeleton(table, "hiton-pc", alpha=0.01, checkpoint=kept) for kept in (path, None))
    assert without_seconds(found) == without_seconds(expected)


def without_seconds(found: serape.Structure) -> dict[str, Any]:
    """Return all that a structure holds but the time it took."""
    content = found.to_dict()
    content.pop("seconds")
    return content


def whole_page(path: Path) -> None:
    """Check that a report has its end."""
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def all_rows(path: Path) -> None:
    """Check that a table in a text file has all rows."""
    assert pd.read_csv(path).shape == pd.read_csv(path).dropna().shape == (400, len(clinic(5)))


def verified(path: Path) -> None:
    """Check all checksums of a packed file, and use it."""
    serape.verify_packed(path)
    assert serape.Table(path).rows == 300


WRITERS = (
    Writer("result.json", "found.save(path)", serape.load_result),
    Writer("blankets.json", "every.save(path)", serape.load_result),
    Writer("structure.json", "built.save(path)", serape.load_structure),
    Writer("report.html", "found.report(path)", whole_page),
    Writer("picture.png", "found.plot(path)", matplotlib.image.imread),
    Writer("network.bif", "serape.write_bif(network, path)", serape.read_bif),
    Writer("table.srp", "path.unlink(missing_ok=True); serape.pack(wide, path)", verified),
    Writer("table.csv", "write_table(table, path)", all_rows),
    Writer("checkpoint.jsonl",
           "path.unlink(missing_ok=True); serape.skeleton(wide, 'hiton-pc', alpha=0.01, checkpoint=path)",
           same_skeleton),
)  # fmt: skip


def kill_once(writer: Writer, folder: Path, wait: float) -> str:
    """Kill one process; return what was left."""
    path = folder / writer.name
    process = subprocess.Popen(
        [sys.executable, "-c", f"{PREPARE}    {writer.line}\n", str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", writer.name
    time.sleep(wait)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL, (writer.name, process.returncode)
    others = [entry.name for entry in folder.iterdir() if entry.name != writer.name]
    assert all(entry.startswith(".") or entry.endswith(".tmp") for entry in others), others
    left = "whole" if path.exists() else "not there"
    if path.exists():
        writer.check(path)
    return f"{left}, with a part beside it" if others else left


def main() -> int:
    """Kill, and say what was left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    left: dict[str, Counter[str]] = {writer.name: Counter() for writer in WRITERS}
    for k in range(options.times):
        writer = WRITERS[k % len(WRITERS)]
        with tempfile.TemporaryDirectory() as folder:
            left[writer.name][kill_once(writer, Path(folder), drawn.uniform(0, MAX_WAIT))] += 1
    for name, counted in left.items():
        print(f"{name}: " + ", ".join(f"{number} {what}" for what, number in sorted(counted.items())))
    print(f"{options.times} processes were killed; nothing that is half was believed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
