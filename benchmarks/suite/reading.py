"""Reading files beside pyarrow, polars and pandas."""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import SEED
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import ONE_THREAD, in_fresh_process, peak_mebibytes

WORDS = ("low", "middle", "high", "not known")


def _by_serape(path: str) -> object:
    return serape.Table(path)


def _by_pyarrow(path: str) -> object:
    from pyarrow import csv, parquet

    return parquet.read_table(path) if path.endswith("parquet") else csv.read_csv(path)


def _by_polars(path: str) -> object:
    import polars as pl

    return pl.read_parquet(path) if path.endswith("parquet") else pl.read_csv(path)


def _by_pandas(path: str) -> object:
    import pandas as pd

    return pd.read_parquet(path) if path.endswith("parquet") else pd.read_csv(path)


READERS: dict[str, Callable[[str], object]] = {
    "serape": _by_serape,
    "pyarrow": _by_pyarrow,
    "polars": _by_polars,
    "pandas": _by_pandas,
}


def measure(reader: str, path: str, small: str) -> tuple[float, float, float | None]:
    """Return seconds, seconds of all processors, and peak memory of reading a file; packages are loaded before."""
    READERS[reader](small)
    begin, used = time.perf_counter(), time.process_time()
    READERS[reader](path)
    return time.perf_counter() - begin, time.process_time() - used, peak_mebibytes()


def write_files(folder: Path, rows: int, parquet_rows: int) -> dict[str, Path]:
    """Write categories and a mixture as CSV, and a mixture as Parquet."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    random = np.random.default_rng(SEED)
    table = serape.load_network("alarm").sample(rows, SEED)
    categories = {
        name: pa.array(np.array(table.variables[name].levels, str)[table.packed.codes(k)])
        for k, name in enumerate(table.names)
    }
    paths = {f"{rows:,} × 37 categories, CSV": folder / "categories.csv"}
    plain = csv.WriteOptions(quoting_style="none")
    csv.write_csv(pa.table(categories), folder / "categories.csv", plain)
    paths[f"{rows:,} × 37 mixed, CSV"] = folder / "mixed.csv"
    csv.write_csv(_mixture(random, rows, 13, 12, 12), folder / "mixed.csv", plain)
    paths[f"{parquet_rows:,} × 20 mixed, Parquet"] = folder / "mixed.parquet"
    parquet.write_table(_mixture(random, parquet_rows, 8, 6, 6), folder / "mixed.parquet")
    return paths


def _mixture(random: np.random.Generator, rows: int, reals: int, wholes: int, texts: int) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {f"real{k}": random.normal(size=rows).round(4) for k in range(reals)}
    columns |= {f"whole{k}": random.integers(0, 5, rows) for k in range(wholes)}
    words = pa.array(WORDS)
    columns |= {f"text{k}": words.take(pa.array(random.integers(0, len(WORDS), rows))) for k in range(texts)}
    return pa.table(columns)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--parquet-rows", type=int, default=5_000_000)
    parser.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace) -> None:
    """Measure how long files take to read, beside pyarrow, polars and pandas.

    Every reading has a process of its own, which loads the package and reads a small file first; the readers take
    turns. serape also recognises kinds and packs the columns. A cell is the median of the seconds, and the peak memory
    of the process; "times" compares with the faster of pyarrow and polars. All processors are used. Results go to
    benchmarks/out/reading.json.
    """
    if options.quick:
        options.rows, options.parquet_rows, options.repeats = 2000, 5000, 1
    for name in ONE_THREAD:
        os.environ.pop(name, None)
    measured: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = write_files(Path(folder), options.rows, options.parquet_rows)
        (Path(folder) / "small").mkdir()
        small = write_files(Path(folder) / "small", 20_000, 1000)
        for (what, path), little in zip(paths.items(), small.values(), strict=True):
            report(f"{what} ({path.stat().st_size / 2**20:,.0f} MiB)")
            found: dict[str, list[tuple[float, float, float | None]]] = {name: [] for name in READERS}
            for _ in range(options.repeats):
                for name in READERS:
                    found[name].append(in_fresh_process(measure, name, str(path), str(little)))
            for name, times in found.items():
                seconds, used = (statistics.median(one[k] or 0.0 for one in times) for k in (0, 1))
                peak = max(one[2] or 0.0 for one in times)
                measured.append({"file": what, "reader": name, "seconds": seconds, "cpu": used, "peak": peak})
    lines = []
    for what in paths:
        times_of = {one["reader"]: one for one in measured if one["file"] == what}
        best = min(times_of[name]["seconds"] for name in ("pyarrow", "polars"))
        lines += [
            [what, name, short(one["seconds"]), short(one["seconds"] / best), short(one["cpu"]), short(one["peak"])]
            for name, one in times_of.items()
        ]
    print(f"{machine()}, {os.cpu_count()} processors\n")
    print(markdown(("file", "read by", "seconds", "times", "seconds of processors", "peak MiB"), lines, words={0, 1}))
    save("reading", {"serape": serape.__version__, "seed": SEED, "measured": measured})
