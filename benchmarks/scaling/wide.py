"""Skeletons of very many variables."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import serape
from benchmarks.common.internals import pack_tables, phase_seconds, send
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.timing import in_fresh_process, peak_mebibytes

ROWS = 1000
COPIES = 2700
"""Of Alarm in one network; more variables are made of several networks, each with a seed of its own."""
Edges = list[tuple[str, str]]


def sample(number: int, copies: int) -> tuple[serape.Table, Edges]:
    """Sample a tiled network; return its edges too."""
    network = serape.load_network("alarm").tile(copies, number)
    return network.sample(ROWS, number), [(f"{a}.{number}", f"{b}.{number}") for a, b in network.graph.edges]


def tables(variables: int, jobs: int, truth: set[frozenset[str]]) -> Iterator[serape.Table]:
    """Sample tiled networks in several processes, and add their edges to the truth."""
    copies = max(1, round(variables / serape.load_network("alarm").nodes))
    sizes = [min(COPIES, copies - begin) for begin in range(0, copies, COPIES)]
    with ProcessPoolExecutor(min(jobs, len(sizes)), multiprocessing.get_context("forkserver")) as processes:
        for table, edges in processes.map(sample, range(len(sizes)), sizes):
            truth.update(map(frozenset, edges))
            yield table


@contextmanager
def memory_of_all() -> Iterator[list[float]]:
    """Measure the most memory, in MiB, that is in use beyond that at the beginning, by all processes together."""
    used = [0.0]
    begin, over = _available(), threading.Event()

    def watch() -> None:
        while not over.wait(0.25):
            used[0] = max(used[0], begin - _available())

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield used
    finally:
        over.set()
        thread.join()


def _available() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 2**10 for line in lines if line.startswith("MemAvailable:"))


def learn(
    variables: int, algorithm: str, alpha: float, jobs: int, engine: Any, checkpoint: str | None
) -> dict[str, Any]:
    """Learn one skeleton; to be run in a process of its own."""
    truth: set[frozenset[str]] = set()
    with memory_of_all() as used, phase_seconds() as seconds:
        begin = time.perf_counter()
        table = pack_tables(variables, ROWS, tables(variables, jobs, truth))
        made = time.perf_counter() - begin
        before = peak_mebibytes()
        if engine == "gpu":
            warm_up(table, jobs)
            seconds.update(dict.fromkeys(seconds, 0.0))
        begin = time.perf_counter()
        found = serape.skeleton(
            table, algorithm, alpha=alpha, n_jobs=jobs, max_seconds=None, checkpoint=checkpoint, progress=False,
            engine=engine,
        )  # fmt: skip
        total = time.perf_counter() - begin
        begin = time.perf_counter()
        assert len(found.graph) == len(table.names)
        graph = time.perf_counter() - begin
    edges = set(map(frozenset, found.edges))
    right = len(edges & truth)
    return {
        "variables": len(table.names),
        "rows": ROWS,
        "jobs": jobs,
        "made": made,
        "pairs": seconds["pairs"],
        "searches": seconds["neighbourhoods"] - seconds["pairs"],
        "rest": total - seconds["neighbourhoods"],
        "graph": graph,
        "seconds": total,
        "peak_mebibytes_before": before,
        "peak_mebibytes": peak_mebibytes(),
        "mebibytes_of_all": used[0],
        "tests": found.tests,
        "edges": len(edges),
        "precision": right / max(1, len(edges)),
        "recall": right / max(1, len(truth)),
    }


def warm_up(table: serape.Table, jobs: int) -> None:
    """Send the table to the GPU and compile the kernels."""
    begin = time.perf_counter()
    send(table)
    report(f"sent to the GPU in {time.perf_counter() - begin:.2f} s")
    small = serape.load_network("alarm").tile(30, 0).sample(ROWS, 0)
    serape.skeleton(small, "pc-stable", alpha=0.001, engine="gpu", n_jobs=jobs)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--variables", nargs="+", type=int, default=[9990, 99_900, 1_000_000])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--algorithm", default="hiton-pc")
    parser.add_argument("--alpha", type=float, default=0.001)
    parser.add_argument("--engine", default="cpu", choices=["cpu", "gpu"])
    parser.add_argument("--checkpoint", help="a file for the neighbourhoods; with several sizes, the name is completed")


def run(options: argparse.Namespace) -> None:
    """Learn skeletons of tiled Alarm networks with 1,000 rows: seconds by phase, memory, precision and recall.

    made: sampling and packing the table. pairs: tests of all pairs given nothing. searches: those for separating sets.
    rest: evidence for the edges, separating sets, the result. graph: the networkx graph, which is made when it is first
    asked for. With a GPU, the table is sent and the kernels are compiled before. Memory is the peak of the calling
    process (before: once the table was made), and what all processes together took from the machine. Each size has a
    process of its own.
    Results go to benchmarks/out/wide.json.
    """
    head = ["variables", "made, s", "pairs, s", "searches, s", "rest, s", "all but made, s", "graph, s",
            "peak, MiB (before)", "all processes, MiB", "tests", "edges", "precision / recall"]  # fmt: skip
    measured, rows = [], []
    for variables in [999] if options.quick else options.variables:
        report(f"{variables:,} variables: skeleton by {options.algorithm}")
        file = None if options.checkpoint is None else f"{options.checkpoint}.{variables}"
        one = in_fresh_process(learn, variables, options.algorithm, options.alpha, options.jobs, options.engine, file)
        measured.append(one)
        rows.append(
            [
                f"{one['variables']:,}",
                *(short(one[phase]) for phase in ("made", "pairs", "searches", "rest", "seconds", "graph")),
                f"{short(one['peak_mebibytes'])} ({short(one['peak_mebibytes_before'])})",
                short(one["mebibytes_of_all"]),
                f"{one['tests']:,}",
                f"{one['edges']:,}",
                f"{one['precision']:.3f} / {one['recall']:.3f}",
            ]
        )
        print(" | ".join(rows[-1]), flush=True)
    settings = f"{options.algorithm}, alpha {options.alpha}, {options.jobs} processes, engine {options.engine}"
    print(f"\n{settings}\n\n{markdown(head, rows)}", flush=True)
    save("wide", {"serape": serape.__version__, "skeletons": measured})
