"""What the scikit-learn selector costs beside the search it makes.

    python benchmarks/selector.py

Both are given the same columns as an array; the search has y in it already. Median of alternating runs.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import serape


def seconds(call: Callable[[], Any]) -> float:
    """Return how long a call takes."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def measure(name: str, X: Any, y: Any, repeats: int, **settings: Any) -> str:  # noqa: N803
    """Return a row: milliseconds of the search, of the selector, and their ratio."""
    both = np.column_stack([X, y])
    selector = serape.MarkovBlanketSelector(**settings)
    runs = [
        (seconds(lambda: serape.markov_blanket(both, X.shape[1], **settings)), seconds(lambda: selector.fit(X, y)))
        for _ in range(repeats)
    ]
    assert selector.blanket_ == serape.markov_blanket(both, X.shape[1], **settings).blanket
    search, fit = np.median(runs, axis=0)
    return f"{name:30}  {search * 1e3:7.1f} ms  {fit * 1e3:7.1f} ms  {fit / search:5.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    random = np.random.default_rng(0)
    bits = random.integers(0, 2, (1000, 20_000))
    label = (bits[:, 5] ^ (random.random(1000) < 0.1)) | (bits[:, 77] & bits[:, 99])
    numbers = random.normal(size=(1000, 2000))
    quantity = numbers[:, 3] + numbers[:, 4] + random.normal(size=1000)
    print(f"{'':30}  {'search':>10}  {'selector':>10}  ratio")
    for kind in (np.int64, np.uint8):
        name = f"1,000 × 20,000 bits, {kind.__name__}"
        print(measure(name, bits.astype(kind), label.astype(kind), repeats, alpha=0.05))
    print(measure("1,000 × 2,000 numbers", numbers, quantity, repeats, alpha=1e-5))
