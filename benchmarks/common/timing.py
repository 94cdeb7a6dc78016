"""Time, memory and growth.

Environments of other packages load this too, so it needs nothing but Python.
"""

from __future__ import annotations

import gc
import math
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Keeps linear algebra libraries to one thread; to be set before they are imported."""


def alternating(jobs: Mapping[str, Callable[[], object]], repeats: int, processor: bool = False) -> dict[str, float]:
    """Return the median seconds of several jobs that take turns, so that a slow moment of the machine hits all.

    Seconds of the `processor` leave out those in which other work had it.
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    now = time.process_time if processor else time.perf_counter
    for _ in range(repeats):
        for name, job in jobs.items():
            gc.collect()  # garbage of the others
            begin = now()
            job()
            times[name].append(now() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def median_seconds(job: Callable[[], object], at_least: float = 0.2, repeats: int = 5) -> float:
    """Return the median seconds of a job, repeated until enough time has passed."""
    job()
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < repeats or time.perf_counter() - started < at_least:
        begin = time.perf_counter()
        job()
        times.append(time.perf_counter() - begin)
        if time.perf_counter() - started > 3.0 and len(times) >= 3:
            break
    return statistics.median(times)


def exponent(sizes: Sequence[float], values: Sequence[float], last: int | None = None) -> float | None:
    """Return b of the power law value = a · size^b, by least squares on logarithms of the last points (or all).

    None where fewer than two sizes are left, as a line needs two.
    """
    points = [(x, y) for x, y in zip(sizes, values, strict=True) if x > 0 and y > 0]
    if last is not None:
        points = sorted(points)[-last:]
    if len({x for x, _ in points}) < 2:
        return None
    return statistics.linear_regression([math.log(x) for x, _ in points], [math.log(y) for _, y in points]).slope


def peak_mebibytes(process: int | str = "self") -> float | None:
    """Return the peak memory of a process so far; None where the system does not report it.

    Linux reports it of the program alone. `getrusage` there can return the peak of the parent that started it.
    """
    status = Path(f"/proc/{process}/status")
    try:
        reported = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM:")]
    except OSError:
        reported = []
    if reported:
        return int(reported[0]) / 2**10
    if process != "self" or sys.platform == "win32":
        return None
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def processor_seconds(process: int) -> float | None:
    """Return the seconds that a process has had the processor so far; None where the system does not report it."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return sum(map(int, after_name[11:13])) / os.sysconf("SC_CLK_TCK")  # in the program and in the system


def in_fresh_process(job: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a job returns in a process of its own, whose memory is that of the job."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as fresh:
        return fresh.submit(job, *arguments).result()
