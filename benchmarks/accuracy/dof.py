"""Full and adjusted degrees of freedom."""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import serape
from benchmarks.common.data import random_network, sample_network
from benchmarks.common.internals import DofRule

DOFS: tuple[DofRule, ...] = ("full", "adjusted")
ALGORITHMS = ("gs", "iamb", "pcmb", "hpc")


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--networks", type=int, default=10)


def run(options: argparse.Namespace) -> None:
    """Compare full with adjusted degrees of freedom: mean distance to the truth of four algorithms.

    Draws random networks of 30 nodes and samples them. The distance is √((1−precision)² + (1−recall)²): less is better.
    """
    networks, sizes = (1, (500,)) if options.quick else (options.networks, (500, 2000, 5000, 20000))
    print(f"mean distance to the truth over all nodes of {networks} random networks of 30 nodes, alpha 0.01")
    print(f"{'levels':8} {'rows':>6}" + "".join(f"  {a + ' full':>10} {'adjusted':>8}" for a in ALGORITHMS))
    for levels, rows in product(((2,), (2, 3, 4)), sizes):
        totals: dict[tuple[str, DofRule], float] = dict.fromkeys(product(ALGORITHMS, DOFS), 0.0)
        for network in range(networks):
            random = np.random.default_rng([network, rows, len(levels)])
            graph, counts = random_network(random, 30, levels)
            table = serape.Table(sample_network(random, graph, counts, rows))
            for name in graph:
                if table.levels(table.position(name)) < 2:
                    continue
                for algorithm, dof in totals:
                    found = serape.markov_blanket(table, name, algorithm=algorithm, dof=dof, alpha=0.01)
                    totals[algorithm, dof] += serape.compare(found, graph).distance / (30 * networks)
        label = "2" if len(levels) == 1 else "2 to 4"
        print(
            f"{label:8} {rows:6}"
            + "".join(f"  {totals[a, 'full']:10.3f} {totals[a, 'adjusted']:8.3f}" for a in ALGORITHMS),
            flush=True,
        )
