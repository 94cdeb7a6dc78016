"""Tests and time of fast-iamb beside iamb and inter-iamb, blankets of all columns, on the same data in one run.

Yaramakala and Margaritis (2005) report that Fast-IAMB took 68 to 82 % of IAMB's time and 52 to 72 % of Inter-IAMB's.

    python benchmarks/incremental.py [FILE.csv …] [--missing drop] [--ignore COLUMN]

Without files it draws random networks of 30 nodes. All three are run with the paper's rule of reliability (5 rows in
the mean cell) and alpha 0.05, one thread, alternating; times are medians of five runs. Columns that are not categorical
are left out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import serape
from degrees_of_freedom import random_network, sample

ALGORITHMS = ("fast-iamb", "iamb", "inter-iamb")


def measure(name: str, table: serape.Table) -> None:
    """Run the three and print a line each."""
    targets = table.varying
    times: dict[str, list[float]] = {algorithm: [] for algorithm in ALGORITHMS}
    tests, fitness = dict.fromkeys(ALGORITHMS, 0), dict.fromkeys(ALGORITHMS, 0.0)
    for repeat in range(5):
        for algorithm in ALGORITHMS:
            begin = time.perf_counter()
            found = [serape.markov_blanket(table, t, algorithm=algorithm, reliability="cells") for t in targets]
            times[algorithm].append(time.perf_counter() - begin)
            if repeat == 0:
                tests[algorithm] = sum(f.tests for f in found)
                for f in found:
                    fitness[algorithm] += serape.kl_fitness(table, f.target, f.blanket) / len(targets)
    seconds = {algorithm: statistics.median(values) for algorithm, values in times.items()}
    print(f"{name}: {table.rows:,} rows, {len(targets)} targets")
    for algorithm in ALGORITHMS:
        line = f"  {algorithm:10} {tests[algorithm]:8,} tests, {1e3 * seconds[algorithm]:8.1f} ms, "
        line += f"KL fitness {fitness[algorithm]:.5f}"
        for other in ALGORITHMS[1:] if algorithm == "fast-iamb" else ():
            time_share, test_share = seconds[algorithm] / seconds[other], tests[algorithm] / tests[other]
            line += f"; {time_share:.0%} of {other}'s time, {test_share:.0%} of its tests"
        print(line)


def main() -> None:
    """Measure the files, or generated data."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--missing", choices=["error", "drop", "level"], default="error")
    parser.add_argument("--ignore", action="append", default=[])
    options = parser.parse_args()
    for path in options.files:
        table = serape.Table(path, missing=options.missing, ignore=options.ignore)
        if table.continuous:
            names = [*options.ignore, *(table.names[k] for k in table.continuous)]
            table = serape.Table(path, missing=options.missing, ignore=names)
        measure(path.name, table)
    if not options.files:
        for seed, rows in ((0, 5000), (1, 20_000), (2, 50_000)):
            random = np.random.default_rng(seed)
            graph, levels = random_network(random, 30, (2, 3, 4))
            measure(f"random network {seed}", serape.Table(sample(random, graph, levels, rows)))


if __name__ == "__main__":
    main()
