"""Divide and conquer: numbers of tests, large neighbourhoods, and the widest real table.

    python benchmarks/divide_and_conquer.py [--quick] [--thrombin FILE]      (or: make bench-kernels)

1. DOS against IPC-MB on samples of Alarm, Insurance and Hailfinder, every variable a target, alpha 0.05: tests, time,
   distance to the truth. Zeng, He, Xiang and Mao 2011 report about 40 % fewer tests, and 49.94 % on Alarm at 5,000
   rows. IPC-MB is run in the table's order, as nothing else is said of it, and by strength, as serape does by itself.
2. The largest neighbourhoods of Pigs (441 variables) at 500 rows: who is found, in how many tests of what size.
3. With --thrombin, the KDD Cup 2001 data, 139,351 columns: an .npz with `X` (packed bits by row) and `y`.

Results go to the screen and, as JSON, to benchmarks/out/divide_and_conquer.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import serape

PATIENCE = 120  # seconds for a search in Thrombin


def dos_against_ipc_mb(samples: int) -> list[dict[str, Any]]:
    """Compare numbers of tests, time and accuracy."""
    print("network     rows   ipc-mb, table order    ipc-mb, by strength                     dos    fewer tests")
    print("                     tests  s   dist.       tests  s   dist.       tests  s   dist.    (table, strength)")
    rows_of = {"alarm": (500, 1000, 2000, 5000), "insurance": (300, 500, 1000, 2000), "hailfinder": (500, 1000, 2000)}
    found = []
    for name, sizes in rows_of.items():
        network = serape.load_network(name)
        truth = {x: network.markov_blanket(x) for x in network.variables}
        for rows in sizes:
            totals = {key: np.zeros(3) for key in ("table", "strength", "dos")}
            for seed in range(samples):
                table = network.sample(rows, seed)
                for key, total in totals.items():
                    algorithm = "dos" if key == "dos" else "ipc-mb"
                    options: dict[str, Any] = {} if key == "dos" else {"order": key}
                    begin = time.perf_counter()
                    results = {  # every target by itself: nothing is shared, as in the paper
                        table.names[k]: serape.markov_blanket(table, k, algorithm=algorithm, alpha=0.05, **options)
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
    """Look for the parents and children of the variables of Pigs that have most of them."""
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
            found.append({"target": target, "right": right, **_facts(result)})
    return found


def thrombin(path: Path) -> list[dict[str, Any]]:
    """Search the widest real table for what binds."""
    content = np.load(path)
    target = 139_351
    features = np.unpackbits(content["X"], axis=1)[:, :target]
    table = serape.Table(np.concatenate([features, content["y"][:, None].astype(np.uint8)], axis=1))
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
    for algorithm, options in runs:
        try:
            result = serape.markov_blanket(table, target, algorithm=algorithm, alpha=0.01, progress=_enough, **options)
        except serape.Interrupted as stop:
            result = stop.found
            print(f"{algorithm} stopped after {PATIENCE} s, members so far: {len(result.blanket)}")
        columns = [int(x[1:]) + 1 for x in result.blanket]
        print(
            f"{algorithm:9} {dict(options)!s:24} {result.seconds:8.3f} s {result.tests:12,} tests "
            f"{result.skipped:,} skipped: {columns}",
            flush=True,
        )
        print("          by size of the conditioning set:", dict(result.tests_by_size))
        found.append({"columns": columns, "options": dict(options), **_facts(result)})
    return found


def _enough(now: serape.Progress) -> None:
    """End a search that goes on for too long."""
    if now.seconds > PATIENCE:
        raise KeyboardInterrupt


def _facts(result: serape.Result) -> dict[str, Any]:
    return {
        "algorithm": result.algorithm,
        "found": len(result.members),
        "tests": result.tests,
        "tests_by_size": dict(result.tests_by_size),
        "skipped": result.skipped,
        "seconds": result.seconds,
    }


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one sample instead of five")
    parser.add_argument("--thrombin", type=Path, help="also search the real wide table in this file")
    options = parser.parse_args()
    found: dict[str, Any] = {"dos": dos_against_ipc_mb(1 if options.quick else 5), "pigs": large_neighbourhoods()}
    if options.thrombin is not None:
        found["thrombin"] = thrombin(options.thrombin)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "divide_and_conquer.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
