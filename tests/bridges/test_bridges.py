"""Graphs, networks and knowledge to and from the real packages; `make test-bridges` installs them."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import docstrings
import serape
import serape.bridges
from serape.bridges import as_networkx, causal_learn, pgmpy, pyagrum
from serape.formats import dot_text

pytestmark = pytest.mark.filterwarnings("ignore")  # of the other packages

MODULES = {"causallearn": causal_learn, "pgmpy": pgmpy, "pyagrum": pyagrum}
MIXED: nx.DiGraph[str] = nx.DiGraph([("a b", "c"), ("d", "c"), ("c", "e"), ("a b", "f"), ("f", "a b")])
MIXED.add_node("alone")
SKELETON: nx.Graph[str] = nx.Graph([("a", "b"), ("b", "c")])
NETWORK = serape.Network(
    {"my age": ["<40", "40 to 60", "60+"], "b": ["no", "yes"], "c.1": ["0", "1"]},
    {"c.1": ["my age", "b"], "b": ["my age"]},
    {
        "my age": [[0.2, 0.3, 0.5]],
        "b": [[0.1, 0.9], [0.25, 0.75], [0.6, 0.4]],
        "c.1": [[0.11, 0.89], [0.12, 0.88], [0.21, 0.79], [0.22, 0.78], [0.31, 0.69], [0.32, 0.68]],
    },
)


@pytest.fixture(params=MODULES)
def bridge(request: pytest.FixtureRequest) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(request.param)
    return MODULES[request.param]


def test_examples(bridge: Any) -> None:
    docstrings.run(docstrings.examples_of(bridge, bridge.__name__))


@pytest.mark.parametrize("graph", [MIXED, SKELETON, NETWORK.graph], ids=["mixed", "skeleton", "directed"])
def test_graphs_there_and_back(bridge: Any, graph: nx.Graph[str]) -> None:
    again = as_networkx(bridge.export_graph(graph))
    assert set(again.nodes) == set(graph.nodes)
    assert set(again.edges) == set(nx.DiGraph(graph).edges)


def test_structures_are_exported_and_compared(bridge: Any) -> None:
    truth = serape.load_network("asia")
    found = serape.network(truth.sample(5000, 1), "ges")
    method = {causal_learn: found.to_causal_learn, pgmpy: found.to_pgmpy, pyagrum: found.to_pyagrum}[bridge]
    assert set(as_networkx(method()).edges) == set(found.graph.edges)
    other = bridge.export_graph(nx.DiGraph(truth.graph))
    assert found.compare(other) == found.compare(truth)
    found.plot(truth=other)


class TestNetworks:
    @pytest.fixture(params=["pgmpy", "pyagrum"])
    def bridge(self, request: pytest.FixtureRequest) -> Any:
        pytest.importorskip(request.param)
        return MODULES[request.param]

    def test_there_and_back(self, bridge: Any) -> None:
        for network in (NETWORK, serape.load_network("alarm")):
            again = bridge.import_network(bridge.export_network(network))
            assert set(again.variables) == set(network.variables)
            for name in network.variables:
                assert again.levels(name) == network.levels(name)
                assert again.parents(name) == network.parents(name)
                np.testing.assert_allclose(again.cpt(name), network.cpt(name), atol=1e-4)
            assert set(as_networkx(bridge.export_network(network)).edges) == set(network.graph.edges)

    def test_probabilities_mean_the_same(self, bridge: Any) -> None:
        """The package's own inference gives P(c | age) as summed by hand."""
        model = bridge.export_network(NETWORK)
        expected = 0.25 * 0.79 + 0.75 * 0.78  # of c = 1 given 40 to 60
        if bridge is pgmpy:
            from pgmpy.inference import VariableElimination

            answer = VariableElimination(model).query(["c.1"], {"my age": "40 to 60"}, show_progress=False)
            assert answer.get_value(**{"c.1": "1"}) == pytest.approx(expected)
        else:
            import pyagrum as gum

            inference = gum.LazyPropagation(model)
            inference.setEvidence({"my age": "40 to 60"})
            assert inference.posterior("c.1")[1] == pytest.approx(expected)


@pytest.mark.parametrize("package", ["pgmpy", "pyagrum"])
def test_other_packages_read_our_bif(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    odd = serape.Network(
        {"table": ["<40", "2.5", "-3", "40 to 60", "(1,2]"], "my b": ["default", 'q"//{']},
        {"my b": ["table"]},
        {"table": [[0.1, 0.2, 0.3, 0.3, 0.1]], "my b": [[k / 10, 1 - k / 10] for k in range(1, 6)]},
    )
    for network in (odd, NETWORK, *map(serape.load_network, ("asia", "alarm", "hailfinder"))):
        path = tmp_path / "net.bif"
        notes = serape.write_bif(network, path)
        assert serape.read_bif(path) == network
        assert bool(notes) == ("// serape:" in path.read_text())
        read = _read(package, path)
        assert len(read.graph.edges) == len(network.graph.edges)
        assert [len(read.levels(name)) for name in read.variables] == [
            len(network.levels(name)) for name in network.variables
        ]
        if not notes:
            assert read.variables == network.variables
        renamed = dict(zip(network.variables, read.variables, strict=True))
        for own, name in renamed.items():
            np.testing.assert_allclose(_in_order(read, name), _in_order(network, own, renamed), atol=1e-4)


def _read(package: str, path: Path) -> serape.Network:
    if package == "pgmpy":
        from pgmpy.readwrite import BIFReader

        return pgmpy.import_network(BIFReader(str(path)).get_model())
    import pyagrum as gum

    return pyagrum.import_network(gum.loadBN(str(path)))


def _in_order(network: serape.Network, name: str, names: dict[str, str] | None = None) -> Any:
    """Return the probabilities with the parents in the order of their names."""
    parents = [(names or {}).get(parent, parent) for parent in network.parents(name)]
    sizes = [len(network.levels(parent)) for parent in network.parents(name)]
    table = network.cpt(name).reshape(*sizes, -1)
    return table.transpose(*sorted(range(len(parents)), key=parents.__getitem__), len(parents))


class TestHandOver:
    """A region's columns and knowledge make another tool's search small, and hold in its answer."""

    def test_causal_learn(self) -> None:
        pytest.importorskip("causallearn")
        from causallearn.search.ConstraintBased.PC import pc

        table = serape.load_network("child").sample(2000, 1)
        region = serape.region(table, "Disease", depth=2)
        effects = serape.Knowledge(required=[("Disease", name) for name in region["Disease"]])
        columns, known = causal_learn.hand_over(region, effects)
        frame = table.to_pandas()[columns].apply(lambda column: column.astype("category").cat.codes)
        found = pc(
            frame.to_numpy(), indep_test="gsq", node_names=columns, background_knowledge=known, show_progress=False
        )
        graph = as_networkx(found)
        _check(graph, region)
        assert graph.in_degree("Disease") == 0  # PC may still remove a required edge
        assert graph.out_degree("Disease") > 0

    def test_pgmpy(self) -> None:
        pytest.importorskip("pgmpy")
        from pgmpy.estimators import HillClimbSearch

        table = serape.load_network("child").sample(2000, 1)
        region = serape.region(table, "LungParench", depth=2)
        columns, known = pgmpy.hand_over(region)
        frame = table.to_pandas()[columns].astype(str)
        found = HillClimbSearch(frame).estimate("bic-d", expert_knowledge=known, show_progress=False)
        _check(as_networkx(found), region)

    def test_pyagrum(self) -> None:
        gum = pytest.importorskip("pyagrum")
        table = serape.load_network("child").sample(2000, 1)
        region = serape.region(table, "Disease", depth=2)
        columns, tell = pyagrum.hand_over(region, serape.Knowledge(required=[("Disease", columns_of(region)[1])]))
        learner = gum.BNLearner(table.to_pandas()[columns].astype(str))
        learner.useGreedyHillClimbing()
        graph = as_networkx(tell(learner).learnBN())
        _check(graph, region)
        assert graph.has_edge("Disease", columns[1])


def columns_of(region: nx.Graph[str]) -> list[str]:
    return serape.bridges.prescreened(region)[0]


def _check(graph: nx.Graph[str], region: nx.Graph[str]) -> None:
    assert set(graph) == set(region)
    forbidden = serape.bridges.prescreened(region)[1].forbidden_pairs
    assert forbidden
    assert not any(graph.has_edge(a, b) or graph.has_edge(b, a) for a, b in forbidden)
    assert graph.number_of_edges()


def test_dot_is_read_by_pydot() -> None:
    pydot = pytest.importorskip("pydot")
    graph = nx.relabel_nodes(MIXED, {"d": 'q"u\\o', "e": "ümläut → 日"})
    (read,) = pydot.graph_from_dot_data(dot_text(graph, title='a "title"'))
    assert len(read.get_edges()) == 4
    assert sum(edge.get("dir") == "none" for edge in read.get_edges()) == 1
    assert len([node for node in read.get_nodes() if node.get_name() != "node"]) == len(graph)


def test_the_example_searches_on_with_causal_learn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("causallearn")
    monkeypatch.setattr("sys.argv", ["prescreen.py", "causal-learn"])
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "prescreen.py"), run_name="__main__")
    assert capsys.readouterr().out.count("→") > 5
