"""Shuffled columns of real data, which have nothing to do with the target, among blankets, causes and effects."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import serape
from benchmarks.accuracy.calibration.real import data_sets, with_shuffled
from benchmarks.common.output import markdown, report, save, short

SETS = ("breast_cancer", "wine", "iris", "diabetes", "pima", "german", "titanic", "mushrooms")
PROBES = 20
MAX_SECONDS = 60.0
METHODS: dict[str, Callable[..., Any]] = {
    "all_blankets": serape.all_blankets,
    "all_blankets, alpha=0.001": partial(serape.all_blankets, alpha=0.001),
    "causes": serape.causes,
    "causes, ldecc": partial(serape.causes, algorithm="ldecc"),
    "causes, hidden=True": partial(serape.causes, hidden=True),
}


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="with more real data, as compressed files")
    parser.add_argument("--sets", nargs="+", default=SETS, help="only these data")


def returned(found: serape.AllBlankets | serape.Causes) -> Sequence[str]:
    """Return the columns in an answer: members of any blanket, or of the one around which causes were looked for."""
    return found.members if isinstance(found, serape.AllBlankets) else found.blanket


def run(options: argparse.Namespace) -> None:
    """Add 20 shuffled columns to real data, and count how many of them an answer has; with tests and seconds.

    Settings are the defaults unless named; searches end after 60 seconds. Results go to benchmarks/out/probes.json.
    """
    lines, content = [], []
    for name, columns, target in data_sets(options.data, ["iris"] if options.quick else options.sets):
        wide, probes = with_shuffled(columns, target, PROBES, 0, True)
        table = serape.Table(wide)
        for method, ask in METHODS.items():
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = ask(table, target, progress=False, max_seconds=MAX_SECONDS)
            seconds = time.process_time() - begin
            members = returned(found)
            false = len({*members} & {*probes})
            cost = [f"{found.tests:,}", short(seconds, 2), "yes" if found.complete else "no"]
            lines.append([name, f"{table.rows:,}", f"{len(columns) - 1}", f"`{method}`", f"{len(members) - false}",
                          f"{false}", *cost])  # fmt: skip
            content.append({"data": name, "method": method, "false": false, "found": len(members) - false,
                            "tests": found.tests, "seconds": seconds, "complete": found.complete})  # fmt: skip
            report(" ".join(lines[-1]))
    head = ("data", "rows", "columns", "question", "columns found", f"of {PROBES} probes", "tests", "CPU s", "complete")
    print(markdown(head, lines, words=(0, 3)))
    save("probes", {"measured": content})
