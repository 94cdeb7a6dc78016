"""All pairs of binary variables: seconds and pairs a second, with one thread and with two.

python benchmarks/all_pairs.py                     20,000 random columns of 1,000 rows
python benchmarks/all_pairs.py --thrombin FILE     KDD Cup 2001: an .npz with X (packed bits, rows × bytes) and y
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import serape


def main() -> None:
    """Print a line for each number of threads."""
    parser = argparse.ArgumentParser(description="All pairs of binary variables.")
    parser.add_argument("--columns", type=int, default=20_000)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--thrombin", help="an .npz with packed bits X and classes y")
    asked = parser.parse_args()
    if asked.thrombin is None:
        data = np.random.default_rng(0).integers(2, size=(asked.rows, asked.columns), dtype=np.uint8)
    else:
        with np.load(asked.thrombin) as file:
            bits = np.unpackbits(file["X"], axis=1)[:, : int(file["shape"][1])]
            data = np.column_stack([bits, file["y"]])
    table = serape.Table(data)
    for threads in (1, 2):
        started = time.perf_counter()
        found = serape.all_pairs(table, alpha=0.01, n_jobs=threads)
        seconds = time.perf_counter() - started
        print(
            f"{len(table.names):,} columns × {table.rows:,} rows, {threads} thread(s): {seconds:.2f} s, "
            f"{found.tests / seconds:.2e} pairs a second, {int(found.dependents.sum()) // 2:,} dependent"
        )


if __name__ == "__main__":
    main()
