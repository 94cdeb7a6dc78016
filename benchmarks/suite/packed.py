"""Packing, opening and first questions of packed files."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import SEED, grouped_table, target_index
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import in_fresh_process, peak_mebibytes

Seconds = tuple[float, float]
OPENINGS = 7


def timed(job: Callable[[], object]) -> Seconds:
    """Return the seconds of a job: of the clock, and of all processors."""
    begin, used = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - begin, time.process_time() - used


def draw_alarm(rows: int, path: Path) -> None:
    """Sample Alarm to a CSV file."""
    from pyarrow import csv

    csv.write_csv(_as_arrow(serape.load_network("alarm").sample(rows, SEED)), path)


def _as_arrow(table: serape.Table) -> Any:
    import pyarrow as pa

    return pa.table(
        {
            name: pa.array(np.array(table.variables[name].levels, str)).take(pa.array(table.packed.codes(k)))
            for k, name in enumerate(table.names)
        }
    )


def pack(source: Path | tuple[int, int], target: Path) -> tuple[Seconds, float | None]:
    """Pack a file, or a drawn table of binary columns; return the seconds, and the peak memory of this process."""
    data = grouped_table(*source) if isinstance(source, tuple) else source
    return timed(lambda: serape.pack(data, target)), peak_mebibytes()


def first_question(path: Path, target: str) -> tuple[Seconds, Seconds]:
    """Return the seconds of opening a file for the first time in this process, and of a first search in it."""
    tables: list[serape.Table] = []
    opening = timed(lambda: tables.append(serape.Table(path)))
    search = timed(lambda: serape.markov_blanket(tables[0], target, "iamb", alpha=0.01))
    return opening, search


def verify(path: Path) -> Seconds:
    """Return the seconds of verifying a file."""
    return timed(lambda: serape.verify_packed(path))


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of Alarm, which is packed from CSV")
    parser.add_argument("--columns", nargs="+", type=int, default=[20_000, 100_000, 1_000_000], help="of 1,000 rows")


def run(options: argparse.Namespace) -> None:
    """Measure how long packing, opening, verifying and a first search take.

    Alarm is packed from a CSV file, binary columns from a table in memory. Every step has a process of its own that has
    imported serape; files are in the cache of the system. Opening is the median of 7 processes. The search is IAMB for
    one target, on the table just opened. Seconds are those of all processors, so that other work on the machine does
    not count. Results go to benchmarks/out/packed.json.
    """
    if options.quick:
        options.rows, options.columns = 2000, [500]
    shapes = [("alarm", options.rows, 37, "CVP")]
    shapes += [("binary", 1000, columns, f"x{target_index(columns)}") for columns in options.columns]
    measured: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for shape, rows, columns, target in shapes:
            report(f"{shape}: {rows:,} rows × {columns:,} columns")
            text, packed = Path(folder) / "alarm.csv", Path(folder) / "packed.srp"
            if shape == "alarm":
                in_fresh_process(draw_alarm, rows, text)
            (_, packing), peak = in_fresh_process(pack, text if shape == "alarm" else (columns, rows), packed)
            asked = [in_fresh_process(first_question, packed, target) for _ in range(OPENINGS)]
            verifying = in_fresh_process(verify, packed)[1]
            measured.append(
                {
                    "rows": rows,
                    "columns": columns,
                    "source": text.stat().st_size if shape == "alarm" else rows * columns,
                    "bytes": packed.stat().st_size,
                    "pack": packing,
                    "peak": peak,
                    "open": statistics.median(opening[1] for opening, _ in asked),
                    "search": statistics.median(search[1] for _, search in asked),
                    "verify": verifying,
                }
            )
    lines = [
        [
            f"{one['rows']:,} × {one['columns']:,}",
            *(short(one[size] / 2**20) for size in ("source", "bytes")),
            *(short(one[what]) for what in ("pack", "peak")),
            short(1000 * one["open"]),
            *(short(one[what]) for what in ("search", "verify")),
        ]
        for one in measured
    ]
    head = ("table", "data MiB", "packed MiB", "pack s", "pack peak MiB", "open ms", "first search s", "verify s")
    print(f"{machine()}\n")
    print(markdown(head, lines))
    save("packed", {"serape": serape.__version__, "seed": SEED, "measured": measured})
