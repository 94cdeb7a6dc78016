"""Rows drawn again: what halves and bootstraps find, beside one search in all rows, and what a draw costs.

    python benchmarks/stability.py

Networks are sampled twice; every third variable is a target.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import serape
from serape.data.resampling import Resampler
from serape.stability import SAMPLINGS, rows_of_draw

DRAWS = 50


def accuracy(name: str, rows: int, algorithm: str) -> None:
    """Print how many of the members are found and how many others, for every third variable of a network."""
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
                    table, target, draws=DRAWS, sampling=sampling, algorithm=algorithm, random_state=seed
                )
                found[f"{sampling}, a single draw"] = dict(drawn.frequencies)
                for threshold in (0.5, 0.9):
                    found[f"{sampling}, stable({threshold})"] = dict.fromkeys(drawn.stable(threshold), 1.0)
            for what, shares in found.items():
                right = sum(share for x, share in shares.items() if x in truth)
                answers.setdefault(what, []).append((right, sum(shares.values()) - right, len(truth)))
    print(f"{name}, {rows:,} rows, {algorithm}:")
    for what, counts in answers.items():
        right, wrong, true = np.array(counts).sum(axis=0)
        print(f"  {what:26} recall {right / true:.2f}  wrongly found a target {wrong / len(counts):.2f}")


def cost(what: str, table: serape.Table, target: str) -> None:
    """Print how long a draw takes beside a search."""
    resampler = Resampler(table)
    rows = rows_of_draw(table.rows, 0, "half", 0)
    search = best(lambda: serape.markov_blanket(table, target))
    draw = best(lambda: resampler.draw(rows))
    both = serape.stability(table, target, draws=20).seconds / 20
    print(
        f"{what}: one search in all rows {1e3 * search:.1f} ms; to draw a half {1e3 * draw:.1f} ms; "
        f"a draw with its search {1e3 * both:.1f} ms"
    )


def best(work: Callable[[], object]) -> float:
    """Return the shortest of five times."""
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


if __name__ == "__main__":
    wide = np.random.default_rng(0).integers(0, 2, (500, 20_000)).astype(np.uint8)
    cost("Alarm, 5,000 rows", serape.load_network("alarm").sample(5000, 1), "HR")
    cost("500 x 20,000 binary", serape.Table(wide), "x0")
    for network_name, size in (("alarm", 500), ("alarm", 5000), ("insurance", 500)):
        for method in ("iamb", "hiton-mb"):
            accuracy(network_name, size, method)
