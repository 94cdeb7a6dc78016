"""Tests and time of single searches: incremental algorithms, divide and conquer, the selector."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import serape
from benchmarks.common.data import (
    THROMBIN_CLASS,
    add_thrombin,
    random_network,
    sample_network,
    thrombin,
    true_answers,
)
from benchmarks.common.internals import FisherZ
from benchmarks.common.output import save
from benchmarks.common.timing import alternating

# --- incremental algorithms -------------------------------------------------------------------------------------------

INCREMENTAL = ("fast-iamb", "iamb", "inter-iamb")


def compare_incremental(name: str, table: serape.Table, repeats: int) -> None:
    """Run the three in turns and print a line each."""
    targets = table.varying
    found: dict[str, list[serape.Result]] = {}

    def search(algorithm: str) -> None:
        found[algorithm] = [serape.markov_blanket(table, t, algorithm=algorithm, reliability="cells") for t in targets]

    seconds = alternating({algorithm: partial(search, algorithm) for algorithm in INCREMENTAL}, repeats)
    tests = {algorithm: sum(result.tests for result in found[algorithm]) for algorithm in INCREMENTAL}
    print(f"{name}: {table.rows:,} rows, {len(targets)} targets")
    for algorithm in INCREMENTAL:
        fitness = np.mean([serape.kl_fitness(table, result.target, result.blanket) for result in found[algorithm]])
        line = f"  {algorithm:10} {tests[algorithm]:8,} tests, {1e3 * seconds[algorithm]:8.1f} ms, "
        line += f"KL fitness {fitness:.5f}"
        for other in INCREMENTAL[1:] if algorithm == "fast-iamb" else ():
            time_share, test_share = seconds[algorithm] / seconds[other], tests[algorithm] / tests[other]
            line += f"; {time_share:.0%} of {other}'s time, {test_share:.0%} of its tests"
        print(line)


def incremental_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `incremental`."""
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--missing", choices=["error", "drop", "level"], default="error")
    parser.add_argument("--ignore", action="append", default=[], metavar="COLUMN")


def incremental(options: argparse.Namespace) -> None:
    """Compare fast-iamb with iamb and inter-iamb: tests and time of the blankets of all columns.

    Yaramakala and Margaritis (2005) report that Fast-IAMB took 68 to 82 % of IAMB's time and 52 to 72 % of
    Inter-IAMB's. Without files, the data are random networks of 30 nodes. All three run with the paper's rule of
    reliability (5 rows in the mean cell) and alpha 0.05, one thread, alternating; times are medians of five runs.
    Columns that are not categorical are left out.
    """
    repeats = 1 if options.quick else 5
    for path in options.files:
        table = serape.Table(path, missing=options.missing, ignore=options.ignore)
        if table.continuous:
            names = [*options.ignore, *(table.names[k] for k in table.continuous)]
            table = serape.Table(path, missing=options.missing, ignore=names)
        compare_incremental(path.name, table, repeats)
    if not options.files:
        for seed, rows in ((0, 5000),) if options.quick else ((0, 5000), (1, 20_000), (2, 50_000)):
            random = np.random.default_rng(seed)
            graph, levels = random_network(random, 30, (2, 3, 4))
            table = serape.Table(sample_network(random, graph, levels, rows))
            compare_incremental(f"random network {seed}", table, repeats)


# --- divide and conquer -----------------------------------------------------------------------------------------------

PATIENCE = 120
"""Seconds for a search in Thrombin."""


def dos_against_ipc_mb(rows_of: Mapping[str, tuple[int, ...]], samples: int) -> list[dict[str, Any]]:
    """Compare numbers of tests, time and accuracy."""
    print("network     rows   ipc-mb, table order    ipc-mb, by strength                     dos    fewer tests")
    print("                     tests  s   dist.       tests  s   dist.       tests  s   dist.    (table, strength)")
    found = []
    for name, sizes in rows_of.items():
        network = serape.load_network(name)
        truth = true_answers(network)
        for rows in sizes:
            totals = {key: np.zeros(3) for key in ("table", "strength", "dos")}
            for seed in range(samples):
                table = network.sample(rows, seed)
                for key, total in totals.items():
                    algorithm = "dos" if key == "dos" else "ipc-mb"
                    order: dict[str, Any] = {} if key == "dos" else {"order": key}
                    begin = time.perf_counter()
                    results = {  # every target by itself: nothing is shared, as in the paper
                        table.names[k]: serape.markov_blanket(table, k, algorithm=algorithm, alpha=0.05, **order)
                        for k in table.varying
                    }
                    seconds = time.perf_counter() - begin
                    distance = np.mean([serape.compare(r, truth[x]).distance for x, r in results.items()])
                    total += (sum(r.tests for r in results.values()), seconds, float(distance))
            means = {key: total / samples for key, total in totals.items()}
            fewer = {key: 1 - means["dos"][0] / means[key][0] for key in ("table", "strength")}
            cells = "  ".join(f"{tests:10,.0f} {seconds:5.2f} {d:5.3f}" for tests, seconds, d in means.values())
            print(f"{name:10} {rows:5}  {cells}    {fewer['table']:5.1%}  {fewer['strength']:5.1%}", flush=True)
            found.append({"network": name, "rows": rows, **{k: m.tolist() for k, m in means.items()}, "fewer": fewer})
    return found


def large_neighbourhoods() -> list[dict[str, Any]]:
    """Search for the parents and children of the variables of Pigs that have most of them."""
    pigs = serape.load_network("pigs")
    table = pigs.sample(500, 0)
    largest = sorted(pigs.variables, key=lambda x: -len(pigs.parents_children(x)))[:3]
    print("\nPigs, 500 rows, alpha 0.01: parents and children")
    print("variable   algorithm   true  found  right   tests     seconds  largest conditioning set")
    found = []
    for target in largest:
        truth = set(pigs.parents_children(target))
        for algorithm in ("pcmb", "hpc", "hiton-pc", "mmpc", "inter-iapc"):
            result = serape.parents_children(table, target, algorithm=algorithm, alpha=0.01)
            right = len(truth & set(result.members))
            print(
                f"{target:10} {algorithm:10} {len(truth):5} {len(result.members):6} {right:6} {result.tests:9,} "
                f"{result.seconds:9.3f}  {max(result.tests_by_size)}",
                flush=True,
            )
            found.append({"target": target, "right": right, **facts(result)})
    return found


def divide_thrombin(path: Path) -> list[dict[str, Any]]:
    """Search the widest real table for the blanket of its class."""
    table, target = serape.Table(thrombin(path)), THROMBIN_CLASS
    serape.markov_blanket(table, target, algorithm="iamb")  # makes the wide layout
    print("\nThrombin, alpha 0.01, one thread (columns counted from 1)")
    runs: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("pcmb", {"dof": "full"}),
        ("hiton-mb", {"dof": "full"}),
        ("hpc", {"dof": "full"}),
        ("hiton-mb", {"max_conditioning": 2}),
        ("hpc", {}),
        ("pcmb", {}),
        ("hiton-mb", {}),
    )
    found = []
    for algorithm, settings in runs:
        try:
            result = serape.markov_blanket(
                table, target, algorithm=algorithm, alpha=0.01, progress=stop_in_time, **settings
            )
        except serape.Interrupted as stop:
            result = stop.found
            print(f"{algorithm} stopped after {PATIENCE} s, members so far: {len(result.blanket)}")
        columns = [int(x[1:]) + 1 for x in result.blanket]
        print(
            f"{algorithm:9} {dict(settings)!s:24} {result.seconds:8.3f} s {result.tests:12,} tests "
            f"{result.skipped:,} skipped: {columns}",
            flush=True,
        )
        print("          by size of the conditioning set:", dict(result.tests_by_size))
        found.append({"columns": columns, "options": dict(settings), **facts(result)})
    return found


def stop_in_time(now: serape.Progress) -> None:
    """Interrupt a search that takes too long."""
    if now.seconds > PATIENCE:
        raise KeyboardInterrupt


def facts(result: serape.Result) -> dict[str, Any]:
    """Return the numbers of a result."""
    return {
        "algorithm": result.algorithm,
        "found": len(result.members),
        "tests": result.tests,
        "tests_by_size": dict(result.tests_by_size),
        "skipped": result.skipped,
        "seconds": result.seconds,
    }


DIVIDE_ROWS = {"alarm": (500, 1000, 2000, 5000), "insurance": (300, 500, 1000, 2000), "hailfinder": (500, 1000, 2000)}


def divide_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `divide`."""
    parser.add_argument("--samples", type=int, default=5, help="of each size")
    add_thrombin(parser)


def divide(options: argparse.Namespace) -> None:
    """Measure divide and conquer: numbers of tests, large neighbourhoods, and the widest real table.

    1. DOS against IPC-MB on samples of Alarm, Insurance and Hailfinder, every variable a target, alpha 0.05: tests,
       time, distance to the truth. Zeng, He, Xiang and Mao 2011 report about 40 % fewer tests, and 49.94 % on Alarm at
       5,000 rows. IPC-MB is run in the table's order, as the paper names none, and by strength, serape's default.
    2. The largest neighbourhoods of Pigs (441 variables) at 500 rows: members found, and tests by size.
    3. With --thrombin, the KDD Cup 2001 data, 139,351 columns.

    Results go to benchmarks/out/divide.json.
    """
    sizes = {"insurance": (300,)} if options.quick else DIVIDE_ROWS
    found: dict[str, Any] = {
        "dos": dos_against_ipc_mb(sizes, 1 if options.quick else options.samples),
        "pigs": large_neighbourhoods(),
    }
    if options.thrombin is not None:
        found["thrombin"] = divide_thrombin(options.thrombin)
    save("divide", found)


# --- continuous columns -----------------------------------------------------------------------------------------------


def correlations_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `correlations`."""
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1000)


def correlations(options: argparse.Namespace) -> None:
    """Measure screens of continuous columns beside one matrix-vector product of NumPy.

    The product is that of the same matrix (columns one after another) with one column; one thread each, medians of
    alternating runs. 100,000 columns × 1,000 rows need 2.5 GB: the matrix, the table's columns and the test's. Results
    go to benchmarks/out/correlations.json.
    """
    rows, columns = options.rows, min(options.columns, 2000) if options.quick else options.columns
    matrix = np.random.default_rng(0).standard_normal((columns, rows)).T  # columns one after another
    begin = time.perf_counter()
    table = serape.Table(matrix, kinds="continuous")
    made = time.perf_counter()
    test = FisherZ(table)
    ready = time.perf_counter()
    print(f"{columns:,} columns × {rows:,} rows; table {made - begin:.2f} s, test {ready - made:.2f} s", end=", ")
    print(f"{test.nbytes / 1e6:,.0f} MB")
    candidates = np.arange(8, columns, dtype=np.uint32)
    vector = matrix[:, 0].copy()
    jobs: dict[str, Callable[[], object]] = {"matrix-vector product": lambda: vector @ matrix}
    for size in (0, 1, 3, 5):
        jobs[f"screen given {size}"] = partial(test.screen, 0, candidates, range(1, 1 + size))
    jobs["screen given 0, and the dependents"] = lambda: test.screen(0, candidates).dependent(-3.0)
    jobs["screen given 0, two threads"] = lambda: test.screen(0, candidates, threads=2)
    found = alternating(jobs, 5 if options.quick else 9)
    product = found["matrix-vector product"]
    for name, seconds in found.items():
        print(f"  {name:38} {1e3 * seconds:9.2f} ms {seconds / product:6.2f} ×")
    save("correlations", {"columns": columns, "rows": rows, "seconds": found})


# --- the selector -----------------------------------------------------------------------------------------------------


def selector_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `selector`."""
    parser.add_argument("--repeats", type=int, default=9)


def compare_selector(name: str, columns: Any, target: Any, repeats: int, alpha: float) -> str:
    """Return a row: milliseconds of the search, of the selector, and their ratio."""
    both = np.column_stack([columns, target])
    selector = serape.MarkovBlanketSelector(alpha=alpha)
    jobs = {
        "search": lambda: serape.markov_blanket(both, columns.shape[1], alpha=alpha),
        "selector": lambda: selector.fit(columns, target),
    }
    seconds = alternating(jobs, repeats)
    assert selector.blanket_ == serape.markov_blanket(both, columns.shape[1], alpha=alpha).blanket
    search, fit = seconds["search"], seconds["selector"]
    return f"{name:30}  {search * 1e3:7.1f} ms  {fit * 1e3:7.1f} ms  {fit / search:5.2f}"


def selector(options: argparse.Namespace) -> None:
    """Compare the scikit-learn selector with the search that it makes.

    Both are given the same columns as an array; the search has y in it already. Medians of alternating runs.
    """
    repeats, wide = (1, 2000) if options.quick else (options.repeats, 20_000)
    random = np.random.default_rng(0)
    bits = random.integers(0, 2, (1000, wide))
    label = (bits[:, 5] ^ (random.random(1000) < 0.1)) | (bits[:, 77] & bits[:, 99])
    numbers = random.normal(size=(1000, wide // 10))
    quantity = numbers[:, 3] + numbers[:, 4] + random.normal(size=1000)
    print(f"{'':30}  {'search':>10}  {'selector':>10}  ratio")
    for kind in (np.int64, np.uint8):
        name = f"1,000 × {wide:,} bits, {kind.__name__}"
        print(compare_selector(name, bits.astype(kind), label.astype(kind), repeats, alpha=0.05))
    print(compare_selector(f"1,000 × {wide // 10:,} numbers", numbers, quantity, repeats, alpha=1e-5))
