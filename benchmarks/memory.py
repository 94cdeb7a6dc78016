"""Peak memory as rows and columns grow."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
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


COMMAND = Command({"growth": Part(run, options)}, default="growth")
