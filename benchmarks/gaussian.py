"""Continuous columns: a screen beside one matrix-vector product, and skeletons beside other packages, in one run.

    python benchmarks/gaussian.py [--peers PYTHON] [--quick] [--columns 100000] [--rows 1000]

The product is NumPy's, of the same matrix (columns one after another) with one column; one thread each, medians of
alternating runs. A screen of 100,000 columns × 1,000 rows needs 2.5 GB: the matrix, the table's columns and the test's.

Skeletons are of random linear-Gaussian networks with two arcs a variable, 2,000 rows, alpha 0.01. `PYTHON` is the
interpreter of an environment with `pip install pgmpy causal-learn PyBNesian`; without it serape runs alone. Every call
has a process and one thread; imports and a first small call are not timed, serape's reading of the table is. The PC of
other tools orients, too; PyBNesian tests by exact t, all others by Fisher's z; pgmpy's sets have 5 members at most.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import ONE_THREAD, alternating

os.environ |= ONE_THREAD  # before NumPy is imported

import numpy as np
from numpy.typing import NDArray

import serape
from serape.independence.partial_correlation import FisherZ

ALPHA = 0.01
ROWS = 2000
METHODS = (
    ("serape", "pc-stable"),
    ("serape", "hiton-pc"),
    ("serape", "mmpc"),
    ("PyBNesian", "PC"),
    ("PyBNesian", "MMPC"),
    ("causal-learn", "PC"),
    ("pgmpy", "PC"),
)


def screens(rows: int, columns: int, repeats: int) -> dict[str, float]:
    """Time screens beside a matrix-vector product."""
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
    ways: dict[str, Callable[[], object]] = {"matrix-vector product": lambda: vector @ matrix}
    for size in (0, 1, 3, 5):
        ways[f"screen given {size}"] = lambda size=size: test.screen(0, candidates, range(1, 1 + size))  # type: ignore[misc]
    ways["screen given 0, and who is dependent"] = lambda: test.screen(0, candidates).dependent(-3.0)
    ways["screen given 0, two threads"] = lambda: test.screen(0, candidates, threads=2)
    found = alternating(ways, repeats)
    product = found["matrix-vector product"]
    for name, seconds in found.items():
        print(f"  {name:38} {1e3 * seconds:9.2f} ms {seconds / product:6.2f} ×")
    return found


def network(random: np.random.Generator, variables: int) -> tuple[NDArray[np.float64], set[frozenset[int]]]:
    """Draw rows of a linear-Gaussian network, in shuffled order, and its edges."""
    order = random.permutation(variables)
    data = random.standard_normal((ROWS, variables))
    edges = set()
    for k in range(1, variables):
        for parent in random.choice(k, min(k, int(random.integers(1, 4))), replace=False):
            weight = random.uniform(0.3, 0.9) * random.choice([-1, 1])
            data[:, order[k]] += weight * data[:, order[parent]]
            edges.add(frozenset((int(order[k]), int(order[parent]))))
        data[:, order[k]] /= data[:, order[k]].std()
    return data, edges


def skeletons(variables: int, peers: str | None, limit: float) -> list[dict[str, object]]:
    """Time skeletons, and say how right they are."""
    data, truth = network(np.random.default_rng(variables), variables)
    print(f"{variables} variables, {len(truth)} arcs, {ROWS:,} rows")
    found: list[dict[str, object]] = []
    reference = None
    with tempfile.TemporaryDirectory() as folder:
        path, result = Path(folder) / "data.npy", Path(folder) / "result.json"
        np.save(path, data)
        for tool, method in METHODS:
            if tool != "serape" and peers is None:
                continue
            python = sys.executable if tool == "serape" or peers is None else peers
            script = Path(__file__).with_name("peer_gaussian.py")
            command = [python, str(script), str(path), str(result), tool, method, str(ALPHA)]
            result.unlink(missing_ok=True)
            answer: dict[str, Any]
            try:
                subprocess.run(
                    command, env={**os.environ, **ONE_THREAD}, timeout=limit, capture_output=True, check=False
                )
                answer = json.loads(result.read_text()) if result.exists() else {"error": "died"}
            except subprocess.TimeoutExpired:
                answer = {"error": f"over {limit:.0f} s"}
            line = f"  {tool + ' ' + answer.get('version', ''):20} {method:10}"
            if "error" in answer:
                print(f"{line} {answer['error']}")
            else:
                edges = {frozenset(edge) for edge in answer["edges"]}
                right = len(edges & truth)
                seconds = answer["seconds"]
                reference = seconds if reference is None else reference
                print(
                    f"{line} {seconds:9.4f} s {seconds / reference:8.1f} ×  "
                    f"precision {right / max(len(edges), 1):.3f} recall {right / len(truth):.3f}",
                    flush=True,
                )
            found.append({"variables": variables, "tool": tool, "method": method, **answer})
    return found


def main() -> None:
    """Run, print and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter of an environment with the other packages")
    parser.add_argument("--quick", action="store_true", help="10,000 columns and 50 variables only")
    parser.add_argument("--columns", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds after which a tool is ended")
    options = parser.parse_args()
    columns = min(options.columns, 10_000) if options.quick else options.columns
    results: dict[str, object] = {"screens": screens(options.rows, columns, 5 if options.quick else 9)}
    results["skeletons"] = [
        skeletons(variables, options.peers, options.limit) for variables in ((50,) if options.quick else (50, 200))
    ]
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "gaussian.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
