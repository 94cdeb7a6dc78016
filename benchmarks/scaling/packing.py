"""Packing and searching a tall file within a limit of address space."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import serape
from benchmarks.common.data import SEED
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import in_fresh_process, peak_mebibytes

ALPHA = 0.01
DRAWN = 1_000_000
"""Rows drawn and written at a time."""
TARGET = "CVP"
PAIR = ["CVP", "LVEDVOLUME"]


@dataclass
class Step:
    """What one part of the work takes."""

    what: str
    seconds: float = 0.0
    used: float = 0.0
    """Seconds of all processors."""
    peak: float | None = None
    """The most MiB that the process had resident."""
    result: str = ""


def write_parquet(rows: int, path: Path) -> None:
    """Draw Alarm, a part of the rows at a time, and write it as a Parquet file of declared categories."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    network = serape.load_network("alarm")
    writer: Any = None
    for part, begin in enumerate(range(0, rows, DRAWN)):
        table = network.sample(min(DRAWN, rows - begin), SEED + part)
        columns = {
            name: pa.DictionaryArray.from_arrays(
                pa.array(table.codes(k).astype("int8")), pa.array(list(map(str, table.column_levels(k))))
            )
            for k, name in enumerate(table.names)
        }
        drawn = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, drawn.schema, compression="zstd")
        writer.write_table(drawn, row_group_size=DRAWN)
        if (part + 1) % 10 == 0:
            report(f"{begin + DRAWN:,} of {rows:,} rows drawn")
    writer.close()


# --- the steps, each in a process of its own --------------------------------------------------------------------------


def limit_address_space(gibibytes: float) -> None:
    """Let this process have no more address space than this."""
    import resource  # not on Windows

    size = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def timed(what: str, job: Callable[[], str]) -> Step:
    """Do a job, and return what it took; a lack of memory is its result."""
    begin, used = time.perf_counter(), time.process_time()
    try:
        result = job()
    except (MemoryError, OSError, serape.SerapeError) as error:
        result = f"fails: {type(error).__name__}: {error}".splitlines()[0]
    return Step(what, time.perf_counter() - begin, time.process_time() - used, peak_mebibytes(), result)


def pack(source: Path, target: Path, limit: float) -> list[Step]:
    """Pack a file."""
    limit_address_space(limit)

    def job() -> str:
        serape.pack(source, target, progress=False)
        return f"{target.stat().st_size / 2**20:,.0f} MiB"

    return [timed("pack", job)]


def search(path: Path, limit: float) -> list[Step]:
    """Open a packed file and search in it, with one thread."""
    limit_address_space(limit)
    opened: list[serape.Table] = []

    def open_file() -> str:
        opened.append(serape.Table(path))
        return ""

    def one() -> str:
        found = serape.markov_blanket(opened[0], TARGET, "iamb", alpha=ALPHA, max_seconds=None)
        return f"{found.tests:,} tests, {', '.join(found.blanket)}"

    def every(algorithm: str) -> str:
        found = serape.blankets(opened[0], algorithm=algorithm, alpha=ALPHA, max_seconds=None)
        return f"{sum(result.tests for result in found.values()):,} tests"

    steps = [timed("open", open_file)]
    if opened:
        steps.append(timed(f"iamb, {TARGET}", one))
        steps += [timed(f"{name}, all 37", lambda name=name: every(name)) for name in ("iamb", "hiton-mb")]  # type: ignore[misc]
    return steps


def scan(source: Path) -> list[Step]:
    """Read the file with polars, without a limit."""
    import polars as pl

    def distinct() -> str:
        found = pl.scan_parquet(source).select(pl.all().n_unique()).collect(engine="streaming")
        return f"{found.width} columns"

    def joint() -> str:
        found = pl.scan_parquet(source).group_by(PAIR).len().collect(engine="streaming")
        return f"{found.height} cells"

    return [
        timed("polars: distinct values of every column", distinct),
        timed("polars: one table of two columns", joint),
    ]


# --- the part ---------------------------------------------------------------------------------------------------------


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--rows", type=int, default=10_000_000, help="of Alarm, 37 columns")
    parser.add_argument("--limit", type=float, default=4.0, help="GiB of address space that a process may have")
    parser.add_argument("--file", type=Path, help="where the Parquet file is kept; it is written if it is not there")


def run(options: argparse.Namespace) -> None:
    """Pack a tall Parquet file and search in it, in processes with a limit of address space.

    Rows of Alarm are drawn, a million at a time, and written as Parquet to a temporary folder. One process packs the
    file, another opens the packed one and searches with one thread: IAMB for one target, then IAMB and HITON-MB for
    all. Both may have no more address space (RLIMIT_AS) than the limit, with everything they import and map. If polars
    is installed, it reads the same file with its streaming engine, all processors and no limit. Results go to
    benchmarks/out/packing.json.
    """
    if options.quick:
        options.rows = 2000
    if sys.platform == "win32":
        print("Windows has no limit of address space.\nUse another system.")
        return
    with tempfile.TemporaryDirectory() as name:
        source, packed = options.file or Path(name) / "alarm.parquet", Path(name) / "alarm.srp"
        if not source.exists():
            report(f"drawing {options.rows:,} rows")
            in_fresh_process(write_parquet, options.rows, source)
        size = source.stat().st_size / 2**20
        report("packing")
        steps = in_fresh_process(pack, source, packed, options.limit)
        if packed.exists():
            report("searching")
            steps += in_fresh_process(search, packed, options.limit)
        if importlib.util.find_spec("polars") is not None:
            report("polars")
            steps += in_fresh_process(scan, source)
    lines = [[s.what, short(s.seconds), short(s.used), short(s.peak), s.result] for s in steps]
    print(f"{machine()}; {options.rows:,} rows × 37 columns, Parquet {size:,.0f} MiB; {options.limit:g} GiB\n")
    print(markdown(("step", "s", "s of processors", "peak MiB", "result"), lines, words={0, 4}))
    save("packing", {"rows": options.rows, "limit": options.limit, "seed": SEED, "steps": [asdict(s) for s in steps]})
