"""A GPU beside the cores of the same machine."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import THROMBIN_CLASS, thrombin
from benchmarks.common.internals import dependent_pairs_of, has_device
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.timing import median_seconds

ROWS = 1000
GAUSSIAN = ((2000, 1000), (1643, 850), (5361, 63))
"""Columns and rows of random normal numbers; the last two are sizes that cuPC reports."""
Ask = Callable[[Any, int], Any]


def questions(
    variables: list[int], gaussian: tuple[tuple[int, int], ...], file: Path | None
) -> Iterator[tuple[str, Ask]]:
    """Yield each question with a function of the engine and the number of processes."""
    for count in variables:
        table = serape.load_network("alarm").tile(max(1, round(count / 37)), 0, links=0).sample(ROWS, 0)
        name = f"{len(table.names):,} tiled variables"
        yield f"{name}: dependent pairs", _pairs(table)
        if count < 50_000:
            yield f"{name}: pc-stable", _skeleton(table)
        yield f"{name}: hiton-pc", _skeleton(table, algorithm="hiton-pc")
    for columns, rows in gaussian:
        numbers = serape.Table(np.random.default_rng(1).normal(size=(rows, columns)))
        yield f"{columns:,} × {rows:,} numbers: pc-stable", _skeleton(numbers, test="partial-correlation", alpha=0.01)
    if file is not None:
        features = serape.Table(thrombin(file))
        yield (
            "Thrombin: all_pairs",
            lambda engine, jobs: serape.all_pairs(
                features,
                alpha=0.01,
                engine=engine,
                n_jobs=jobs,
            ),
        )
        yield "Thrombin: hpc, the class", _neighbours(features)
        yield "Thrombin: iamb, 1,000 targets", _blankets(features)


def _pairs(table: serape.Table) -> Ask:
    return lambda engine, jobs: dependent_pairs_of(table, 0.001, engine, jobs)


def _skeleton(table: serape.Table, **settings: Any) -> Ask:
    asked = {
        "algorithm": "pc-stable", "alpha": 0.001, "fdr": None, "max_seconds": None, "progress": False, **settings,
    }  # fmt: skip
    return lambda engine, jobs: serape.skeleton(table, engine=engine, n_jobs=jobs, **asked)


def _neighbours(table: serape.Table) -> Ask:
    asked: dict[str, Any] = {"algorithm": "hpc", "alpha": 0.01, "fdr": None}
    return lambda engine, jobs: serape.parents_children(table, THROMBIN_CLASS, engine=engine, n_jobs=jobs, **asked)


def _blankets(table: serape.Table) -> Ask:
    drawn = np.random.default_rng(0).choice(THROMBIN_CLASS, 1100, replace=False).tolist()
    targets = [x for x in drawn if not table.is_constant(x)][:1000]
    asked: dict[str, Any] = {"targets": targets, "algorithm": "iamb", "alpha": 0.01, "fdr": None, "progress": False}
    return lambda engine, jobs: serape.blankets(table, engine=engine, n_jobs=jobs, **asked)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--variables", nargs="+", type=int, default=[1998, 9990, 19_980, 99_900])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--thrombin", type=Path, help="Thrombin's training file")


def run(options: argparse.Namespace) -> None:
    """Time questions on a GPU and on the cores, alpha .001 (numbers and Thrombin .01): medians of three or more, warm.

    Results go to benchmarks/out/gpu.json.
    """
    found = has_device()
    if not found:
        report("no GPU was found: the cores alone are timed")
    ways = [*([("gpu", options.jobs)] if found else []), ("cpu", 1), ("cpu", options.jobs)]
    variables, gaussian = ([370], ((40, 100),)) if options.quick else (options.variables, GAUSSIAN)
    rows, measured = [], []
    for name, ask in questions(variables, gaussian, options.thrombin):
        report(name)
        seconds = [median_seconds(partial(ask, *way), 0.0, 3) for way in ways]
        rows.append([name, *map(short, seconds)])
        measured.append({"question": name, "ways": ways, "seconds": seconds})
    print(markdown(["question", *(f"{engine}, {jobs} processes, s" for engine, jobs in ways)], rows), flush=True)
    save("gpu", {"serape": serape.__version__, "questions": measured})
