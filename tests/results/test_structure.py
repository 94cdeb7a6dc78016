"""Structures: saved and loaded, fitted, oriented."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import serape
from oracles import undirected_pairs


class TestResult:
    def test_saved_as_json(self, tmp_path: Path) -> None:
        table = serape.load_network("asia").sample(2000, 1)
        for algorithm in ("pc-stable", "mmhc", "ges"):
            found = serape.network(table, algorithm)
            found.save(tmp_path / "found.json")
            kept = json.loads((tmp_path / "found.json").read_text())
            assert kept["format"] == "serape-structure-1"
            assert len(kept["edges"]) == len(found.edges)
            assert kept["variables"] == list(table.names)
            assert "Network of 8 variables" in str(found)
            again = serape.load_structure(tmp_path / "found.json")
            assert list(again.graph) == list(found.graph)
            assert {frozenset(e) for e in again.graph.edges} == {frozenset(e) for e in found.graph.edges}
            assert set(again.graph.edges) == set(found.graph.edges)
            for a, b in found.graph.edges:
                one, other = again.graph.edges[a, b], found.graph.edges[a, b]
                assert one.keys() == other.keys()
                for name in ("given", "effect_name"):
                    assert one.get(name) == other.get(name)
                for number in set(one) - {"given", "effect_name"}:
                    assert one[number] == pytest.approx(other[number], rel=1e-12, nan_ok=True)
            assert again.separating_sets == found.separating_sets
            assert again.edges == found.edges
            assert str(again) == str(found)
        skeleton = serape.skeleton(table)
        skeleton.save(tmp_path / "bones.json")
        assert undirected_pairs(serape.load_structure(tmp_path / "bones.json").graph) == undirected_pairs(
            skeleton.graph
        )
        with pytest.raises(serape.DataError, match="not a result"):
            serape.load_result(tmp_path / "bones.json")
        (tmp_path / "bones.json").write_text('{"format": "serape-structure-1", "finds": "network"}')
        with pytest.raises(serape.DataError, match="damaged"):
            serape.load_structure(tmp_path / "bones.json")

    def test_fitted_network_goes_to_bif_and_back(self, tmp_path: Path) -> None:
        truth = serape.load_network("asia")
        table = truth.sample(20_000, 1)
        for algorithm in ("hiton-pc", "mmhc", "ges"):
            found = serape.network(table, algorithm)
            fitted = found.fit()
            serape.write_bif(fitted, tmp_path / "net.bif")
            again = serape.read_bif(tmp_path / "net.bif")
            assert set(again.graph.edges) == set(found.dag.edges)
            assert nx.is_directed_acyclic_graph(found.dag)
            smokers = np.mean(np.asarray(again.sample(20_000, 2).column("smoke")) == "yes")
            assert abs(smokers - np.mean(np.asarray(table.column("smoke")) == "yes")) < 0.02

    def test_a_dag_is_given_where_none_agrees(self) -> None:
        """Open edges in a cycle of four have no direction without a new v-structure; some DAG is given all the same."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        for a, b in ("ab", "bc", "cd", "da"):
            graph.add_edges_from([(a, b), (b, a)])
        found = serape.network(serape.load_network("asia").sample(100, 1), "pc-stable")
        from dataclasses import replace

        assert nx.is_directed_acyclic_graph(replace(found, graph=graph).dag)
