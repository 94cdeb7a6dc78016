"""Halves and bootstraps of the rows."""

from __future__ import annotations

import argparse

import numpy as np

import serape
from benchmarks.common.internals import SAMPLINGS, Resampler, rows_of_draw
from benchmarks.common.timing import alternating


def run(options: argparse.Namespace) -> None:
    """Compare halves and bootstraps of the rows with one search in all rows, and time a draw.

    Networks are sampled twice; every third variable is a target.
    """
    columns, draws = (1000, 4) if options.quick else (20_000, 50)
    wide = np.random.default_rng(0).integers(0, 2, (500, columns)).astype(np.uint8)
    cost("Alarm, 5,000 rows", serape.load_network("alarm").sample(5000, 1), "HR")
    cost(f"500 × {columns:,} binary", serape.Table(wide), "x0")
    for name, rows in (("asia", 500),) if options.quick else (("alarm", 500), ("alarm", 5000), ("insurance", 500)):
        for algorithm in ("iamb", "hiton-mb"):
            accuracy(name, rows, algorithm, draws)


def accuracy(name: str, rows: int, algorithm: str, draws: int) -> None:
    """Print how many members are found and how many other variables, for every third variable of a network."""
    network = serape.load_network(name)
    answers: dict[str, list[tuple[float, float, int]]] = {}
    for seed in range(2):
        table = network.sample(rows, seed)
        for target in network.variables[::3]:
            truth = set(network.markov_blanket(target))
            if not truth or table.is_constant(table.position(target)):
                continue
            one = dict.fromkeys(serape.markov_blanket(table, target, algorithm).blanket, 1.0)
            found = {"one search in all rows": one}
            for sampling in SAMPLINGS:
                drawn = serape.stability(
                    table, target, draws=draws, sampling=sampling, algorithm=algorithm, random_state=seed
                )
                found[f"{sampling}, a single draw"] = dict(drawn.frequencies)
                for threshold in (0.5, 0.9):
                    found[f"{sampling}, stable({threshold})"] = dict.fromkeys(drawn.stable(threshold), 1.0)
            for rule, shares in found.items():
                right = sum(share for x, share in shares.items() if x in truth)
                answers.setdefault(rule, []).append((right, sum(shares.values()) - right, len(truth)))
    print(f"{name}, {rows:,} rows, {algorithm}:")
    for rule, counts in answers.items():
        right, wrong, true = np.array(counts).sum(axis=0)
        print(f"  {rule:26} recall {right / true:.2f}  wrongly found a target {wrong / len(counts):.2f}")


def cost(title: str, table: serape.Table, target: str) -> None:
    """Print how long a draw takes beside a search."""
    resampler = Resampler(table)
    rows = rows_of_draw(table.rows, 0, "half", 0)
    jobs = {"search": lambda: serape.markov_blanket(table, target), "draw": lambda: resampler.draw(rows)}
    seconds = alternating(jobs, 5)
    both = serape.stability(table, target, draws=20).seconds / 20
    print(
        f"{title}: one search in all rows {1e3 * seconds['search']:.1f} ms; to draw a half "
        f"{1e3 * seconds['draw']:.1f} ms; a draw with its search {1e3 * both:.1f} ms"
    )
