"""Skeletons of linear-Gaussian networks beside the packages that learn them."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.data import gaussian_network
from benchmarks.common.output import save
from benchmarks.peers.runner import Runner, add_options, environments

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


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, limit=300.0, peers=("PyBNesian", "causal-learn", "pgmpy"))
    parser.add_argument("--variables", nargs="+", type=int, default=[50, 200])


def skeletons(runner: Runner, variables: int) -> list[dict[str, Any]]:
    """Time skeletons of a random network, and compare them with its edges."""
    data, truth = gaussian_network(np.random.default_rng(variables), ROWS, variables)
    path = runner.folder / "data.npy"
    np.save(path, data)
    print(f"{variables} variables, {len(truth)} arcs, {ROWS:,} rows")
    found: list[dict[str, Any]] = []
    reference = None
    for tool, method in METHODS:
        if tool not in runner.tools:
            continue
        answer = runner.call(tool, method, path)
        line = f"  {tool + ' ' + answer.get('version', ''):20} {method:10}"
        if "found" in answer:
            edges = {frozenset(edge) for edge in answer["found"]}
            right = len(edges & truth)
            seconds = statistics.median(answer["seconds"])
            reference = seconds if reference is None else reference
            print(
                f"{line} {seconds:9.4f} s {seconds / reference:8.1f} ×  "
                f"precision {right / max(len(edges), 1):.3f} recall {right / len(truth):.3f}",
                flush=True,
            )
        else:
            print(f"{line} {answer.get('error', f'over {runner.limit:g} s')}", flush=True)
        found.append({"variables": variables, "tool": tool, "method": method, **answer})
    return found


def run(options: argparse.Namespace) -> None:
    """Learn skeletons of random linear-Gaussian networks, beside other packages.

    Networks have two arcs a variable; 2,000 rows, alpha 0.01. Every call has a process and one thread; imports and a
    first small call are not timed, serape's reading of the table is. The PC of other tools orients, too; PyBNesian
    tests by exact t, all others by Fisher's z; pgmpy's conditioning sets have 5 members at most. Results go to
    benchmarks/out/gaussian.json.
    """
    if options.quick:
        options.variables = [50]
    interpreters = environments(options)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        warm = folder / "warm.npy"
        np.save(warm, gaussian_network(np.random.default_rng(0), 100, 5)[0])
        runner = Runner("gaussian", folder, warm, interpreters, ALPHA, options.limit)
        save("gaussian", {"skeletons": [skeletons(runner, variables) for variables in options.variables]})
