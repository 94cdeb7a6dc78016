"""How near blankets come to the truth as rows grow, with continuous and with mixed data.

python benchmarks/recovery.py                     ten random networks of each kind, every sound algorithm
python benchmarks/recovery.py --rows 50000        the same with one number of rows
python benchmarks/recovery.py --samples FOLDER    bnlearn's gaussian.test and clgaussian.test, every algorithm

Precision and recall are means over all variables of all networks; alpha is 0.01.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from serape.local.registry import ALGORITHMS

Draw = Callable[["nx.DiGraph[str]", int, np.random.Generator], dict[str, Any]]

SAMPLES = {
    "gaussian.test": "A>C B>C B>D A>F D>F E>F G>F",
    "clgaussian.test": "A>D H>D B>F C>F B>E D>E A>G D>G E>G F>G",
}
"""The networks behind bnlearn's samples, from its documentation."""


def draw_gaussian(graph: nx.DiGraph[str], rows: int, random: np.random.Generator) -> dict[str, Any]:
    """Draw from a linear Gaussian network."""
    data: dict[str, Any] = {}
    for name in nx.topological_sort(graph):
        noise = random.normal(size=rows)
        data[name] = noise + sum(
            random.uniform(0.5, 1.0) * random.choice([-1, 1]) * data[p] for p in sorted(graph.predecessors(name))
        )
    return {name: data[name] for name in graph}


def draw_mixed(graph: nx.DiGraph[str], rows: int, random: np.random.Generator) -> dict[str, Any]:
    """Draw from a conditional Gaussian network: roots are categorical, and continuous variables have no such child."""
    data: dict[str, Any] = {}
    for name in nx.topological_sort(graph):
        parents = sorted(graph.predecessors(name))
        categorical = all(data[p].dtype.kind == "U" for p in parents) and (not parents or random.random() < 0.4)
        effect = random.normal(size=rows) * (0.0 if categorical else 1.0)
        for p in parents:
            if data[p].dtype.kind == "U":
                shift = dict(zip("abc", random.permutation([-1.2, 0.0, 1.2]), strict=True))
                effect = effect + np.vectorize(shift.get)(data[p])
            else:
                effect = effect + random.uniform(0.5, 1.0) * random.choice([-1, 1]) * data[p]
        if categorical:
            scores = effect[:, None] * np.array([1.0, 0.0, -1.0]) + random.gumbel(size=(rows, 3))
            data[name] = np.array(list("abc"))[scores.argmax(axis=1)]
        else:
            data[name] = effect
    return {name: data[name] for name in graph}


def random_graph(random: np.random.Generator, size: int, density: float) -> nx.DiGraph[str]:
    """Draw a directed acyclic graph."""
    order = random.permutation(size)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(f"v{k}" for k in range(size))
    for i in range(size):
        for j in range(i + 1, size):
            if random.random() < density:
                graph.add_edge(f"v{order[i]}", f"v{order[j]}")
    return graph


def truth(graph: nx.DiGraph[str], name: str, finds: str) -> set[str]:
    """Return the blanket or the neighbours of a variable."""
    near = {*graph.predecessors(name), *graph.successors(name)}
    if finds == "parents-children":
        return near
    spouses = {parent for child in graph.successors(name) for parent in graph.predecessors(child)}
    return (near | spouses) - {name}


def accuracy(data: Iterable[tuple[nx.DiGraph[str], serape.Table]], algorithm: str, finds: str) -> tuple[float, float]:
    """Return mean precision and recall over all variables."""
    ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
    found = []
    for graph, table in data:
        for name in table.names:
            members: Collection[str] = ask(table, name, algorithm, alpha=0.01).members
            found.append(serape.compare(members, truth(graph, name, finds)))
    return float(np.mean([c.precision for c in found])), float(np.mean([c.recall for c in found]))


def random_networks(rows: list[int]) -> None:
    """Print a table for ten networks of each kind."""
    draws: dict[str, Draw] = {"gaussian": draw_gaussian, "mixed": draw_mixed}
    for kind, draw in draws.items():
        random = np.random.default_rng(5)
        graphs = [random_graph(random, 8, 0.25) for _ in range(10)]
        data = {n: [(graph, serape.Table(draw(graph, n, random))) for graph in graphs] for n in rows}
        print(f"\n{kind}: precision and recall | " + " | ".join(f"{n:,} rows" for n in rows))
        for finds in ("blanket", "parents-children"):
            for name, algorithm in ALGORITHMS.items():
                if algorithm.sound and algorithm.answers(finds):
                    cells = ["{:.3f} {:.3f}".format(*accuracy(data[n], name, finds)) for n in rows]
                    print(f"{finds} {name} | " + " | ".join(cells), flush=True)


def samples(folder: Path) -> None:
    """Print a table for bnlearn's samples."""
    data = []
    for name, arcs in SAMPLES.items():
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((arc[0], arc[2]) for arc in arcs.split())
        data.append([(graph, serape.Table(folder / f"{name}.csv.xz"))])
    print("precision and recall | " + " | ".join(SAMPLES))
    for finds in ("blanket", "parents-children"):
        for name, algorithm in ALGORITHMS.items():
            if algorithm.answers(finds):
                cells = ["{:.3f} {:.3f}".format(*accuracy(one, name, finds)) for one in data]
                print(f"{finds} {name} | " + " | ".join(cells), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="How near blankets come to the truth as rows grow.")
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 10_000, 50_000])
    parser.add_argument("--samples", type=Path, help="folder with gaussian.test.csv.xz and clgaussian.test.csv.xz")
    asked = parser.parse_args()
    if asked.samples is None:
        random_networks(asked.rows)
    else:
        samples(asked.samples)
