"""A blanket of one target by every test of numbers and mixtures."""

from __future__ import annotations

import argparse
import statistics
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import serape
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.peers.frames import Frame
from benchmarks.peers.runner import LONG
from benchmarks.suite.questions import FRAMES, QUICK

NUMBERS = ("partial-correlation", "fisher-z", "spearman", "normal-scores", "correlation-permutation")
"""Tests that take numbers alone."""
TESTS = ("residuals", "monotone-residuals", *NUMBERS, "mixed", "regression", "gcm", "pcm")
ASKED = ("numbers-2000x1000", "bike", "adult", "mixed-5000x50", "mixed-20000x200", "mixed-100000x60")


def ask(frame: Frame, test: str, repeats: int, limit: float, told: Connection) -> None:
    """Tell the seconds of the processor of each call, and how many members the blanket has."""
    import resource  # not on Windows

    data, (target,) = frame.pandas(), frame.asked("one")
    settings: dict[str, Any] = {"test": test, "n_jobs": 1, "progress": False, "max_seconds": None}
    serape.markov_blanket(data.iloc[:100], target, **settings)  # imports
    begin = time.process_time()
    # The limit ends the process.
    resource.setrlimit(resource.RLIMIT_CPU, (int(begin + limit) + 1, resource.RLIM_INFINITY))
    times: list[float] = []
    while len(times) < repeats and sum(times) < LONG:
        begin = time.process_time()
        found = serape.markov_blanket(data, target, **settings)
        times.append(time.process_time() - begin)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time() + limit) + 1, resource.RLIM_INFINITY))
    told.send((times, len(found.blanket)))


def measure(frame: Frame, test: str, repeats: int, limit: float) -> tuple[list[float], int] | None:
    """Ask in a process of its own; None if the limit ended it."""
    context = get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=ask, args=(frame, test, repeats, limit, send))
    process.start()
    send.close()
    try:
        answer: tuple[list[float], int] | None = receive.recv()
    except EOFError:
        answer = None
    process.join()
    return answer


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--real", type=Path, metavar="FOLDER", help="with the real data sets")
    parser.add_argument("--frames", nargs="+", choices=[d.name for d in FRAMES], default=ASKED, metavar="NAME")
    parser.add_argument("--tests", nargs="+", choices=TESTS, default=TESTS, metavar="NAME")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=100.0, help="seconds of the processor that a call may take")


def run(options: argparse.Namespace) -> None:
    """Ask for the default blanket of one target by every test that takes the columns, one thread, no other limit.

    Frames and targets are those of `questions`. Seconds are those of the processor from a frame of pandas to the
    answer: the median of calls in one process, of which those before are counted that took ten seconds together. A
    first question about 100 rows is not counted. In brackets is how many members the blanket has. Results go to
    benchmarks/out/tests.json.
    """
    chosen = QUICK[:2] if options.quick else [data for data in FRAMES if data.name in options.frames]
    there = [data for data in chosen if data.is_there(options.real)]
    lines = [[test] for test in options.tests]
    measured: list[dict[str, Any]] = []
    for data in there:
        frame = data.frame(options.real)
        for line in lines:
            test = line[0]
            if test in NUMBERS and frame.kinds != "numbers":
                line.append("")
                continue
            report(f"{data.title}: {test}")
            found = measure(frame, test, 1 if options.quick else options.repeats, options.limit)
            seconds = None if found is None else statistics.median(found[0])
            line.append(f"> {options.limit:g}" if found is None else f"{short(seconds, 2)} ({found[1]})")
            measured.append({"frame": data.name, "test": test, "seconds": seconds, "answer": found})
    print(f"{machine()}, seconds of the processor (members)\n")
    print(markdown(("test", *(data.title for data in there)), lines))
    save("tests", {"serape": serape.__version__, "limit": options.limit, "measured": measured})
