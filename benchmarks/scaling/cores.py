"""Time on several cores."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import serape
from benchmarks.common.data import THROMBIN_CLASS, add_thrombin, nothing_shared, thrombin, wide
from benchmarks.common.output import markdown, report, save, short
from benchmarks.common.timing import in_fresh_process, peak_mebibytes

ALPHA = 0.01
Job = Callable[[serape.Table, int], object]


@cache
def table_of(name: str, path: str | None = None) -> serape.Table:
    """Return the table of a row."""
    if name == "thrombin":
        return serape.Table(thrombin(Path(path or "")))
    if name == "wide":
        return wide()[0]
    if name.startswith("tiled"):
        return serape.load_network("alarm").tile(int(name[5:]), 0).sample(1000, 0)
    return serape.load_network("alarm").sample(int(name[5:]), 1)


def blankets(algorithm: str) -> Job:
    """Return the search for all blankets."""
    return lambda table, jobs: {
        name: found.blanket
        for name, found in serape.blankets(table, algorithm=algorithm, alpha=ALPHA, n_jobs=jobs).items()
    }


def skeleton(algorithm: str) -> Job:
    """Return the search for the skeleton."""

    def job(table: serape.Table, jobs: int) -> object:
        found = serape.skeleton(table, algorithm, alpha=0.001, n_jobs=jobs, max_seconds=None)
        return sorted(map(sorted, found.edges)), found.tests

    return job


def one_target(table: serape.Table, jobs: int) -> object:
    """Search for the blanket of Thrombin's class."""
    return serape.markov_blanket(table, THROMBIN_CLASS, algorithm="hpc", alpha=ALPHA, n_jobs=jobs).blanket


def pairs(table: serape.Table, jobs: int) -> object:
    """Test all pairs."""
    return serape.all_pairs(table, alpha=ALPHA, n_jobs=jobs, engine="cpu").dependents.tolist()


def draws(table: serape.Table, jobs: int) -> object:
    """Search in 200 halves of the rows."""
    return serape.stability(table, 0, draws=200, alpha=ALPHA, n_jobs=jobs).frequencies


def by_score(algorithm: str) -> Job:
    """Return the search for a network by its score."""
    return lambda table, jobs: sorted(serape.network(table, algorithm, n_jobs=jobs, max_seconds=None).edges)


def counting(table: serape.Table, jobs: int) -> object:
    """Count in Python, in processes that share nothing."""
    del table
    nothing_shared(jobs)
    return None


WORK: Mapping[str, tuple[str, Job]] = {
    "nothing shared": ("alarm500", counting),
    "all_pairs, Thrombin": ("thrombin", pairs),
    "all_pairs, 9,990 × 1,000": ("tiled270", pairs),
    "hpc, one target, Thrombin": ("thrombin", one_target),
    **{f"blankets, 2,000 × 1,000: {a}": ("wide", blankets(a)) for a in ("iamb", "hiton-mb", "hpc")},
    **{f"skeleton, 9,990 × 1,000: {a}": ("tiled270", skeleton(a)) for a in ("hiton-pc", "hpc", "pc-stable")},
    **{f"Alarm, 1,000,000 rows: {a}": ("alarm1000000", blankets(a)) for a in ("iamb", "hpc", "hiton-mb")},
    "stability, Alarm, 5,000 rows": ("alarm5000", draws),
    **{f"network, 999 × 1,000: {a}": ("tiled27", by_score(a)) for a in ("tabu", "ges")},
}


def measure(name: str, path: str | None, jobs: int, repeats: int) -> dict[str, Any]:
    """Time a row of the table with so many cores; the first time, workers have to start."""
    data, job = WORK[name]
    table = table_of(data, path)
    job(table_of("alarm500"), 1) if data != "thrombin" else None
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = job(table, jobs)
        seconds.append(time.perf_counter() - begin)
    return {"seconds": seconds, "peak_mebibytes": peak_mebibytes(), "answer": hash(repr(answer))}


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--jobs", nargs="+", type=int, default=[1, os.cpu_count() or 2])
    parser.add_argument("--work", nargs="+", help="only rows that contain one of these texts")
    parser.add_argument("--repeats", type=int, default=2)
    add_thrombin(parser)


def run(options: argparse.Namespace) -> None:
    """Time questions with different numbers of cores: `n_jobs`, seconds when workers start and later, speed-up.

    Each cell has a process of its own. "first" is the first call, during which workers start; "later" the best of the
    others. The answers are compared. Results go to benchmarks/out/cores.json.
    """
    os.environ["PYTHONHASHSEED"] = "0"
    chosen = [name for name in WORK if options.work is None or any(text in name for text in options.work)]
    if options.quick:
        chosen = [name for name in chosen if WORK[name][0] in ("alarm500", "alarm5000")]
    if options.thrombin is None:
        chosen = [name for name in chosen if WORK[name][0] != "thrombin"]
    found: dict[str, dict[int, Any]] = {}
    head = ["work", *(f"{n}: first / later, s" for n in options.jobs), "speed-up: first / later", "same answers"]
    rows = []
    for name in chosen:
        report(name)
        path = None if options.thrombin is None else str(options.thrombin)
        cells = found[name] = {n: in_fresh_process(measure, name, path, n, options.repeats) for n in options.jobs}
        first = {n: cell["seconds"][0] for n, cell in cells.items()}
        later = {n: min(cell["seconds"][1:] or cell["seconds"]) for n, cell in cells.items()}
        least, most = options.jobs[0], options.jobs[-1]
        rows.append(
            [
                name,
                *(f"{short(first[n])} / {short(later[n])}" for n in options.jobs),
                f"{first[least] / first[most]:.1f} / {later[least] / later[most]:.1f}",
                "yes" if len({cell["answer"] for cell in cells.values()}) == 1 else "NO",
            ]
        )
        print(" | ".join(rows[-1]), flush=True)
    print(f"\n{os.cpu_count()} processors\n\n{markdown(head, rows)}", flush=True)
    save("cores", {"serape": serape.__version__, "jobs": options.jobs, "work": found})
