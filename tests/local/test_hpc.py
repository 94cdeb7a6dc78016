"""HPC: the supersets of the neighbours and of the spouses."""

from __future__ import annotations

import serape
from serape.data.example import clinic_graph
from serape.local.hpc import de_pcs, de_sps, hpc


def test_supersets_of_hpc() -> None:
    """DE-PCS holds all neighbours, DE-SPS all spouses that DE-PCS does not."""
    graph = clinic_graph()
    oracle = serape.DSeparation(graph)
    for target, name in enumerate(oracle.variables):
        search = serape.Search(oracle)
        pcs, d_sep = de_pcs(search, target)
        sps = de_sps(search, target, pcs, d_sep)
        near = {oracle.variables.index(v) for v in (*graph.predecessors(name), *graph.successors(name))}
        spouses = {
            oracle.variables.index(p) for c in graph.successors(name) for p in graph.predecessors(c) if p != name
        }
        assert near <= set(pcs)
        assert spouses <= {*pcs, *sps}
        assert set(hpc(search, target)) == near
