"""Peak memory as rows and columns grow."""

from __future__ import annotations

import argparse
import gc
import os
import threading
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.command import Command, Part
from benchmarks.common.data import SEED, draw_groups
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import exponent, in_fresh_process, peak_mebibytes

SEARCHES: dict[str, Callable[[serape.Table], object]] = {
    "iamb": lambda table: serape.markov_blanket(table, 0, algorithm="iamb", alpha=0.01),
    "hiton-pc": lambda table: serape.parents_children(table, 0, algorithm="hiton-pc", alpha=0.01),
    "all-pairs": lambda table: serape.all_pairs(table, alpha=0.01),
    "blankets": lambda table: serape.blankets(table, algorithm="iamb", alpha=0.01),
}
QUESTIONS: dict[str, Callable[[serape.Table, int], object]] = {
    "describe": lambda table, _: serape.describe(table),
    "ci_test": lambda table, _: serape.ci_test(table, 0, 1, [2]),
    "markov_blanket": lambda table, n: serape.markov_blanket(table, 0, n_jobs=n),
    "parents_children": lambda table, n: serape.parents_children(table, 0, n_jobs=n),
    "blankets (iamb)": lambda table, n: serape.blankets(table, algorithm="iamb", n_jobs=n),
    "blankets (hiton-mb)": lambda table, n: serape.blankets(table, algorithm="hiton-mb", n_jobs=n),
    "all_blankets": lambda table, n: serape.all_blankets(table, 0, n_jobs=n),
    "alpha_path": lambda table, n: serape.alpha_path(table, 0, n_jobs=n),
    "stability, 20 draws": lambda table, n: serape.stability(table, 0, draws=20, n_jobs=n),
    "region": lambda table, n: serape.region(table, 0, n_jobs=n),
    "skeleton": lambda table, n: serape.skeleton(table, n_jobs=n),
    "skeleton (pc-stable)": lambda table, n: serape.skeleton(table, "pc-stable", n_jobs=n),
    "network": lambda table, n: serape.network(table, n_jobs=n),
    "network (ges)": lambda table, n: serape.network(table, "ges", n_jobs=n),
    "causes": lambda table, n: serape.causes(table, 0, n_jobs=n),
    "knockoffs": lambda table, _: serape.knockoffs(table, 0),
    "all_pairs": lambda table, n: serape.all_pairs(table, n_jobs=n),
}
STAGES = ("imports", "array", "table", "searched")
CHUNK = 100
"""Rows drawn at once, so that drawing needs little beside the array."""


def stages(search: str, rows: int, columns: int) -> list[float | None]:
    """Return the peak of this process after imports, with the array, with the table, and after a search."""
    peaks = [peak_mebibytes()]
    random, array = np.random.default_rng(SEED), np.empty((rows, columns), np.uint8)
    for begin in range(0, rows, CHUNK):
        array[begin : begin + CHUNK] = draw_groups(random, min(CHUNK, rows - begin), columns)
    peaks.append(peak_mebibytes())
    table = serape.Table(array)
    peaks.append(peak_mebibytes())
    SEARCHES[search](table)
    return [*peaks, peak_mebibytes()]


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--columns", nargs="+", type=int, default=[1000, 10_000, 100_000])
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=["iamb", "hiton-pc"])


def run(options: argparse.Namespace) -> None:
    """Measure peak memory, stage by stage, as columns grow (1,000 rows) and as rows grow (100 columns).

    Every line has a process of its own: it imports serape, draws binary columns as an array of bytes, makes a table of
    them and searches. A cell is the peak up to the end of a stage, in MiB; "array itself" is the size of the array.
    Exponents are those of what all stages add to the imports. Results go to benchmarks/out/memory.json.
    """
    if options.quick:
        options.columns, options.rows, options.searches = [1000, 4000], [1000, 20_000], ["iamb"]
    shapes = {"columns": [(1000, n) for n in options.columns], "rows": [(n, 100) for n in options.rows]}
    measured: list[dict[str, Any]] = []
    growth: list[list[str]] = []
    for search, (growing, sizes) in product(options.searches, shapes.items()):
        added = []
        for rows, columns in sizes:
            report(f"{search}: {rows:,} rows × {columns:,} columns")
            peaks = dict(zip(STAGES, in_fresh_process(stages, search, rows, columns), strict=True))
            added.append((peaks["searched"] or 0.0) - (peaks["imports"] or 0.0))
            measured.append({"search": search, "rows": rows, "columns": columns, **peaks})
        fitted = exponent([rows * columns for rows, columns in sizes], added)
        growth.append([search, growing, short(fitted, 2)])
    lines = [
        [one["search"], f"{one['rows']:,}", f"{one['columns']:,}", short(one["rows"] * one["columns"] / 2**20)]
        + [short(one[stage]) for stage in STAGES]
        for one in measured
    ]
    print(f"{machine()}, peak memory in MiB\n")
    print(markdown(("search", "rows", "columns", "array itself", *STAGES), lines))
    print(f"\nExponents b of size^b\n\n{markdown(('search', 'grows with', 'memory'), growth, words={0, 1})}")
    save("memory", {"serape": serape.__version__, "seed": SEED, "measured": measured})


# --- every question ---------------------------------------------------------------------------------------------------


def of_question(question: str, rows: int, columns: int, jobs: int) -> dict[str, float]:
    """Return what a question adds to the memory of a process that has the table, and what its workers have at most.

    Memory that processes share counts once: the workers' is what is theirs alone.
    """
    random = np.random.default_rng(SEED)
    table = serape.Table(draw_groups(random, rows, columns).astype(np.uint8))
    gc.collect()
    before = peak_mebibytes() or 0.0
    workers = _Watcher()
    begin = time.perf_counter()
    QUESTIONS[question](table, jobs)
    seconds = time.perf_counter() - begin
    after = peak_mebibytes() or 0.0
    return {"added": after - before, "workers": workers.stop(), "seconds": seconds, "table": table.nbytes / 2**20}


class _Watcher:
    """Looks every 20 ms how much memory the children of this process have for themselves; keeps the most."""

    def __init__(self) -> None:
        self._most, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        own = os.getpid()
        while not self._over.wait(0.02):
            children = [int(k) for k in Path(f"/proc/{own}/task/{own}/children").read_text().split()]
            self._most = max(self._most, sum(map(_own_mebibytes, children)))

    def stop(self) -> float:
        self._over.set()
        self._thread.join()
        return self._most


def _own_mebibytes(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0  # it has ended
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty"))) / 2**10


def question_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--shapes", nargs="+", default=["1000x2000"], help="rows x columns")
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--jobs", type=int, default=2)


def run_questions(options: argparse.Namespace) -> None:
    """Measure what every question adds to the memory of a process that has the table, and what its workers have.

    Binary columns; all defaults but `n_jobs`. Every cell has a process of its own, on Linux. Results go to
    benchmarks/out/questions.json.
    """
    if options.quick:
        options.shapes, options.questions = ["500x200"], ["markov_blanket", "blankets (iamb)"]
    measured: list[dict[str, Any]] = []
    for shape, question in product(options.shapes, options.questions):
        report(f"{shape}: {question}")
        rows, columns = map(int, shape.split("x"))
        found = in_fresh_process(of_question, question, rows, columns, options.jobs)
        measured.append({"question": question, "rows": rows, "columns": columns, **found})
    head = ("question", "rows", "columns", "table, MiB", "added, MiB", "workers, MiB", "seconds")
    lines = [
        [one["question"], f"{one['rows']:,}", f"{one['columns']:,}"]
        + [short(one[name]) for name in ("table", "added", "workers", "seconds")]
        for one in measured
    ]
    print(f"{machine()}, n_jobs={options.jobs}\n\n{markdown(head, lines)}")
    save("questions", {"serape": serape.__version__, "seed": SEED, "measured": measured})


COMMAND = Command({"growth": Part(run, options), "questions": Part(run_questions, question_options)}, default="growth")
