"""Spouses and the common children they are reported with."""

from __future__ import annotations

import pytest

import serape
from serape.data.example import clinic_graph


@pytest.mark.parametrize("algorithm", ["mmmb", "hiton-mb", "pcmb", "ipc-mb", "dos", "hpc", "hpc-mb"])
def test_spouses_come_with_the_common_children(algorithm: str) -> None:
    graph = clinic_graph()
    for target in graph:
        found = serape.markov_blanket(serape.DSeparation(graph), target, algorithm=algorithm)
        assert found.parents_children is not None
        assert found.spouses is not None
        assert set(found.parents_children) == set(graph.predecessors(target)) | set(graph.successors(target))
        assert set(found.blanket) == set(found.parents_children) | set(found.spouses)
        for spouse, children in found.spouses.items():
            common = set(graph.successors(spouse)) & set(graph.successors(target))
            assert set(children) >= common  # a child's descendant that is a neighbour of both would show as well
            assert common
