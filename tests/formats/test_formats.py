"""DOT, GraphML, DAGitty and bnlearn's model string."""

from __future__ import annotations

import io
import re
from pathlib import Path

import networkx as nx
import pytest

import serape
from serape.formats import bnlearn_text, dagitty_text, dot_text, graphml_text

MIXED: nx.DiGraph[str] = nx.DiGraph()
MIXED.add_nodes_from(["a b", "c", "d", "alone"])
MIXED.add_edge("c", "d", log_p=-2.302585092994046, given=("a b",), reliable=True, effect=None)
MIXED.add_edges_from([("a b", "c"), ("c", "a b")], log_p=float("-inf"))
SKELETON: nx.Graph[str] = nx.Graph([("a", "b")])


class TestDot:
    def test_arcs_and_undirected_edges(self) -> None:
        assert dot_text(MIXED, title="two", target="c") == (
            'digraph {\n  label="two"; labelloc=t;\n  node [shape=box, style=rounded];\n  "a b";\n'
            '  "c" [style="rounded,filled", fillcolor="#0072b2", fontcolor="#ffffff"];\n  "d";\n  "alone";\n'
            '  "c" -> "d" [tooltip="p = 0.1"];\n  "a b" -> "c" [dir=none, tooltip="p = 0"];\n}\n'
        )

    def test_skeleton(self) -> None:
        assert '  "a" -- "b";' in dot_text(SKELETON)
        assert dot_text(SKELETON).startswith("graph {")

    def test_quotes_and_backslashes(self) -> None:
        assert r'"q\"u\\o"' in dot_text(nx.Graph([('q"u\\o', "b")]))


class TestGraphml:
    def test_there_and_back(self) -> None:
        again = nx.read_graphml(io.BytesIO(graphml_text(MIXED).encode()))
        assert list(again) == list(MIXED)
        assert set(again.edges) == set(MIXED.edges)
        assert again.edges["c", "d"] == {
            "log_p": pytest.approx(-2.302585092994046), "given": "a b", "reliable": True, "directed": True,
        }  # fmt: skip
        assert not again.edges["a b", "c"]["directed"]
        assert not nx.read_graphml(io.BytesIO(graphml_text(SKELETON).encode())).is_directed()

    def test_what_xml_cannot_hold_is_refused(self) -> None:
        with pytest.raises(serape.DataError, match=r"'a\\x01' has the character '\\x01', which XML cannot hold"):
            graphml_text(nx.Graph([("a\x01", "b")]))

    def test_a_blanket(self) -> None:
        found = serape.markov_blanket(serape.load_network("asia").sample(2000, 1), "either", "iamb")
        dot = found.to_dot()
        assert '"either" [style="rounded,filled"' in dot
        assert dot.count(" -- ") == len(found.blanket) > 0


def test_dagitty() -> None:
    assert dagitty_text(MIXED) == 'pdag {\n"a b"\n"c"\n"d"\n"alone"\n"c" -> "d"\n"a b" -- "c"\n}\n'
    assert dagitty_text(nx.DiGraph([("a", "b")])) == 'dag {\n"a"\n"b"\n"a" -> "b"\n}\n'
    assert '"a" -- "b"' in dagitty_text(SKELETON)


class TestBnlearn:
    def test_parents_come_first(self) -> None:
        graph: nx.DiGraph[str] = nx.DiGraph([("c", "a"), ("b", "a"), ("c", "b")])
        assert bnlearn_text(graph) == "[c][b|c][a|c:b]\n"

    def test_every_parent_is_there(self) -> None:
        truth = serape.load_network("alarm")
        text = bnlearn_text(nx.DiGraph(truth.graph))
        for name, _, parents in re.findall(r"\[([^]|]+)(\|([^]]+))?\]", text):
            assert set(filter(None, parents.split(":"))) == set(truth.parents(name))
        assert text.count("[") == len(truth.variables)

    def test_names_with_a_meaning_are_refused(self) -> None:
        with pytest.raises(serape.DataError, match="'a:b' has ':', which has a meaning in bnlearn's model string"):
            bnlearn_text(nx.DiGraph([("a:b", "c")]))


@pytest.fixture(scope="module")
def found() -> serape.Structure:
    return serape.network(serape.load_network("asia").sample(5000, 1), "tabu")


class TestStructure:
    def test_every_format_has_the_edges(self, found: serape.Structure, tmp_path: Path) -> None:
        assert found.dag is not None
        arcs, edges = len(found.edges) - len(found.reversible), len(found.reversible)
        assert min(arcs, edges) > 0
        dot = found.to_dot()
        assert (dot.count(" -> "), dot.count("dir=none")) == (arcs + edges, edges)
        assert found.directions in dot
        dagitty = found.to_dagitty()
        assert (dagitty.count(" -> "), dagitty.count(" -- ")) == (arcs, edges)
        assert found.to_bnlearn() == bnlearn_text(found.dag)
        path = tmp_path / "net.graphml"
        assert found.to_graphml(path) == path.read_text()
        read = nx.read_graphml(path)
        assert set(read.edges) == set(found.graph.edges)
        assert all(read.edges[edge]["gain"] == found.graph.edges[edge]["gain"] for edge in found.graph.edges)

    def test_the_ending_of_a_file_gives_its_format(self, found: serape.Structure, tmp_path: Path) -> None:
        for ending, format_ in (("dot", "dot"), ("GV", "dot"), ("graphml", "graphml"), ("dagitty", "dagitty"),
                                ("bnlearn", "bnlearn"), ("json", "json"), ("txt", "json")):  # fmt: skip
            found.save(tmp_path / f"net.{ending}")
            assert (tmp_path / f"net.{ending}").read_text() == found.text(format_)
        with pytest.raises(serape.OptionError, match="format 'dott' is not known. Did you mean 'dot'"):
            found.text("dott")

    def test_records_have_p(self, found: serape.Structure) -> None:
        tested = serape.network(serape.load_network("asia").sample(500, 1), "pc-stable")
        edges = tested.to_dict()["edges"]
        assert edges
        for edge in edges:
            assert edge["p"] == pytest.approx(2.718281828459045 ** edge["log_p"], rel=1e-9)
            assert isinstance(edge["given"], list)
        assert found.evidence["p"] == [None] * len(found.edges)

    def test_a_skeleton(self) -> None:
        found = serape.skeleton(serape.load_network("asia").sample(500, 1))
        assert found.to_dagitty().startswith("pdag")
        assert found.directions == ""
        with pytest.raises(serape.DataError, match="a skeleton has no directions"):
            found.to_bnlearn()
