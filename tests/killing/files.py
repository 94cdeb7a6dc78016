"""Kills processes at random moments while they write files: nothing that is half may be believed.

A process writes one kind of file over and over, and is killed. Then the file must be whole, as an earlier or a later
version of it, or not be there. A process that keeps a checkpoint is killed once the file has a drawn number of bytes,
and so are up to two others that go on from there; what they leave must lead to the answer of a run that nobody killed,
every test counted once.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
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
WHOLE = 60_000
"""Bytes of about the whole checkpoint."""
TABLE = range(8 * 37)
"""Targets of the checkpoint."""
MAX_WAIT = 0.6
"""Seconds within which the process is killed; each file is written several times in this time."""


GO_ON = """
import sys, serape
from serape.questions import checkpoint
checkpoint._WRITE_EVERY = 0.0
wide = serape.load_network("alarm").tile(8, 0).sample(300, 0)
print("ready", flush=True)
serape.skeleton(wide, "hiton-pc", alpha=0.01, fdr=None, checkpoint=sys.argv[1], n_jobs=int(sys.argv[2]))
"""
"""Keeps a checkpoint, each line as it is found."""


class Writer(NamedTuple):
    """A kind of file: its name, the line that writes it, and what must work with a whole one."""

    name: str
    line: str
    check: Callable[[Path], Any]


def same_skeleton(path: Path) -> None:
    """Go on from a checkpoint; every field must be that of a run that nobody killed."""
    table = serape.load_network("alarm").tile(8, 0).sample(300, 0)
    found, expected = (serape.skeleton(table, "hiton-pc", alpha=0.01, fdr=None, checkpoint=kept)
                       for kept in (path, None))  # fmt: skip
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


def kill_keepers(folder: Path, drawn: random.Random) -> str:
    """Kill up to three processes that keep one checkpoint, one after another; return how much they left."""
    path = folder / "checkpoint.jsonl"
    hits = 0
    for _ in range(drawn.randint(1, 3)):
        begun = path.stat().st_size if path.exists() else 0
        least = begun + drawn.randint(0, WHOLE // 3)
        command = [sys.executable, "-c", GO_ON, str(path), str(drawn.randint(1, 2))]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None and not (path.exists() and path.stat().st_size > least):
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hits += process.returncode == -signal.SIGKILL
    found = path.read_text().count('"target"')
    same_skeleton(path)
    return "in the middle" if hits and 0 < found < len(TABLE) else "at the beginning" if hits else "at the end"
