"""Which degrees of freedom find blankets nearer to the truth?

Draws random networks, samples them, and compares the blankets that algorithms of several families find with full and
with adjusted degrees of freedom. Prints the mean Euclidean distance to the truth, √((1−precision)² + (1−recall)²): less
is better.

    python benchmarks/degrees_of_freedom.py [--networks 10]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable
from itertools import product
from typing import Literal

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import serape

Dof = Literal["full", "adjusted"]
DOFS: tuple[Dof, ...] = ("full", "adjusted")
ALGORITHMS = ("gs", "iamb", "pcmb", "hpc")


def random_network(
    random: np.random.Generator, nodes: int, levels: tuple[int, ...]
) -> tuple[nx.DiGraph[str], dict[str, int]]:
    """Draw a DAG in which a node has 0 to 3 parents among the ten before it, and numbers of levels."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    names = [f"v{k}" for k in range(nodes)]
    graph.add_nodes_from(names)
    for k, name in enumerate(names):
        near = names[max(0, k - 10) : k]
        for parent in random.choice(near, min(len(near), int(random.integers(4))), replace=False) if near else ():
            graph.add_edge(str(parent), name)
    return graph, {name: int(random.choice(levels)) for name in names}


def sample(
    random: np.random.Generator, graph: nx.DiGraph[str], levels: dict[str, int], rows: int
) -> dict[str, NDArray[np.int64]]:
    """Sample a network whose conditional distributions are Dirichlet draws."""
    columns: dict[str, NDArray[np.int64]] = {}
    for name in nx.topological_sort(graph):
        stratum = np.zeros(rows, np.int64)
        strata = 1
        for parent in graph.predecessors(name):
            stratum = stratum * levels[parent] + columns[parent]
            strata *= levels[parent]
        table = random.dirichlet(np.full(levels[name], 0.7), strata).cumsum(axis=1)
        columns[name] = (random.random(rows)[:, None] > table[stratum]).sum(axis=1).clip(max=levels[name] - 1)
    return columns


def distance(found: Iterable[str], truth: Iterable[str]) -> float:
    """Return the distance to perfect precision and recall; empty output has precision 1, empty truth recall 1."""
    found, truth = set(found), set(truth)
    precision = len(found & truth) / len(found) if found else 1.0
    recall = len(found & truth) / len(truth) if truth else 1.0
    return math.hypot(1 - precision, 1 - recall)


def main() -> None:
    """Run the comparison and print it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", type=int, default=10)
    networks: int = parser.parse_args().networks
    print(f"mean distance to the truth over all nodes of {networks} random networks of 30 nodes, alpha 0.01")
    print(f"{'levels':8} {'rows':>6}" + "".join(f"  {a + ' full':>10} {'adjusted':>8}" for a in ALGORITHMS))
    for levels in ((2,), (2, 3, 4)):
        for rows in (500, 2000, 5000, 20000):
            totals: dict[tuple[str, Dof], float] = dict.fromkeys(product(ALGORITHMS, DOFS), 0.0)
            for network in range(networks):
                random = np.random.default_rng([network, rows, len(levels)])
                graph, counts = random_network(random, 30, levels)
                table = serape.Table(sample(random, graph, counts, rows))
                oracle = serape.DSeparation(graph)
                for name in graph:
                    if table.levels(table.position(name)) < 2:
                        continue
                    truth = serape.markov_blanket(oracle, name).blanket
                    for algorithm, dof in totals:
                        found = serape.markov_blanket(table, name, algorithm=algorithm, dof=dof, alpha=0.01)
                        totals[algorithm, dof] += distance(found.blanket, truth) / (30 * networks)
            label = "2" if len(levels) == 1 else "2 to 4"
            print(
                f"{label:8} {rows:6}"
                + "".join(f"  {totals[a, 'full']:10.3f} {totals[a, 'adjusted']:8.3f}" for a in ALGORITHMS),
                flush=True,
            )


if __name__ == "__main__":
    main()
