"""Oracles that several test files share, and graphs as they see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx as nx
import numpy as np

import serape
from serape.independence.outcomes import Candidates, Outcome, Poll
from serape.independence.screens import ScreenResult
from serape.structure.graphs import PartlyDirected, cpdag


def completed(graph: nx.DiGraph[str]) -> nx.DiGraph[str]:
    """Return the completed graph of a DAG."""
    names = list(graph)
    return cpdag(PartlyDirected.of_networkx(graph, names).parents).to_networkx(names)


def shuffled(graph: nx.DiGraph[str], random: np.random.Generator) -> serape.DSeparation:
    return serape.DSeparation(graph, [str(node) for node in random.permutation(list(graph))])


def undirected_pairs(graph: nx.Graph[str]) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in graph.edges}


class Spy(serape.DSeparation):
    """An oracle that remembers which pairs it was asked about."""

    def __init__(self, graph: nx.DiGraph[Any], order: Sequence[Any] | None = None) -> None:
        super().__init__(graph, order)
        self.asked: set[frozenset[str]] = set()

    def test(self, x: int, y: int, given: Sequence[int] = ()) -> Outcome:
        self.asked.add(frozenset((self.variables[x], self.variables[y])))
        return super().test(x, y, given)

    def screen(
        self,
        target: int,
        candidates: Candidates,
        given: Sequence[int] = (),
        *,
        threads: int = 1,
        poll: Poll | None = None,
    ) -> ScreenResult:
        self.asked.update(frozenset((self.variables[target], self.variables[int(x)])) for x in candidates)
        return super().screen(target, candidates, given, threads=threads, poll=poll)
