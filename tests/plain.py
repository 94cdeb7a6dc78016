"""Plain twins: slow, obvious implementations that the fast ones are compared with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import stats

import serape
from serape import Outcome, Table
from serape.independence.base import IndependenceTest
from serape.networks import Network

# Peña, Björkegren and Tegnér 2005, Table 2.
PENA_2005_A = nx.DiGraph([("T", "Q"), ("P", "Q"), ("P", "R"), ("R", "S"), ("Q", "S")])
PENA_2005_B = nx.DiGraph([("P", "Q"), ("Q", "T"), ("T", "S"), ("P", "R"), ("R", "S")])


class PlainContingency(IndependenceTest):
    """G² and X² by the formula, stratum by stratum, in floating point."""

    name = "plain"

    def __init__(
        self,
        table: Table,
        statistic: str = "g2",
        dof: str = "full",
        reliability: str | None = "dof",
        minimum: float = 5.0,
    ) -> None:
        self.table = table
        self.variables = table.names
        self.rows = table.rows
        self.statistic = statistic
        self.dof = dof
        self.reliability = reliability
        self.minimum = minimum
        self.codes = [table.packed.codes(k).astype(np.int64) for k in range(len(table.names))]

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        levels_x, levels_y = self.table.levels(x), self.table.levels(y)
        strata = math.prod(self.table.levels(z) for z in given)
        total, adjusted = 0.0, 0
        for rows in self._strata(given):
            counts = np.zeros((levels_x, levels_y))
            np.add.at(counts, (self.codes[x][rows], self.codes[y][rows]), 1)
            counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
            expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
            if self.statistic == "g2":
                seen = counts > 0
                total += 2 * float((counts[seen] * np.log(counts[seen] / expected[seen])).sum())
            else:
                total += float(((counts - expected) ** 2 / expected).sum())
            adjusted += (counts.shape[0] - 1) * (counts.shape[1] - 1)
        full = (levels_x - 1) * (levels_y - 1) * strata
        dof = full if self.dof == "full" else adjusted
        enough = {
            None: True,
            "dof": self.table.rows >= self.minimum * full,
            "cells": self.table.rows >= self.minimum * levels_x * levels_y * strata,
        }[self.reliability]
        log_p = float(stats.chi2.logsf(max(total, 0.0), dof)) if dof else math.nan
        return Outcome(max(total, 0.0), dof, log_p, bool(enough and dof > 0))

    def _strata(self, given: Sequence[int]) -> list[NDArray[np.intp]]:
        if not given:
            return [np.arange(self.table.rows)]
        combined = np.stack([self.codes[z] for z in given], axis=1)
        _, inverse = np.unique(combined, axis=0, return_inverse=True)
        return [np.flatnonzero(inverse.ravel() == s) for s in range(inverse.max() + 1)]


def random_dag(random: np.random.Generator, nodes: int, density: float) -> nx.DiGraph[str]:
    """Draw a DAG with shuffled names, so that neither names nor positions tell the order."""
    names = [f"n{k}" for k in random.permutation(nodes)]
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(str(n) for n in random.permutation(names))
    for a, b in product(range(nodes), repeat=2):
        if a < b and random.random() < density:
            graph.add_edge(names[a], names[b])
    return graph


def true_blanket(graph: nx.DiGraph[str], target: str) -> set[str]:
    """Read the blanket off the graph: parents, children and the children's other parents."""
    children = set(graph.successors(target))
    spouses = {p for c in children for p in graph.predecessors(c)}
    return (set(graph.predecessors(target)) | children | spouses) - {target}


def random_table(random: np.random.Generator, rows: int, levels: Sequence[int], dependence: float = 0.5) -> Table:
    """Draw columns of so many levels, each partly copied from one before it."""
    columns: list[NDArray[np.int64]] = []
    for k, count in enumerate(levels):
        own = random.integers(count, size=rows)
        if k:
            other = columns[int(random.integers(k))]
            own = np.where(random.random(rows) < dependence, other % count, own)
        columns.append(own)
    declared = {
        f"c{k}": np.array([f"l{v:03}" for v in range(count)], object)[column]
        for k, (column, count) in enumerate(zip(columns, levels, strict=True))
    }
    return Table(declared, kinds="categorical")


def random_network(random: np.random.Generator, nodes: int, density: float = 0.4, most_levels: int = 3) -> Network:
    """Draw a network on a random DAG; some probabilities are zero."""
    graph = random_dag(random, nodes, density)
    levels = {n: [f"{n}.{k}" for k in range(random.integers(2, most_levels + 1))] for n in graph}
    parents = {n: list(graph.predecessors(n)) for n in graph}
    cpts = {}
    for n in graph:
        shape = math.prod(len(levels[p]) for p in parents[n]), len(levels[n])
        cpt = random.exponential(size=shape) * (random.random(shape) < 0.8) + 1e-3 * (random.random(shape) < 0.5)
        cpt[:, 0] += 0.01
        cpts[n] = cpt / cpt.sum(axis=1, keepdims=True)
    return Network(levels, parents, cpts)


def joint_distribution(network: Network) -> NDArray[np.float64]:
    """Multiply everything out: an array with one axis for every variable, in the order declared."""
    index = {name: k for k, name in enumerate(network.variables)}
    sizes = [len(network.levels(name)) for name in network.variables]
    joint = np.ones(sizes)
    for cell in product(*map(range, sizes)):
        for name in network.variables:
            row = 0
            for parent in network.parents(name):
                row = row * sizes[index[parent]] + cell[index[parent]]
            joint[cell] *= network.cpt(name)[row, cell[index[name]]]
    return joint


def rain() -> Network:
    return Network(
        {"rain": ["no", "yes"], "sprinkler": ["off", "on"], "grass": ["dry", "damp", "wet"]},
        {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
        {
            "rain": [0.8, 0.2],
            "sprinkler": [[0.6, 0.4], [0.99, 0.01]],
            "grass": np.array([[1, 0, 0], [0.1, 0.4, 0.5], [0.2, 0.3, 0.5], [0, 0.1, 0.9]]),
        },
    )


def codes_of(table: serape.Table, network: Network, name: str) -> NDArray[np.int64]:
    return table.packed.codes(network.variables.index(name)).astype(np.int64)
