"""Nanoseconds a candidate of every counting strategy, and which one the plan chooses.

The constants of `core/include/serape/counting/costs.hpp` are judged by this table.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np

import serape
from benchmarks.common.internals import G2, X2, instruction_set

STRATEGIES = ("panels", "planes", "scatter", "sparse", "ones")
# rows, levels of all columns, sizes of the conditioning set, candidates
SHAPES = (
    (500, 2, (0, 3, 6), 37),
    (500, 4, (0, 2, 4), 37),
    (500, 20, (0, 1, 2), 37),
    (5000, 2, (0, 2, 5, 8), 37),
    (5000, 2, (0, 2, 5, 8), 500),
    (5000, 3, (0, 2, 4), 37),
    (5000, 3, (0, 2, 4), 500),
    (5000, 8, (0, 1, 2), 37),
    (5000, 12, (0, 1, 2), 37),
    (100_000, 3, (0, 2, 4), 37),
)
QUICK = ((500, 2, (0, 3), 37), (500, 4, (2,), 200))


def least_nanoseconds(job: Callable[[], object], at_least: float) -> float:
    """Return the least processor time of a job, repeated until enough time has passed."""
    least, started, times = float("inf"), time.perf_counter(), 0
    while times < 3 or time.perf_counter() - started < at_least:
        begin = time.thread_time_ns()
        job()
        least = min(least, time.thread_time_ns() - begin)
        times += 1
    return least


def strategies(options: argparse.Namespace) -> None:
    """Measure every strategy on every shape."""
    print(f"nanoseconds a candidate, one thread, {instruction_set()}; * the plan's choice")
    print("test    rows levels |Z| candidates " + " ".join(f"{name:>11}" for name in STRATEGIES))
    losses = []
    for rows, levels, sizes, count in QUICK if options.quick else SHAPES:
        random = np.random.default_rng([rows, levels])
        data = random.integers(levels, size=(rows, count + 9), dtype=np.uint8)
        data[0] = levels - 1
        table = serape.Table(data)
        for make in (G2, X2):
            test = make(table, dof="adjusted", reliability=None)
            for size in sizes:
                given, candidates = list(range(1, 1 + size)), np.arange(9, count + 9, dtype=np.uint32)
                chosen = Counter(test.native.strategies(0, candidates, given)).most_common(1)[0][0]
                found = {}
                for name in STRATEGIES:
                    used = set(test.native.strategies(0, candidates, given, name))
                    if used == {name}:
                        job = partial(test.screen, 0, candidates, given, strategy=name)
                        found[name] = least_nanoseconds(job, 0.005 if options.quick else 0.1) / count
                cells = (
                    f"{found[name]:10.0f}{'*' if name == chosen else ' '}" if name in found else " " * 10 + "–"
                    for name in STRATEGIES
                )
                print(f"{test.name:4} {rows:7} {levels:6} {size:3} {count:10} " + " ".join(cells), flush=True)
                losses.append(found[chosen] / min(found.values()))
    near = sum(loss <= 1.1 for loss in losses) / len(losses)
    print(f"{near:.0%} of {len(losses)} choices are the fastest or within a tenth of it; at worst {max(losses):.1f} ×")
