"""Blankets in samples of few rows, by test: the figures of docs/few-rows.md."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np

import serape
from benchmarks.common.data import tiled_to
from benchmarks.common.output import markdown, report, save, short

NETWORKS = ("alarm", "child", "insurance")
ROWS = (50, 100, 200)
ALGORITHMS = ("hpc", "iamb", "hiton-mb")
TESTS = ("g2", "x2", "g2-permutation", "g2-semiparametric", "x2-moments", "g2-shrinkage")


@dataclass(frozen=True)
class Measured:
    """The blankets of all variables of one network by one test; means over targets and samples."""

    algorithm: str
    network: str
    rows: int
    test: str
    false: float
    missed: float
    distance: float
    tests: float
    milliseconds: float


def measure(
    known: serape.Network, network: str, rows: int, algorithm: str, test: str, options: argparse.Namespace
) -> Measured:
    """Find the blankets of variables that vary, and compare them with the truth."""
    found: list[tuple[float, ...]] = []
    for seed in range(1, options.seeds + 1):
        table = known.sample(rows, seed)
        targets = [table.names[k] for k in np.random.default_rng(seed).permutation(table.varying)[: options.targets]]
        begin = time.perf_counter()
        blankets = serape.blankets(table, targets, algorithm, test=test, alpha=options.alpha, progress=False)
        each = 1000 * (time.perf_counter() - begin) / len(targets)
        for target, result in blankets.items():
            truth, members = set(known.markov_blanket(target)), set(result.members)
            distance = serape.compare(result.members, tuple(truth)).distance
            found.append((len(members - truth), len(truth - members), distance, result.tests, each))
    false, missed, distance, tests, milliseconds = (float(mean) for mean in np.mean(found, axis=0))
    return Measured(algorithm, network, rows, test, false, missed, distance, tests, milliseconds)


def table_of(measured: list[Measured]) -> str:
    """Return a table of one algorithm: false and missed members by test and number of rows."""
    lines = []
    for rows, test in product(dict.fromkeys(m.rows for m in measured), dict.fromkeys(m.test for m in measured)):
        these = [m for m in measured if (m.rows, m.test) == (rows, test)]
        if not these:
            continue
        means = {
            key: float(np.mean([getattr(m, key) for m in these]))
            for key in ("false", "missed", "distance", "tests", "milliseconds")
        }
        lines.append(
            [
                str(rows),
                f"`{test}`",
                f"{means['false']:.2f}",
                f"{means['missed']:.2f}",
                f"{means['distance']:.3f}".lstrip("0"),
                short(means["tests"], 2),
                short(means["milliseconds"], 2),
            ]
        )
    return markdown(["rows", "test", "false", "missed", "distance", "tests", "ms"], lines, words=(1,))


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--networks", nargs="+", default=NETWORKS)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS)
    parser.add_argument("--tests", nargs="+", default=TESTS)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--columns", type=int, default=1, help="networks are tiled to about so many")
    parser.add_argument("--targets", type=int, help="of each sample; all by default")


def run(options: argparse.Namespace) -> None:
    """Compare the tests for categorical columns by the blankets found in 50 to 200 rows.

    Samples networks that come with the package, and finds the blankets of all variables: false and missed members per
    target, distance of precision and recall to (1, 1), tests and milliseconds per target. The figures are means over
    targets and samples, then over networks. Results go to benchmarks/out/few_rows.json.
    """
    if options.quick:
        options.networks, options.rows, options.algorithms, options.seeds = ["asia"], [50], ["iamb"], 1
    known = {name: tiled_to(name, options.columns) for name in options.networks}
    every: list[Measured] = []
    for algorithm in options.algorithms:
        measured = []
        for rows, test, name in product(options.rows, options.tests, options.networks):
            measured.append(measure(known[name], name, rows, algorithm, test, options))
            report(f"{algorithm}, {name}, {rows} rows, {test}: {measured[-1].milliseconds:.1f} ms a target")
        print(f"\n{algorithm}, alpha {options.alpha:g}, mean over {', '.join(options.networks)}\n")
        print(table_of(measured), flush=True)
        every += measured
    save("few_rows", {"settings": vars(options), "measured": [asdict(one) for one in every]})
