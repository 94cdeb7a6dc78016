"""Skeletons of large tables."""

from __future__ import annotations

import argparse
from typing import Any

import serape
from benchmarks.common.data import LARGE
from benchmarks.common.output import report, save
from benchmarks.common.timing import in_fresh_process, peak_mebibytes


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data", nargs="+", choices=LARGE, default=list(LARGE))


def learn(name: str) -> dict[str, Any]:
    """Learn one large skeleton."""
    table, truth = LARGE[name]()
    before = peak_mebibytes()
    found = serape.skeleton(table, algorithm="hiton-pc", n_jobs=2)
    peak = peak_mebibytes()
    accuracy = serape.compare_graphs(found.graph, truth)
    return {
        "data": name,
        "variables": len(table.names),
        "rows": table.rows,
        "seconds": found.seconds,
        "tests": found.tests,
        "skipped": found.skipped,
        "peak_mebibytes_before": before,
        "peak_mebibytes": peak,
        "precision": accuracy.skeleton_precision,
        "recall": accuracy.skeleton_recall,
    }


def run(options: argparse.Namespace) -> None:
    """Learn skeletons of large tables by hiton-pc on two processes: seconds, tests, memory, precision and recall.

    wide: 2,000 binary variables × 1,000 rows. link: Link, 724 variables × 5,000 rows. tiled: 540 joined copies of
    Alarm, 19,980 variables × 1,000 rows. Memory is that of the calling process. Results go to
    benchmarks/out/skeletons.json.
    """
    print("| data | variables | rows | seconds | tests | peak memory, MiB (before) | precision / recall |")
    print("|---|---:|---:|---:|---:|---:|---|", flush=True)
    measured = []
    for name in options.data[:1] if options.quick else options.data:
        report(f"{name}: skeleton by hiton-pc")
        one = in_fresh_process(learn, name)
        print(
            f"| {name} | {one['variables']:,} | {one['rows']:,} | {one['seconds']:.3g} | {one['tests']:,} | "
            f"{one['peak_mebibytes']:,.0f} ({one['peak_mebibytes_before']:,.0f}) | "
            f"{one['precision']:.3f} / {one['recall']:.3f} |",
            flush=True,
        )
        measured.append(one)
    save("skeletons", {"serape": serape.__version__, "skeletons": measured})
