"""A perfect score: BIC on endless rows of a linear Gaussian network, whose covariances are known exactly.

Searches by score are checked with it, as searches by tests are with d-separation. Weights follow from the names of the
nodes, so that an arc has the same weight in any graph. They are between 0.4 and 1.2: effects cancel each other in
hardly any graph.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from serape.structure.scores import Score

if TYPE_CHECKING:
    import networkx as nx

ROWS = 1e13
"""A partial correlation of 2e-6 is seen."""


class PerfectScore(Score):
    """The score of a graph with its variables in some order."""

    name = "perfect"

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str]) -> None:
        import networkx as nx

        self.variables = tuple(order)
        index = {name: k for k, name in enumerate(order)}
        weights = np.zeros((len(order), len(order)))
        for a, b in graph.edges:
            random = np.random.default_rng([*a.encode(), 0, *b.encode()])
            weights[index[b], index[a]] = random.uniform(0.4, 1.2) * random.choice([-1, 1])
        effects = np.eye(len(order))  # of the noise of each node
        for name in nx.topological_sort(graph):
            for parent in np.flatnonzero(weights[index[name]]):
                effects[index[name]] += weights[index[name], parent] * effects[parent]
        self.covariance: NDArray[np.float64] = np.array([[math.fsum(a * b) for b in effects] for a in effects])

    def among(self, columns: Sequence[int]) -> PerfectScore:
        """Return the score of some of the variables, in this order; the others are not observed."""
        found = copy(self)
        found.variables = tuple(self.variables[k] for k in columns)
        found.covariance = self.covariance[np.ix_(columns, columns)]
        return found

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of a child with its parents; noise has variance 1, so that true families score about 0.

        Plain arithmetic, without libraries that round as the machine does: ties are broken alike everywhere.
        """
        family = [*parents, child]
        matrix = self.covariance[np.ix_(family, family)].tolist()
        for k in range(len(parents)):
            for row in matrix[k + 1 :]:
                factor = row[k] / matrix[k][k]
                for j in range(k, len(family)):
                    row[j] -= factor * matrix[k][j]
        variance = matrix[-1][-1]
        return -0.5 * ROWS * math.log(variance) - 0.5 * math.log(ROWS) * len(parents)
