"""Blankets of continuous and of mixed data as rows grow."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import serape
from benchmarks.common.internals import ALGORITHMS, Finds

Draw = Callable[["nx.DiGraph[str]", int, np.random.Generator], dict[str, Any]]

SAMPLES = {
    "gaussian.test": "A>C B>C B>D A>F D>F E>F G>F",
    "clgaussian.test": "A>D H>D B>F C>F B>E D>E A>G D>G E>G F>G",
}
"""The networks behind bnlearn's samples, from its documentation."""
OWN = {"gaussian": "partial-correlation", "mixed": "mixed"}
"""The tests of the models that the data follow."""


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


def accuracy(
    data: Iterable[tuple[nx.DiGraph[str], serape.Table]], algorithm: str, finds: Finds, test: str = "auto"
) -> tuple[float, float]:
    """Return mean precision and recall over all variables."""
    ask = serape.markov_blanket if finds == "blanket" else serape.parents_children
    found = [
        serape.compare(ask(table, name, algorithm, alpha=0.01, test=test), graph)
        for graph, table in data
        for name in table.names
    ]
    return float(np.mean([c.precision for c in found])), float(np.mean([c.recall for c in found]))


def print_rows(
    data: Sequence[Sequence[tuple[nx.DiGraph[str], serape.Table]]], sound: bool, tests: Sequence[str]
) -> None:
    """Print a row for each algorithm (or each sound one), and a cell for each set of data."""
    questions: tuple[Finds, ...] = ("blanket", "parents-children")
    for finds in questions:
        for name, algorithm in ALGORITHMS.items():
            if algorithm.answers(finds) and (algorithm.sound or not sound):
                measured = (accuracy(one, name, finds, test) for one, test in zip(data, tests, strict=True))
                cells = ["{:.3f} {:.3f}".format(*both) for both in measured]
                print(f"{finds} {name} | " + " | ".join(cells), flush=True)


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--rows", type=int, nargs="+", default=[100, 1000, 10_000, 50_000])
    parser.add_argument("--test", help="instead of the model's own tests: partial-correlation and mixed")
    parser.add_argument("--samples", type=Path, metavar="FOLDER", help="gaussian.test.csv.xz, clgaussian.test.csv.xz")


def run(options: argparse.Namespace) -> None:
    """Recover blankets of continuous and of mixed data as rows grow, with every sound algorithm.

    Ten random networks of 8 variables of each kind. Precision and recall are means over all variables of all networks;
    alpha is 0.01. With --samples: bnlearn's gaussian.test and clgaussian.test instead, with every algorithm.
    """
    if options.samples is not None:
        samples(options.samples, options.test)
        return
    draws: dict[str, Draw] = {"gaussian": draw_gaussian, "mixed": draw_mixed}
    count, sizes = (1, [1000]) if options.quick else (10, options.rows)
    for kind, draw in draws.items():
        random = np.random.default_rng(5)
        graphs = [random_graph(random, 8, 0.25) for _ in range(count)]
        data = [[(graph, serape.Table(draw(graph, rows, random))) for graph in graphs] for rows in sizes]
        print(f"\n{kind}: precision and recall | " + " | ".join(f"{n:,} rows" for n in sizes))
        print_rows(data, sound=True, tests=[options.test or OWN[kind]] * len(data))


def samples(folder: Path, test: str | None) -> None:
    """Print a table for bnlearn's samples."""
    data = []
    for name, arcs in SAMPLES.items():
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_edges_from((arc[0], arc[2]) for arc in arcs.split())
        data.append([(graph, serape.Table(folder / f"{name}.csv.xz"))])
    print("precision and recall | " + " | ".join(SAMPLES))
    print_rows(data, sound=False, tests=[test] * 2 if test else list(OWN.values()))
