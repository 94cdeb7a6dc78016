"""Default questions, which bound the share of false discoveries, beside the same questions with an alpha."""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import serape
from benchmarks.common.data import SEED
from benchmarks.common.output import machine, markdown, report, save, short

Ask = Callable[..., object]
ALPHA = 0.01
"""That of single tests by default, so that the difference is the rate."""
ROWS = 500
SKELETONS = ("hiton-pc", "pc-stable", "mmpc", "hpc")
BLANKETS = ("hpc", "hiton-mb", "mmmb", "pcmb", "iamb", "fbed")
AIM = 1.3
_ONE_THREAD: dict[str, Any] = {"n_jobs": 1, "progress": False, "max_seconds": None}


def noisy_copies(columns: int) -> NDArray[np.int8]:
    """Draw binary columns, each a noisy copy of one of the twenty before it."""
    random = np.random.default_rng(SEED)
    codes = np.zeros((ROWS, columns), np.int8)
    codes[:, 0] = random.integers(0, 2, ROWS)
    for k in range(1, columns):
        codes[:, k] = codes[:, random.integers(max(0, k - 20), k)] ^ (random.random(ROWS) < 0.2)
    return codes


def skeleton(algorithm: str, table: serape.Table, **settings: Any) -> None:
    """Ask for the skeleton."""
    serape.skeleton(table, algorithm, **_ONE_THREAD, **settings)


def each_blanket(algorithm: str, table: serape.Table, **settings: Any) -> None:
    """Ask for the blanket of one variable after another."""
    for target in table.varying:
        serape.markov_blanket(table, target, algorithm, **_ONE_THREAD, **settings)


def all_blankets(algorithm: str, table: serape.Table, **settings: Any) -> None:
    """Ask for the blankets of all variables in one call."""
    serape.blankets(table, algorithm=algorithm, **_ONE_THREAD, **settings)


def measure(codes: NDArray[Any], ask: Ask, repeats: int) -> tuple[float, float]:
    """Return the seconds of the processor by default and with an alpha: medians of calls that take turns."""
    times: tuple[list[float], list[float]] = ([], [])
    settings: tuple[dict[str, Any], ...] = ({}, {"alpha": ALPHA})
    for _ in range(repeats):
        for found, some in zip(times, settings, strict=True):
            table = serape.Table(codes)  # made anew, so that nothing is remembered
            gc.collect()
            begin = time.process_time()
            ask(table, **some)
            found.append(time.process_time() - begin)
    return statistics.median(times[0]), statistics.median(times[1])


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--columns", nargs="+", type=int, default=[1500, 3000, 6000], help="of skeletons")
    parser.add_argument("--algorithms", nargs="+", help="only these")
    parser.add_argument("--repeats", type=int, default=3)


def run(options: argparse.Namespace) -> None:
    """Time questions by default and with an alpha, and divide the two.

    A default question bounds the share of false discoveries, and must know the weakest association of each member;
    with an alpha of .01, that of single tests by default, no rate is bounded. Skeletons are of binary columns × 500
    rows, each a noisy copy of one of the twenty before it; blankets of all variables of Alarm, 2,000 rows, in calls for
    one after another and in one call. One thread, seconds of the processor, medians of three; the two take turns, each
    on a table made anew. Skeletons are to take at most 1.3 times as long by default. The blankets of iamb and fbed are
    others by default, because the rate is bounded at each step. Results go to benchmarks/out/default.json.
    """
    alarm = serape.load_network("alarm").sample(300 if options.quick else 2000, SEED)
    codes = np.column_stack([alarm.packed.codes(k) for k in alarm.varying])
    if options.quick:
        options.columns, options.repeats = [60], 1
    work: list[tuple[str, str, NDArray[Any], Ask]] = []
    for columns in options.columns:
        drawn = noisy_copies(columns)
        work += [(f"skeleton, {columns:,} columns", a, drawn, partial(skeleton, a)) for a in SKELETONS]
    for name, ask in (("one blanket after another", each_blanket), ("all blankets in one call", all_blankets)):
        work += [(f"{name}, Alarm", a, codes, partial(ask, a)) for a in BLANKETS]
    measured: list[dict[str, Any]] = []
    for question, algorithm, data, job in work:
        if options.algorithms is None or algorithm in options.algorithms:
            report(f"{question}: {algorithm}")
            default, alpha = measure(data, job, options.repeats)
            measured.append(
                {
                    "question": question,
                    "algorithm": algorithm,
                    "default": default,
                    "alpha": alpha,
                    "ratio": default / alpha,
                }
            )
    lines = [
        [one["question"], one["algorithm"], *(short(one[what]) for what in ("default", "alpha", "ratio"))]
        for one in measured
    ]
    print(f"{machine()}\n")
    print(markdown(("question", "algorithm", "default, s", f"alpha {ALPHA:g}, s", "ratio"), lines, (0, 1)))
    ratios = [one["ratio"] for one in measured if one["question"].startswith("skeleton")]
    over = sum(ratio > AIM for ratio in ratios)
    print(f"\n{over} of {len(ratios)} skeletons take more than {AIM:g} times as long by default")
    save("default", {"serape": serape.__version__, "seed": SEED, "measured": measured})
