"""Use serape as a first screen for another tool: the region of a target, and what is known about it.

python examples/prescreen.py
python examples/prescreen.py causal-learn    (searches on with causal-learn, if it is installed)
"""

from __future__ import annotations

import sys

import networkx as nx

import serape
import serape.bridges


def main() -> None:
    """Find a region of a large network, and hand it over."""
    truth = serape.load_network("hepar2")
    rows = truth.sample(5000, seed=1)
    region = serape.region(rows, "Cirrhosis", depth=2)
    columns, known = serape.bridges.prescreened(region)
    print(f"{len(columns)} of {len(rows.names)} columns: {', '.join(columns)}")
    print(f"{len(region.edges)} pairs are adjacent, {len(known.forbidden_pairs)} are not")
    if "causal-learn" in sys.argv:
        search_on(rows, region)


def search_on(rows: serape.Table, region: nx.Graph[str]) -> None:
    """Run causal-learn's PC on the columns of the region; the pairs that are not adjacent are not tested again."""
    from causallearn.search.ConstraintBased.PC import pc

    from serape.bridges import as_networkx, causal_learn

    columns, knowledge = causal_learn.hand_over(region)
    codes = rows.to_pandas()[columns].apply(lambda column: column.astype("category").cat.codes).to_numpy()
    found = pc(codes, indep_test="gsq", node_names=columns, background_knowledge=knowledge, show_progress=False)
    graph = as_networkx(found)
    for a, b in graph.edges:
        if not graph.has_edge(b, a):
            print(a, "→", b)
        elif a < b:
            print(a, "–", b)


if __name__ == "__main__":
    main()
