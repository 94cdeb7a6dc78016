"""Structures: saved and loaded, fitted, oriented."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import to_hex

import serape
from oracles import undirected_pairs
from serape.results.pictures import _COLOURS, _DASHES
from serape.structure.graphs import cpdag


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
        assert serape.load_result(tmp_path / "bones.json") == skeleton
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
            assert found.dag is not None
            assert set(again.graph.edges) == set(found.dag.edges)
            assert nx.is_directed_acyclic_graph(found.dag)
            smokers = np.mean(np.asarray(again.sample(20_000, 2).column("smoke")) == "yes")
            assert abs(smokers - np.mean(np.asarray(table.column("smoke")) == "yes")) < 0.02

    def test_no_dag_where_none_agrees(self) -> None:
        """Undirected edges in a cycle of four have no directions without a new v-structure."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        for a, b in ("ab", "bc", "cd", "da"):
            graph.add_edges_from([(a, b), (b, a)])
        found = serape.network(serape.Table({name: [0, 1, 1] for name in "abcd"}), "pc-stable")
        odd = replace(found, graph=graph)
        assert odd.dag is None
        assert nx.is_directed_acyclic_graph(odd.fit().graph)


class TestClass:
    """A network has arrows only where the data, or knowledge, decide them."""

    @pytest.mark.parametrize("algorithm", ["mmhc", "h2pc", "tabu", "sca", "ges"])
    def test_is_that_of_its_members(self, algorithm: str) -> None:
        truth = serape.load_network("asia")
        found = serape.network(truth.sample(5000, 1), algorithm)
        assert found.dag is not None
        assert found.dag.to_undirected().edges == found.graph.to_undirected().edges
        index = {name: k for k, name in enumerate(found.graph)}
        parents = [[index[x] for x in found.dag.predecessors(name)] for name in index]
        assert cpdag(parents).to_networkx(list(index)).edges == found.graph.edges == found.cpdag.edges
        assert 0 < len(found.reversible) < len(found.edges)
        assert all(found.graph.has_edge(b, a) and (a, b) in found.edges for a, b in found.reversible)
        decided = len(found.edges) - len(found.reversible)
        words = f"{decided} of {len(found.edges)} directions are decided"
        assert words in found.title
        assert words in str(found)
        assert found.to_dict()["directions"] == {"decided": decided, "edges": len(found.edges)}

    @pytest.mark.parametrize("algorithm", ["mmhc", "tabu", "pc-stable"])
    def test_knowledge_directs_more(self, algorithm: str) -> None:
        table = serape.load_network("asia").sample(5000, 1)
        plain = serape.network(table, algorithm)
        a, b = plain.reversible[0]
        for x, y in ((a, b), (b, a)):
            for known in ({"required": [(x, y)]}, {"forbidden": [(y, x)]}, {"tiers": [[x], [y]]}):
                found = serape.network(table, algorithm, knowledge=known)
                assert (x, y) in found.edges
                assert not found.graph.has_edge(y, x)
                assert found.dag is not None
                assert found.dag.has_edge(x, y)

    def test_a_score_that_prefers_members_keeps_its_directions(self) -> None:
        found = serape.network(serape.load_network("asia").sample(5000, 1), "tabu", score="k2")
        assert found.directed
        assert 0 < len(found.reversible) < len(found.edges)
        assert f"{len(found.edges) - len(found.reversible)} of {len(found.edges)} directions are decided" in found.title
        assert any(f"directs {len(found.reversible)} of {len(found.edges)} edges" in note for note in found.notes)

    def test_the_member_does_not_depend_on_the_order_of_columns(self) -> None:
        table = serape.load_network("asia").sample(2000, 1)
        turned = serape.Table({name: table.column(name) for name in reversed(table.names)}, kinds="categorical")
        one, other = (serape.network(data, "tabu") for data in (table, turned))
        assert one.dag is not None
        assert other.dag is not None
        assert set(one.dag.edges) == set(other.dag.edges)
        assert {e: one.graph.edges[e]["gain"] for e in one.graph.edges} == pytest.approx(
            {e: other.graph.edges[e]["gain"] for e in one.graph.edges}
        )

    def test_compared_with_the_truth_in_words_and_picture_alike(self) -> None:
        truth = serape.load_network("asia")
        for seed in range(6):
            found = serape.network(truth.sample(300, seed), "tabu")
            told = found.compare(truth)
            figure = found.plot(truth=truth)
            drawn = Counter(
                (to_hex(patch.get_edgecolor()), str(patch.get_linestyle()))
                for patch in figure.axes[0].patches
                if str(patch.get_gid()).startswith(("arc", "edge"))
            )
            kinds = {kind: drawn[_COLOURS[kind], str(_DASHES[kind])] for kind in _COLOURS}
            assert kinds["missing"] == told.missing
            assert kinds["extra"] == told.extra
            assert kinds["turned"] == told.reversed
            assert kinds["half"] == told.half_directed
            assert told.shd == told.missing + told.extra + told.reversed + told.half_directed
            assert f"{told.half_directed} directed in one graph only" in str(told)

    def test_compared_under_the_same_knowledge(self) -> None:
        truth = serape.load_network("asia")
        arcs = [(a, b) for a, b in truth.graph.edges if b != "dysp"]
        known = {"required": arcs}
        found = serape.network(truth.sample(20_000, 1), "tabu", knowledge=known)
        assert found.compare(truth).shd == 0


class TestKinds:
    """Networks of any kinds of columns."""

    def test_continuous_columns(self) -> None:
        random = np.random.default_rng(0)
        a = random.normal(size=400)
        data = {"a": a, "b": a + random.normal(size=400), "g": np.where(a > 0, "x", "y")}
        assert serape.network(data).algorithm == "boss"
        found = serape.network(data, "hiton-pc")
        assert any("test 'residuals' was chosen because" in note for note in found.notes)
        assert len(found.edges) >= 2
        for algorithm in ("mmhc", "tabu", "ges", "sca", "auto"):
            with pytest.raises(serape.DataError, match="use algorithm='hiton-pc' or 'pc-stable'"):
                serape.network(data, algorithm, score="bic")
