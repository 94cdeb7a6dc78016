"""Rounds, bytes and seconds of searches on a cluster, beside one process."""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import serape
from benchmarks.common.data import grouped_table, target_index
from benchmarks.common.output import machine, markdown, report, save, short
from benchmarks.common.timing import in_fresh_process

ALPHA = 0.001
SEARCHES = ("iamb", "fbed", "fast-iamb", "hiton-pc", "hpc")
"""Searches for one target; pc-stable, of all variables, is measured where these are few."""
FEW = 100


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--variables", nargs="+", type=int, default=[100_000, 37])
    parser.add_argument("--rows", nargs="+", type=int, default=[1000, 1_000_000])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--algorithms", nargs="+", default=SEARCHES)


def ask(data: Any, algorithm: str, variables: int) -> tuple[Any, int]:
    """Ask a question; return the answer and the number of tests."""
    if algorithm == "pc-stable":
        found = serape.skeleton(data, algorithm, alpha=ALPHA)
        return sorted(map(sorted, found.edges)), found.tests
    question = serape.parents_children if algorithm == "hiton-pc" else serape.markov_blanket
    one = question(data, target_index(variables), algorithm=algorithm, alpha=ALPHA, max_seconds=None)
    return sorted(one.members), one.tests


def alone(path: str, algorithms: list[str], variables: int) -> dict[str, Any]:
    """Ask in one process."""
    found = {}
    for algorithm in algorithms:
        table = serape.Table(path)
        begin = time.perf_counter()
        answer, tests = ask(table, algorithm, variables)
        found[algorithm] = {"seconds": time.perf_counter() - begin, "answer": answer, "tests": tests}
    return found


def spread(path: str, algorithms: list[str], variables: int, workers: int) -> dict[str, Any]:
    """Ask a cluster of worker processes on this machine."""
    from serape.dask import connect, table

    found: dict[str, Any] = {}
    with connect(workers=workers) as client:
        for algorithm in algorithms:
            begin = time.perf_counter()
            data = table(client, path)
            _ = data.duplicates
            made = time.perf_counter() - begin
            before = replace(data.traffic)
            begin = time.perf_counter()
            answer, tests = ask(data, algorithm, variables)
            now = data.traffic
            found[algorithm] = {
                "made": made,
                "seconds": time.perf_counter() - begin,
                "answer": answer,
                "tests": tests,
                **{name: value - getattr(before, name) for name, value in vars(now).items()},
            }
        client.shutdown()
    return found


def run(options: argparse.Namespace) -> None:
    """Count rounds and bytes, and measure seconds, of searches on worker processes beside one process.

    Tables of many variables are split by columns, others by rows. Data are binary, in groups of eight, as in
    `scaling growth`, from a packed file. "made" is the time until the workers hold their parts and duplicates are
    known. Answers are compared. Results go to benchmarks/out/cluster.json.
    """
    sizes = list(zip(options.variables, options.rows, strict=True))
    if options.quick:
        sizes = [(2000, 500), (20, 20_000)]
    content: list[dict[str, Any]] = []
    head = ["variables", "rows", "algorithm", "workers", "made, s", "s", "one process, s", "tests", "rounds", "tasks",
            "MB sent", "MB received", "MB between workers", "same answer"]  # fmt: skip
    rows = []
    for variables, n_rows in sizes:
        algorithms = [*options.algorithms, *(["pc-stable"] if variables <= FEW else [])]
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "data.srp")
            report(f"{variables:,} variables × {n_rows:,} rows")
            serape.pack(grouped_table(variables, n_rows), path)
            own = in_fresh_process(alone, path, algorithms, variables)
            for workers in options.workers:
                found = in_fresh_process(spread, path, algorithms, variables, workers)
                for algorithm, cell in found.items():
                    same = (cell["answer"], cell["tests"]) == (own[algorithm]["answer"], own[algorithm]["tests"])
                    traffic = [f"{cell[name] / 1e6:.3g}" for name in ("sent", "received", "lent")]
                    rows.append([
                        f"{variables:,}", f"{n_rows:,}", algorithm, str(workers), short(cell["made"]),
                        short(cell["seconds"]), short(own[algorithm]["seconds"]), f"{cell['tests']:,}",
                        str(cell["rounds"]), str(cell["tasks"]), *traffic, "yes" if same else "NO",
                    ])  # fmt: skip
                    print(" | ".join(rows[-1]), flush=True)
                content.append({"variables": variables, "rows": n_rows, "workers": workers, "found": found})
    print(f"\n{machine()}, alpha {ALPHA:g}\n\n{markdown(head, rows, words={2})}", flush=True)
    save("cluster", {"serape": serape.__version__, "alpha": ALPHA, "cells": content})
