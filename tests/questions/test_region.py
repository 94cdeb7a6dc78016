"""region: what lies around the target, and nothing more is tested."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import serape
from oracles import Spy, shuffled, undirected_pairs
from plain import random_dag


@pytest.mark.parametrize("algorithm", ["hiton-pc", "inter-iapc", "hpc"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_region_is_what_lies_around_the_target(algorithm: str, depth: int) -> None:
    random = np.random.default_rng(depth)
    for _ in range(15):
        graph = random_dag(random, 12, 0.15)
        target = str(random.choice(list(graph)))
        found = serape.region(shuffled(graph, random), target, depth, algorithm=algorithm)
        distance = nx.single_source_shortest_path_length(graph.to_undirected(), target, cutoff=depth)
        assert {name: found.nodes[name]["distance"] for name in found} == distance
        wanted = {
            frozenset(arc) for arc in graph.edges if min(distance.get(arc[0], 99), distance.get(arc[1], 99)) < depth
        }
        assert undirected_pairs(found) == wanted


def test_region_asks_only_what_it_needs() -> None:
    """A long chain: the far end is screened given nothing, and nobody asks for its neighbours."""
    graph = nx.DiGraph([(f"v{k}", f"v{k + 1}") for k in range(40)])
    spy = Spy(graph)
    found = serape.region(spy, "v0", 2, algorithm="hiton-pc")
    assert set(found) == {"v0", "v1", "v2"}
    assert frozenset(("v30", "v31")) not in spy.asked
    assert found.graph["tests"] < serape.skeleton(graph_oracle(graph), "hiton-pc").tests / 5


def graph_oracle(graph: nx.DiGraph[str]) -> serape.DSeparation:
    return serape.DSeparation(graph)


def test_region_keeps_what_has_grown() -> None:
    table = serape.load_network("pigs").sample(5000, 1)
    ticks = 0

    def stop(now: serape.Progress) -> None:
        nonlocal ticks
        del now
        ticks += 1
        raise KeyboardInterrupt

    with pytest.raises(serape.Interrupted) as stopped:
        serape.region(table, "p630400490", 6, progress=stop)
    assert ticks == 1
    assert "p630400490" in stopped.value.found
