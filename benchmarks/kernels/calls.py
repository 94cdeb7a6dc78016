"""Single calls: the neighbours of one variable after another, in small tables and in wide ones of numbers."""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import SEED, codes_of, gaussian_network
from benchmarks.common.output import save

ALPHA = 0.01
Clock = Callable[[], float]


def least_seconds(make: Callable[[], Any], ask: Callable[[Any], object], repeats: int, clock: Clock) -> float:
    """Return the least seconds of a job over some repeats; what it is asked of is made anew before each, untimed."""
    times = []
    for _ in range(repeats):
        data = make()
        gc.collect()
        begin = clock()
        ask(data)
        times.append(clock() - begin)
    return min(times)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--repeats", type=int, default=30, help="of the calls in Alarm")
    parser.add_argument("--columns", type=int, default=2000, help="of numbers")


def run(options: argparse.Namespace) -> None:
    """Ask for the parents and children of one variable after another by HITON-PC, one call each, one thread.

    Alarm: 5,000 rows, all 37 variables. The data are a table that nothing was asked of before, one that has answered
    the same calls, or, for each call anew, a pandas frame or an array of codes. Numbers: a linear-Gaussian network of
    2,000 columns × 1,000 rows, 20 targets, by Fisher's z, with and without the symmetry check; CPU seconds with a table
    that is read before. Times are the least of the repeats in one process. Results go to benchmarks/out/calls.json.
    """
    repeats, columns = (2, 200) if options.quick else (options.repeats, options.columns)
    found = {**in_alarm(repeats), **in_numbers(columns, max(2, repeats // 6))}
    for name, seconds in found.items():
        print(f"{name:40} {1e3 * seconds:8.1f} ms")
    save("calls", found)


def in_alarm(repeats: int) -> dict[str, float]:
    """Return the seconds of 37 calls, by kind of data."""
    network = serape.load_network("alarm")
    used = network.sample(5000, SEED)
    frame, codes = used.to_pandas(), np.stack(codes_of(used), axis=1)

    def ask(data: Any) -> None:
        for target in range(len(used.names)):
            serape.parents_children(data, target, algorithm="hiton-pc", alpha=ALPHA)

    ask(used)
    kinds: dict[str, Callable[[], Any]] = {
        "Alarm, a fresh table": lambda: network.sample(5000, SEED),
        "Alarm, a used table": lambda: used,
        "Alarm, a frame at each call": lambda: frame,
        "Alarm, an array at each call": lambda: codes,
    }
    return {name: least_seconds(make, ask, repeats, time.perf_counter) for name, make in kinds.items()}


def in_numbers(columns: int, repeats: int) -> dict[str, float]:
    """Return the seconds of 20 calls, with and without the symmetry check."""
    data, _ = gaussian_network(np.random.default_rng(SEED), 1000, columns)
    targets = range(0, columns, columns // 20)
    used = serape.Table(data, kinds="continuous")
    found = {}
    for symmetry in (True, False):

        def ask(table: serape.Table, symmetry: bool = symmetry) -> None:
            for target in targets:
                serape.parents_children(
                    table, target, algorithm="hiton-pc", alpha=ALPHA, test="fisher-z", symmetry=symmetry
                )

        check = "" if symmetry else ", no symmetry"
        fresh = least_seconds(lambda: serape.Table(data, kinds="continuous"), ask, repeats, time.process_time)
        found[f"{columns:,} numbers, a fresh table{check}"] = fresh
        found[f"{columns:,} numbers, a used table{check}"] = least_seconds(
            lambda: used, ask, repeats, time.process_time
        )
    return found
