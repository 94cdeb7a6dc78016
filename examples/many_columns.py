"""Search 20,000 columns in a second: one blanket, then the blankets of a hundred columns.

    python examples/many_columns.py

The data come from 540 copies of the Alarm network, joined by a few arcs: 1,000 rows of 19,980 columns. All columns are
candidates; none is removed beforehand.
"""

from __future__ import annotations

import time

import serape


def main() -> None:
    """Find blankets among very many columns."""
    network = serape.load_network("alarm").tile(540, seed=1)
    table = network.sample(1000, seed=1)
    targets = table.names[:100]
    print(f"{len(table.names):,} columns, {table.rows:,} rows")

    found = serape.markov_blanket(table, targets[0], alpha=0.0001)
    print(f"{found.tests:,} tests for {found.target}, in {found.seconds:.2f} s: {', '.join(found.blanket)}")
    print(f"true: {', '.join(network.markov_blanket(found.target))}")

    begin = time.perf_counter()
    accuracy = serape.compare(serape.blankets(table, targets, alpha=0.0001), network.graph)
    print(f"{len(targets)} blankets in {time.perf_counter() - begin:.2f} s")
    print(f"precision {accuracy.precision:.2f}, recall {accuracy.recall:.2f}")


if __name__ == "__main__":
    main()
