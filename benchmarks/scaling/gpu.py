"""A GPU beside the cores of the same machine."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import THROMBIN_CLASS, thrombin
from benchmarks.common.internals import dependent_pairs_of, has_device, send
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.timing import median_seconds
from benchmarks.scaling.roofline import table_of

ROWS = 1000
GAUSSIAN = ((2000, 1000), (1643, 850), (5361, 63))
"""Columns and rows of random normal numbers; the last two are sizes that cuPC reports."""
MAX_FOR_ONE_CORE = 50_000
"""Columns about which one core is asked."""
Ask = Callable[[Any, int], Any]


def tiled(variables: int) -> serape.Table:
    """Return rows of Alarm networks side by side."""
    return serape.load_network("alarm").tile(max(1, round(variables / 37)), 0, links=0).sample(ROWS, 0)


def questions(
    tables: dict[str, serape.Table], gaussian: tuple[tuple[int, int], ...], features: serape.Table | None
) -> Iterator[tuple[str, int, Ask]]:
    """Yield each question with its columns and a function of the engine and the number of processes."""
    for name, table in tables.items():
        yield f"{name}: dependent pairs", len(table.names), _pairs(table)
        yield f"{name}: pc-stable", len(table.names), _skeleton(table)
        yield f"{name}: hiton-pc", len(table.names), _skeleton(table, algorithm="hiton-pc")
    for columns, rows in gaussian:
        numbers = serape.Table(np.random.default_rng(1).normal(size=(rows, columns)))
        asked = _skeleton(numbers, test="partial-correlation", alpha=0.01)
        yield f"{columns:,} × {rows:,} numbers: pc-stable", columns, asked
    if features is not None:
        yield "Thrombin: all_pairs", len(features.names), _all_pairs(features)
        yield "Thrombin: all_pairs with p-values", len(features.names), _all_pairs(features, and_p=True)
        yield "Thrombin: hpc, the class", len(features.names), _neighbours(features)
        yield "Thrombin: iamb, 1,000 targets", len(features.names), _blankets(features)


def _all_pairs(table: serape.Table, and_p: bool = False) -> Ask:
    def ask(engine: Any, jobs: int) -> object:
        found = serape.all_pairs(table, alpha=0.01, engine=engine, n_jobs=jobs)
        return found.log_p if and_p else found

    return ask


def seconds_of(job: Callable[[], object]) -> float:
    """Return the median seconds of three, after one more; of a job that takes more than 4 s, those of the first."""
    begin = time.perf_counter()
    job()
    first = time.perf_counter() - begin
    return first if first > 4.0 else median_seconds(job, 0.0, 3)


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
    """Time questions on a GPU and on the cores, alpha .001 (numbers and Thrombin .01).

    Medians of three, warm; of what takes more than 4 s, one. One core is not asked about more than 50,000 columns. With
    a GPU, the seconds in which tables are sent are printed too, and how near the kernels come to its limits. Results go
    to benchmarks/out/gpu.json.
    """
    found = has_device()
    if not found:
        report("no GPU was found: the cores alone are timed")
    ways = [*([("gpu", options.jobs), ("gpu", 1)] if found else []), ("cpu", 1), ("cpu", options.jobs)]
    variables, gaussian = ([370], ((40, 100),)) if options.quick else (options.variables, GAUSSIAN)
    tables = {}
    for count in variables:
        table = tiled(count)
        tables[f"{len(table.names):,} tiled variables"] = table
    features = None if options.thrombin is None else serape.Table(thrombin(options.thrombin))
    if found:
        for name, table in {**tables, **({} if features is None else {"Thrombin": features})}.items():
            begin = time.perf_counter()
            send(table)
            report(f"{name}: sent in {time.perf_counter() - begin:.3f} s (the first: with the library)")
    rows, measured = [], []
    for name, columns, ask in questions(tables, gaussian, features):
        seconds = [
            None if way == ("cpu", 1) and columns > MAX_FOR_ONE_CORE else seconds_of(partial(ask, *way)) for way in ways
        ]
        rows.append([name, *("–" if one is None else short(one) for one in seconds)])
        report(" | ".join(rows[-1]))
        measured.append({"question": name, "ways": ways, "seconds": seconds})
    print(markdown(["question", *(f"{engine}, {jobs} processes, s" for engine, jobs in ways)], rows), flush=True)
    content: dict[str, Any] = {"serape": serape.__version__, "questions": measured}
    if found:
        asked: dict[str, tuple[serape.Table, float, int | None]] = {
            name: (table, 0.001, None) for name, table in tables.items()
        }
        if features is not None:
            asked["Thrombin"] = (features, 0.01, 10)
        text, content["roofline"] = table_of(asked)
        print(text, flush=True)
    save("gpu", content)
