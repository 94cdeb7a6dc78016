"""Measurements in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any, TypeVar

from benchmarks.common.output import report

T = TypeVar("T")


def add_jobs(parser: Any) -> None:
    """Add the option that says how many processes measure."""
    parser.add_argument("--jobs", type=int, default=1, help="processes that measure at once")


def in_processes(jobs: Sequence[Callable[[], T]], processes: int) -> Iterator[T]:
    """Yield what each job returns, in the order in which they end, and report how many have ended."""
    with ProcessPoolExecutor(processes) as pool:
        for done, future in enumerate(as_completed([pool.submit(job) for job in jobs]), 1):
            yield future.result()
            report(f"{done} of {len(jobs)}")
