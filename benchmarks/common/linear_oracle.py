"""A perfect test whose associations have strengths: those of a linear-Gaussian model of the graph."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import serape

if TYPE_CHECKING:
    import networkx as nx

Arc = tuple[str, str]


def draw_weights(graph: nx.DiGraph[str], random: np.random.Generator) -> dict[Arc, float]:
    """Draw the weight of every arc: from 0.3 to 1.5, or the negative."""
    return {arc: float(random.uniform(0.3, 1.5) * random.choice([-1, 1])) for arc in graph.edges}


class LinearOracle(serape.IndependenceTest):
    """d-separation decides; among dependent pairs, the one with the larger partial correlation is the stronger.

    To `serape.DSeparation`, all dependent pairs are equally strong, so that the order of the columns decides which of
    them comes first. Here each variable is the weighted sum of its parents and noise of variance 1, and the partial
    correlations are those of the model, not of a sample.
    """

    name = "linear-oracle"

    def __init__(self, graph: nx.DiGraph[str], order: Sequence[str], weights: Mapping[Arc, float]) -> None:
        self._oracle = serape.DSeparation(graph, order)
        self.variables = self._oracle.variables
        index = {name: k for k, name in enumerate(order)}
        effects = np.zeros((len(order), len(order)))
        for parent, child in graph.edges:
            effects[index[child], index[parent]] = weights[parent, child]
        total = np.linalg.inv(np.eye(len(order)) - effects)
        self.covariance = total @ total.T

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> serape.Outcome:
        """Test whether X and Y are d-separated by the given set; a dependent pair has its partial correlation."""
        outcome = self._oracle.test(x, y, given)
        if outcome.log_p == 0.0:
            return outcome
        chosen = np.array([x, y, *given], int)
        inverse = np.linalg.inv(self.covariance[np.ix_(chosen, chosen)])
        squared = float(inverse[0, 1] ** 2 / (inverse[0, 0] * inverse[1, 1]))
        strength = -math.log1p(-min(squared, 1 - 1e-15))
        return serape.Outcome(strength, 1.0, -100.0 - strength, reliable=True)
