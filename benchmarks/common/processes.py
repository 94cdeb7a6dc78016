"""Measurements in several processes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Any, TypeVar

from benchmarks.common.output import report

T = TypeVar("T")


def add_jobs(parser: Any) -> None:
    """Add the option that says how many processes measure."""
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure at once")


def in_processes(jobs: Sequence[Callable[[], T]], processes: int) -> Iterator[T]:
    """Yield what each job returns, in the order in which they end, and report how many have ended.

    Ctrl-C ends the measurement; what has been measured is kept.
    """
    done = 0
    with get_context("fork").Pool(processes, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
        try:
            for one in pool.imap_unordered(call, jobs):
                yield one
                done += 1
                report(f"{done} of {len(jobs)}")
        except KeyboardInterrupt:
            report(f"stopped after {done} of {len(jobs)}")


def call(job: Callable[[], T]) -> T:
    """Do a job."""
    return job()
