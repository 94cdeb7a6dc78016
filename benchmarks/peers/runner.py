"""Environments of other packages, and runs in them."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from benchmarks.common.output import report
from benchmarks.common.timing import ONE_THREAD, peak_mebibytes, processor_seconds

ROOT = Path(__file__).parent.parent.parent
PINS = Path(__file__).parent
PEERS = ("pgmpy", "causal-learn", "PyBNesian", "pyAgrum", "pyCausalFS")
PROGRAMS = {"bnlearn": (str(PINS / "bnlearn.R"),)}
"""What an interpreter that is not Python's runs."""
LONG = 10.0
"""Seconds from which a run is not repeated."""
PREPARING = 300.0
"""Seconds for imports and reading."""
PATIENCE = 10
"""By the clock, a limit in seconds of the processor is so many times as long."""


def add_options(parser: argparse.ArgumentParser, limit: float, peers: Sequence[str] = PEERS) -> None:
    """Add the options that say which packages are compared, and for how long."""
    parser.add_argument("--peers", action="store_true", help="make an environment for each package in .venv-peers")
    parser.add_argument("--python", action="append", default=[], help="the interpreter of an environment with packages")
    parser.add_argument("--tools", nargs="+", choices=("serape", *peers), default=peers, help="only these, and serape")
    parser.add_argument("--limit", type=float, default=limit, help="seconds after which a run is ended")


def installed(python: str, wanted: Sequence[str]) -> dict[str, str]:
    """Return those of some packages that an interpreter has, and their versions."""
    script = (
        "import json, sys\nfrom importlib.metadata import PackageNotFoundError, version\nfound = {}\n"
        "for name in sys.argv[1:]:\n try: found[name] = version(name)\n except PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    found: dict[str, str] = json.loads(subprocess.check_output([python, "-c", script, *wanted], text=True))
    return found


def install(peer: str) -> str | None:
    """Make an environment for a package, unless it is there as pinned; return its interpreter, or None and say why."""
    home = ROOT / ".venv-peers" / peer
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pins = PINS / f"{peer}.txt"
    mark = home / "pins.txt"
    if mark.exists() and mark.read_text() == pins.read_text():
        return str(python)
    report(f"installing {peer} into {home.relative_to(ROOT)} …")
    steps = (
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), "-m", "pip", "install", "-q", "--only-binary", ":all:", "-r", str(pins)],
    )
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line for line in (done.stderr or done.stdout).splitlines() if "ERROR" in line] or [
                "no reason given"
            ]
            report(f"{peer} could not be installed and is left out: {said[-1].strip()}")
            return None
    mark.write_text(pins.read_text())
    return str(python)


def with_bnlearn() -> str | None:
    """Return an Rscript that has bnlearn, which is not installed here; None, and say so, where there is none."""
    program = shutil.which("Rscript")
    if program is not None:
        asked = [program, "-e", "stopifnot(requireNamespace('bnlearn'))"]
        if not subprocess.run(asked, capture_output=True, check=False).returncode:
            return program
    report("bnlearn is left out: no Rscript on the path has it (R_LIBS can name the folder with it)")
    return None


def environments(options: argparse.Namespace) -> dict[str, str]:
    """Return an interpreter for each wanted package that is there; none in a quick run."""
    found: dict[str, str] = {}
    if not options.quick:
        wanted = [peer for peer in options.tools if peer != "serape"]
        for python in options.python:
            found |= {peer: python for peer in installed(python, wanted) if peer not in found}
        for peer in wanted if options.peers else ():
            made = found.get(peer) or (with_bnlearn() if peer == "bnlearn" else install(peer))
            if made is not None:
                found[peer] = made
    if not found:
        report("serape runs alone: no other package is there (--peers installs them, --python names an environment)")
    return found


class Runner:
    """Makes runs of one kind, each in a process and one thread of its own."""

    def __init__(
        self,
        kind: Literal["searches", "networks", "gaussian", "structures", "independence", "cells", "questions"],
        folder: Path,
        warm: Path,
        interpreters: Mapping[str, str],
        alpha: float,
        limit: float,
        of_processor: bool = False,
    ) -> None:
        self.kind, self.folder, self.warm, self.alpha, self.limit = kind, folder, warm, alpha, limit
        self.interpreters = {"serape": sys.executable, **interpreters}
        self.of_processor = of_processor
        """Whether the limit is in seconds of the processor, so that other work on the machine does not count."""

    @property
    def tools(self) -> Collection[str]:
        """The tools that can be run."""
        return self.interpreters.keys()

    @property
    def result(self) -> Path:
        """The file to which a run writes what it found."""
        return self.folder / "result.json"

    def arguments(self, tool: str, method: str, data: Path) -> list[str]:
        """Return the arguments of `benchmarks.peers` for a run."""
        paths = (self.warm.absolute(), data.absolute(), self.result.absolute())
        return [self.kind, *map(str, paths), tool, method, str(self.alpha)]

    def wait(self, process: subprocess.Popen[str]) -> None:
        """Wait for the end of a process, or raise `TimeoutExpired` at the limit."""
        begin = processor_seconds(process.pid) if self.of_processor else None
        if begin is None:
            process.wait(self.limit)
            return
        latest = time.perf_counter() + PATIENCE * self.limit
        left = self.limit
        while left > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(left)  # it has one thread, and cannot have had more than this
                return
            used = processor_seconds(process.pid)
            left = 0.0 if used is None else min(begin + self.limit - used, latest - time.perf_counter())
        raise subprocess.TimeoutExpired(process.args, self.limit)

    def call(self, tool: str, method: str, data: Path) -> dict[str, Any]:
        """Search the data; return what was found, or `error`, or `ended` with the number of targets done by then."""
        result, said = self.result, self.folder / "stderr.txt"
        result.unlink(missing_ok=True)
        program = PROGRAMS.get(tool, ("-m", "benchmarks.peers"))
        command = [self.interpreters[tool], *program, *self.arguments(tool, method, data)]
        settings = {**os.environ, **ONE_THREAD, "PYTHONHASHSEED": "0"}  # some answers depend on the order of sets
        with (
            said.open("w") as errors,
            subprocess.Popen(
                command, cwd=ROOT, env=settings, stdout=subprocess.PIPE, stderr=errors, text=True
            ) as process,
        ):
            ready = threading.Event()
            done: list[str] = []

            def listen() -> None:
                for line in process.stdout or ():
                    if line.strip() == "ready":
                        ready.set()
                    else:
                        done.append(line)
                ready.set()

            threading.Thread(target=listen, daemon=True).start()
            try:
                ready.wait(PREPARING)
                self.wait(process)
            except subprocess.TimeoutExpired:
                return {"ended": len(done), "mebibytes": peak_mebibytes(process.pid)}
            finally:
                process.kill()
        if not result.exists():
            lines = said.read_text().splitlines() or [f"exit code {process.returncode}"]
            return {"error": lines[-1]}
        found: dict[str, Any] = json.loads(result.read_text())
        return found
