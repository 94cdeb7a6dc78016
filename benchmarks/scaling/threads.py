"""Time on several threads, and the time of counting beside that of a plain read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import grouped_table, nothing_shared, target_index
from benchmarks.common.internals import G2
from benchmarks.common.output import markdown, short
from benchmarks.common.timing import alternating

ALPHA = 0.01


def repeated(job: Callable[[int], object], threads: int, times: int) -> None:
    """Run a job several times."""
    for _ in range(times):
        job(threads)


def with_threads(variables: int, many: int, rows: int, threads: Sequence[int], repeats: int) -> list[dict[str, Any]]:
    """Time jobs on different numbers of threads, in turns; short jobs several times in a row."""
    table, narrow, long = grouped_table(variables, 1000), grouped_table(many, 1000), grouped_table(many, rows)
    test = G2(table)
    target = target_index(variables)
    rest = np.setdiff1d(np.arange(variables, dtype=np.uint32), [target]).astype(np.uint32)
    given = [int(x) for x in (0, rest[-1])]
    free = np.setdiff1d(rest, given).astype(np.uint32)
    jobs: dict[str, Callable[[int], object]] = {
        f"screen of {len(rest):,} columns given nothing": lambda n: test.screen(target, rest, (), threads=n),
        f"screen of {len(free):,} columns given two": lambda n: test.screen(target, free, given, threads=n),
        f"iamb, one target, {variables:,} columns": lambda n: serape.markov_blanket(
            table, target, algorithm="iamb", alpha=ALPHA, n_jobs=n
        ),
        f"hiton-pc, one target, {variables:,} columns": lambda n: serape.parents_children(
            table, target, algorithm="hiton-pc", alpha=ALPHA, n_jobs=n
        ),
        f"iamb, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="iamb", alpha=ALPHA, n_jobs=n),
        f"hiton-mb, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="hiton-mb", alpha=ALPHA, n_jobs=n),
        f"hpc, {many:,} targets": lambda n: serape.blankets(narrow, algorithm="hpc", alpha=ALPHA, n_jobs=n),
        f"hiton-mb, {many:,} targets, {rows:,} rows": lambda n: serape.blankets(
            long, algorithm="hiton-mb", alpha=ALPHA, n_jobs=n
        ),
        "nothing shared: processes that count": nothing_shared,
    }
    found = []
    for name, job in jobs.items():
        job(1)  # makes the layouts of the table
        begin = time.perf_counter()
        job(1)
        in_a_row = max(1, round(0.05 / (time.perf_counter() - begin)))
        ways = {str(n): partial(repeated, job, n, in_a_row) for n in threads}
        seconds = {int(n): s / in_a_row for n, s in alternating(ways, repeats).items()}
        found.append({"job": name, "seconds": seconds})
    return found


def print_threads(found: Sequence[dict[str, Any]], threads: Sequence[int]) -> None:
    """Print the times and the speed-up of more threads."""
    head = ["work", *(f"{n} thread{'s' if n > 1 else ''}, ms" for n in threads), *(f"× with {n}" for n in threads[1:])]
    table = []
    for one in found:
        times = [one["seconds"][n] for n in threads]
        table.append([one["job"], *(short(1e3 * t) for t in times), *(f"{times[0] / t:.2f}" for t in times[1:])])
    print(f"\nThreads ({os.cpu_count()} processors)\n\n{markdown(head, table)}", flush=True)


# --- counting beside reading ------------------------------------------------------------------------------------------


def plain_reads(size: int) -> dict[str, Callable[[], object]]:
    """Return jobs that read so many bytes once and do next to nothing with them."""
    text = b"\2" * size
    numbers = np.frombuffer(text, np.int64, size // 8)
    reals = np.ones(size // 8)
    return {"memchr": lambda: text.find(b"\1"), "max": numbers.max, "dot product": lambda: reals.dot(reals)}


def stream(variables: int, rows: int, repeats: int) -> dict[str, Any]:
    """Time counting beside a plain read of the bytes that are counted."""
    table = grouped_table(variables, rows)
    test = G2(table)
    candidates = np.arange(3, variables, dtype=np.uint32)
    size = rows // 8 * (len(candidates) + 1)  # the candidates and the target, a bit a row
    reads = plain_reads(size)
    ways = dict(reads)
    for given in range(3):
        ways[f"counting given {given}"] = lambda given=given: test.screen(2, candidates, range(given))  # type: ignore[misc]
    for way in ways.values():
        way()
    seconds = alternating(ways, repeats)
    read = min(seconds[name] for name in reads)
    return {
        "variables": variables,
        "rows": rows,
        "bytes": size,
        "seconds": seconds,
        "read_gigabytes_a_second": size / read / 1e9,
        "ratio": {name: s / read for name, s in seconds.items()},
    }


def print_stream(found: dict[str, Any]) -> None:
    """Print the times of counting beside those of reading."""
    table = [
        [name, short(1e3 * s), short(found["bytes"] / s / 1e9), f"{found['ratio'][name]:.2f}"]
        for name, s in found["seconds"].items()
    ]
    title = (
        f"{found['variables']} variables × {found['rows']:,} rows: counting beside a plain read of "
        f"{short(found['bytes'] / 1e6)} MB, one thread"
    )
    print(f"\n{title}\n\n{markdown(('what', 'ms', 'GB/s', '× quickest read'), table)}", flush=True)
